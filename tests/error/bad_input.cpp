// SPDX-License-Identifier: Apache-2.0
// One mistake each, with the whole text that the user reads: place, class, message and notes.
#include "error/reading.h"
#include "unit/frontend/support.h"

#include <functional>
#include <optional>

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

int line = 0;///< where the mistake stands: `AT, statement` on one line

#define AT line = __LINE__

std::string read_by_user(const std::function<void(Matrix)> &f) {
    return luisa::tile::test::read_by_user("bad_input.cpp", line, [&] {
        static_cast<void>(
            tile_kernel([&](Matrix A) { f(A); }, {.name = "k"}).capture(tensor_shape(8, 8)));
    });
}

/// A function, because a macro's arguments all have one line.
void expect(const std::function<void(Matrix)> &mistake, const std::string &whole) {
    EXPECT_EQ(read_by_user(mistake), whole);
}

}// namespace

TEST(BadInput, elementwise_on_extents_that_differ) {
    expect(
        [](Matrix) {
            auto x = zeros<float>(shape(128));
            auto y = zeros<float>(shape(127));
            AT, (void)(x + y);
        },
        "@+0: ShapeError: add: [128] and [127] do not join: positional dimension 0 is 128 in one "
        "and 127 in the other; give one of them its own axis, or reshape\n"
        "  note: first operand made here (@-2)\n"
        "  note: second operand made here (@-1)");
}

TEST(BadInput, a_product_whose_inner_extents_differ) {
    expect(
        [](Matrix) {
            auto a = zeros<float>(shape(4, 5));
            auto b = zeros<float>(shape(6, 3));
            AT, (void)matmul(a, b);
        },
        "@+0: ShapeError: matmul: [4, 5] × [6, 3]: K is 5 in a and 6 in b; it reads […, M, K] × "
        "[…, K, N]: transpose one of them?\n"
        "  note: a made here (@-2)\n"
        "  note: b made here (@-1)");
    expect(
        [](Matrix) {
            auto m = axis("m", 4), k = axis("k", 5), n = axis("n", 3);
            auto a = zeros<float>(shape(m, k));
            auto b = zeros<float>(shape(axis(k.dim, 6), n));
            auto c = zeros<float>(shape(m, n));
            AT, (void)mma(a, b, c);
        },
        "@+0: ShapeError: mma: dimension 'k' is 5 in a and 6 in b: a [4, 5], b [6, 3], accumulator "
        "[4, 3]\n"
        "  note: a made here (@-3)\n"
        "  note: b made here (@-2)\n"
        "  note: accumulator made here (@-1)");
}

TEST(BadInput, a_store_or_load_of_another_rank) {
    expect([](Matrix A) { AT, (void)A(coord(0), shape(8)).load(); },
           "@+0: ShapeError: the view has rank 2, the shape has rank 1; give one axis or extent a "
           "dimension (1 for a single row)");
    expect([](Matrix A) { AT, (void)A(coord(0), shape(8, 8)).load(); },
           "@+0: ShapeError: the view has rank 2, the coordinates have 1");
    expect(
        [](Matrix A) {
            auto m = axis("m", 8);
            auto x = zeros<float>(shape(m));
            AT, A(coord(0, 0), shape(8, 8)).store(x);
        },
        "@+0: ShapeError: store: a tile of shape [m:8] into a box of shape [8, 8]: its dimensions "
        "are not those of the box\n"
        "  note: tile made here (@-1)");
}

TEST(BadInput, a_store_of_other_dimensions_of_the_same_extents_names_both) {
    expect(
        [](Matrix A) {
            auto m = axis("m", 8), n = axis("n", 8);
            auto x = zeros<float>(shape(m, n));
            AT, A(coord(0, 0), shape(m, axis("k", 8))).store(x);
        },
        "@+0: ShapeError: store: a tile of shape [m:8, n:8] into a box of shape [m:8, k:8]: its "
        "dimensions are not those of the box\n"
        "  note: tile made here (@-1)");
}

TEST(BadInput, narrow_floats_do_not_compute) {
    expect(
        [](Matrix) {
            auto x = zeros<float8_e4m3fn>(shape(8));
            AT, (void)(x + x);
        },
        "@+0: TypeError: add: no add on e4m3fn, expected a number; cast<float> first, quantize "
        "after\n"
        "  note: first operand made here (@-1)\n"
        "  note: second operand made here (@-1)");
    expect(
        [](Matrix) {
            auto x = zeros<float>(shape(8));
            AT, (void)cast<float8_e5m2>(x);
        },
        "@+0: TypeError: cast: e5m2 needs a named overflow rule; cast<float> first, quantize "
        "after\n"
        "  note: operand made here (@-1)");
    expect(
        [](Matrix) {
            auto x = zeros<float8_e5m2>(shape(8));
            AT, (void)reduce(x, x.axis(0), add);
        },
        "@+0: TypeError: reduce: this reducer does not fold e5m2; cast<float> first, quantize "
        "after\n"
        "  note: tile made here (@-1)");
    expect(
        [](Matrix) {
            auto m = axis("m", 4), k = axis("k", 5), n = axis("n", 3);
            auto a = zeros<float8_e5m2>(shape(m, k));
            auto b = zeros<float8_e5m2>(shape(k, n));
            auto c = zeros<float8_e5m2>(shape(m, n));
            AT, (void)mma(a, b, c);
        },
        "@+0: TypeError: mma: nothing accumulates in e5m2; accumulate in f32, and quantize after\n"
        "  note: a made here (@-3)\n"
        "  note: b made here (@-2)\n"
        "  note: accumulator made here (@-1)");
}

TEST(BadInput, literals_that_do_not_fit) {
    expect(
        [](Matrix) {
            auto x = zeros<bf16>(shape(8));
            AT, (void)(x + 1e39);
        },
        "@+0: ValueError: literal 1e+39 is too large for bf16, whose largest finite value is "
        "3.3895314e+38; write a smaller literal, or infinity if that is meant");
    expect(
        [](Matrix) {
            auto x = zeros<int8_t>(shape(8));
            AT, (void)(x + 300);
        },
        "@+0: ValueError: literal 300 does not fit the type i8, which holds [-128, 127]; use a "
        "literal in that range, or cast the other operand to a type that holds it");
    expect(
        [](Matrix) {
            auto x = zeros<uint32_t>(shape(8));
            AT, (void)(x * -1);
        },
        "@+0: ValueError: literal -1 does not fit the type u32, which holds [0, 4294967295]; use a "
        "literal in that range, or cast the other operand to a type that holds it");
}

TEST(BadInput, axes_that_are_missing_or_given_twice) {
    expect(
        [](Matrix) {
            auto x = zeros<float>(shape(4, 5));
            AT, (void)reduce(x, x.axis(3), add);
        },
        "@+0: IndexError: axis 3 of a tile of rank 2\n"
        "  note: tile made here (@-1)");
    expect(
        [](Matrix) {
            auto m = axis("m", 4);
            auto x = zeros<float>(shape(4, 5));
            AT, (void)reduce(x, m, add);
        },
        "@+0: IndexError: reduce: the tile of shape [4, 5] has no such axis\n"
        "  note: tile made here (@-1)");
    expect(
        [](Matrix) {
            auto m = axis("m", 4), n = axis("n", 5);
            auto x = zeros<float>(shape(m, n));
            AT, (void)reduce(x, {m, m}, add);
        },
        "@+0: ValueError: reduce: an axis is given twice\n"
        "  note: tile made here (@-1)");
    expect(
        [](Matrix) {
            auto m = axis("m", 4), n = axis("n", 5);
            auto x = zeros<float>(shape(m, n));
            AT, (void)transpose(x, {n, n});
        },
        "@+0: ValueError: transpose: an axis is given twice");
    expect(
        [](Matrix) {
            auto m = axis("m", 4);
            AT, (void)shape(m, m);
        },
        "@+0: ValueError: shape: the same axis stands twice");
    expect(
        [](Matrix) {
            auto m = axis("m", 4);
            auto x = zeros<float>(shape(8));
            auto i = iota(m);
            AT, (void)gather(x, i, m, 0.0f);
        },
        "@+0: IndexError: gather: the tile of shape [8] has no such axis");
}

TEST(BadInput, extents_and_steps_that_make_no_sense) {
    expect([](Matrix) { AT, (void)shape(3, -1); }, "@+0: ValueError: extent must be >= 0, got -1");
    expect([](Matrix) { AT, (void)axis("m", -7); },
           "@+0: ValueError: axis 'm': extent must be >= 0, got -7");
    expect([](Matrix) { AT, (void)range(0, 8, 0); },
           "@+0: ValueError: range: a step of zero never ends; give a positive or negative step");
}

TEST(BadInput, more_elements_than_are_counted) {
    expect(
        [](Matrix) {
            auto many = int64_t{1} << 40;
            AT, (void)zeros<float>(shape(many, many));
        },
        "@+0: ValueError: a tile of these extents has more elements than int64 counts");
    expect(
        [](Matrix A) {
            auto many = int64_t{1} << 40;
            AT;
            for ([[maybe_unused]] auto &n : parallel(shape(many, A.extent(0), many))) {}
        },
        "@+1: ValueError: a domain of these extents has more elements than int64 counts");
    // With an extent of zero there are none.
    expect(
        [](Matrix) {
            auto many = int64_t{1} << 40;
            for ([[maybe_unused]] auto &n : parallel(shape(many, 0, many))) {}
        },
        "no error");
}

TEST(BadInput, a_reshape_of_another_size) {
    expect(
        [](Matrix) {
            auto x = zeros<float>(shape(4, 6));
            AT, (void)reshape(x, shape(5, 5));
        },
        "@+0: ShapeError: reshape: [4, 6] has 24 elements, [5, 5] has 25");
}

TEST(BadInput, coordinates_outside_a_tile) {
    expect(
        [](Matrix) {
            auto x = zeros<float>(shape(4, 6));
            AT, (void)x.at(coord(1, 6));
        },
        "@+0: IndexError: at: coordinate 6 of dimension 1 is outside its extent 6");
    expect(
        [](Matrix) {
            auto x = zeros<float>(shape(4));
            AT, (void)x.at(coord(0, 0));
        },
        "@+0: IndexError: at: 2 coordinates for a tile of shape [4]");
    expect(
        [](Matrix) {
            auto x = zeros<float>(shape(4, 6));
            AT, (void)insert(x, coord(-1), zeros<float>(shape(6)));
        },
        "@+0: IndexError: insert: coordinate -1 of dimension 0 is outside its extent 4");
}

TEST(BadInput, values_of_another_kernel) {
    std::optional<Tile<float>> value;
    (void)text_of([&](Matrix A) { value.emplace(A[coord(0, 0), shape(8, 8)]); });
    auto made = __LINE__ - 1;
    auto text = read_by_user([&](Matrix A) { AT, A(coord(0, 0), shape(8, 8)).store(*value); });
    EXPECT_EQ(text.substr(0, text.find('\n')), "@+0: OwnershipError: this value belongs to another "
                                               "capture; pass data between kernels through views");
    EXPECT_NE(text.find("@" + std::to_string(made - line)), std::string::npos) << text;
}

TEST(BadInput, values_read_before_they_are_defined_or_after_their_loop) {
    expect(
        [](Matrix) {
            Tile<float> x;
            AT, (void)(x + 1.0f);
        },
        "@+0: ScopeError: this variable is read before it has a value\n"
        "  note: declared here (@-1)");
    expect(
        [](Matrix) {
            std::optional<Tile<float>> x;
            for ([[maybe_unused]] auto &s : serial(range(0, 4))) {
                x.emplace(zeros<float>(shape(8)));
            }
            AT, (void)(*x + 1.0f);
        },
        "@+0: ScopeError: this value was declared inside a `serial` body and is used after it; "
        "assign it to a variable declared before the nest\n"
        "  note: declared here (@-2)");
}

TEST(BadInput, a_single_element_where_there_are_several) {
    expect(
        [](Matrix A) {
            auto x = zeros<float>(shape(8));
            AT, A(0, 0).store(x);
        },
        "@+0: ShapeError: this value has shape [8], expected a single element\n"
        "  note: made here (@-1)");
}

TEST(BadInput, extents_that_only_the_launch_knows) {
    auto with_runtime_extent = [](const std::function<void(Matrix)> &body) {
        auto definition = tile_kernel([&](Matrix A) { body(A); });
        line = __LINE__ - 1;
        (void)definition.capture(tensor_shape(dynamic("s"), 4));
    };
    expect(
        [&](Matrix) {
            with_runtime_extent([](Matrix A) { AT, (void)zeros<float>(shape(A.extent(0))); });
        },
        "@+0: ConstraintError: a tile shape is static, and this extent is known at launch only; "
        "use a static tile extent and a loop\n"
        "  note: extent made here (@-6)");
    expect([&](Matrix) { with_runtime_extent([](Matrix A) { (void)(A.extent(0) < 3); }); },
           "@+0: ConstraintError: this extent is known at launch only, and is used as a host "
           "integer; keep it staged, or bind it statically in tensor_shape");
}

TEST(BadInput, a_signature_that_does_not_fit_its_shapes) {
    expect(
        [](Matrix) {
            auto definition = tile_kernel([](Matrix) {});
            line = __LINE__ - 1;
            (void)definition.capture(tensor_shape(4));
        },
        "@+0: CallError: parameter 0 is a view of rank 2, its tensor_shape has rank 1");
    expect(
        [](Matrix) {
            auto definition = tile_kernel([](Matrix) {});
            line = __LINE__ - 1;
            (void)definition.capture(tensor_shape(4, -4));
        },
        "@+0: ValueError: extent must be >= 0, got -4 in parameter 0");
    expect(
        [](Matrix) {
            auto definition = tile_kernel([](Matrix) {});
            line = __LINE__ - 1;
            (void)definition.capture(tensor_shape(4, 4).with_strides({1}));
        },
        "@+0: CallError: parameter 0 has 2 extents and 1 strides");
}

TEST(BadInput, bits_of_another_width) {
    expect(
        [](Matrix) {
            auto x = zeros<float>(shape(8));
            AT, (void)luisa::tile::bitcast<int64_t>(x);
        },
        "@+0: TypeError: bitcast: f32 has 32 bits, i64 has 64; widths must agree, and bool has no "
        "bit form");
    expect(
        [](Matrix) {
            auto x = zeros<float>(shape(8));
            AT, (void)(x << x);
        },
        "@+0: TypeError: shl: no shl on f32, expected an integer\n"
        "  note: first operand made here (@-1)\n"
        "  note: second operand made here (@-1)");
}

TEST(BadInput, an_effect_where_none_may_be) {
    expect(
        [](Matrix A) {
            auto x = zeros<float>(shape(8));
            (void)map(x, [&](Scalar<float> a) {
                AT, A(0, 0).store(1.0f);
                return a;
            });
        },
        "@+0: ScopeError: a map may not contain a store; do it outside");
    expect(
        [](Matrix A) {
            Scalar<float> sum = 0.0f;
            auto x = zeros<float>(shape(8));
            (void)map(x, [&](Scalar<float> a) {
                AT, sum += a;
                return a;
            });
            A(0, 0).store(sum);
        },
        "@+0: ScopeError: a map may read outer variables but not assign them\n"
        "  note: declared here (@-3)");
}

TEST(BadInput, captures_do_not_call_kernels_with_their_own_values) {
    auto other = tile_kernel([](Matrix B) { B(0, 0).store(1.0f); });
    // A kernel may be captured inside another capture, but shares nothing with it.
    EXPECT_EQ(read_by_user([&](Matrix) { (void)other.capture(tensor_shape(2, 2)); }), "no error");
    expect(
        [&](Matrix A) {
            (void)tile_kernel([&](Matrix) { AT, A(0, 0).store(1.0f); }).capture(tensor_shape(2, 2));
        },
        "@+0: OwnershipError: this view belongs to another capture");
}

TEST(BadInput, the_place_of_the_largest_of_nothing) {
    expect(
        [](Matrix) {
            auto i = axis("i", 3), j = axis("j", 0);
            auto x = zeros<float>(shape(i, j));
            AT, (void)reduce(x, j, argmax);
        },
        "@+0: ValueError: reduce: argmin and argmax of no elements have no answer; give the axis "
        "at "
        "least one element, or leave the reduction out\n"
        "  note: tile made here (@-1)");
    expect(
        [](Matrix) {
            auto i = axis("i", 0);
            auto x = zeros<int32_t>(shape(i));
            AT, (void)reduce(x, i, argmin);
        },
        "@+0: ValueError: reduce: argmin and argmax of no elements have no answer; give the axis "
        "at "
        "least one element, or leave the reduction out\n"
        "  note: tile made here (@-1)");
}
