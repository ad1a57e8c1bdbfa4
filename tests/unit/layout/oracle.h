// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/layout.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>

namespace luisa::tile::test {

/// Whether to try everything; an ordinary run tries a part of it, spread evenly.
inline bool is_deep() { return std::getenv("LUISA_TILE_DEEP") != nullptr; }
inline int cases(int all) { return is_deep() ? all : all / 8; }

/// The kind and message of the error that `f` throws.
template<class F> std::string message_of(const F &f) {
    try {
        f();
    } catch (const Error &e) {
        return std::string{to_string(e.kind())} + ": " + e.message();
    }
    return "nothing thrown";
}

/// What a map should be, written without the library.
using Reference = std::function<std::optional<IndexPoint>(const IndexPoint &)>;

inline bool next_point(IndexPoint &at, const IndexPoint &extents) {
    for (size_t i = at.size(); i-- > 0;) {
        if (++at[i] < extents[i]) {
            return true;
        }
        at[i] = 0;
    }
    return false;
}

template<class F> void for_each_point(const IndexPoint &extents, const F &f) {
    if (std::find(extents.begin(), extents.end(), 0) != extents.end()) {
        return;
    }
    IndexPoint at(extents.size(), 0);
    do {
        f(at);
    } while (next_point(at, extents));
}

inline bool inside(const IndexPoint &point, const IndexPoint &extents) {
    for (size_t i = 0; i < point.size(); ++i) {
        if (point[i] < 0 || point[i] >= extents[i]) {
            return false;
        }
    }
    return true;
}

/// What is wrong with the values and the proof of a map over boxes; empty if nothing is. `exact`: unknown is wrong too.
inline std::string wrong_about(const IndexMap &map, const Reference &reference, bool exact = true) {
    const auto &extents = map.domain().extents(), &codomain = map.codomain().extents();
    std::map<IndexPoint, IndexPoint> images;
    bool total = true, bounded = true, injective = true;
    std::string wrong;
    for_each_point(extents, [&](const IndexPoint &at) {
        auto image = reference(at);
        if (image != map.at(at)) {
            wrong = "another image";
        }
        total &= image.has_value();
        if (image) {
            bounded &= inside(*image, codomain);
            injective &= images.emplace(*image, at).second;
        }
    });
    int64_t hit = 0, wanted = 1;
    for (auto e : codomain) {
        wanted *= e;
    }
    for (const auto &[image, at] : images) {
        hit += inside(image, codomain);
    }
    auto proof = map.prove();
    auto check = [&](const char *name, const LayoutProof::Claim &claim, bool truth, size_t points,
                     const std::function<bool()> &refutes) {
        if (claim.proof == Proof::UNKNOWN) {
            wrong += exact ? std::string{name} + " unknown; " : "";
        } else if ((claim.proof == Proof::PROVEN) != truth) {
            wrong += std::string{name} + " wrongly " + to_string(claim.proof) + "; ";
        } else if (!truth && (claim.witness.size() != points || !refutes())) {
            wrong += std::string{name} + " has no true witness; ";
        }
    };
    auto in_domain = [&](const IndexPoint &at) { return inside(at, extents); };
    check("totality", proof.totality, total, 1, [&] {
        const auto &w = proof.totality.witness[0];
        return in_domain(w) && !reference(w);
    });
    check("bounds", proof.bounds, bounded, 1, [&] {
        const auto &w = proof.bounds.witness[0];
        return in_domain(w) && reference(w) && !inside(*reference(w), codomain);
    });
    check("injectivity", proof.injectivity, injective, 2, [&] {
        const auto &a = proof.injectivity.witness[0], &b = proof.injectivity.witness[1];
        return in_domain(a) && in_domain(b) && a != b && reference(a) &&
               reference(a) == reference(b);
    });
    check("surjectivity", proof.surjectivity, hit == wanted, 1, [&] {
        const auto &w = proof.surjectivity.witness[0];
        return inside(w, codomain) && !images.count(w);
    });
    return wrong.empty() ? wrong : wrong + map.text() + " (" + proof.text() + ")";
}

}// namespace luisa::tile::test
