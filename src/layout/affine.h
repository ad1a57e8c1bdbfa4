// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/layout.h>

namespace luisa::tile::core {

__extension__ using Wide = __int128;

/// A mixed-radix map: offset + what the digits of the coordinates add. Evaluated from the first digit of the
/// first coordinate on, every product and partial sum in 64 bits.
struct Affine {
    std::vector<LayoutMode> modes;///< one a coordinate
    IndexPoint offset;            ///< its size is the rank of images

    [[nodiscard]] std::optional<IndexPoint> at(const IndexPoint &point) const;
};

/// A digit that really varies over a box.
struct Digit {
    size_t coordinate;
    int64_t extent;///< values it takes, at least 2
    int64_t lower; ///< what one step of it is in its coordinate
    IndexPoint stride;
};

/// An affine map over a box, its digits cut to the box. The digits take all their values independently, but for
/// coordinates whose extent cuts the last digits short: these are ragged.
struct DigitBox {
    std::vector<Digit> digits;///< by coordinate, the fastest first
    std::vector<bool> ragged; ///< by coordinate
    [[nodiscard]] bool any_ragged() const;
};
/// The box is not empty.
[[nodiscard]] DigitBox digits_of(const Affine &map, const IndexPoint &extents);

/// The least and the largest value of one output over a box that is not empty, and where.
struct Extremes {
    Wide low, high;///< clamped to 2^100
    IndexPoint lowest, highest;
};
[[nodiscard]] Extremes extremes_of(const Affine &map, const IndexPoint &extents, size_t output);

/// The smallest box from zero that can hold the images.
[[nodiscard]] IndexPoint natural_extents(const Affine &map, const IndexPoint &extents);

/// outer(inner(x)) as one affine map, where it is one: exact wherever both are defined.
[[nodiscard]] std::optional<Affine> compose_affine(const Affine &outer, const Affine &inner,
                                                   const IndexPoint &extents);
[[nodiscard]] Affine product_affine(const Affine &a, const Affine &b);

/// Totality of an affine map over a box.
[[nodiscard]] LayoutProof::Claim prove_defined(const Affine &map, const IndexPoint &extents);
/// The other claims, of a map that is total over the box; both sets are boxes, the first is not empty.
[[nodiscard]] LayoutProof prove_affine(const Affine &map, const IndexPoint &extents,
                                       const IndexPoint &codomain);

}// namespace luisa::tile::core
