// SPDX-License-Identifier: Apache-2.0
// expect: exp needs a floating-point operand
#include <luisa/tile.h>

using namespace luisa::tile;

auto f(Tile<int> a) { return exp(a); }
