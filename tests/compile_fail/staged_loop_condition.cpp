// SPDX-License-Identifier: Apache-2.0
// expect: Scalar<bool>
#include <luisa/tile.h>

using namespace luisa::tile;

void f(Scalar<float> s) {
    while (s > 0.0f) {}
}
