// SPDX-License-Identifier: Apache-2.0
// expect: a branch returns nothing
#include <luisa/tile.h>

using namespace luisa::tile;

void f(Scalar<bool> c) {
    if_(c, [] { return 1; });
}
