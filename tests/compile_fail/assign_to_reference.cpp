// SPDX-License-Identifier: Apache-2.0
// expect: a box of a view is no variable: write .store(tile)
#include <luisa/tile.h>

using namespace luisa::tile;

void f(TensorView<float, 1> X, Tile<float> a) { X(coord(0), shape(8)) = a; }
