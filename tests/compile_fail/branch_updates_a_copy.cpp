// SPDX-License-Identifier: Apache-2.0
// expect: capture by [&] to assign outer variables
#include <luisa/tile.h>

using namespace luisa::tile;

void f(Scalar<bool> c, Tile<float> x) {
    if_(c, [=] { x = x + 1.0f; });
}
