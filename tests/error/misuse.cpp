// SPDX-License-Identifier: Apache-2.0
// One mistake each with functions of the language and its library, with the whole text that the user reads.
#include "error/reading.h"

#include <luisa/tile.h>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

using namespace luisa::tile;

namespace luisa::tile::test {
namespace {

using Matrix = TensorView<float, 2>;
using Vector = TensorView<const float, 1>;

int line = 0;///< where the mistake stands: `AT, statement` on one line

#define AT line = __LINE__

std::string read(const std::function<void(const Matrix &, const Vector &)> &mistake) {
    return read_by_user("misuse.cpp", line, [&] {
        (void)tile_kernel([&](Matrix A, Vector X) { mistake(A, X); }, {.name = "k"})
            .capture(tensor_shape(8, 6), tensor_shape(8));
    });
}

/// A function, because a macro's arguments all have one line.
void expect(const std::function<void(const Matrix &, const Vector &)> &mistake,
            const std::string &whole) {
    EXPECT_EQ(read(mistake), whole);
}

}// namespace

TEST(Misuse, masks_of_other_dimensions) {
    expect(
        [](const Matrix &A, const Vector &) {
            auto i = axis("i", 8), j = axis("j", 6), q = axis("q", 3);
            auto mask = iota(q) > 1;
            AT, (void)reduce(A[coord(0, 0), shape(i, j)], j, add, {.mask = mask});
        },
        "@+0: ShapeError: reduce: a mask of shape [3] does not fit a tile of shape [8, 6]; its "
        "dimensions are among those of the tile\n"
        "  note: mask made here (@-1)");
    for (auto ties : {tie::lowest_index, tie::highest_index}) {
        expect(
            [=](const Matrix &A, const Vector &) {
                auto i = axis("i", 8), j = axis("j", 6);
                auto mask = iota(axis(j.dim, 5)) > 1;
                AT, (void)reduce(A[coord(0, 0), shape(i, j)], j, argmax,
                                 {.mask = mask, .ties = ties});
            },
            std::string{"@+0: ShapeError: reduce: a mask of shape [5] does not fit a tile of shape "
                        "[8, 6]; its dimensions are among those of the tile\n"
                        "  note: mask made here (@"} +
                (ties == tie::lowest_index ? "-1)" : "+0)"));
    }
    expect(
        [](const Matrix &, const Vector &X) {
            auto i = axis("i", 8), q = axis("q", 3), b = axis("b", 4);
            auto mask = iota(q) > 1;
            AT, (void)histogram(cast<int64_t>(X[coord(0), shape(i)]), b, mask);
        },
        "@+0: ShapeError: histogram: a mask of shape [3] does not fit a tile of shape [8]; its "
        "dimensions are among those of the tile\n"
        "  note: mask made here (@-1)");
}

TEST(Misuse, dimensions_that_are_not_there_or_there_twice) {
    expect(
        [](const Matrix &A, const Vector &) {
            auto d = axis("d", 8);
            AT, (void)with_dims(A[coord(0, 0), shape(8, 6)], {d, d});
        },
        "@+0: ValueError: with_dims: an identity is given twice; each dimension has its own");
    expect([](const Matrix &A,
              const Vector &) { AT, (void)with_dims(A[coord(0, 0), shape(8, 6)], {axis("q", 8)}); },
           "@+0: ShapeError: with_dims: 1 identities for a tile of shape [8, 6]");
    expect(
        [](const Matrix &A, const Vector &) {
            auto x = A[coord(0, 0), shape(8, 6)];
            AT, (void)x.shape().without(axis("q", 6));
        },
        "@+0: IndexError: without: the shape has no such dimension: 'q'; leave out one of its own, "
        "such as x.dim<0>()");
    expect([](const Matrix &A, const Vector &) { AT, (void)A.extent(5); },
           "@+0: IndexError: extent(5) of a view of rank 2");
    expect([](const Matrix &A, const Vector &) { AT, (void)A.stride(-1); },
           "@+0: IndexError: stride(-1) of a view of rank 2");
    expect(
        [](const Matrix &A, const Vector &) {
            auto x = A[coord(0, 0), shape(8, 6)];
            AT, (void)x.domain(axis("q", 3));
        },
        "@+0: IndexError: domain: the tile of shape [8, 6] has no such dimension\n"
        "  note: tile made here (@-1)");
    expect(
        [](const Matrix &A, const Vector &) {
            AT, (void)broadcast(A[coord(0, 0), shape(8, 6)], shape(8, 7));
        },
        "@+0: ShapeError: broadcast: [8, 6] does not grow to [8, 7]: a dimension is missing there, "
        "or has another extent");
}

TEST(Misuse, coordinates_of_nests) {
    expect(
        [](const Matrix &, const Vector &) {
            for (auto &nest : parallel(shape(2, 3))) {
                AT, (void)nest.index(5);
            }
        },
        "@+0: IndexError: index(5) of a domain of rank 2\n"
        "  note: opened here (@-1)");
    expect(
        [](const Matrix &, const Vector &) {
            for (auto &nest : parallel(shape(2, 3))) {
                AT, (void)nest.index();
            }
        },
        "@+0: IndexError: index() needs a domain of rank one, this one has rank 2; write index(i)\n"
        "  note: opened here (@-1)");
    expect(
        [](const Matrix &, const Vector &) {
            for (auto &nest : parallel(shape(axis("a", 2)))) {
                AT, (void)nest.index(axis("b", 2));
            }
        },
        "@+0: IndexError: the domain of this nest has no such axis\n"
        "  note: opened here (@-1)");
    expect([](const Matrix &, const Vector &) { AT, (void)range(INT64_MIN, INT64_MAX); },
           "@+0: ValueError: range: from -9223372036854775808 to 9223372036854775807 by 1 are more "
           "steps than int64 counts; give a larger step or two nests");
    expect([](const Matrix &, const Vector &) { (void)range(INT64_MAX, INT64_MIN, -3); },
           "no error");
}

TEST(Misuse, lambdas_that_take_or_give_another_number_of_coordinates) {
    expect(
        [](const Matrix &A, const Vector &) {
            auto x = A[coord(0, 0), shape(8, 6)];
            AT, (void)reindex(x, shape(8, 6), [](auto i) { return coord(i, i); });
        },
        "@+0: CallError: reindex: the lambda takes 1 coordinates, expected 2");
    expect(
        [](const Matrix &A, const Vector &) {
            auto x = A[coord(0, 0), shape(8, 6)];
            AT, (void)reindex(x, shape(8), [](auto i) { return coord(i); });
        },
        "@+0: ShapeError: reindex: the lambda gives 1 coordinates for a tile of shape [8, 6]");
}

TEST(Misuse, pure_bodies) {
    expect(
        [](const Matrix &, const Vector &) {
            Scalar<int> i = 0;
            auto condition = [&] {
                AT, i += 1;
                return i < 3;
            };
            while_(condition, [] {});
        },
        "@+0: ScopeError: a while_ condition may read outer variables but not assign them\n"
        "  note: declared here (@-2)");
    expect(
        [](const Matrix &A, const Vector &) {
            Scalar<int> i = 0;
            auto condition = [&] {
                AT, A(0, 0).store(1.0f);
                return i < 3;
            };
            while_(condition, [&] { i += 1; });
        },
        "@+0: ScopeError: a while_ condition may not contain a store; do it before the loop and in "
        "its body, and read a variable in the condition");
    expect(
        [](const Matrix &, const Vector &X) {
            Scalar<int64_t> i = 0;
            auto condition = [&] {
                AT, (void)X(i).load();
                return i < 3;
            };
            while_(condition, [&] { i += 1; });
        },
        "@+0: ScopeError: a while_ condition may not contain a load; do it before the loop and in "
        "its body, and read a variable in the condition");
    expect(
        [](const Matrix &A, const Vector &) {
            auto x = A[coord(0, 0), shape(8, 6)];
            Scalar<int64_t> k = 0;
            auto places = [&](auto i, auto j) {
                AT, k += i;
                return coord(i, j);
            };
            (void)reindex(x, shape(8, 6), places);
        },
        "@+0: ScopeError: a reindex may read outer variables but not assign them\n"
        "  note: declared here (@-2)");
    expect(
        [](const Matrix &, const Vector &X) {
            (void)map(X[coord(0), shape(8)], [](Scalar<float> a) {
                AT, (void)memory<float>(shape(2));
                return a;
            });
        },
        "@+0: ScopeError: a map may not make a Memory");
}

TEST(Misuse, vectors_that_do_not_multiply) {
    expect(
        [](const Matrix &A, const Vector &X) {
            auto a = A[coord(0, 0), shape(8, 6)];
            auto x = X[coord(0), shape(8)];
            AT, (void)dot(a, x);
        },
        "@+0: ShapeError: dot: [8, 6] · [8]; each has one dimension: matmul or einsum multiplies "
        "other ranks\n"
        "  note: a made here (@-2)\n"
        "  note: b made here (@-1)");
    expect(
        [](const Matrix &, const Vector &X) {
            auto x = X[coord(0), shape(7)];
            auto y = X[coord(0), shape(8)];
            AT, (void)dot(x, y);
        },
        "@+0: ShapeError: dot: [7] · [8]: a has 7 elements and b 8; give both one extent\n"
        "  note: a made here (@-2)\n"
        "  note: b made here (@-1)");
    expect(
        [](const Matrix &A, const Vector &X) {
            auto a = A[coord(0, 0), shape(8, 6)];
            auto x = X[coord(0), shape(8)];
            AT, (void)outer(a, x);
        },
        "@+0: ShapeError: outer: [8, 6] × [8]; each has one dimension: matmul or einsum multiplies "
        "other ranks\n"
        "  note: a made here (@-2)\n"
        "  note: b made here (@-1)");
}

TEST(Misuse, windows_and_axes_of_the_library) {
    auto i = axis("i", 8), taps = axis("taps", 3);
    expect(
        [&](const Matrix &, const Vector &X) {
            auto x = X[coord(0), shape(i)], w = X[coord(0), shape(axis(taps.dim, 4))];
            AT, (void)ops::filter(x, w, {i, taps});
        },
        "@+0: ShapeError: conv: an axis of 3 taps, of which the weight has 4; give the weight's "
        "own axis");
    expect(
        [&](const Matrix &, const Vector &X) {
            auto x = X[coord(0), shape(8)], w = X[coord(0), shape(taps)];
            AT, (void)ops::filter(x, w, {i, taps});
        },
        "@+0: IndexError: conv: the tile lacks the axis 'i'; name one of its own, such as "
        "x.axis(0)");
    expect(
        [&](const Matrix &, const Vector &X) {
            auto x = X[coord(0), shape(i)], w = X[coord(0), shape(taps)];
            AT, (void)ops::filter(x, w, {i, taps, 0});
        },
        "@+0: ValueError: conv: a window of size 3, stride 0, padding 0 and dilation 1; expected a "
        "size, a stride and a dilation of 1 or more, and a padding of 0 or more below what a "
        "window "
        "reaches over");
    expect(
        [&](const Matrix &A, const Vector &) {
            auto a = A[coord(0, 0), shape(8, 6)];
            AT, (void)ops::block_scale<float8_e4m3fn>(a, i);
        },
        "@+0: IndexError: block_scale: the tile lacks the axis 'i'; name one of its own, such as "
        "x.axis(0)");
    expect(
        [&](const Matrix &A, const Vector &) {
            auto a = A[coord(0, 0), shape(8, 6)];
            AT, (void)ops::cross_entropy(a, iota(axis("q", 8)), i);
        },
        "@+0: IndexError: cross_entropy: the tile lacks the axis 'i'; name one of its own, such as "
        "x.axis(0)");
    expect(
        [&](const Matrix &A, const Vector &) {
            auto a = A[coord(0, 0), shape(8, 6)];
            AT, (void)ops::layer_norm(a, i);
        },
        "@+0: IndexError: layer_norm: the tile lacks the axis 'i'; name one of its own, such as "
        "x.axis(0)");
}

TEST(Misuse, another_order_than_the_contract_has) {
    expect([](const Matrix &, const Vector &) { AT, (void)topk_identity<float, 3>(ascending); },
           "@+0: ValueError: topk_identity: this contract keeps the largest values, equal ones by "
           "their lowest index, NaN last; topk(x, axis, k, order, options) has other orders");
}

// −inf where a format has none: as a fallback, as a fill, in a constant, and as an operand.
TEST(Misuse, infinities_of_a_format_without_them) {
    const std::string whole = "@+0: ValueError: literal -inf: e4m3fn has no infinity; its largest "
                              "finite value is 448.0; use -448.0 or NaN";
    auto with = [&](const std::function<void(const Tile<float8_e4m3fn> &, Axis)> &mistake) {
        expect(
            [&](const Matrix &, const Vector &X) {
                auto i = axis("i", 8);
                mistake(quantize<float8_e4m3fn>(X[coord(0), shape(i)], true), i);
            },
            whole);
    };
    with([](const auto &x, Axis i) { AT, (void)gather(x, iota(i) + 3, i, -INFINITY); });
    with([](const auto &x, Axis i) { AT, (void)shift(x, i, 2, -INFINITY); });
    with([](const auto &x, Axis i) { AT, (void)ite(iota(i) > 3, x, -INFINITY); });
    with([](const auto &, Axis i) { AT, (void)full<float8_e4m3fn>(shape(i), -INFINITY); });
    with([](const auto &x, Axis) { AT, (void)maximum(x, -INFINITY); });
    with([](const auto &x, Axis) { AT, (void)(x == -INFINITY); });
}

// Nothing computes in 8-bit floats, however it is written.
TEST(Misuse, arithmetic_of_8_bit_floats) {
    auto with = [&](const char *what, const char *expected,
                    const std::function<void(const Tile<float8_e5m2> &, Axis)> &mistake) {
        auto text = read([&](const Matrix &, const Vector &X) {
            auto i = axis("i", 8);
            mistake(quantize<float8_e5m2>(X[coord(0), shape(i)], true), i);
        });
        EXPECT_EQ(text.substr(0, text.find('\n')),
                  std::string{"@+0: TypeError: "} + what + expected);
    };
    const char *number = ", expected a number; cast<float> first, quantize after";
    const char *real = ", expected f16, bf16, f32 or f64; cast<float> first, quantize after";
    with("add: no add on e5m2", number, [](const auto &x, Axis) { AT, (void)(x + x); });
    with("sub: no sub on e5m2", number, [](const auto &x, Axis) { AT, (void)(x - 1.0f); });
    with("mul: no mul on e5m2", number, [](const auto &x, Axis) { AT, (void)multiply(x, x); });
    with("div: no div on e5m2", number, [](const auto &x, Axis) { AT, (void)(1.0f / x); });
    with("exp: no exp on e5m2", real, [](const auto &x, Axis) { AT, (void)exp(x); });
    with("sqrt: no sqrt on e5m2", real, [](const auto &x, Axis) { AT, (void)sqrt(x); });
    with("fma: no fma on e5m2", real, [](const auto &x, Axis) { AT, (void)fma(x, x, x); });
    with("cast: e5m2 needs a named overflow rule; cast<float> first, quantize after", "",
         [](const auto &x, Axis) { AT, (void)cast<float8_e5m2>(cast<float>(x) + 1.0f); });
    with("scan: this reducer does not combine e5m2; cast<float> first, quantize after", "",
         [](const auto &x, Axis i) { AT, (void)scan(x, i, multiply); });
    with("reduce: this reducer does not fold e5m2; cast<float> first, quantize after", "",
         [](const auto &x, Axis i) {
             AT, (void)segmented_reduce(x, i, iota(i) / 4, axis("s", 2), add);
         });
    with("scatter: this reducer does not combine e5m2; cast the tiles first", "",
         [](const auto &x, Axis i) { AT, (void)scatter(x, i, iota(i), x, add); });
}

}// namespace luisa::tile::test
