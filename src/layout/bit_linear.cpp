// SPDX-License-Identifier: Apache-2.0
#include "layout/bit_linear.h"

#include <algorithm>
#include <bit>

namespace luisa::tile::core {

int sum_of(const std::vector<int> &bits) {
    int sum = 0;
    for (auto b : bits) {
        sum += b;
    }
    return sum;
}

int bits_for(int64_t extent) {
    return extent <= 1 ? 0 : std::bit_width(static_cast<uint64_t>(extent - 1));
}

std::optional<uint64_t> pack(const IndexPoint &point, const std::vector<int> &bits) {
    uint64_t word = 0;
    int at = 0;
    for (size_t i = 0; i < bits.size(); ++i) {
        if (point[i] < 0 || point[i] >> bits[i] != 0) {
            return std::nullopt;
        }
        word |= static_cast<uint64_t>(point[i]) << at;
        at += bits[i];
    }
    return word;
}

IndexPoint unpack(uint64_t word, const std::vector<int> &bits) {
    IndexPoint out;
    for (auto b : bits) {
        out.push_back(static_cast<int64_t>(word & ((uint64_t{1} << b) - 1)));
        word >>= b;
    }
    return out;
}

uint64_t BitLinear::image(uint64_t bits) const {
    auto out = offset;
    for (; bits != 0; bits &= bits - 1) {
        out ^= columns[static_cast<size_t>(std::countr_zero(bits))];
    }
    return out;
}

std::optional<IndexPoint> BitLinear::at(const IndexPoint &point) const {
    auto word = pack(point, in);
    return word ? std::optional{unpack(image(*word), out)} : std::nullopt;
}

bool Span::add(uint64_t vector, uint64_t label, uint64_t *relation) {
    uint64_t used = label;
    auto rest = reduce(vector, &used);
    if (rest == 0) {
        if (relation) {
            *relation = used;
        }
        return false;
    }
    auto place = std::find_if(_basis.begin(), _basis.end(),
                              [&](const Vector &v) { return v.bits < rest; });
    _basis.insert(place, {rest, used});
    return true;
}

uint64_t Span::reduce(uint64_t vector, uint64_t *used) const {
    for (const auto &v : _basis) {
        if (vector & std::bit_floor(v.bits)) {
            vector ^= v.bits;
            if (used) {
                *used ^= v.labels;
            }
        }
    }
    return vector;
}

uint64_t Span::largest(uint64_t start, uint64_t *used) const {
    for (const auto &v : _basis) {
        if (!(start & std::bit_floor(v.bits))) {
            start ^= v.bits;
            *used ^= v.labels;
        }
    }
    return start;
}

std::optional<BitLinear> bits_of(const Affine &map, const IndexPoint &extents) {
    BitLinear out;
    std::vector<int> first;// the lowest bit of each coordinate
    for (auto extent : extents) {
        first.push_back(sum_of(out.in));
        out.in.push_back(bits_for(extent));
    }
    auto rank = map.offset.size();
    auto total = static_cast<size_t>(sum_of(out.in));
    if (total > 62) {
        return std::nullopt;
    }
    auto box = digits_of(map, extents);
    std::vector<IndexPoint> images(total, IndexPoint(rank, 0));
    IndexPoint seen = map.offset;
    for (size_t i = 0; i < box.digits.size(); ++i) {
        const auto &digit = box.digits[i];
        bool top = i + 1 == box.digits.size() || box.digits[i + 1].coordinate != digit.coordinate;
        auto extent = static_cast<uint64_t>(digit.extent),
             lower = static_cast<uint64_t>(digit.lower);
        if ((!top && !std::has_single_bit(extent)) || !std::has_single_bit(lower)) {
            return std::nullopt;
        }
        auto at = first[digit.coordinate] + std::countr_zero(lower);
        for (int b = 0; b < bits_for(digit.extent); ++b) {
            for (size_t o = 0; o < rank; ++o) {
                int64_t step = 0;
                if (__builtin_mul_overflow(digit.stride[o], int64_t{1} << b, &step) || step < 0 ||
                    seen[o] < 0 || (seen[o] & step) != 0) {
                    return std::nullopt;// it may carry
                }
                seen[o] |= step;
                images[static_cast<size_t>(at + b)][o] = step;
            }
        }
    }
    for (auto value : seen) {
        if (value < 0 || value == INT64_MAX) {
            return std::nullopt;
        }
        out.out.push_back(bits_for(value + 1));
    }
    if (sum_of(out.out) > 62) {
        return std::nullopt;
    }
    for (const auto &image : images) {
        out.columns.push_back(*pack(image, out.out));
    }
    out.offset = *pack(map.offset, out.out);
    return out;
}

std::optional<BitLinear> compose_bits(const BitLinear &outer, const BitLinear &inner) {
    BitLinear out{inner.in, outer.out, {}, 0};
    auto start = pack(unpack(inner.offset, inner.out), outer.in);
    if (!start) {
        return std::nullopt;
    }
    out.offset = outer.image(*start);
    for (auto column : inner.columns) {
        auto bits = pack(unpack(column, inner.out), outer.in);
        if (!bits) {
            return std::nullopt;
        }
        out.columns.push_back(outer.image(*bits) ^ outer.offset);
    }
    return out;
}

std::optional<BitLinear> product_bits(const BitLinear &a, const BitLinear &b) {
    auto out = a;
    auto shift = sum_of(a.out);
    if (sum_of(a.in) + sum_of(b.in) > 62 || shift + sum_of(b.out) > 62) {
        return std::nullopt;
    }
    out.in.insert(out.in.end(), b.in.begin(), b.in.end());
    out.out.insert(out.out.end(), b.out.begin(), b.out.end());
    for (auto column : b.columns) {
        out.columns.push_back(column << shift);
    }
    out.offset |= b.offset << shift;
    return out;
}

}// namespace luisa::tile::core
