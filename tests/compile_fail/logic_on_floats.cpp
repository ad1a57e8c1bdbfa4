// SPDX-License-Identifier: Apache-2.0
// expect: no match for
#include <luisa/tile.h>

using namespace luisa::tile;

auto f(Tile<float> x) { return x && x; }
