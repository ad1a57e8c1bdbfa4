// SPDX-License-Identifier: Apache-2.0
// expect: a box of a view is loaded first: write A(origin, shape).load()
#include <luisa/tile.h>

using namespace luisa::tile;

auto f(TensorView<float, 1> X, Tile<float> a) { return a + X(coord(0), shape(8)); }
