// SPDX-License-Identifier: Apache-2.0
#include "layout/node.h"
#include "layout/points.h"

#include <algorithm>
#include <unordered_map>

namespace luisa::tile {

namespace core {

namespace {

struct PointHash {
    size_t operator()(const IndexPoint &point) const noexcept {
        uint64_t hash = 0x9e3779b97f4a7c15u;
        for (auto c : point) {
            hash = (hash ^ static_cast<uint64_t>(c)) * 0xff51afd7ed558ccdu;
            hash ^= hash >> 32;
        }
        return hash;
    }
};

using Images = std::unordered_map<IndexPoint, IndexPoint, PointHash>;

/// The first point of a set that is no image. The set is walked no further than there can be images.
LayoutProof::Claim first_missed(const IndexSet &set, const Images &images) {
    int64_t steps = 0;
    IndexPoint at(set.rank(), 0);
    do {
        if (++steps > 4 * layout_proof_budget) {
            return {};
        }
        if (!images.count(at) && set.contains(at)) {
            return {Proof::DISPROVEN, {at}};
        }
    } while (advance(at, set.extents()));
    return {Proof::PROVEN, {}};
}

}// namespace

void prove_by_points(const IndexMap &map, LayoutProof &proof) {
    auto size = map.domain().box_size();
    if (!size || *size > layout_proof_budget) {
        return;
    }
    LayoutProof seen{{Proof::PROVEN, {}}, {Proof::PROVEN, {}}, {Proof::PROVEN, {}}, {}};
    auto refute = [](LayoutProof::Claim &claim, std::vector<IndexPoint> witness) {
        if (claim.proof == Proof::PROVEN) {
            claim = {Proof::DISPROVEN, std::move(witness)};
        }
    };
    Images images;
    IndexPoint at(map.domain().rank(), 0);
    if (*size > 0) {
        do {
            if (!map.domain().contains(at)) {
                continue;
            }
            auto image = map.at(at);
            if (!image) {
                refute(seen.totality, {at});
                continue;
            }
            if (!map.codomain().contains(*image)) {
                refute(seen.bounds, {at});
            }
            auto [found, added] = images.emplace(std::move(*image), at);
            if (!added) {
                refute(seen.injectivity, {found->second, at});
            }
        } while (advance(at, map.domain().extents()));
    }
    if (proof.surjectivity.proof == Proof::UNKNOWN && !map.codomain().box_is_empty()) {
        seen.surjectivity = first_missed(map.codomain(), images);
    }
    auto fill = [](LayoutProof::Claim &claim, LayoutProof::Claim &other) {
        if (claim.proof == Proof::UNKNOWN) {
            claim = std::move(other);
        }
    };
    fill(proof.totality, seen.totality);
    fill(proof.bounds, seen.bounds);
    fill(proof.injectivity, seen.injectivity);
    fill(proof.surjectivity, seen.surjectivity);
}

namespace {

/// Digits of a map over a box, neighbours that continue each other made one: equal for equal affine maps
/// of the same digits.
bool same_affine(const Affine &a, const Affine &b, const IndexPoint &extents) {
    auto normal = [&](const Affine &map) {
        std::vector<Digit> out;
        for (const auto &digit : digits_of(map, extents).digits) {
            if (!out.empty() && out.back().coordinate == digit.coordinate) {
                auto &before = out.back();
                bool continues = true;
                for (size_t o = 0; o < digit.stride.size(); ++o) {
                    continues &= Wide{before.stride[o]} * before.extent == digit.stride[o];
                }
                if (continues) {
                    before.extent *= digit.extent;
                    continue;
                }
            }
            out.push_back(digit);
        }
        return out;
    };
    auto x = normal(a), y = normal(b);
    return a.offset == b.offset &&
           std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const Digit &p, const Digit &q) {
               return p.coordinate == q.coordinate && p.lower == q.lower && p.stride == q.stride;
           });
}

bool same_bits(const BitLinear &a, const BitLinear &b, const IndexPoint &extents) {
    IndexPoint at(extents.size(), 0);
    if (a.at(at) != b.at(at)) {
        return false;
    }
    for (size_t i = 0; i < extents.size(); ++i) {
        for (int bit = 0; bit < bits_for(extents[i]); ++bit) {
            at[i] = int64_t{1} << bit;
            if (a.at(at) != b.at(at)) {
                return false;
            }
        }
        at[i] = 0;
    }
    return true;
}

bool is_total(const IndexMap &map) { return map.prove().totality.proof == Proof::PROVEN; }

}// namespace

}// namespace core

LayoutProof::Claim equivalent(const IndexMap &a, const IndexMap &b) {
    const auto &extents = a.domain().extents();
    auto differ = [&](const IndexPoint &at) { return a.at(at) != b.at(at); };
    if (a.domain().rank() != b.domain().rank()) {
        return {Proof::DISPROVEN, {}};
    }
    bool same_domain = a.domain() == b.domain();
    if (same_domain && a.domain().box_is_empty()) {
        return {Proof::PROVEN, {}};
    }
    auto size = a.domain().box_size();
    if (same_domain && core::is_total(a) && core::is_total(b)) {
        auto x = core::affine_form(a), y = core::affine_form(b);
        if (x && y && core::same_affine(*x, *y, extents)) {
            return {Proof::PROVEN, {}};
        }
        auto p = core::bit_form(a), q = core::bit_form(b);
        if (p && q && core::same_bits(*p, *q, extents)) {
            return {Proof::PROVEN, {}};
        }
    }
    auto all = extents;
    for (size_t i = 0; i < all.size(); ++i) {
        all[i] = std::max(all[i], b.domain().extents()[i]);
    }
    size = IndexSet{all}.box_size();
    bool listed = size && *size <= layout_proof_budget;
    IndexPoint at(all.size(), 0);
    int64_t tried = 0;
    do {
        if (a.domain().contains(at) != b.domain().contains(at) || differ(at)) {
            return {Proof::DISPROVEN, {at}};
        }
    } while (++tried < layout_proof_budget && core::advance(at, all));
    return {listed ? Proof::PROVEN : Proof::UNKNOWN, {}};
}

}// namespace luisa::tile
