// SPDX-License-Identifier: Apache-2.0
// expect: scan combines with a built-in reducer
#include <luisa/tile.h>

using namespace luisa::tile;

auto f(Tile<float> a, Axis n) { return scan(a, n, argmax); }
