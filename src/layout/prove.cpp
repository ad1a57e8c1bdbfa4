// SPDX-License-Identifier: Apache-2.0
#include "layout/expression.h"
#include "layout/node.h"
#include "layout/points.h"

#include <algorithm>

namespace luisa::tile {

namespace core {

namespace {

using Claim = LayoutProof::Claim;

bool proven(const Claim &claim) { return claim.proof == Proof::PROVEN; }
bool disproven(const Claim &claim) { return claim.proof == Proof::DISPROVEN; }
Claim yes() { return {Proof::PROVEN, {}}; }

void fill(Claim &claim, const Claim &other) {
    if (claim.proof == Proof::UNKNOWN) {
        claim = other;
    }
}

/// The four claims with rules for each kind of map, over the boxes of the sets whatever their predicates. The
/// domain is not empty.
struct Rules {
    const IndexMap &map;
    IndexSet domain{map.domain().extents()}, codomain{map.codomain().extents()};

    LayoutProof operator()(const Affine &affine) const {
        return {prove_defined(affine, domain.extents()), {}, {}, {}};
    }
    LayoutProof operator()(const BitLinear &bits) const {
        for (size_t i = 0; i < bits.in.size(); ++i) {
            if (domain.extents()[i] > int64_t{1} << bits.in[i]) {
                IndexPoint at(bits.in.size(), 0);
                at[i] = int64_t{1} << bits.in[i];
                return {{Proof::DISPROVEN, {at}}, {}, {}, {}};
            }
        }
        return {yes(), {}, {}, {}};
    }
    LayoutProof operator()(const Swizzle &) const { return {yes(), {}, {}, {}}; }
    LayoutProof operator()(const Table &) const { return {}; }
    LayoutProof operator()(const Pieces &) const { return {}; }

    LayoutProof operator()(const Expressions &expressions) const {
        bool inside = true;
        for (size_t o = 0; o < expressions.images.size(); ++o) {
            auto range = range_of(expressions.images[o].node(), domain.extents());
            if (!range) {
                return {};
            }
            inside &= range->low >= 0 && range->high < codomain.extents()[o];
        }
        return {yes(), inside ? yes() : Claim{}, {}, {}};
    }

    LayoutProof operator()(const Composition &pair) const {
        auto inner = pair.inner.on(domain).into(pair.outer.domain());
        auto in = inner.prove(), out = pair.outer.into(codomain).prove();
        LayoutProof proof;
        if (!proven(in.totality)) {
            proof.totality = in.totality;
            return proof;
        }
        if (disproven(in.bounds)) {
            proof.totality = in.bounds;
            return proof;
        }
        if (!proven(in.bounds) || !proven(out.totality)) {
            return proof;
        }
        proof.totality = yes();
        if (proven(out.bounds)) {
            proof.bounds = yes();
        }
        if (disproven(in.injectivity) || (proven(in.injectivity) && proven(out.injectivity))) {
            proof.injectivity = in.injectivity;
        }
        if (disproven(out.surjectivity) || (proven(in.surjectivity) && proven(out.surjectivity))) {
            proof.surjectivity = out.surjectivity;
        } else if (disproven(in.surjectivity) && proven(out.injectivity)) {
            auto image = pair.outer.at(in.surjectivity.witness[0]);
            if (image && codomain.contains(*image)) {
                proof.surjectivity = {Proof::DISPROVEN, {*image}};
            }
        }
        return proof;
    }

    LayoutProof operator()(const Product &pair) const {
        auto cut = static_cast<int64_t>(pair.first.domain().rank());
        auto out_cut = static_cast<int64_t>(pair.first.codomain().rank());
        const auto &in = domain.extents(), &out = codomain.extents();
        IndexPoint in_a{in.begin(), in.begin() + cut}, in_b{in.begin() + cut, in.end()};
        IndexPoint out_a{out.begin(), out.begin() + out_cut},
            out_b{out.begin() + out_cut, out.end()};
        auto a = pair.first.on(IndexSet{in_a}).into(IndexSet{out_a}).prove();
        auto b = pair.second.on(IndexSet{in_b}).into(IndexSet{out_b}).prove();
        auto both = [](const Claim &x, const Claim &y, size_t before, size_t after) {
            if (disproven(x)) {
                auto claim = x;
                for (auto &point : claim.witness) {
                    point.resize(point.size() + after, 0);
                }
                return claim;
            }
            if (disproven(y)) {
                auto claim = y;
                for (auto &point : claim.witness) {
                    point.insert(point.begin(), before, 0);
                }
                return claim;
            }
            return proven(x) && proven(y) ? yes() : Claim{};
        };
        LayoutProof proof;
        proof.totality = both(a.totality, b.totality, in_a.size(), in_b.size());
        if (proven(proof.totality)) {
            proof.bounds = both(a.bounds, b.bounds, in_a.size(), in_b.size());
            proof.injectivity = both(a.injectivity, b.injectivity, in_a.size(), in_b.size());
            proof.surjectivity = both(a.surjectivity, b.surjectivity, out_a.size(), out_b.size());
        }
        return proof;
    }
};

bool all_known(const LayoutProof &proof) {
    auto known = [](const Claim &claim) { return claim.proof != Proof::UNKNOWN; };
    return known(proof.totality) && known(proof.bounds) && known(proof.injectivity) &&
           known(proof.surjectivity);
}

void merge(LayoutProof &proof, const LayoutProof &other) {
    fill(proof.totality, other.totality);
    fill(proof.bounds, other.bounds);
    fill(proof.injectivity, other.injectivity);
    fill(proof.surjectivity, other.surjectivity);
}

LayoutProof prove_over_boxes(const IndexMap &map) {
    const auto &extents = map.domain().extents(), &codomain = map.codomain().extents();
    auto proof = std::visit(Rules{map}, map.node().what);
    if (!proven(proof.totality) || all_known(proof)) {
        return proof;
    }
    if (auto affine = affine_form(map); affine && proven(prove_defined(*affine, extents))) {
        merge(proof, prove_affine(*affine, extents, codomain));
    }
    if (!all_known(proof)) {
        if (auto bits = bit_form(map)) {
            merge(proof, prove_bits(*bits, extents, codomain));
        }
    }
    return proof;
}

/// What claims about boxes say of the sets in them.
void respect_predicates(const IndexMap &map, LayoutProof &proof) {
    auto forget = [](Claim &claim, Proof what) {
        if (claim.proof == what) {
            claim = {};
        }
    };
    auto outside = [](const Claim &claim, const IndexSet &set) {
        return std::any_of(claim.witness.begin(), claim.witness.end(),
                           [&](const IndexPoint &point) { return !set.contains(point); });
    };
    for (auto *claim : {&proof.totality, &proof.bounds, &proof.injectivity}) {
        if (outside(*claim, map.domain())) {
            *claim = {};
        }
    }
    if (outside(proof.surjectivity, map.codomain())) {
        proof.surjectivity = {};
    }
    if (!map.domain().is_box()) {
        forget(proof.surjectivity, Proof::PROVEN);
    }
    if (!map.codomain().is_box()) {
        forget(proof.bounds, Proof::PROVEN);
    }
}

}// namespace

}// namespace core

LayoutProof IndexMap::prove() const {
    using core::yes;
    LayoutProof proof;
    if (domain().box_is_empty()) {
        proof = {yes(), yes(), yes(), {}};
    } else {
        proof = core::prove_over_boxes(*this);
        core::respect_predicates(*this, proof);
    }
    if (codomain().box_is_empty()) {
        proof.surjectivity = yes();
    }
    if (!core::all_known(proof)) {
        core::prove_by_points(*this, proof);
    }
    return proof;
}

IndexMap product(const IndexMap &a, const IndexMap &b) {
    auto join = [](const IndexSet &x, const IndexSet &y) {
        auto extents = x.extents();
        extents.insert(extents.end(), y.extents().begin(), y.extents().end());
        IndexSet out{extents};
        if (x.condition()) {
            out = out.restricted_to(*x.condition());
        }
        if (y.condition()) {
            out = out.restricted_to(IndexExpr{core::shifted(y.condition()->node(), x.rank())});
        }
        return out;
    };
    return core::make_map(
        {join(a.domain(), b.domain()), join(a.codomain(), b.codomain()), core::Product{a, b}});
}

}// namespace luisa::tile
