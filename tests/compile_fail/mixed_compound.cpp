// SPDX-License-Identifier: Apache-2.0
// expect: operands of `+=` differ in element type: write cast<T>(...)
#include <luisa/tile.h>

using namespace luisa::tile;

void f(Tile<float> &a, Tile<double> b) { a += b; }
