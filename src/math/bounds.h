// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "math/table.h"

namespace luisa::tile::math {

/// In the order of `Function`: what the sweeps of tests/unit/math/sweep.cpp found over all inputs,
/// rounded up, and an input where it occurs. pow: eight values of y with every x, and random pairs;
/// binary64: samples against MPFR, with a margin.
inline constexpr FunctionInfo function_infos[] = {
    {"exp", 1, 0.892, 0.85, 0xc0bb2813u, "exp(-inf) = 0, exp(inf) = inf"},
    {"exp2", 1, 0.879, 0.88, 0xc2fcfe35u, "exact at integers; exp2(-inf) = 0, exp2(inf) = inf"},
    {"expm1", 1, 0.501, 0.98, 0x3eb17c74u, "keeps +-0; expm1(-inf) = -1"},
    {"log", 1, 0.883, 0.9, 0x3fa332f9u, "log(+-0) = -inf, log(x < 0) = NaN, log(inf) = inf"},
    {"log2", 1, 0.501, 0.501, 0x3f6cdb80u, "exact at powers of two; as log"},
    {"log10", 1, 0.501, 0.501, 0x3fa3ef9eu, "as log"},
    {"log1p", 1, 0.501, 0.501, 0x3e8aa684u, "keeps +-0; log1p(-1) = -inf, log1p(x < -1) = NaN"},
    {"sin", 1, 0.502, 0.78, 0x583bfbc6u, "full range; keeps +-0; NaN at +-inf"},
    {"cos", 1, 0.502, 0.78, 0x794b9e45u, "full range; NaN at +-inf"},
    {"tan", 1, 0.502, 0.95, 0x4610e4eeu, "full range; keeps +-0; NaN at +-inf"},
    {"tanh", 1, 0.791, 0.9, 0x3e31ac68u, "keeps +-0; tanh(+-inf) = +-1"},
    {"erf", 1, 0.501, 0.95, 0x386146dbu, "keeps +-0; erf(+-inf) = +-1"},
    {"erfc", 1, 0.501, 0.95, 0x3ef96f12u, "erfc(-inf) = 2, erfc(inf) = 0"},
    {"rsqrt", 1, 0.501, 0.501, 0x00113e07u,
     "rsqrt(+-0) = +-inf, rsqrt(x < 0) = NaN, rsqrt(inf) = 0"},
    {"pow", 2, 0.501, 0.7, 0x1c08b2efu, "the cases of C23"},
    {"sigmoid", 1, 1.018, 1.05, 0xc0bb2f43u, "0 at -inf, 1 at inf"},
    {"silu", 1, 1.124, 1.2, 0xc0a65675u, "keeps +-0; -0 at -inf, inf at inf"},
    {"gelu", 1, 1.452, 0.95, 0xc14ef37du, "keeps +-0; -0 at -inf, inf at inf"},
    {"gelu_tanh", 1, 1.152, 0.95, 0xc0ac38adu, "keeps +-0; -0 at -inf, inf at inf"},
    {"softplus", 1, 0.501, 0.9, 0xc1367917u, "0 at -inf, inf at inf"},
    {"cbrt", 1, 0.501, 0.501, 0x01fb0cd7u, "keeps +-0 and +-inf"},
};

}// namespace luisa::tile::math
