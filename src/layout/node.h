// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "layout/bit_linear.h"

#include <variant>

namespace luisa::tile::core {

struct Swizzle {
    int bits, base, shift;
};
struct Table {
    IndexPoint extents;///< of the box that the images belong to
    std::vector<std::optional<IndexPoint>> images;
};
struct Expressions {
    std::vector<IndexExpr> images;
};
struct Pieces {
    std::vector<std::pair<IndexSet, IndexMap>> pieces;
};
struct Composition {
    IndexMap outer, inner;
};
struct Product {
    IndexMap first, second;
};

/// What an IndexMap shares.
struct MapNode {
    IndexSet domain, codomain;
    std::variant<Affine, BitLinear, Swizzle, Table, Expressions, Pieces, Composition, Product> what;
};

[[nodiscard]] IndexMap make_map(MapNode node);

/// The map as an affine or bit-linear one: equal wherever the map is defined on the box of its domain.
[[nodiscard]] std::optional<Affine> affine_form(const IndexMap &map);
[[nodiscard]] std::optional<BitLinear> bit_form(const IndexMap &map);
/// The bits of an expression over a box, where it is exclusive or of bits of the coordinates.
[[nodiscard]] std::optional<BitLinear> bits_of(const Expressions &map, const IndexPoint &extents);
[[nodiscard]] BitLinear bits_of(const Swizzle &swizzle, int64_t size);

/// Fills the claims that are unknown by trying all points; leaves them when there are too many.
void prove_by_points(const IndexMap &map, LayoutProof &proof);

}// namespace luisa::tile::core
