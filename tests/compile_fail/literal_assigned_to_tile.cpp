// SPDX-License-Identifier: Apache-2.0
// expect: a host number has no shape: assign zeros<T>(shape)
#include <luisa/tile.h>

using namespace luisa::tile;

void f(Tile<float> &x) { x = 0.0f; }
