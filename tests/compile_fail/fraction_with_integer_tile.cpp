// SPDX-License-Identifier: Apache-2.0
// expect: no match for
#include <luisa/tile.h>

using namespace luisa::tile;

auto f(Axis m) { return iota(m) + 0.5; }
