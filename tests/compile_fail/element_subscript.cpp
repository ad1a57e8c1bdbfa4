// SPDX-License-Identifier: Apache-2.0
// expect: one element is A[coord(i, j)] or A(i, j).load(), not A[i, j]
#include <luisa/tile.h>

using namespace luisa::tile;

auto f(TensorView<float, 2> A) { return A[0, 0]; }
