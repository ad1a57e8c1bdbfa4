// SPDX-License-Identifier: Apache-2.0
// expect: the lambda must not be mutable
#include <luisa/tile.h>

using namespace luisa::tile;

auto f() {
    return tile_kernel([n = 0](TensorView<float, 1>) mutable { ++n; });
}
