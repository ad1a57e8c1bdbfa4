// SPDX-License-Identifier: Apache-2.0
// expect: use of deleted function
#include <luisa/tile.h>

using namespace luisa::tile;

void f(TensorView<float, 1> X, Tile<float> a) { X(coord(0), shape(8)) = a; }
