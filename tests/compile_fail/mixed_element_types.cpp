// SPDX-License-Identifier: Apache-2.0
// expect: differ in element type: write cast<T>
#include <luisa/tile.h>

using namespace luisa::tile;

auto f(Tile<float> a, Tile<double> b) { return a + b; }
