// SPDX-License-Identifier: Apache-2.0
#include "unit/runtime/support.h"

// Compiling on a device: cached, afresh, and with errors as values.

namespace luisa::tile::test {

namespace {

Kernel filled(float value) {
    return tile_kernel([=](TensorView<float, 1> Y) {
               auto i = axis("i", 16);
               Y(coord(0), shape(i)).store(full<float>(shape(i), value));
           })
        .capture(tensor_shape(16));
}

class Compiling : public ::testing::TestWithParam<const char *> {
protected:
    Device device = Device::create(GetParam(), {.threads = 1});
};

float first_of(const Device &device, const Shader &shader) {
    Stream stream{device};
    auto y = make_tensor<float>(device, 16);
    stream << shader(y).dispatch();
    return y.at(0);
}

}// namespace

INSTANTIATE_TEST_SUITE_P(Runtime, Compiling, ::testing::Values("cpu", "interpreter"),
                         [](const auto &info) { return std::string{info.param}; });

TEST_P(Compiling, equal_kernels_share_a_shader_unless_compiled_afresh) {
    auto one = device.compile(filled(1)), same = compile(device, filled(1)),
         other = device.compile(filled(2));
    EXPECT_EQ(one.impl(), same.impl());
    EXPECT_NE(one.impl(), other.impl());
    auto fresh = device.compile(filled(1), {.cached = false});
    EXPECT_NE(fresh.impl(), one.impl());
    EXPECT_NE(compile(device, filled(1), {.cached = false}).impl(), fresh.impl());
    EXPECT_EQ(first_of(device, one), 1);
    EXPECT_EQ(first_of(device, other), 2);
    EXPECT_EQ(first_of(device, fresh), 1);
    EXPECT_EQ(device.compile(filled(1)).impl(), one.impl());
}

TEST_P(Compiling, a_fresh_shader_keeps_the_device_and_ends_with_its_handles) {
    std::weak_ptr<runtime::DeviceImpl> alive;
    Shader shader;
    {
        auto temporary = Device::create(GetParam(), {.threads = 2});
        alive = temporary.shared_impl();
        shader = temporary.compile(filled(3), {.cached = false});
    }
    EXPECT_FALSE(alive.expired());
    EXPECT_NO_THROW(static_cast<void>(shader.metadata()));
    shader = {};
    EXPECT_TRUE(alive.expired());
}

TEST_P(Compiling, errors_come_as_values_on_request) {
    auto good = device.try_compile(filled(4));
    ASSERT_TRUE(good);
    EXPECT_FALSE(good.error);
    EXPECT_EQ(first_of(device, good.shader), 4);
    auto bad = device.try_compile(Kernel{});
    EXPECT_FALSE(bad);
    ASSERT_TRUE(bad.error);
    std::string thrown;
    try {
        static_cast<void>(device.compile(Kernel{}));
    } catch (const Error &error) {
        thrown = error.what();
    }
    EXPECT_EQ(bad.error->what(), thrown);
    EXPECT_EQ(bad.error->kind(), ErrorKind::CAPTURE);
    EXPECT_EQ(bad.shader.impl(), nullptr);
}

TEST(EmptyDevice, every_use_says_so) {
    Device empty;
    const char *expected = "LifetimeError: this Device is empty: Device::create(\"cpu\") makes one";
    const std::function<void()> uses[] = {
        [&] { static_cast<void>(empty.name()); },
        [&] { static_cast<void>(empty.threads()); },
        [&] { static_cast<void>(empty.description()); },
        [&] { static_cast<void>(empty.compile(filled(1))); },
        [&] { static_cast<void>(make_tensor<float>(empty, 3)); },
        [&] {
            static_cast<void>(Buffer<float>{empty, 3});
        },
        [&] { static_cast<void>(Stream{empty}); },
        [&] {
            static_cast<void>(Stream{empty, {.async = true}});
        },
    };
    for (const auto &use : uses) {
        auto text = message_of<LifetimeError>(use);
        EXPECT_NE(text.find(expected), std::string::npos) << text;
    }
}

}// namespace luisa::tile::test
