// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "target/cuda.h"

#include <span>

namespace luisa::tile::emulator {

/// What one lane of a warp holds of the matrices of an atom; the sum is replaced.
struct LaneMatrices {
    const void *a = nullptr, *b = nullptr;
    void *sum = nullptr;
};

struct ProductTypes {
    ScalarType a, b, sum;
};
/// The exact sum of the products of a row and a column, whose elements are `next` apart, and of what was there,
/// rounded once; integers wrap. All as bits.
[[nodiscard]] uint64_t sum_of_products(const ProductTypes &types, std::span<const uint64_t> row,
                                       const uint64_t *column, size_t next, uint64_t before);

/// sum += a · b over the 32 lanes of a warp. Each element is the exact sum of its products and what was there,
/// rounded once; integers wrap.
void multiply(const target::MatrixAtom &atom, std::span<const LaneMatrices> lanes);

}// namespace luisa::tile::emulator
