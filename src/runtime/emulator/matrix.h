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

/// sum += a · b over the 32 lanes of a warp. Each element is the exact sum of its products and what was there,
/// rounded once; integers wrap.
void multiply(const target::MatrixAtom &atom, std::span<const LaneMatrices> lanes);

}// namespace luisa::tile::emulator
