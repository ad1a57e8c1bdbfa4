// SPDX-License-Identifier: Apache-2.0
// expect: a branch takes no arguments and is not mutable
#include <luisa/tile.h>

using namespace luisa::tile;

void f(Scalar<bool> c, Tile<float> x) {
    if_(c, [=]() mutable { x = x + 1.0f; });
}
