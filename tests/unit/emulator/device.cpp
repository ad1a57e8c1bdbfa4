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

TEST(EmulatorDevice, scratch_of_megabytes_goes_back_where_it_came_from) {
    auto device = Device::create("cuda-emulator", {.threads = 2});
    Stream stream{device};
    auto x = make_tensor<float>(device, 1000), y = make_tensor<float>(device, 1000);
    auto places = make_tensor<int64_t>(device, 1000);
    for (int64_t i = 0; i < 1000; ++i) {
        x.at(i) = static_cast<float>(i * 389 % 1000);
    }
    auto sort = device.jit(device_sort<float>());
    stream << sort(x, y, places).dispatch() << sort(x, y, places).dispatch() << synchronize();
    for (int64_t i = 0; i < 1000; ++i) {
        EXPECT_EQ(y.at(i), static_cast<float>(i));
        EXPECT_EQ(places.at(i) * 389 % 1000, i);
    }
}

}// namespace luisa::tile::test
