// SPDX-License-Identifier: Apache-2.0
// What the language forbids in one sentence, with the message that the sentence asks for.
#include "unit/frontend/support.h"

using namespace luisa::tile;
using namespace luisa::tile::test;

TEST(LanguageErrors, a_dimension_in_exactly_one_value_of_a_product) {
    EXPECT_EQ(error_of([](Matrix) {
                  auto m = axis("m", 4), n = axis("n", 3), k = axis("k", 5),
                       other = axis("other", 2);
                  (void)mma(zeros<float>(shape(m, k, other)), zeros<float>(shape(k, n)),
                            zeros<float>(shape(m, n)));
              }),
              "ShapeError: mma: dimension 'other' of a is in neither the other operand nor the "
              "accumulator: a [4, 5, 2], b [5, 3], accumulator [4, 3]; reduce over it before, or "
              "relate it to one of theirs by with_dims");
    EXPECT_EQ(
        error_of([](Matrix) {
            auto m = axis("m", 4), n = axis("n", 3), k = axis("k", 5), other = axis("other", 2);
            (void)mma(zeros<float>(shape(m, k)), zeros<float>(shape(k, n)),
                      zeros<float>(shape(m, n, other)));
        }),
        "ShapeError: mma: dimension 'other' of the accumulator is in neither operand: a [4, "
        "5], b [5, 3], accumulator [4, 3, 2]; broadcast the result after, or relate it to one "
        "of theirs by with_dims");
}
TEST(LanguageErrors, a_dimension_of_size_one_for_another_in_a_product) {
    EXPECT_EQ(
        error_of([](Matrix) {
            auto m = axis("m", 4), n = axis("n", 3), k = axis("k", 5);
            (void)mma(zeros<float>(shape(m, k)), zeros<float>(shape(axis(k.dim, 1), n)),
                      zeros<float>(shape(m, n)));
        }),
        "ShapeError: mma: dimension 'k' is 5 in a and 1 in b: a [4, 5], b [1, 3], accumulator "
        "[4, 3]");
}
TEST(LanguageErrors, a_runtime_extent_in_the_shape_of_a_tile) {
    auto definition = tile_kernel([](Matrix A) {
        auto i = axis("i", 4);
        A(coord(0, 0), shape(1, i)).store(zeros<float>(shape(axis("j", A.extent(0)), i)));
    });
    try {
        (void)definition.capture(tensor_shape(dynamic("s"), 4));
        FAIL();
    } catch (const ConstraintError &e) {
        EXPECT_EQ(e.message(),
                  "this extent is known at launch only, and is used as a host integer; keep it "
                  "staged, or bind it statically in tensor_shape");
        EXPECT_TRUE(e.location().known());
    }
}
