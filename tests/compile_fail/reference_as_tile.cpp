// SPDX-License-Identifier: Apache-2.0
// expect: use of deleted function
#include <luisa/tile.h>

using namespace luisa::tile;

void f(MemoryRef<float> a) { Tile<float> t = a; }
