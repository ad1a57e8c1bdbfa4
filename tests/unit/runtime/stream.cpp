// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/functions.h>
#include <luisa/tile/runtime.h>

#include <gtest/gtest.h>

#include <cfenv>
#include <cstring>
#include <thread>
#include <vector>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace luisa::tile {

namespace {

/// y = alpha * x + y over rows of any length.
auto axpy() {
    return tile_kernel(
        [](TensorView<const float, 1> X, TensorView<float, 1> Y, Scalar<float> alpha) {
            auto i = axis("i", 64);
            for (auto &nest : parallel(shape(ceil_div(X.extent(0), 64)))) {
                auto i0 = nest.index(0) * 64;
                auto x = X[coord(i0), shape(i)];
                auto y = Y[coord(i0), shape(i)];
                Y(coord(i0), shape(i)).store(x * alpha + y);
            }
        });
}

std::vector<float> counted(size_t n) {
    std::vector<float> v(n);
    for (size_t i = 0; i < n; ++i) {
        v[i] = static_cast<float>(i % 1021);
    }
    return v;
}

DeviceOptions with_threads(int threads) {
    DeviceOptions options;
    options.threads = threads;
    return options;
}

class Devices : public ::testing::TestWithParam<const char *> {
protected:
    Device device = Device::create(GetParam(), with_threads(2));
};

}// namespace

INSTANTIATE_TEST_SUITE_P(Stream, Devices, ::testing::Values("cpu", "interpreter"),
                         [](const auto &info) { return std::string{info.param}; });

TEST_P(Devices, the_sentence_of_the_guide_works) {
    for (int64_t n : {0, 1, 63, 64, 65, 5000}) {
        auto x = counted(static_cast<size_t>(n)), y = counted(static_cast<size_t>(n));
        std::vector<float> result(x.size(), -1);
        auto shader = compile(device, axpy().capture(tensor_shape(n), tensor_shape(n)));
        auto a = make_tensor<float>(device, n), b = make_tensor<float>(device, n);
        Stream stream{device};
        stream << a.copy_from(x) << b.copy_from(y) << shader(a, b, 2.0f).dispatch()
               << b.copy_to(result) << synchronize();
        for (size_t i = 0; i < result.size(); ++i) {
            ASSERT_EQ(result[i], 3 * x[i]) << n << " " << i;
        }
    }
}

TEST_P(Devices, one_shader_serves_every_length_of_a_runtime_extent) {
    auto shader = compile(device,
                          axpy().capture(tensor_shape(dynamic("n")), tensor_shape(dynamic("n"))));
    Stream stream{device};
    for (int64_t n : {0, 1, 64, 100, 3000}) {
        auto x = counted(static_cast<size_t>(n)), y = x;
        Tensor<const float, 1> a{x.data(), {n}};
        Tensor<float, 1> b{y.data(), {n}};
        stream << shader(a, b, -1.0f).dispatch();
        EXPECT_EQ(y, std::vector<float>(x.size(), 0.0f)) << n;
    }
}

TEST_P(Devices, copies_follow_strides_in_row_major_order) {
    std::vector<float> memory(24, -1), host{0, 1, 2, 3, 4, 5}, back(6);
    Tensor<float, 2> t{memory.data(), {4, 6}};
    auto view = t.slice(0, 0, 3, 1).slice(1, 1, 5, 3).transposed(0, 1);
    Stream stream{device};
    stream << view.copy_from(host) << view.copy_to(back);
    EXPECT_EQ(back, host);
    EXPECT_EQ(t.at(0, 1), 0);
    EXPECT_EQ(t.at(2, 1), 2);
    EXPECT_EQ(t.at(0, 4), 3);
    EXPECT_EQ(t.at(3, 1), -1);
    EXPECT_THROW(static_cast<void>(view.copy_to(std::span{back}.first(5))), ShapeError);
}

TEST_P(Devices, commands_run_in_order_and_events_measure) {
    Stream stream{device};
    Event begin, end;
    std::vector<int> order;
    stream << begin << [&] { order.push_back(1); }
           << [&] { std::this_thread::sleep_for(std::chrono::milliseconds{2}); }
           << [&] { order.push_back(2); } << end << synchronize();
    EXPECT_EQ(order, (std::vector<int>{1, 2}));
    EXPECT_GE(end.milliseconds_since(begin), 2.0);
    EXPECT_THROW(static_cast<void>(end.milliseconds_since(Event{})), StateError);
}

TEST_P(Devices, an_exception_of_a_callback_comes_out_and_the_stream_goes_on) {
    Stream stream{device};
    EXPECT_THROW(
        stream << [] { throw 7; }, int);
    int ran = 0;
    stream << [&] { ++ran; };
    EXPECT_EQ(ran, 1);
}

TEST_P(Devices, the_default_float_environment_holds_inside_and_the_callers_outside) {
    float x[1] = {1.0f}, y[1] = {0x1p-24f};
    auto shader = compile(device, axpy().capture(tensor_shape(1), tensor_shape(1)));
    Stream stream{device};
    ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
    stream << shader(Tensor<const float, 1>{x, {1}}, Tensor<float, 1>{y, {1}}, 1.0f).dispatch();
    auto mode = std::fegetround();
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(mode, FE_UPWARD);
    EXPECT_EQ(y[0], 1.0f);
#if defined(__SSE2__)
    float tiny[1] = {0x1p-140f}, sum[1] = {0};
    auto saved = _mm_getcsr();
    _mm_setcsr(saved | 0x8040);// flush to zero, denormals are zero
    Tensor<const float, 1> in{tiny, {1}};
    Tensor<float, 1> out{sum, {1}};
    stream << shader(in, out, 1.0f).dispatch();
    auto after = _mm_getcsr();
    _mm_setcsr(saved);
    EXPECT_EQ(after & 0x8040, 0x8040u);
    EXPECT_EQ(std::memcmp(tiny, sum, 4), 0);
#endif
}

TEST_P(Devices, shaders_belong_to_their_device) {
    auto other = Device::create(GetParam(), with_threads(1));
    auto shader = compile(other, axpy().capture(tensor_shape(1), tensor_shape(1)));
    float x[1] = {1}, y[1] = {1};
    Stream stream{device};
    Tensor<float, 1> a{x, {1}}, b{y, {1}};
    EXPECT_THROW(stream << shader(a, b, 1.0f).dispatch(), DeviceError);
    EXPECT_THROW(stream << Shader{}(a, b, 1.0f).dispatch(), LifetimeError);
}

TEST_P(Devices, handles_may_go_in_any_order) {
    Shader shader;
    std::vector<float> x(100, 1), y(100, 1);
    {
        auto device2 = Device::create(GetParam(), with_threads(2));
        shader = compile(device2, axpy().capture(tensor_shape(100), tensor_shape(100)));
    }
    EXPECT_NE(shader.impl(), nullptr);
    EXPECT_NO_THROW(static_cast<void>(shader.metadata()));
}

}// namespace luisa::tile
