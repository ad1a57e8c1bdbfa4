// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include <gtest/gtest.h>

#include <functional>
#include <string>

// What the user of a wrong exchange, einsum or library call reads, whole.

namespace luisa::tile::test {
namespace {

/// The error of one call over x, a tile of 4 × 6 and its axes.
std::string error_of(const std::function<void(const Tile<float> &, Axis, Axis)> &f) {
    auto text = std::string{"no error"};
    try {
        (void)tile_kernel([&](TensorView<const float, 2>) {
            auto i = axis("i", 4), j = axis("j", 6);
            f(zeros<float>(shape(i, j)), i, j);
        }).capture(tensor_shape(4, 6));
    } catch (const Error &e) {
        EXPECT_TRUE(e.location().known()) << e.what();
        text = std::string{to_string(e.kind())} + ": " + e.message();
    }
    return text;
}

}// namespace

TEST(ExchangeErrors, AnAxisThatTheTileLacks) {
    auto other = axis("other", 6);
    EXPECT_EQ(error_of([=](const auto &x, Axis, Axis) { (void)shift(x, other, 1); }),
              "IndexError: shift: the tile of shape [4, 6] has no such axis");
    EXPECT_EQ(error_of([=](const auto &x, Axis, Axis) { (void)rotate(x, other, 1); }),
              "IndexError: rotate: the tile of shape [4, 6] has no such axis");
    EXPECT_EQ(error_of([=](const auto &x, Axis, Axis) { (void)flip(x, other); }),
              "IndexError: flip: the tile of shape [4, 6] has no such axis");
    EXPECT_EQ(error_of([=](const auto &x, Axis, Axis) { (void)concat(other, x, x); }),
              "IndexError: concat: the tile of shape [4, 6] has no such axis");
    EXPECT_EQ(error_of([=](const auto &x, Axis, Axis) { (void)ops::softmax(x, other); }),
              "IndexError: softmax: the tile lacks the axis 'other'; name one of its own, such as "
              "x.axis(0)");
}
TEST(ExchangeErrors, NegativeMask) {
    EXPECT_EQ(error_of([](const auto &x, Axis, Axis j) { (void)butterfly(x, j, -2); }),
              "ValueError: butterfly: the mask is -2; expected the distance to the partner, 0 or "
              "more");
}
TEST(ExchangeErrors, PartsThatDiffer) {
    EXPECT_EQ(error_of([](const auto &x, Axis, Axis j) {
                  (void)concat(j, x, zeros<float>(shape(axis("row", 4), j)));
              }),
              "ShapeError: concat: part 0 is [4, 6] and part 1 is [4, 6]; beside the axis, every "
              "part has the same dimensions: broadcast or with_dims relates them");
}

TEST(EinsumErrors, MalformedSpecs) {
    auto spec = [](const char *text) {
        return error_of([=](const auto &x, Axis, Axis) { (void)einsum(text, x, x); });
    };
    const std::string hint = "; expected one letter a dimension, as in \"mk,kn->mn\"";
    EXPECT_EQ(spec("mk"),
              "ValueError: einsum: \"mk\": there is no ',' between the operands" + hint);
    EXPECT_EQ(spec("mk,nk"),
              "ValueError: einsum: \"mk,nk\": there is no \"->\" before the result" + hint);
    EXPECT_EQ(spec("m1,nk->mn"),
              "ValueError: einsum: \"m1,nk->mn\": '1' is not expected at position 1" + hint);
    EXPECT_EQ(spec("mm,nk->mn"), "ValueError: einsum: \"mm,nk->mn\": 'm' stands twice in a" + hint);
    EXPECT_EQ(spec("mk,nk->mnz"),
              "ValueError: einsum: \"mk,nk->mnz\": 'z' of the result is in neither operand" + hint);
    EXPECT_EQ(spec("mk,nj->mn"),
              "ValueError: einsum: \"mk,nj->mn\": 'k' of a is in neither the other operand nor the "
              "result: reduce(…, add) that dimension before" +
                  hint);
}
TEST(EinsumErrors, RanksAndExtents) {
    EXPECT_EQ(error_of([](const auto &x, Axis, Axis) { (void)einsum("m,mn->n", x, x); }),
              "ShapeError: einsum: \"m,mn->n\" names 1 dimensions of a, whose shape is [4, 6]");
    EXPECT_EQ(error_of([](const auto &x, Axis, Axis) { (void)einsum("mk,kn->mn", x, x); }),
              "ShapeError: einsum: \"mk,kn->mn\": 'k' is 6 in a [4, 6] and 4 in b [4, 6]");
    EXPECT_EQ(error_of([](const auto &x, Axis, Axis) { (void)matmul(x, x, axis("k", 6)); }),
              "IndexError: matmul: a of shape [4, 6] lacks a dimension to contract: 'k'");
}

TEST(LibraryErrors, Shapes) {
    EXPECT_EQ(error_of([](const auto &x, Axis, Axis j) {
                  auto half = axis("half", 2);
                  auto angle = ops::rope_frequencies(half);
                  (void)ops::rope_interleaved(x, j, angle, angle, half);
              }),
              "ShapeError: rope_interleaved: the axis has 6 elements and the axis of the angles 2; "
              "expected twice as many as angles");
    EXPECT_EQ(
        error_of([](const auto &x, Axis, Axis j) {
            (void)ops::max_pool(x, {j, {2, 1, 2}});
        }),
        "ValueError: max_pool: a window of size 2, stride 1, padding 2 and dilation 1; expected a "
        "size, a stride and a dilation of 1 or more, and a padding of 0 or more below what a "
        "window reaches over");
}

}// namespace luisa::tile::test
