// SPDX-License-Identifier: Apache-2.0
// expect: one tensor or buffer for each TensorView of the kernel, in order
#include <luisa/tile.h>

using namespace luisa::tile;

void f(const Device &device, Tensor<float, 1> x) {
    auto k = device.jit(tile_kernel([](TensorView<float, 1> A, TensorView<float, 1>) {}));
    static_cast<void>(k(x));
}
