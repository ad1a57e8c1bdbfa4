// SPDX-License-Identifier: Apache-2.0
// Mistakes that a launch reports, with the whole text that the user reads, on both devices.
#include <luisa/tile.h>

#include "error/reading.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

namespace luisa::tile::test {

namespace {

int line = 0;///< where the mistake stands: `AT, statement` on one line

#define AT line = __LINE__

auto scaled() {
    return tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Y, Scalar<float> s) {
        auto i = axis("i", 4), j = axis("j", 6);
        Y(coord(0, 0), shape(i, j)).store(X[coord(0, 0), shape(i, j)] * s);
    });
}

class BadLaunch : public ::testing::TestWithParam<const char *> {
protected:
    Device device = Device::create(GetParam(), {.threads = 1});
    Stream stream{device};
    Shader shader = device.compile(scaled().capture(tensor_shape(4, 6), tensor_shape(4, 6)));
    Tensor<float, 2> x = make_tensor<float>(device, 4, 6), y = make_tensor<float>(device, 4, 6);

    /// A function, because a macro's arguments all have one line.
    static void expect(const std::function<void()> &mistake, const std::string &whole) {
        EXPECT_EQ(read_by_user("bad_launch.cpp", line, mistake), whole);
    }
};

}// namespace

INSTANTIATE_TEST_SUITE_P(Devices, BadLaunch, ::testing::Values("cpu", "interpreter"),
                         [](const auto &info) { return std::string{info.param}; });

TEST_P(BadLaunch, another_number_of_arguments) {
    expect([&] { AT, stream << shader(x, y).dispatch(); },
           "@+0: CallError: the kernel takes 3 arguments (view of const f32 [4, 6], view of f32 "
           "[4, 6], scalar f32), got 2");
}

TEST_P(BadLaunch, more_instances_than_a_count_can_hold) {
    auto counted = device.jit(
        tile_kernel([](TensorView<float, 1> Y, Scalar<int64_t> a, Scalar<int64_t> b) {
            for (auto &nest : parallel(shape(a, b))) {
                Y(nest.index(0)).store(1.0f);
            }
        }));
    auto one = make_tensor<float>(device, 1);
    one.at(0) = 0.0f;
    int64_t many = int64_t{1} << 40;
    EXPECT_THROW(stream << counted(one, many, many).dispatch(), ResourceError);
    stream << counted(one, many, int64_t{0}).dispatch() << synchronize();
    EXPECT_EQ(one.at(0), 0.0f);
    stream << counted(one, int64_t{1}, int64_t{1}).dispatch() << synchronize();
    EXPECT_EQ(one.at(0), 1.0f);
}

TEST_P(BadLaunch, another_type_or_rank) {
    auto doubles = make_tensor<double>(device, 4, 6);
    expect(
        [&] { AT, stream << shader(doubles, y, 1.0f).dispatch(); },
        "@+0: TypeError: argument 0 is a rank-2 tensor of f64, the kernel expects rank 2 of f32");
    auto row = make_tensor<float>(device, 24);
    expect(
        [&] { AT, stream << shader(x, row, 1.0f).dispatch(); },
        "@+0: TypeError: argument 1 is a rank-1 tensor of f32, the kernel expects rank 2 of f32");
    expect([&] { AT, stream << shader(x, y, 1.0).dispatch(); },
           "@+0: TypeError: argument 2 is f64, the kernel expects a scalar f32");
    expect([&] { AT, stream << shader(x, y, x).dispatch(); },
           "@+0: TypeError: argument 2 is a tensor, the kernel expects a scalar f32");
    expect([&] { AT, stream << shader(1.0f, y, 1.0f).dispatch(); },
           "@+0: TypeError: argument 0 is a number, the kernel expects a view of f32 [4, 6]");
}

TEST_P(BadLaunch, another_extent_or_stride) {
    auto wide = make_tensor<float>(device, 4, 7);
    expect(
        [&] { AT, stream << shader(wide, y, 1.0f).dispatch(); },
        "@+0: ShapeError: argument 0 has extent 7 in dimension 1, the kernel was captured for 6");
    auto part = make_tensor<float>(device, 4, 12).slice(1, 0, 6);
    expect(
        [&] { AT, stream << shader(part, y, 1.0f).dispatch(); },
        "@+0: ShapeError: argument 0 has stride 12 in dimension 0, the kernel was captured for 6");
    auto definition = scaled();
    auto any = device.compile(
        definition.capture(tensor_shape(dynamic("n"), 6), tensor_shape(dynamic("n"), 6)));
    auto five = make_tensor<float>(device, 5, 6);
    expect([&] { AT, stream << any(x, five, 1.0f).dispatch(); },
           "@+0: CallError: extent 'n' is 4 in argument 0 and 5 in argument 1");
}

TEST_P(BadLaunch, read_only_memory_that_is_written) {
    Tensor<const float, 2> constant{y.data(), {4, 6}};
    expect([&] { AT, stream << shader(x, constant, 1.0f).dispatch(); },
           "@+0: TypeError: argument 1 is read only, the kernel's view may be written; declare it "
           "TensorView<const T, R>");
}

TEST_P(BadLaunch, no_memory) {
    Tensor<float, 2> none, null{nullptr, {4, 6}};
    expect([&] { AT, stream << shader(x, none, 1.0f).dispatch(); },
           "@+0: LifetimeError: argument 1 is a tensor that was moved from, freed or never made");
    expect([&] { AT, stream << shader(x, null, 1.0f).dispatch(); },
           "@+0: ValueError: argument 1 has no memory (null data) but elements");
    auto moved = std::move(x);
    expect([&] { AT, stream << shader(x, y, 1.0f).dispatch(); },
           "@+0: LifetimeError: argument 0 is a tensor that was moved from, freed or never made");
    expect([&] { AT, stream << Shader{}(moved, y, 1.0f).dispatch(); },
           "@+0: LifetimeError: an empty Shader is dispatched: compile a kernel first");
}

TEST_P(BadLaunch, an_output_whose_places_share_elements) {
    auto f = device.jit(scaled());
    auto repeated = make_tensor<float>(device, 1, 6).repeated(0, 4);
    expect([&] { AT, stream << f(x, repeated, 1.0f).dispatch(); },
           "@+0: AliasError: argument 1 is written, but its elements (0, 0) and (1, 0) share an "
           "address (strides 0, 1); write to a view whose elements are distinct");
    Tensor<float, 2> sliding{y.data(), {4, 6}, {1, 1}};
    expect([&] { AT, stream << f(x, sliding, 1.0f).dispatch(); },
           "@+0: AliasError: argument 1 is written, but its elements (0, 1) and (1, 0) share an "
           "address (strides 1, 1); write to a view whose elements are distinct");
    // Reading them is fine, and nothing was written before the mistake was found.
    std::iota(y.data(), y.data() + 24, 0.0f);
    stream << f(sliding, x, 2.0f).dispatch();
    EXPECT_EQ(x.at(3, 5), 16);
    EXPECT_THROW(stream << f(x, sliding, 0.0f).dispatch(), AliasError);
    EXPECT_EQ(y.at(0, 0), 0);
    EXPECT_EQ(y.at(0, 1), 1);
}

TEST_P(BadLaunch, host_memory_of_another_size) {
    std::vector<float> few(23);
    expect([&] { AT, stream << x.copy_from(few); },
           "@+0: ShapeError: copy_from: the tensor has 24 elements, the host memory 23");
    expect([&] { AT, stream << x.copy_to(few); },
           "@+0: ShapeError: copy_to: the tensor has 24 elements, the host memory 23");
    Tensor<float, 1> sliding{x.data(), {3}, {0}};
    std::vector<float> three(3);
    expect([&] { AT, stream << sliding.copy_from(three); },
           "@+0: AliasError: copy_from: elements (0) and (1) share an address (strides 0)");
    expect([&] { AT, static_cast<void>(x.slice(1, 2, 7)); },
           "@+0: IndexError: slice: [2, 7) leaves axis 1 of extent 6");
    expect([&] { AT, static_cast<void>(x.slice(2, 0, 1)); },
           "@+0: IndexError: axis 2 of a tensor of rank 2; axes are 0 to 1");
    expect([&] { AT, static_cast<void>(x.slice(0, 0, 1, 0)); },
           "@+0: ValueError: slice: the step is 0, expected another number");
    expect([&] { AT, static_cast<void>(x.repeated(0, 2)); },
           "@+0: ShapeError: repeated: axis 0 has extent 4, expected 1");
}

TEST_P(BadLaunch, a_shader_of_another_device) {
    auto other = Device::create(GetParam(), {.threads = 1});
    Stream foreign{other};
    auto text = read_by_user("bad_launch.cpp", line,
                             [&] { AT, foreign << shader(x, y, 1.0f).dispatch(); });
    EXPECT_EQ(text, std::string{"@+0: DeviceError: a shader of device '"} + GetParam() +
                        "' is dispatched on a stream of another device");
}

TEST(BadLaunchOfValidation, instances_that_write_one_element) {
    auto device = Device::create("interpreter", {.threads = 1, .validate = true});
    auto racing = device.jit(tile_kernel([](TensorView<float, 1> Y) {
        for (auto &nest : parallel(shape(4))) {
            AT, Y(nest.index() / 2).store(1.0f);
        }
    }));
    auto y = make_tensor<float>(device, 4);
    Stream stream{device};
    EXPECT_EQ(read_by_user("bad_launch.cpp", line, [&] { stream << racing(y).dispatch(); }),
              "@+0: RaceError: store: instances (0) and (1) of one parallel both write element (0) "
              "of parameter 0; make their parts disjoint, or combine them with reduce\n"
              "  note: the parallel opened here (@-1)");
}

TEST(BadLaunchOfValidation, coordinates_that_leave_a_view_or_tile) {
    auto device = Device::create("interpreter", {.threads = 1, .validate = true});
    auto assumed = device.jit(tile_kernel([](TensorView<float, 1> Y) {
        for (auto &nest : parallel(shape(2))) {
            auto place = coord(nest.index() * 3);
            AT, Y(place, shape(3), bounds::assume).store(ones<float>(shape(3)));
        }
    }));
    auto extracted = device.jit(tile_kernel([](TensorView<float, 1> Y) {
        auto x = Y[coord(0), shape(4)];
        for (auto &s : serial(range(0, 5))) {
            AT, Y(0).store(x.at(coord(s.index())));
        }
    }));
    auto y = make_tensor<float>(device, 4);
    Stream stream{device};
    EXPECT_EQ(read_by_user("bad_launch.cpp", line, [&] { stream << assumed(y).dispatch(); }),
              "@+0: BoundsError: store: element (4) of parameter 0 is outside its extents (4), "
              "though bounds::assume promises otherwise; use bounds::zero");
    EXPECT_EQ(read_by_user("bad_launch.cpp", line, [&] { stream << extracted(y).dispatch(); }),
              "@+0: BoundsError: extract: coordinate 4 is outside axis 0 of [4]; guard it with "
              "ite, or give a fallback");
}

}// namespace luisa::tile::test
