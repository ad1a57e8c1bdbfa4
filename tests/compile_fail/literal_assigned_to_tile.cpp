// SPDX-License-Identifier: Apache-2.0
// expect: no match for
#include <luisa/tile.h>

using namespace luisa::tile;

void f(Tile<float> &x) { x = 0.0f; }
