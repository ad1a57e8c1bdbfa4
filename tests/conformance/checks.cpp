// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include <gtest/gtest.h>

#include "../error/reading.h"

#include <algorithm>
#include <mutex>

// assert_ and print where kernels run: the same text from both devices.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

int line = 0;
#define AT line = __LINE__

struct Checks : ::testing::TestWithParam<const char *> {
    std::vector<std::string> lines;
    Device device = Device::create(
        GetParam(),
        {.threads = 3, .print = [this](const std::string &text) { lines.push_back(text); }});
    Stream stream{device};

    template<class F> std::string read(const F &mistake) {
        return read_by_user("checks.cpp", line, mistake);
    }
};

}// namespace

INSTANTIATE_TEST_SUITE_P(Devices, Checks, ::testing::Values("cpu", "interpreter"),
                         [](const auto &info) { return std::string{info.param}; });

TEST_P(Checks, pass_where_conditions_hold) {
    auto f = device.jit(tile_kernel([](TensorView<float, 2> X) {
        auto i = axis("i", 33);
        for (auto &nest : parallel(shape(axis("r", 20)))) {
            auto x = X[coord(nest.index(), 0), shape(1, i)];
            assert_(x < 100.0f, "below a hundred");
            assert_(nest.index() < 20, "a row");
            X(coord(nest.index(), 0), shape(1, i)).store(x + 1.0f);
        }
    }));
    auto x = make_tensor<float>(device, 20, 33);
    std::vector<float> host(20 * 33, 1.0f);
    stream << x.copy_from(host) << f(x).dispatch() << x.copy_to(host) << synchronize();
    EXPECT_EQ(host, std::vector<float>(20 * 33, 2.0f));
}

TEST_P(Checks, say_which_element_of_which_instance_fails) {
    auto f = device.jit(tile_kernel([](TensorView<const float, 2> X) {
        auto i = axis("i", 5), j = axis("j", 9);
        for (auto &nest : parallel(shape(3, 2))) {
            for (auto &step : serial(range(10, 12))) {
                auto x = X[coord(nest.index(0) * 5, nest.index(1) * 9), shape(i, j)];
                AT, assert_(x * cast<float>(step.index() - 10) < 50.0f, "x is small");
            }
        }
    }));
    auto x = make_tensor<float>(device, 15, 18);
    std::vector<float> host(15 * 18, 1.0f);
    host[static_cast<size_t>((5 + 3) * 18 + 9 + 7)] = 60;
    host[static_cast<size_t>((5 + 4) * 18 + 9 + 1)] = 70;
    stream << x.copy_from(host);
    EXPECT_EQ(read([&] { stream << f(x).dispatch() << synchronize(); }),
              "@+0: AssertionError: assertion failed: x is small; at (1, 1, 11) of the nests "
              "around it, element (3, 7)");
    // The device stays usable.
    host.assign(host.size(), 1.0f);
    stream << x.copy_from(host) << f(x).dispatch() << synchronize();
}

TEST_P(Checks, end_the_instance_that_fails) {
    auto f = device.jit(tile_kernel([](TensorView<float, 1> X, Scalar<int64_t> n) {
        X(0).store(1.0f);
        AT, assert_(n > 0, "there is something to do");
        X(1).store(1.0f);
    }));
    auto x = make_tensor<float>(device, 2);
    std::vector<float> host(2, 0.0f);
    stream << x.copy_from(host);
    EXPECT_EQ(read([&] { stream << f(x, int64_t{0}).dispatch() << synchronize(); }),
              "@+0: AssertionError: assertion failed: there is something to do");
    stream << x.copy_to(host) << synchronize();
    EXPECT_EQ(host, (std::vector<float>{1.0f, 0.0f}));
}

TEST_P(Checks, come_out_of_an_asynchronous_stream_when_it_is_waited_for) {
    auto f = device.jit(tile_kernel(
        [](TensorView<float, 1> X) { assert_(X[coord(0), shape(4)] > 0.0f, "positive"); }));
    auto x = make_tensor<float>(device, 4);
    std::vector<float> values{1, 2, -3, 4};
    Stream later{device, {.async = true}};
    later << x.copy_from(values) << f(x).dispatch();
    EXPECT_THROW(later << synchronize(), AssertionError);
}

TEST_P(Checks, print_values_exactly_and_lines_in_order) {
    auto f = device.jit(tile_kernel([](TensorView<const float, 1> X, Scalar<bool> flag) {
        for (auto &step : serial(range(0, 3))) {
            print("x[{}] = {}, {}", step.index(), X[coord(step.index())], flag);
        }
        print("{} and {} of {}", cast<half>(X[coord(0)]), cast<uint8_t>(X[coord(1)]), X.extent(0));
        print("done");
    }));
    auto x = make_tensor<float>(device, 3);
    stream << x.copy_from(std::vector<float>{0.1f, 200.0f, -0.0f}) << f(x, true).dispatch()
           << synchronize();
    EXPECT_EQ(lines, (std::vector<std::string>{"x[0] = 0.1, true", "x[1] = 200.0, true",
                                               "x[2] = -0.0, true", "0.1 and 200 of 3", "done"}));
}

TEST_P(Checks, print_whole_lines_from_many_instances) {
    auto f = device.jit(tile_kernel([](TensorView<float, 1> X) {
        for (auto &nest : parallel(shape(500))) {
            X(nest.index()).store(1.0f);
            print("{} {} {}", nest.index(), nest.index() * 2, nest.index() * 3);
        }
    }));
    auto x = make_tensor<float>(device, 500);
    stream << f(x).dispatch() << synchronize();
    ASSERT_EQ(lines.size(), 500u);
    std::vector<std::string> expected;
    for (int i = 0; i < 500; ++i) {
        expected.push_back(std::to_string(i) + " " + std::to_string(2 * i) + " " +
                           std::to_string(3 * i));
    }
    std::sort(lines.begin(), lines.end());
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(lines, expected);
}
