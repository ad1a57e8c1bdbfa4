// SPDX-License-Identifier: Apache-2.0
#include "layout/bit_linear.h"

#include <algorithm>
#include <bit>

namespace luisa::tile::core {

namespace {

using Claim = LayoutProof::Claim;

/// The words that agree with `origin` in all bits but the free ones, where origin has zeros.
struct Cube {
    uint64_t origin, free;
};
using Cubes = std::vector<Cube>;

constexpr size_t many_cubes = 4096, many_pairs = 512 * 512;

/// The numbers below `extent`: one cube for each of its bits that is set.
Cubes below(int64_t extent) {
    Cubes out;
    auto n = static_cast<uint64_t>(extent);
    for (auto rest = n; rest != 0; rest &= rest - 1) {
        auto bit = rest & -rest;
        out.push_back({n & ~(bit | (bit - 1)), bit - 1});
    }
    return out;
}

/// The numbers of `bits` bits from `extent` on.
Cubes from(int64_t extent, int bits) {
    Cubes out;
    auto n = static_cast<uint64_t>(extent), all = (uint64_t{1} << bits) - 1;
    if (n > all) {
        return out;
    }
    out.push_back({n, 0});
    for (auto rest = ~n & all; rest != 0; rest &= rest - 1) {
        auto bit = rest & -rest;
        out.push_back({(n & ~(bit | (bit - 1))) | bit, bit - 1});
    }
    return out;
}

/// Pairs of cubes of a coordinate and of those below it in the word.
Cubes joined(const Cubes &low, const Cubes &high, int shift) {
    Cubes out;
    for (const auto &h : high) {
        for (const auto &l : low) {
            out.push_back({l.origin | h.origin << shift, l.free | h.free << shift});
        }
    }
    return out;
}

/// A box of words; nothing if it takes too many cubes.
std::optional<Cubes> cubes_of(const IndexPoint &extents, const std::vector<int> &bits) {
    Cubes out{{0, 0}};
    int shift = 0;
    for (size_t i = 0; i < bits.size(); ++i) {
        auto cut = std::min(extents[i], int64_t{1} << bits[i]);
        out = joined(out, below(cut), shift);
        shift += bits[i];
        if (out.size() > many_cubes) {
            return std::nullopt;
        }
    }
    return out;
}

class BitProver {
public:
    BitProver(const BitLinear &map, const IndexPoint &extents, const IndexPoint &codomain)
        : _map{map}, _extents{extents}, _codomain{codomain} {
        for (size_t i = 0; i < extents.size(); ++i) {
            _used.push_back(std::min(bits_for(extents[i]), map.in[i]));
            _full &= std::has_single_bit(static_cast<uint64_t>(extents[i]));
        }
        _cubes = cubes_of(extents, map.in);
        int shift = 0;
        for (size_t i = 0; i < _used.size(); ++i) {
            _relevant |= ((uint64_t{1} << _used[i]) - 1) << shift;
            shift += map.in[i];
        }
        _injective = true;
        for (auto rest = _relevant; rest != 0; rest &= rest - 1) {
            _injective &= _image.add(column(rest & -rest), 0);
        }
    }

    LayoutProof run() const {
        LayoutProof out;
        out.totality.proof = Proof::PROVEN;
        out.bounds = bounds();
        out.injectivity = injectivity();
        out.surjectivity = surjectivity();
        return out;
    }

private:
    uint64_t column(uint64_t bit) const {
        return _map.columns[static_cast<size_t>(std::countr_zero(bit))];
    }
    IndexPoint point(uint64_t word) const { return unpack(word, _map.in); }

    Claim bounds() const {
        int shift = 0;
        for (size_t o = 0; o < _map.out.size(); ++o) {
            auto mask = ((uint64_t{1} << _map.out[o]) - 1) << shift;
            if (_codomain[o] >> _map.out[o] == 0) {
                if (!_cubes) {
                    return {};
                }
                for (const auto &cube : *_cubes) {
                    Span span;
                    for (auto rest = cube.free; rest != 0; rest &= rest - 1) {
                        span.add(column(rest & -rest) & mask, rest & -rest);
                    }
                    uint64_t used = 0;
                    auto most = span.largest(_map.image(cube.origin) & mask, &used) >> shift;
                    if (most >= static_cast<uint64_t>(_codomain[o])) {
                        return {Proof::DISPROVEN, {point(cube.origin ^ used)}};
                    }
                }
            }
            shift += _map.out[o];
        }
        return {Proof::PROVEN, {}};
    }

    /// Two points share an image when their XOR lies in the kernel: inside one cube, or across two.
    Claim injectivity() const {
        if (_injective) {
            return {Proof::PROVEN, {}};
        }
        if (!_cubes) {
            return {};
        }
        for (const auto &cube : *_cubes) {
            Span span;
            for (auto rest = cube.free; rest != 0; rest &= rest - 1) {
                uint64_t relation = 0;
                if (!span.add(column(rest & -rest), rest & -rest, &relation)) {
                    return {Proof::DISPROVEN, {point(cube.origin), point(cube.origin ^ relation)}};
                }
            }
        }
        if (_cubes->size() * _cubes->size() > many_pairs) {
            return {};
        }
        for (size_t i = 0; i < _cubes->size(); ++i) {
            for (size_t j = 0; j < i; ++j) {
                const auto &a = (*_cubes)[i], &b = (*_cubes)[j];
                Span span;
                for (auto rest = a.free | b.free; rest != 0; rest &= rest - 1) {
                    span.add(column(rest & -rest), rest & -rest);
                }
                uint64_t used = 0;
                if (span.reduce(_map.image(a.origin) ^ _map.image(b.origin), &used) == 0) {
                    return {Proof::DISPROVEN,
                            {point(a.origin ^ (used & a.free)),
                             point(b.origin ^ (used & b.free & ~a.free))}};
                }
            }
        }
        return {Proof::PROVEN, {}};
    }

    Claim missed(uint64_t image) const { return {Proof::DISPROVEN, {unpack(image, _map.out)}}; }

    Claim surjectivity() const {
        for (size_t o = 0; o < _codomain.size(); ++o) {
            if (_codomain[o] == 0) {
                return {Proof::PROVEN, {}};
            }
        }
        for (size_t o = 0; o < _codomain.size(); ++o) {
            if (_codomain[o] > int64_t{1} << _map.out[o]) {
                IndexPoint at(_codomain.size(), 0);
                at[o] = int64_t{1} << _map.out[o];
                return {Proof::DISPROVEN, {at}};
            }
        }
        auto wanted = cubes_of(_codomain, _map.out);
        if (!wanted) {
            return {};
        }
        for (const auto &cube : *wanted) {
            if (_image.reduce(cube.origin ^ _map.offset) != 0) {
                return missed(cube.origin);
            }
            for (auto rest = cube.free; rest != 0; rest &= rest - 1) {
                if (_image.reduce(rest & -rest) != 0) {
                    return missed(cube.origin ^ (rest & -rest));
                }
            }
        }
        return _full ? Claim{Proof::PROVEN, {}} : _injective ? outside(*wanted) : Claim{};
    }

    /// Of an injective map whose bits reach the whole codomain: places that only points outside of the box reach.
    Claim outside(const Cubes &wanted) const {
        Cubes others;
        for (size_t i = 0; i < _extents.size(); ++i) {
            Cubes part{{0, 0}};
            int shift = 0;
            for (size_t k = 0; k < _extents.size(); ++k) {
                auto all = int64_t{1} << _used[k];
                auto here = k == i ? from(_extents[k], _used[k]) : below(k < i ? _extents[k] : all);
                part = joined(part, here, shift);
                shift += _map.in[k];
                if (part.size() > many_cubes) {
                    return {};
                }
            }
            others.insert(others.end(), part.begin(), part.end());
        }
        if (others.size() * wanted.size() > many_pairs) {
            return {};
        }
        for (const auto &c : others) {
            for (const auto &b : wanted) {
                Span span;
                for (auto rest = c.free; rest != 0; rest &= rest - 1) {
                    span.add(column(rest & -rest), 0);
                }
                for (auto rest = b.free; rest != 0; rest &= rest - 1) {
                    span.add(rest & -rest, rest & -rest);
                }
                uint64_t used = 0;
                if (span.reduce(_map.image(c.origin) ^ b.origin, &used) == 0) {
                    return missed(b.origin ^ used);
                }
            }
        }
        return {Proof::PROVEN, {}};
    }

    const BitLinear &_map;
    const IndexPoint &_extents, &_codomain;
    std::vector<int> _used;///< bits of each coordinate that the box needs
    std::optional<Cubes> _cubes;
    uint64_t _relevant = 0;
    Span _image;
    bool _full = true, _injective = true;
};

}// namespace

LayoutProof prove_bits(const BitLinear &map, const IndexPoint &extents,
                       const IndexPoint &codomain) {
    return BitProver{map, extents, codomain}.run();
}

}// namespace luisa::tile::core
