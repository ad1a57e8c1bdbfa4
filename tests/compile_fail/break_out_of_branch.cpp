// SPDX-License-Identifier: Apache-2.0
// expect: break
#include <luisa/tile.h>

using namespace luisa::tile;

[[maybe_unused]] auto kernel = tile_kernel([](TensorView<float, 2> A, Scalar<float> s) {
    auto x = zeros<float>(shape(4, 4));
    for (auto &n : serial(range(0, 4))) {
        if_(s > 0.0f, [&] { break; });
        x = x + cast<float>(n.index());
    }
    A(coord(0, 0), shape(4, 4)).store(x * s);
});
