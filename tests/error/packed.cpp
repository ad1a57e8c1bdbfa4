// SPDX-License-Identifier: Apache-2.0
// Formats of four bits and quantize: one mistake each, with the whole text that the user reads.
#include "error/reading.h"
#include "unit/frontend/support.h"

#include <luisa/tile/packed.h>

#include <functional>

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

int line = 0;///< where the mistake stands: `AT, statement` on one line

#define AT line = __LINE__

using Bytes = TensorView<uint8_t, 2>;

/// A function, because a macro's arguments all have one line.
void expect(const std::function<void(Bytes)> &mistake, const std::string &whole) {
    EXPECT_EQ(luisa::tile::test::read_by_user(
                  "packed.cpp", line,
                  [&] {
                      static_cast<void>(tile_kernel([&](Bytes A) { mistake(A); }, {.name = "k"})
                                            .capture(tensor_shape(8, 8)));
                  }),
              whole);
}

}// namespace

TEST(PackedErrors, arithmetic_on_e2m1) {
    expect(
        [](Bytes A) {
            auto x = packed<float4_e2m1>(A, 16)(coord(0, 0), shape(8, 16)).load();
            AT, (void)(x + x);
        },
        "@+0: TypeError: add: no add on e4m3fn, expected a number; cast<float> first, quantize "
        "after\n"
        "  note: first operand made here (@-1)\n"
        "  note: second operand made here (@-1)");
}
TEST(PackedErrors, more_elements_than_the_bytes_hold) {
    expect([](Bytes A) { AT, (void)packed<int4>(A, 17); },
           "@+0: ShapeError: packed: 17 elements of int4 in rows of 8 bytes, which hold two a "
           "byte; give the number of elements of a row");
}
TEST(PackedErrors, stores_that_share_a_byte) {
    expect(
        [](Bytes A) {
            auto x = zeros<uint8_t>(shape(8, 5));
            AT, packed<uint4>(A, 16)(coord(0, 0), shape(8, 5)).store(x);
        },
        "@+0: ConstraintError: store: 5 elements of uint4 from element 0 share a byte with others; "
        "start at an even element with an even extent (a box may reach beyond the view)");
    expect(
        [](Bytes A) {
            auto x = zeros<int8_t>(shape(8, 6));
            AT, packed<int4>(A, 16)(coord(0, 3), shape(8, 6)).store(x);
        },
        "@+0: ConstraintError: store: 6 elements of int4 from element 3 share a byte with others; "
        "start at an even element with an even extent (a box may reach beyond the view)");
}
TEST(PackedErrors, a_box_of_another_rank) {
    expect([](Bytes A) { AT, (void)packed<int4>(A, 16)(coord(0), shape(4)).load(); },
           "@+0: ShapeError: packed int4: a box of 1 dimensions at 1 coordinates of a view of rank "
           "2; give one of each a dimension");
}
TEST(PackedErrors, overflow_rules_that_a_format_lacks) {
    expect(
        [](Bytes) {
            auto x = zeros<float>(shape(8));
            AT, (void)quantize<int8_t>(x, rounding::nearest_even, overflow::special);
        },
        "@+0: TypeError: quantize: i8 has no infinity and no NaN; overflow::saturate, or "
        "overflow::wrap for the low bits");
    expect(
        [](Bytes) {
            auto x = zeros<float>(shape(8));
            AT, (void)quantize<float4_e2m1>(x, rounding::toward_zero, overflow::special);
        },
        "@+0: TypeError: quantize: e2m1 has no infinity and no NaN; overflow::saturate");
    expect(
        [](Bytes) {
            auto x = zeros<float>(shape(8));
            AT, (void)quantize<float8_e4m3fn>(x, rounding::nearest_even, overflow::wrap);
        },
        "@+0: TypeError: quantize: e4m3fn does not wrap; overflow::saturate or overflow::special");
}
