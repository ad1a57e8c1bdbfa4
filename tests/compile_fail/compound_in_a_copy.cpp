// SPDX-License-Identifier: Apache-2.0
// expect: capture by [&] to assign outer variables
#include <luisa/tile.h>

using namespace luisa::tile;

void f(Scalar<float> x, Scalar<bool> c) {
    if_(c, [=] { x += 1.0f; });
}
