// SPDX-License-Identifier: Apache-2.0
// expect: does not convert to the element type: cast<T>(...) the tile
#include <luisa/tile.h>

using namespace luisa::tile;

auto f(Tile<int> a) { return 0.5f * a; }
