// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "layout/affine.h"

namespace luisa::tile::core {

/// A map over GF(2): the image is `offset` XOR the columns of the bits that are set. Points and images are packed
/// into words, the first coordinate in the lowest bits; at most 62 bits on either side.
struct BitLinear {
    std::vector<int> in, out;///< bits of each coordinate
    std::vector<uint64_t> columns;
    uint64_t offset = 0;

    /// Nothing where a coordinate needs more bits than there are.
    [[nodiscard]] std::optional<IndexPoint> at(const IndexPoint &point) const;
    [[nodiscard]] uint64_t image(uint64_t bits) const;
};

[[nodiscard]] int sum_of(const std::vector<int> &bits);
/// Nothing where a coordinate is negative or needs more bits.
[[nodiscard]] std::optional<uint64_t> pack(const IndexPoint &point, const std::vector<int> &bits);
[[nodiscard]] IndexPoint unpack(uint64_t word, const std::vector<int> &bits);
/// Bits that numbers below `extent` need.
[[nodiscard]] int bits_for(int64_t extent);

/// A subspace of words with a basis in echelon form; each basis vector remembers which given vectors it is made of.
class Span {
public:
    /// Adds a vector that stands for `label`. False, and the labels that add up to zero, if it was there already.
    bool add(uint64_t vector, uint64_t label, uint64_t *relation = nullptr);
    /// What is left of a vector after the basis; zero if it lies in the space. `used` gets the labels.
    uint64_t reduce(uint64_t vector, uint64_t *used = nullptr) const;
    /// The largest word of start + space, as numbers under `mask`, and the labels that reach it.
    uint64_t largest(uint64_t start, uint64_t *used) const;
    [[nodiscard]] size_t rank() const { return _basis.size(); }

private:
    struct Vector {
        uint64_t bits, labels;
    };
    std::vector<Vector> _basis;///< by leading bit, the highest first; leading bits differ
};

/// An affine map that adds without carries, as a bit-linear one. Exact over the box.
[[nodiscard]] std::optional<BitLinear> bits_of(const Affine &map, const IndexPoint &extents);
/// Same map with as many output bits a coordinate as the other one takes; nothing if images need more.
[[nodiscard]] std::optional<BitLinear> compose_bits(const BitLinear &outer, const BitLinear &inner);
[[nodiscard]] std::optional<BitLinear> product_bits(const BitLinear &a, const BitLinear &b);

/// All claims over boxes; the first is not empty and its coordinates fit in their bits.
[[nodiscard]] LayoutProof prove_bits(const BitLinear &map, const IndexPoint &extents,
                                     const IndexPoint &codomain);

}// namespace luisa::tile::core
