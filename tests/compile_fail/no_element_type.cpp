// SPDX-License-Identifier: Apache-2.0
// expect: T is no element type
#include <luisa/tile.h>

using namespace luisa::tile;

Tile<char *> f();
auto g() { return f(); }
