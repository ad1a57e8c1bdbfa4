// SPDX-License-Identifier: Apache-2.0
// expect: Scalar<bool>
#include <luisa/tile.h>

using namespace luisa::tile;

void f(Scalar<float> s, Tile<float> x) { auto t = s > 0.0f ? x : x + 1.0f; }
