// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace luisa::tile {
namespace {

/// Captures `f` and gives the kind and message of the error.
std::string error_of(const std::function<void()> &f) {
    try {
        (void)tile_kernel([=](TensorView<float, 1>) { f(); }).capture(tensor_shape(8));
    } catch (const Error &e) {
        EXPECT_TRUE(e.location().known()) << e.what();
        return std::string{to_string(e.kind())} + ": " + e.message();
    }
    return "no error";
}

Axis m() { return axis("m", 4); }

TEST(ScanErrors, AxisThatTheTileLacks) {
    EXPECT_EQ(
        error_of([] { (void)scan(zeros<float>(shape(m())), axis("n", 4), add); }),
        "IndexError: scan: the tile of shape [4] has no such axis; scan along one of its own");
}

TEST(ScanErrors, ReducerOfOtherTypes) {
    auto a = m();
    EXPECT_EQ(error_of([=] { (void)scan(zeros<bool>(shape(a)), a, add); }),
              "TypeError: scan: this reducer does not combine bool; cast the tile first");
    EXPECT_EQ(error_of([=] { (void)scan(zeros<int>(shape(a)), a, logical_or); }),
              "TypeError: scan: this reducer does not combine i32; cast the tile first");
    EXPECT_EQ(error_of([=] { (void)scan(zeros<float>(shape(a)), a, bit_xor); }),
              "TypeError: scan: this reducer does not combine f32; cast the tile first");
    EXPECT_EQ(error_of([=] { (void)scan(zeros<float8_e5m2>(shape(a)), a, add); }),
              "TypeError: scan: this reducer does not combine e5m2; cast<float> first, quantize "
              "after");
}

TEST(ScanErrors, Policies) {
    auto a = m();
    auto with = [=](ReductionPolicy policy) {
        return error_of([=] { (void)scan(zeros<float>(shape(a)), a, add, {.policy = policy}); });
    };
    EXPECT_EQ(with(reduction::unordered_tree),
              "ValueError: scan: unordered_tree permutes elements, which a prefix does not allow; "
              "use ordered_tree, balanced_tree or fold_left");
    EXPECT_EQ(with(reduction::fold_right),
              "ValueError: scan: fold_right begins at the last element, which no prefix but one "
              "has; use fold_left, with .reverse to go the other way");
}

TEST(ScanErrors, Seeds) {
    auto a = m();
    auto n = axis("n", 3);
    EXPECT_EQ(
        error_of([=] { (void)scan(zeros<float>(shape(a)), a, add, {.seed = Scalar<int>{1}}); }),
        "TypeError: scan: the seed is i32, the tile f32; cast the seed to the type of the "
        "tile");
    EXPECT_EQ(error_of([=] {
                  (void)scan(zeros<float>(shape(a)), a, add, {.seed = zeros<float>(shape(a))});
              }),
              "ShapeError: scan: a seed of shape [4] does not fit a tile of shape [4]; it has "
              "dimensions of the tile, but not the scanned one");
    EXPECT_EQ(error_of([=] {
                  (void)scan(zeros<float>(shape(a)), a, add, {.seed = zeros<float>(shape(n))});
              }),
              "ShapeError: scan: a seed of shape [3] does not fit a tile of shape [4]; it has "
              "dimensions of the tile, but not the scanned one");
}

TEST(ScanErrors, Masks) {
    auto a = m();
    auto n = axis("n", 3);
    EXPECT_EQ(error_of([=] {
                  (void)scan(zeros<float>(shape(a)), a, add, {.mask = zeros<bool>(shape(n))});
              }),
              "ShapeError: scan: a mask of shape [3] does not fit a tile of shape [4]; its "
              "dimensions are among those of the tile");
}

}// namespace
}// namespace luisa::tile
