// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "suite.h"

namespace bench {

/// Products of bf16 into f32 and of int8 into i32: squares, ragged shapes, and few rows with both orders of weights.
void add_narrow_products(std::vector<Case> &all);

}// namespace bench
