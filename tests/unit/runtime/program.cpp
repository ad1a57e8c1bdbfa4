// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/runtime.h>

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <thread>
#include <vector>

namespace luisa::tile {

namespace {

/// y = a * x, for any length.
auto scaled() {
    return tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y, Scalar<float> a) {
        auto i = axis("i", 16);
        for (auto &nest : parallel(shape(ceil_div(X.extent(0), 16)))) {
            auto at = coord(nest.index() * 16);
            Y(at, shape(i)).store(X[at, shape(i)] * a);
        }
    });
}

/// y = a * a * x by way of a temporary.
auto squared_scale() {
    return tile_program(
        [](Commands &run, ProgramTensor<const float, 1> x, ProgramTensor<float, 1> y,
           ProgramScalar<float> a) {
            run.expect_extent(y, 0, x.extent(0));
            auto between = run.temporary<float>(x.extent(0));
            run(scaled())(x, between, a);
            run(scaled())(between, y, a);
        },
        {.name = "squared_scale", .parameters = {"x", "y", "a"}});
}

class Program : public ::testing::TestWithParam<const char *> {
protected:
    Device device = Device::create(GetParam(), {.threads = 2});
    Stream stream{device};
    Tensor<float, 1> counted(int64_t n) {
        auto t = make_tensor<float>(device, n);
        std::iota(t.data(), t.data() + n, 1.0f);
        return t;
    }
};

template<class E, class F> std::string error_of(const F &f) {
    try {
        f();
    } catch (const E &error) {
        return error.what();
    }
    return "no error of this kind";
}

}// namespace

INSTANTIATE_TEST_SUITE_P(Runtime, Program, ::testing::Values("cpu", "interpreter"),
                         [](const auto &info) { return std::string{info.param}; });

TEST_P(Program, runs_commands_in_order_through_a_temporary) {
    auto f = device.jit(squared_scale());
    for (int64_t n : {0, 1, 15, 16, 100, 100, 1}) {
        auto x = counted(n), y = make_tensor<float>(device, n);
        stream << f(x, y, 3.0f).dispatch() << synchronize();
        for (int64_t i = 0; i < n; ++i) {
            ASSERT_EQ(y.at(i), 9 * x.at(i)) << n << " " << i;
        }
    }
}

TEST_P(Program, takes_slices_and_strides) {
    auto f = device.jit(tile_program([](Commands &run, ProgramTensor<float, 1> x) {
        auto half = x.extent(0) / 2;
        run(scaled())(x.slice(0, 0, half), x.slice(0, half, 2 * half), 2.0f);
    }));
    auto x = counted(40);
    stream << f(x).dispatch() << synchronize();
    EXPECT_EQ(x.at(20), 2);
    EXPECT_EQ(x.at(39), 40);
    auto wide = counted(40);
    stream << f(wide.slice(0, 39, -1, -1)).dispatch() << synchronize();
    EXPECT_EQ(wide.at(19), 80);
    EXPECT_EQ(wide.at(0), 42);
    EXPECT_EQ(wide.at(20), 21);
}

TEST_P(Program, keeps_the_recordings_that_were_used_last) {
    auto recorded = std::make_shared<int64_t>(0);
    auto f = device.jit(tile_program([recorded](Commands &run, ProgramTensor<float, 1> x) {
        ++*recorded;
        run(scaled())(x, x, 2.0f);
    }));
    auto x = counted(200);
    auto run = [&](int64_t n) { stream << f(x.slice(0, 0, n)).dispatch() << synchronize(); };
    for (int64_t n = 1; n <= 200; ++n) {
        run(n);
        run(1);// in use all the time: it stays
    }
    EXPECT_EQ(*recorded, 200);
    for (int64_t n = 200; n > 200 - 63; --n) {
        run(n);
    }
    EXPECT_EQ(*recorded, 200) << "64 sets of extents are kept";
    run(2);
    EXPECT_EQ(*recorded, 201) << "memory stays bounded: older ones are recorded again";
}

TEST_P(Program, runs_other_programs_and_keeps_tensors_of_the_host) {
    auto weights = counted(5);
    auto f = device.jit(tile_program([weights](Commands &run, ProgramTensor<float, 1> y) {
        auto t = run.temporary<float>(5);
        run(scaled())(weights, t, 2.0f);
        run(squared_scale())(t, y, 1.0f);
    }));
    weights.free();
    auto y = make_tensor<float>(device, 5);
    stream << f(y).dispatch() << synchronize();
    EXPECT_EQ(y.at(4), 10);
}

TEST_P(Program, runs_on_an_asynchronous_stream) {
    auto f = device.jit(squared_scale());
    Stream later{device, {.async = true}};
    std::vector<Tensor<float, 1>> results;
    for (int64_t n = 0; n < 40; ++n) {
        results.push_back(make_tensor<float>(device, n));
        later << f(counted(n), results.back(), 2.0f).dispatch();
    }
    later << synchronize();
    for (int64_t n = 1; n < 40; ++n) {
        EXPECT_EQ(results[static_cast<size_t>(n)].at(n - 1), 4 * static_cast<float>(n));
    }
}

TEST_P(Program, names_the_parameter_that_is_wrong) {
    auto f = device.jit(squared_scale());
    auto x = counted(4), y = make_tensor<float>(device, 4), five = make_tensor<float>(device, 5);
    auto line = [&](int l) { return "program.cpp:" + std::to_string(l) + ": "; };
    int at = __LINE__ + 1;
    EXPECT_EQ(error_of<ShapeError>([&] { stream << f(x, five, 1.0f).dispatch(); }),
              line(at) + "ShapeError: argument 'y' of program 'squared_scale' has extent 5 in "
                         "dimension 0, expected 4");
    at = __LINE__ + 1;
    EXPECT_EQ(error_of<TypeError>([&] { stream << f(x, y, 1).dispatch(); }),
              line(at) + "TypeError: argument 'a' of program 'squared_scale' is a number of type "
                         "i32, expected a number of type f32");
    at = __LINE__ + 1;
    EXPECT_EQ(error_of<TypeError>([&] { stream << f(y, 1.0f, 1.0f).dispatch(); }),
              line(at) + "TypeError: argument 'y' of program 'squared_scale' is a number of type "
                         "f32, expected a rank-1 tensor of f32");
    Tensor<const float, 1> fixed{x.data(), {4}};
    at = __LINE__ + 1;
    EXPECT_EQ(error_of<TypeError>([&] { stream << f(x, fixed, 1.0f).dispatch(); }),
              line(at) + "TypeError: argument 'y' of program 'squared_scale' is read only, but "
                         "the program may write it; declare it ProgramTensor<const T, R>");
    auto gone = counted(4);
    gone.free();
    at = __LINE__ + 1;
    EXPECT_EQ(error_of<LifetimeError>([&] { stream << f(gone, y, 1.0f).dispatch(); }),
              line(at) + "LifetimeError: argument 'x' of program 'squared_scale' is a tensor that "
                         "was moved from, freed or never made");
}

TEST_P(Program, says_which_command_failed) {
    int at = __LINE__ + 2;
    auto f = device.jit(tile_program(
        [](Commands &run, ProgramTensor<float, 1> x) { run(scaled())(x, x.repeated(0, 4), 1.0f); },
        {.name = "spread", .parameters = {"x"}}));
    auto x = counted(1);
    auto text = error_of<AliasError>([&] { stream << f(x).dispatch(); });
    EXPECT_NE(text.find("in command 0 of program 'spread' on (argument 'x' of program 'spread', "
                        "argument 'x' of program 'spread', a value of its own), recorded here "
                        "(program.cpp:" +
                        std::to_string(at) + ")"),
              std::string::npos)
        << text;
}

TEST_P(Program, dispatches_of_several_threads_share_temporaries_in_turn) {
    auto f = device.jit(squared_scale());
    std::vector<std::thread> threads;
    std::array<bool, 3> right{};
    for (size_t t = 0; t < right.size(); ++t) {
        threads.emplace_back([&, t] {
            Stream mine{device};
            auto x = counted(500), y = make_tensor<float>(device, 500);
            bool all = true;
            for (int round = 0; round < 20; ++round) {
                auto factor = static_cast<float>(t + 1);
                mine << f(x, y, factor).dispatch() << synchronize();
                for (int64_t i = 0; i < 500; ++i) {
                    all &= y.at(i) == factor * factor * x.at(i);
                }
            }
            right[t] = all;
        });
    }
    for (auto &thread : threads) {
        thread.join();
    }
    EXPECT_EQ(right, (std::array{true, true, true}));
}

TEST_P(Program, belongs_to_its_device) {
    auto other = Device::create("interpreter");
    auto f = other.jit(squared_scale());
    auto x = counted(4);
    int at = __LINE__ + 1;
    EXPECT_EQ(error_of<DeviceError>([&] { stream << f(x, x, 1.0f).dispatch(); }),
              "program.cpp:" + std::to_string(at) +
                  ": DeviceError: a program of device 'interpreter' is dispatched on a stream of "
                  "another device");
}

}// namespace luisa::tile
