// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>
#include <luisa/tile/sort.h>

#include <gtest/gtest.h>

#include <functional>
#include <string>

// What the user of a wrong ordering reads, whole, and where it points.

namespace luisa::tile::test {
namespace {

/// The error of one call over x, a tile of 4 × 6 and its axes. It points into this file, and so does each note.
std::string error_of(const std::function<void(const Tile<float> &, Axis, Axis)> &f) {
    auto text = std::string{"no error"};
    auto here = SourceLoc::current();
    try {
        (void)tile_kernel([&](TensorView<const float, 2>) {
            auto i = axis("i", 4), j = axis("j", 6);
            f(zeros<float>(shape(i, j)), i, j);
        }).capture(tensor_shape(4, 6));
    } catch (const Error &e) {
        EXPECT_STREQ(e.location().file, here.file) << e.what();
        EXPECT_GT(e.location().line, here.line) << e.what();
        text = std::string{to_string(e.kind())} + ": " + e.message();
    }
    return text;
}

}// namespace

TEST(SortErrors, AnAxisThatTheTileLacks) {
    auto other = axis("other", 6);
    EXPECT_EQ(error_of([=](const auto &x, Axis, Axis) { (void)sort(x, other); }),
              "IndexError: sort: the tile of shape [4, 6] has no such axis");
    EXPECT_EQ(error_of([=](const auto &x, Axis, Axis) { (void)argsort(x, other); }),
              "IndexError: sort: the tile of shape [4, 6] has no such axis");
    EXPECT_EQ(error_of([=](const auto &x, Axis, Axis) { (void)topk(x, other, 2); }),
              "IndexError: topk: the tile of shape [4, 6] has no such axis");
    EXPECT_EQ(error_of([=](const auto &x, Axis, Axis) { (void)merge_sorted(x, x, other); }),
              "IndexError: merge_sorted: the tile of shape [4, 6] has no such axis");
}
TEST(SortErrors, CountsBeyondTheExtent) {
    EXPECT_EQ(error_of([](const auto &x, Axis, Axis j) { (void)topk(x, j, -1); }),
              "ValueError: topk: -1 of 6 elements along the axis; k is from 0 to the extent");
    EXPECT_EQ(error_of([](const auto &x, Axis, Axis j) { (void)topk(x, j, 7); }),
              "ValueError: topk: 7 of 6 elements along the axis; k is from 0 to the extent");
}
TEST(SortErrors, WhatPackedKeysCannotHold) {
    SortOptions packed{.algorithm = SortAlgorithm::PACKED_FP32};
    EXPECT_EQ(error_of([=](const auto &x, Axis, Axis j) { (void)sort(x, j, ascending, packed); }),
              "ValueError: sort: PACKED_FP32 orders a power of two elements, at most 2^31, not 6; "
              "leave the algorithm out");
    EXPECT_EQ(error_of([=](const auto &x, Axis i, Axis) {
                  (void)topk(cast<half>(x), i, 2, descending, packed);
              }),
              "TypeError: topk: PACKED_FP32 orders f32, not f16; leave the algorithm out");
}
TEST(SortErrors, PartsThatDiffer) {
    EXPECT_EQ(
        error_of([](const auto &x, Axis, Axis j) {
            (void)merge_sorted(x, zeros<float>(shape(axis("row", 4), j)), j);
        }),
        "ShapeError: merge_sorted: the tiles are [4, 6] and [4, 6]; beside the axis, both have "
        "the same dimensions: broadcast or with_dims relates them");
}
TEST(SortErrors, IndicesThatWereNotAskedFor) {
    auto f = [](const auto &x, Axis, Axis j) {
        auto sorted = sort(x, j, ascending, {.indices = false});
        (void)(sorted.indices + int64_t{1});
    };
    EXPECT_EQ(error_of(f), "ScopeError: this variable is read before it has a value");
}

}// namespace luisa::tile::test
