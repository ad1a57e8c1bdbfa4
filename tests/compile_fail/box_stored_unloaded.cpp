// SPDX-License-Identifier: Apache-2.0
// expect: a box of a view is loaded first: write A(origin, shape).load()
#include <luisa/tile.h>

using namespace luisa::tile;

void f(MemoryRef<float> a, MemoryRef<const float> b) { a.store(b); }
