// SPDX-License-Identifier: Apache-2.0
// expect: the parameter types must be written out
#include <luisa/tile.h>

using namespace luisa::tile;

auto f() {
    return tile_kernel([](auto) {});
}
