// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/functions.h>
#include <luisa/tile/runtime.h>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace luisa::tile {

namespace {

using Count = std::shared_ptr<std::atomic<int>>;

/// out = alpha * in; counts its captures.
auto scale(Count captures, bool noalias = false) {
    KernelOptions options;
    options.noalias = noalias;
    return tile_kernel(
        [captures](TensorView<const float, 2> In, TensorView<float, 2> Out, Scalar<float> alpha) {
            ++*captures;
            auto r = axis("r", 4), c = axis("c", 16);
            for (auto &nest :
                 parallel(shape(ceil_div(In.extent(0), 4), ceil_div(In.extent(1), 16)))) {
                auto at = coord(nest.index(0) * 4, nest.index(1) * 16);
                Out(at, shape(r, c)).store(In[at, shape(r, c)] * alpha);
            }
        },
        options);
}

Count counter() { return std::make_shared<std::atomic<int>>(0); }

DeviceOptions two_threads(bool validate = false) {
    DeviceOptions options;
    options.threads = 2;
    options.validate = validate;
    return options;
}

Tensor<float, 2> filled(const Device &device, int64_t rows, int64_t columns) {
    auto t = make_tensor<float>(device, rows, columns);
    for (int64_t i = 0; i < t.size(); ++i) {
        t.data()[i] = static_cast<float>(i);
    }
    return t;
}

class Jit : public ::testing::TestWithParam<const char *> {
protected:
    Device device = Device::create(GetParam(), two_threads());
    Stream stream{device};
};

}// namespace

INSTANTIATE_TEST_SUITE_P(Runtime, Jit, ::testing::Values("cpu", "interpreter"),
                         [](const auto &info) { return std::string{info.param}; });

TEST_P(Jit, captures_once_for_each_set_of_extents_and_strides) {
    auto captures = counter();
    auto f = device.jit(scale(captures));
    auto a = filled(device, 6, 20), b = filled(device, 6, 20);
    stream << f(a, b, 2.0f).dispatch() << f(a, b, 3.0f).dispatch();
    EXPECT_EQ(captures->load(), 1);
    EXPECT_EQ(b.at(5, 19), 3 * 119);
    auto c = filled(device, 20, 6), d = filled(device, 20, 6);
    stream << f(c, d, 2.0f).dispatch();
    EXPECT_EQ(captures->load(), 2);
    stream << f(c.transposed(0, 1), b, 1.0f).dispatch();
    EXPECT_EQ(captures->load(), 3);
    EXPECT_EQ(b.at(2, 19), c.at(19, 2));
    EXPECT_EQ(f.shader(a, b, 0.0f).impl(), f.shader(a, b, 9.0f).impl());
}

TEST_P(Jit, strided_backward_and_repeated_views_give_the_right_elements) {
    auto f = device.jit(scale(counter()));
    auto a = filled(device, 8, 40), out = filled(device, 4, 20);
    auto check = [&](const Tensor<float, 2> &in) {
        stream << f(in, out, -2.0f).dispatch();
        for (int64_t i = 0; i < 4; ++i) {
            for (int64_t j = 0; j < 20; ++j) {
                ASSERT_EQ(out.at(i, j), -2 * in.at(i, j)) << i << " " << j;
            }
        }
    };
    check(a.slice(0, 0, 8, 2).slice(1, 0, 40, 2));
    check(a.slice(0, 7, 3, -1).slice(1, 39, 19, -1));
    check(a.slice(0, 3, 4).repeated(0, 4).slice(1, 5, 25));
    check(a.slice(1, 3, 4).repeated(1, 20).slice(0, 2, 6));
}

TEST_P(Jit, equal_programs_share_one_shader) {
    auto first = compile(device, scale(counter()).capture(tensor_shape(5, 7), tensor_shape(5, 7)));
    auto second = compile(device, scale(counter()).capture(tensor_shape(5, 7), tensor_shape(5, 7)));
    auto other = compile(device, scale(counter()).capture(tensor_shape(5, 8), tensor_shape(5, 8)));
    EXPECT_EQ(first.impl(), second.impl());
    EXPECT_NE(first.impl(), other.impl());
}

TEST_P(Jit, threads_that_ask_at_once_get_one_shader) {
    auto captures = counter();
    auto f = device.jit(scale(captures));
    auto a = filled(device, 9, 33), b = filled(device, 9, 33);
    std::vector<const runtime::ShaderImpl *> got(4);
    std::vector<std::thread> threads;
    for (size_t t = 0; t < got.size(); ++t) {
        threads.emplace_back([&, t, mine = f] { got[t] = mine.shader(a, b, 1.0f).impl(); });
    }
    for (auto &thread : threads) {
        thread.join();
    }
    for (auto *impl : got) {
        EXPECT_EQ(impl, got[0]);
    }
    EXPECT_EQ(captures->load(), 1);
}

TEST_P(Jit, several_streams_of_one_device_run_at_once) {
    auto f = device.jit(scale(counter()));
    std::atomic<bool> right{true};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
        threads.emplace_back([&, t] {
            Stream own{device};
            auto a = filled(device, 40, 64), b = filled(device, 40, 64);
            for (int round = 1; round <= 20; ++round) {
                own << f(a, b, static_cast<float>(round + t)).dispatch();
                right = right && b.at(39, 63) == static_cast<float>((round + t) * 2559);
            }
        });
    }
    for (auto &thread : threads) {
        thread.join();
    }
    EXPECT_TRUE(right.load());
}

TEST_P(Jit, in_place_works_without_the_promise) {
    auto f = device.jit(scale(counter()));
    auto a = filled(device, 13, 35);
    stream << f(a, a, 2.0f).dispatch();
    for (int64_t i = 0; i < a.size(); ++i) {
        ASSERT_EQ(a.data()[i], static_cast<float>(2 * i));
    }
}

TEST_P(Jit, a_tile_is_read_whole_before_an_overlapping_one_is_written) {
    auto f = device.jit(scale(counter()));
    for (int64_t shift : {1, 3, 15}) {
        for (bool forwards : {true, false}) {
            auto a = filled(device, 1, 40);
            auto from = forwards ? int64_t{0} : shift, to = shift - from;
            stream << f(a.slice(1, from, from + 16), a.slice(1, to, to + 16), 1.0f).dispatch();
            for (int64_t i = 0; i < 40; ++i) {
                auto written = i >= to && i < to + 16;
                ASSERT_EQ(a.at(0, i), static_cast<float>(written ? i - to + from : i))
                    << shift << " " << forwards << " " << i;
            }
        }
    }
}

TEST_P(Jit, a_broken_noalias_promise_is_an_error) {
    for (bool validate : {false, true}) {
        auto checked = Device::create(GetParam(), two_threads(validate));
        Stream own{checked};
        auto f = checked.jit(scale(counter(), true));
        auto a = filled(checked, 8, 32);
        EXPECT_THROW(own << f(a, a, 2.0f).dispatch(), AliasError);
        EXPECT_EQ(a.at(0, 5), 5) << "nothing may have run";
        EXPECT_NO_THROW(own << f(a.slice(0, 0, 4), a.slice(0, 4, 8), 2.0f).dispatch());
        EXPECT_NO_THROW(own << f(a.slice(1, 0, 16), a.slice(1, 16, 32), 2.0f).dispatch())
            << "the address ranges interleave, but no element is shared";
    }
}

TEST_P(Jit, an_output_with_stride_zero_is_rejected) {
    auto f = device.jit(scale(counter()));
    auto a = filled(device, 4, 20), b = filled(device, 1, 20);
    try {
        stream << f(a, b.repeated(0, 4), 1.0f).dispatch();
        FAIL();
    } catch (const AliasError &error) {
        EXPECT_NE(error.message().find("share an address"), std::string::npos) << error.what();
    }
}

TEST_P(Jit, a_definition_that_fails_fails_each_time_and_poisons_nothing) {
    auto fail = std::make_shared<std::atomic<bool>>(true);
    auto f = device.jit(tile_kernel([fail](TensorView<float, 1> X) {
        if (*fail) {
            throw ValueError{"not today"};
        }
        auto i = axis("i", 8);
        for (auto &nest : parallel(shape(ceil_div(X.extent(0), 8)))) {
            auto at = coord(nest.index(0) * 8);
            X(at, shape(i)).store(X[at, shape(i)] + 1.0f);
        }
    }));
    auto x = make_tensor<float>(device, 8);
    x.at(3) = 1;
    EXPECT_THROW(static_cast<void>(f(x)), ValueError);
    EXPECT_THROW(static_cast<void>(f(x)), ValueError);
    *fail = false;
    stream << f(x).dispatch();
    EXPECT_EQ(x.at(3), 2);
}

}// namespace luisa::tile
