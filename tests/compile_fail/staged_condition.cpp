// SPDX-License-Identifier: Apache-2.0
// expect: Scalar<bool>
#include <luisa/tile.h>

using namespace luisa::tile;

void f(Scalar<int> a) {
    if (a > 1) {}
}
