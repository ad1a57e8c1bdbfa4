// SPDX-License-Identifier: Apache-2.0
// expect: operands of `&` differ in element type: write cast<T>(...)
#include <luisa/tile.h>

using namespace luisa::tile;

auto f(Tile<int32_t> a, Scalar<uint32_t> b) { return a & b; }
