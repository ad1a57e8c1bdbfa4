// SPDX-License-Identifier: Apache-2.0
#include "unit/runtime/support.h"

#include <numeric>
#include <type_traits>

namespace luisa::tile::test {

namespace {

static_assert(!std::is_copy_constructible_v<Buffer<float>>);
static_assert(std::is_nothrow_move_constructible_v<Buffer<float>>);

auto doubled() {
    return tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        auto i = axis("i", 64);
        for (auto &nest : parallel(shape(ceil_div(X.extent(0), 64)))) {
            auto at = coord(nest.index() * 64);
            Y(at, shape(i)).store(X[at, shape(i)] * 2.0f);
        }
    });
}

std::vector<float> counted(size_t n) {
    std::vector<float> v(n);
    std::iota(v.begin(), v.end(), 0.0f);
    return v;
}

class Buffers : public ::testing::TestWithParam<const char *> {
protected:
    Device device = Device::create(GetParam(), {.threads = 2});
    Stream stream{device};
};

}// namespace

INSTANTIATE_TEST_SUITE_P(Runtime, Buffers, ::testing::Values("cpu", "interpreter"),
                         [](const auto &info) { return std::string{info.param}; });

TEST_P(Buffers, are_arguments_of_kernels) {
    auto host = counted(200);
    std::vector<float> result(200);
    Buffer<float> x{device, 200}, y{device, 200};
    auto f = device.jit(doubled());
    stream << x.copy_from(host) << f(x, y).dispatch() << y.copy_to(result) << synchronize();
    for (size_t i = 0; i < host.size(); ++i) {
        ASSERT_EQ(result[i], 2 * host[i]);
    }
    // The same shader takes the tensors over them.
    EXPECT_EQ(f.shader(x, y).impl(), f.shader(x.tensor(), y.tensor()).impl());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(x.data()) % 64, 0u);
}

TEST_P(Buffers, tensors_share_their_memory) {
    Tensor<float, 2> matrix;
    {
        Buffer<float> buffer{device, 24};
        stream << buffer.copy_from(counted(24));
        matrix = Tensor<float, 2>{buffer, {4, 6}};
        Tensor<const float, 2> columns{buffer, {6, 4}, {1, 6}};
        Tensor<float, 1> backwards{buffer, {24}, {-1}, 23}, every_third{buffer, {8}, {3}, 2};
        EXPECT_EQ(columns.at(5, 3), 23);
        EXPECT_EQ(columns.at(2, 1), 8);
        EXPECT_EQ(backwards.at(0), 23);
        EXPECT_EQ(every_third.at(7), 23);
        EXPECT_EQ(matrix.data(), buffer.data());
    }
    EXPECT_EQ(matrix.at(3, 5), 23);
}

TEST_P(Buffers, of_no_elements_work) {
    Buffer<float> x{device, 0}, y{device, 0};
    auto f = device.jit(doubled());
    stream << x.copy_from({}) << f(x, y).dispatch();
    EXPECT_EQ(x.size(), 0);
    Tensor<float, 2> none{x, {0, 5}};
    EXPECT_EQ(none.size(), 0);
}

TEST_P(Buffers, move_and_free) {
    Buffer<float> x{device, 8}, y{device, 8};
    auto *memory = x.data();
    auto moved = std::move(x);
    EXPECT_EQ(moved.data(), memory);
    EXPECT_EQ(x.size(), 0);
    auto f = device.jit(doubled());
    auto call = f(moved, y);
    moved.free();
    EXPECT_EQ(moved.size(), 0);
    stream << call.dispatch();// the command holds the memory
    auto text = message_of<LifetimeError>([&] { stream << f.shader(y, y)(moved, y).dispatch(); });
    EXPECT_NE(text.find("argument 0 is a tensor that was moved from, freed or never made"),
              std::string::npos)
        << text;
}

TEST_P(Buffers, are_not_left_by_their_tensors) {
    Buffer<float> buffer{device, 24};
    auto message = [](const std::function<void()> &body) {
        auto text = message_of<IndexError>(body);
        EXPECT_EQ(text.rfind("buffer.cpp:", 0), 0u) << text;
        return text.substr(text.find("the tensor"));
    };
    EXPECT_EQ(message([&] {
                  static_cast<void>(Tensor<float, 2>{buffer, {5, 5}});
              }),
              "the tensor reaches elements 0 to 24 of a buffer of 24 elements");
    EXPECT_EQ(message([&] {
                  static_cast<void>(Tensor<float, 1>{buffer, {4}, {1}, 21});
              }),
              "the tensor reaches elements 21 to 24 of a buffer of 24 elements");
    EXPECT_EQ(message([&] {
                  static_cast<void>(Tensor<float, 1>{buffer, {4}, {-1}, 2});
              }),
              "the tensor reaches elements -1 to 2 of a buffer of 24 elements");
    auto huge = std::numeric_limits<int64_t>::max();
    EXPECT_EQ(message([&] {
                  static_cast<void>(Tensor<float, 1>{buffer, {4}, {huge}, 0});
              }),
              "the tensor reaches elements 0 to 9223372036854775807 of a buffer of 24 elements");
    auto text = message_of<ValueError>([&] { static_cast<void>(Buffer<float>{device, -1}); });
    EXPECT_NE(text.find("extent must be >= 0, got -1"), std::string::npos) << text;
    text = message_of<ValueError>([&] { static_cast<void>(Tensor<float, 1>{buffer, {-2}}); });
    EXPECT_NE(text.find("extent must be >= 0, got -2"), std::string::npos) << text;
    text = message_of<LifetimeError>([&] {
        static_cast<void>(Tensor<float, 1>{Buffer<float>{}, {1}});
    });
    EXPECT_NE(text.find("a tensor over a buffer that was moved from, freed or never made"),
              std::string::npos)
        << text;
}

TEST_P(Buffers, hold_the_narrow_formats) {
    Buffer<half> h{device, 3};
    Buffer<float8_e4m3fn> f8{device, 3};
    std::vector<half> host{half{1.5f}, half{-2.0f}, half::from_bits(0x7e01)}, back(3);
    stream << h.copy_from(host) << h.copy_to(back);
    for (size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(back[i].bits(), host[i].bits());
    }
    EXPECT_EQ(f8.argument().type, ScalarType::FLOAT8_E4M3FN);
}

TEST_P(Buffers, outlive_their_device_handle) {
    Buffer<float> buffer;
    {
        auto other = Device::create(GetParam(), {.threads = 2});
        buffer = Buffer<float>{other, 8};
        Stream{other} << buffer.copy_from(counted(8));
    }
    EXPECT_EQ(buffer.data()[7], 7);
}

}// namespace luisa::tile::test
