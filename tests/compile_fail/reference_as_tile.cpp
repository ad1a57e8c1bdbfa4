// SPDX-License-Identifier: Apache-2.0
// expect: a box of a view is loaded first: write A(origin, shape).load()
#include <luisa/tile.h>

using namespace luisa::tile;

void f(MemoryRef<float> a) { Tile<float> t = a; }
