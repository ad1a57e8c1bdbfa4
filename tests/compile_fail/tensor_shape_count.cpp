// SPDX-License-Identifier: Apache-2.0
// expect: takes one tensor_shape per TensorView parameter
#include <luisa/tile.h>

using namespace luisa::tile;

auto f() {
    return tile_kernel([](TensorView<float, 1>) {}).capture();
}
