// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "math/table.h"

namespace luisa::tile::math {

/// The function by the C library in binary64 (composites by a stable formula); relative error below
/// 2^-48.
[[nodiscard]] double reference(Function function, const double *arguments);

/// Eight values at once; about 2^-49, by the vector C library where the build has AVX-512.
void reference8(Function function, const double *x, const double *y, double *out);

/// The function by MPFR with 300 bits, rounded once to binary64.
[[nodiscard]] double reference_mpfr(Function function, const double *arguments);

/// |got - f(x)| by MPFR with 300 bits, in units of the last place of the exact result as a binary64
/// number. 0 if both are NaN, equal infinities or equal zeros; infinite if the class is wrong.
[[nodiscard]] double ulp_error_f64(Function function, double x, double got);
/// The same for a function of one or two arguments.
[[nodiscard]] double ulp_error_f64(Function function, const double *arguments, double got);

}// namespace luisa::tile::math
