// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include <gtest/gtest.h>

#include "../error/reading.h"

#include <cmath>

// An ordering that allows no NaN, on both devices: nothing happens without one, and with one the launch ends.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {
int line = 0;
struct RejectedNan : ::testing::TestWithParam<const char *> {
    Device device = Device::create(GetParam(), {.threads = 2});
    Stream stream{device};
};
}// namespace

INSTANTIATE_TEST_SUITE_P(Devices, RejectedNan, ::testing::Values("cpu", "interpreter"),
                         [](const auto &info) { return std::string{info.param}; });

TEST_P(RejectedNan, ends_the_launch_at_the_call) {
    auto f = device.jit(tile_kernel([](TensorView<float, 2> X) {
        auto c = axis("c", 20);
        for (auto &nest : parallel(shape(3))) {
            auto x = X[coord(nest.index(), 0), shape(1, c)];
            line = __LINE__ + 1;
            auto sorted = sort(x, c, ascending, {.nan = nan::reject});
            X(coord(nest.index(), 0), shape(1, c)).store(sorted.values);
        }
    }));
    auto x = make_tensor<float>(device, 3, 20);
    std::vector<float> host(60);
    for (size_t i = 0; i < 60; ++i) {
        host[i] = static_cast<float>((i * 7) % 20);
    }
    stream << x.copy_from(host) << f(x).dispatch();
    std::vector<float> sorted(60);
    stream << x.copy_to(sorted) << synchronize();
    for (size_t i = 0; i < 60; ++i) {
        EXPECT_EQ(sorted[i], static_cast<float>(i % 20));
    }
    host[20 + 13] = NAN;
    stream << x.copy_from(host) << synchronize();
    auto text = read_by_user("sorting_reject.cpp", line,
                             [&] { stream << f(x).dispatch() << synchronize(); });
    EXPECT_EQ(text, "@+0: AssertionError: assertion failed: sort: a NaN where nan::reject allows "
                    "none; at (1) of the nests around it, element (0, 13)");
}

TEST_P(RejectedNan, topk_and_merge_look_at_all_elements) {
    auto top = device.jit(tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        auto c = axis("c", 40);
        Y(coord(0), shape(axis(c.dim, 2)))
            .store(topk(X[coord(0), shape(c)], c, 2, descending, {.nan = nan::reject}).values);
    }));
    auto merge = device.jit(tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        auto c = axis("c", 20);
        auto a = X[coord(0), shape(c)], b = X[coord(20), shape(c)];
        Y(coord(0), shape(axis(c.dim, 40)))
            .store(merge_sorted(a, b, c, ascending, {.nan = nan::reject}).values);
    }));
    auto x = make_tensor<float>(device, 40), two = make_tensor<float>(device, 2),
         all = make_tensor<float>(device, 40);
    std::vector<float> host(40, -1.0f);
    stream << x.copy_from(host) << top(x, two).dispatch() << merge(x, all).dispatch()
           << synchronize();
    host[39] = NAN;
    stream << x.copy_from(host) << synchronize();
    EXPECT_THROW(stream << top(x, two).dispatch() << synchronize(), AssertionError);
    EXPECT_THROW(stream << merge(x, all).dispatch() << synchronize(), AssertionError);
}
