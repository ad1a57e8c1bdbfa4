// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "math/table.h"

namespace luisa::tile::math {

/// The vector instance of a FLOAT32 function on eight inputs (y only for two arguments).
void evaluate8(Function function, const float *x, const float *y, float *out);

}// namespace luisa::tile::math
