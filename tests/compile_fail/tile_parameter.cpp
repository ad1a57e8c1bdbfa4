// SPDX-License-Identifier: Apache-2.0
// expect: a kernel parameter is TensorView
#include <luisa/tile.h>

using namespace luisa::tile;

auto f() {
    return tile_kernel([](Tile<float>) {});
}
