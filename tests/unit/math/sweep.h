// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "math/table.h"

namespace luisa::tile::math {

struct SweepResult {
    double max_ulp = 0;          ///< over normal results
    double max_ulp_subnormal = 0;///< over results below 2^-126
    uint32_t worst = 0, worst_subnormal = 0;
    uint64_t class_errors = 0;///< wrong NaN, infinity, zero or sign
    uint32_t first_class_error = 0;
    uint64_t misrounded = 0;///< not the nearest float, as far as the reference resolves ties
    uint64_t above_one = 0; ///< results with an error above 1 ULP
};

/// Adds one result to `r`; `bits` names the input.
void account(SweepResult &r, uint32_t bits, float got, double exact);

/// Compares the vector instance of a function with the reference at the inputs first, first + step,
/// ... below 2^32 (all of them for 0 and 1); `second` is the second argument where there is one.
[[nodiscard]] SweepResult sweep(Function function, uint64_t first, uint64_t step, float second = 0);

}// namespace luisa::tile::math
