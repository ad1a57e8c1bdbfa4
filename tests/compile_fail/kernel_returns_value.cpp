// SPDX-License-Identifier: Apache-2.0
// expect: the lambda returns nothing
#include <luisa/tile.h>

using namespace luisa::tile;

auto f() {
    return tile_kernel([](TensorView<float, 1>) { return 1; });
}
