// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/registry.h>

#include "support.h"

#include <luisa/tile.h>

namespace luisa::tile::test {

namespace {

auto scaling() {
    return tile_kernel(
        [](TensorView<const float, 2> X, TensorView<float, 2> Y, Scalar<float> factor) {
            auto c = axis("c", X.extent(1));
            for (auto &nest : parallel(shape(X.extent(0)))) {
                auto at = coord(nest.index(), 0);
                Y(at, shape(1, c)).store(X[at, shape(1, c)] * factor);
            }
        });
}

}// namespace

TEST(Registry, keeps_a_kernel_by_name_as_long_as_its_object) {
    EXPECT_EQ(registered_kernels(), std::vector<std::string>{});
    {
        const Registered b{"b.scale", scaling()}, a{"a.scale", scaling()};
        EXPECT_EQ(registered_kernels(), (std::vector<std::string>{"a.scale", "b.scale"}));
        auto parameters = registered_parameters("a.scale");
        ASSERT_EQ(parameters.size(), 3u);
        EXPECT_TRUE(parameters[0].is_view && parameters[0].read_only);
        EXPECT_TRUE(parameters[1].is_view && !parameters[1].read_only);
        EXPECT_EQ(parameters[1].rank, 2);
        EXPECT_FALSE(parameters[2].is_view);
        auto kernel = capture_registered("b.scale", {tensor_shape(2, 3), tensor_shape(2, 3)});
        EXPECT_EQ(kernel.ir_text(),
                  scaling().capture(tensor_shape(2, 3), tensor_shape(2, 3)).ir_text());
    }
    EXPECT_EQ(registered_kernels(), std::vector<std::string>{});
}

TEST(Registry, says_what_there_is_and_what_is_wrong) {
    EXPECT_EQ(message_of<ValueError>([] {
                  static_cast<void>(registered_parameters("x", {"user.cpp", 3}));
              }),
              "user.cpp:3: ValueError: no kernel is registered as 'x'; none is registered");
    const Registered a{"a.scale", scaling(), {"a.cpp", 10}}, b{"b.scale", scaling()};
    EXPECT_EQ(
        message_of<ValueError>([] {
            static_cast<void>(registered_parameters("x", {"user.cpp", 3}));
        }),
        "user.cpp:3: ValueError: no kernel is registered as 'x'; there are 'a.scale', 'b.scale'");
    EXPECT_EQ(
        message_of<CallError>([] {
            static_cast<void>(capture_registered("a.scale", {tensor_shape(2, 3)}, {"user.cpp", 3}));
        }),
        "user.cpp:3: CallError: kernel 'a.scale' has 2 views to capture for, got 1 tensor shapes");
    EXPECT_EQ(message_of<CallError>([] {
                  static_cast<void>(capture_registered(
                      "a.scale", {tensor_shape(2, 3), tensor_shape(2)}, {"user.cpp", 3}));
              }),
              "user.cpp:3: CallError: kernel 'a.scale' has a view of rank 2 as parameter 1, got 1 "
              "extents");
    const Registered again{"a.scale", scaling(), {"b.cpp", 20}};
    EXPECT_EQ(message_of<ValueError>([] {
                  static_cast<void>(registered_parameters("a.scale", {"user.cpp", 3}));
              }),
              "user.cpp:3: ValueError: several kernels are registered as 'a.scale'; give each its "
              "own name\n"
              "  note: one is registered here (a.cpp:10)\n  note: another one here (b.cpp:20)");
}

}// namespace luisa::tile::test
