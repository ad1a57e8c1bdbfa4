// SPDX-License-Identifier: Apache-2.0
// A library of kernels that C++ registers by name, for callers of the C API and Python.
#include <luisa/tile.h>
#include <luisa/tile/registry.h>

using namespace luisa::tile;

// [register]
static const Registered rmsnorm{
    "rows.rmsnorm",
    tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Y, Scalar<float> epsilon) {
        auto column = axis("column", X.extent(1));
        auto count = static_cast<float>(int64_t(X.extent(1)));
        for (auto &nest : parallel(shape(X.extent(0)))) {
            auto at = coord(nest.index(), 0);
            auto x = X[at, shape(1, column)];
            auto scale = rsqrt(reduce(x * x, column, add) / count + epsilon);
            Y(at, shape(1, column)).store(x * scale);
        }
    })};
// [end]
