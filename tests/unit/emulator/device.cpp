// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include <gtest/gtest.h>

#include <vector>

namespace luisa::tile::test {

namespace {

/// Rows divided by their sums, a block a row.
auto normalised_rows() {
    return tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Y) {
        for (auto &row : parallel(shape(X.extent(0)))) {
            auto n = axis("n", 100);
            auto x = X[coord(row.index(), 0), shape(1, n)];
            Y(coord(row.index(), 0), shape(1, n)).store(x / reduce(x, n, add));
        }
    });
}

}// namespace

TEST(EmulatorDevice, runs_kernels_observed_and_not) {
    for (bool validate : {false, true}) {
        auto device = Device::create("cuda-emulator", {.threads = 2, .validate = validate});
        EXPECT_EQ(device.name(), "cuda-emulator");
        Stream stream{device};
        auto x = make_tensor<float>(device, 7, 100), y = make_tensor<float>(device, 7, 100);
        std::vector<float> values(700), result(700);
        for (size_t i = 0; i < values.size(); ++i) {
            values[i] = static_cast<float>(i / 100 + 1);
        }
        auto shader = device.jit(normalised_rows());
        stream << x.copy_from(values) << shader(x, y).dispatch() << y.copy_to(result)
               << synchronize();
        for (auto r : result) {
            EXPECT_FLOAT_EQ(r, 0.01f);
        }
    }
}

}// namespace luisa::tile::test
