// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>
#include <luisa/tile/autotune.h>

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

TEST(EmulatorDevice, operations_of_the_library_have_no_races) {
    auto device = Device::create("cuda-emulator", {.validate = true});
    Stream stream{device};
    constexpr int64_t n = 300;
    auto x = make_tensor<float>(device, n), y = make_tensor<float>(device, n),
         total = make_tensor<float>(device, 1), most = make_tensor<float>(device, 5);
    auto places = make_tensor<int64_t>(device, n), where = make_tensor<int64_t>(device, 5);
    for (int64_t i = 0; i < n; ++i) {
        x.at(i) = static_cast<float>(i * 7 % n);
    }
    auto sum = device.jit(device_reduce<float>(add));
    auto running = device.jit(device_scan<float>(add));
    auto sort = device.jit(device_sort<float>());
    auto top = device.jit(device_topk<float>());
    stream << sum(x, total).dispatch() << running(x, y).dispatch() << synchronize();
    EXPECT_EQ(total.at(0), n * (n - 1) / 2);
    EXPECT_EQ(y.at(n - 1), total.at(0));
    stream << sort(x, y, places).dispatch() << top(x, most, where).dispatch() << synchronize();
    for (int64_t i = 0; i < n; ++i) {
        EXPECT_EQ(y.at(i), static_cast<float>(i));
        EXPECT_EQ(x.at(places.at(i)), y.at(i));
    }
    for (int64_t i = 0; i < 5; ++i) {
        EXPECT_EQ(most.at(i), static_cast<float>(n - 1 - i));
        EXPECT_EQ(x.at(where.at(i)), most.at(i));
    }
}

TEST(EmulatorDevice, configurations_are_measured_there) {
    auto device = Device::create("cuda-emulator", {.cache = false});
    auto x = make_tensor<float>(device, 300), y = make_tensor<float>(device, 300);
    for (int64_t i = 0; i < 300; ++i) {
        x.at(i) = static_cast<float>(i);
        y.at(i) = 1;
    }
    auto twice = [](int width) {
        return tile_kernel([=](TensorView<const float, 1> X, TensorView<float, 1> Y) {
            auto n = axis("n", width);
            for (auto &nest : parallel(shape(ceil_div(X.extent(0), width)))) {
                auto at = coord(nest.index() * width);
                Y(at, shape(n)).store(X[at, shape(n)] * 2.0f);
            }
        });
    };
    std::vector<int> widths{32, 64};
    auto best = autotune(device, widths, twice, std::tie(x, y),
                         {.samples = 2, .sample_ms = 0.1, .remember = false});
    ASSERT_EQ(best.trials.size(), 2u);
    for (const auto &trial : best.trials) {
        EXPECT_TRUE(trial.works()) << trial.problem;
    }
    // Arguments are left as they were.
    EXPECT_EQ(y.at(7), 1.0f);
}

}// namespace luisa::tile::test
