// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace luisa::tile {
namespace {

using X = TensorView<const float, 1>;
using Y = TensorView<float, 1>;

/// Captures `f` over vectors of 8 and gives the kind and message of the error.
std::string error_of(const std::function<void(X, Y)> &f) {
    try {
        (void)tile_kernel([=](X x, Y y) { f(x, y); }).capture(tensor_shape(8), tensor_shape(8));
    } catch (const Error &e) {
        EXPECT_TRUE(e.location().known()) << e.what();
        return std::string{to_string(e.kind())} + ": " + e.message();
    }
    return "no error";
}

TEST(FrontendErrors, NestHandleAfterItsBody) {
    EXPECT_EQ(error_of([](X, Y) {
                  const Nest *kept = nullptr;
                  for (auto &s : serial(shape(4))) {
                      kept = &s;
                  }
                  (void)kept->index();
              }),
              "ScopeError: this `serial` handle is used after its body");
}

TEST(FrontendErrors, ReadBeforeAValue) {
    EXPECT_EQ(error_of([](X, Y y) {
                  Tile<float> nothing;
                  y(coord(0), shape(8)).store(nothing);
              }),
              "ScopeError: this variable is read before it has a value");
}

TEST(FrontendErrors, ReadAfterMove) {
    EXPECT_EQ(error_of([](X, Y y) {
                  auto a = zeros<float>(shape(8));
                  auto b = std::move(a);
                  y(coord(0), shape(8)).store(a);
              }),
              "ScopeError: this variable was moved from; assign it before reading it");
}

TEST(FrontendErrors, AssignedInANestWithoutAValueBefore) {
    EXPECT_EQ(
        error_of([](X, Y) {
            Tile<float> late;
            for ([[maybe_unused]] auto &s : serial(shape(4))) {
                late = zeros<float>(shape(8));
            }
        }),
        "ScopeError: a variable assigned in this `serial` has no value before it; give it one (the "
        "nest may run zero times)");
}

TEST(FrontendErrors, AncestorUpdateThatDependsOnTheChild) {
    EXPECT_EQ(
        error_of([](X x, Y) {
            auto sum = zeros<float>(shape());
            for (auto &nest : parallel(shape(8))) {
                sum = x(nest.index()).load();
            }
        }),
        "ScopeError: an outer value assigned inside `parallel` depends on the child's coordinates; "
        "write y = insert(y, child, v), or use reduce or serial");
}

TEST(FrontendErrors, MovedFromAtTheEndOfABody) {
    EXPECT_EQ(
        error_of([](X, Y) {
            auto a = zeros<float>(shape(8));
            for ([[maybe_unused]] auto &s : serial(shape(4))) {
                auto b = std::move(a);
            }
        }),
        "ScopeError: a variable declared outside this nest is moved from at the end of its body, "
        "which may run many times; copy it instead");
}

TEST(FrontendErrors, StageOutsideAPipeline) {
    EXPECT_EQ(error_of([](X, Y) {
                  for (auto &s : serial(shape(4))) {
                      s.stage("load");
                  }
              }),
              "ScopeError: stage() belongs to the handle of a pipeline");
}

TEST(FrontendErrors, ZeroStep) {
    EXPECT_EQ(error_of([](X, Y) {
                  for ([[maybe_unused]] auto &s : serial(range(0, 8, 0))) {}
              }),
              "ValueError: range: a step of zero never ends; give a positive or negative step");
}

TEST(FrontendErrors, MmaOfPositionalShapes) {
    EXPECT_EQ(error_of([](X, Y) {
                  auto a = zeros<float>(shape(4, 4));
                  (void)mma(a, a, a);
              }),
              "ShapeError: mma: no dimension is contracted (in a and b, not in the accumulator); "
              "positional shapes give every operand the same dimensions: use axis(…), or matmul");
}

TEST(FrontendErrors, LeftByBreak) {
    auto text = error_of([](X, Y) {
        for ([[maybe_unused]] auto &s : serial(shape(4))) {
            break;
        }
    });
    EXPECT_NE(text.find("break, return or goto"), std::string::npos) << text;
}

TEST(FrontendErrors, FirstErrorStaysWhenSwallowed) {
    EXPECT_EQ(error_of([](X, Y y) {
                  Tile<float> nothing;
                  try {
                      (void)(nothing + nothing);
                  } catch (const Error &) {}
                  y(coord(0), shape(8)).store(zeros<float>(shape(8)));
              }),
              "ScopeError: this variable is read before it has a value");
}

TEST(FrontendErrors, ValueOutsideACapture) {
    EXPECT_THROW((void)zeros<float>(shape(4)), CaptureError);
}

}// namespace
}// namespace luisa::tile
