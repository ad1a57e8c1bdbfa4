// SPDX-License-Identifier: Apache-2.0
// expect: the view is read only
#include <luisa/tile.h>

using namespace luisa::tile;

void f(TensorView<const float, 1> X, Tile<float> a) { X(coord(0), shape(8)).store(a); }
