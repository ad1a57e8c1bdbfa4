// SPDX-License-Identifier: Apache-2.0
// expect: joins bool values: compare first
#include <luisa/tile.h>

using namespace luisa::tile;

auto f(Tile<float> x) { return x && x; }
