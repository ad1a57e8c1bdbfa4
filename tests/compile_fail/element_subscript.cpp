// SPDX-License-Identifier: Apache-2.0
// expect: no match for
#include <luisa/tile.h>

using namespace luisa::tile;

auto f(TensorView<float, 2> A) { return A[0, 0]; }
