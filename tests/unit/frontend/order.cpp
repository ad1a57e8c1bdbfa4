// SPDX-License-Identifier: Apache-2.0
// The order of operations is the program's, not that in which C++ evaluates operands.
#include "unit/frontend/programs.h"
#include "unit/frontend/support.h"

using namespace luisa::tile;
using namespace luisa::tile::test;

TEST(Order, the_three_spellings_of_a_load_are_one_program) {
    auto subscript = text_of(
        [](Matrix A) { A(coord(4, 4), shape(2, 2)).store(A[coord(1, 2), shape(2, 2)]); });
    auto call = text_of(
        [](Matrix A) { A(coord(4, 4), shape(2, 2)).store(A(coord(1, 2), shape(2, 2)).load()); });
    auto tile = text_of([](Matrix A) {
        A.tile(coord(4, 4), shape(2, 2)).store(A.tile(coord(1, 2), shape(2, 2)).load());
    });
    EXPECT_EQ(subscript, call);
    EXPECT_EQ(subscript, tile);
}

TEST(Order, operands_are_placed_left_to_right) {
    auto text = text_of(
        [](Matrix A) { A(0, 0).store(A[coord(1, 2)] - A[coord(3, 4)] * A[coord(5, 6)]); });
    auto named = text_of([](Matrix A) {
        auto a = A[coord(1, 2)];
        auto b = A[coord(3, 4)];
        auto c = A[coord(5, 6)];
        A(0, 0).store(a - b * c);
    });
    EXPECT_EQ(text, named);
}

TEST(Order, a_load_stays_before_the_store_that_follows_it) {
    auto text = text_of([](Matrix A) {
        auto old = A[coord(0, 0)];
        A(0, 0).store(1.0f);
        A(1, 0).store(old);
    });
    EXPECT_LT(text.find("load"), text.find("store")) << text;
}

TEST(Order, a_load_stays_after_the_store_before_it) {
    auto text = text_of([](Matrix A) {
        A(0, 0).store(1.0f);
        A(1, 0).store(A[coord(0, 0)]);
    });
    EXPECT_GT(text.find("load"), text.find("store")) << text;
}

TEST(Order, a_pure_operation_stays_in_its_stage) {
    auto text = text_of([](Matrix A) {
        for (auto &s : pipeline(range(0, 8))) {
            s.stage("first");
            auto x = A[coord(s.index(), 0), shape(1, 8)] * 2.0f;
            s.stage("second");
            A(coord(s.index(), 0), shape(1, 8)).store(x + 1.0f);
        }
    });
    EXPECT_LT(text.find("mul"), text.find("second")) << text;
    EXPECT_GT(text.find("add"), text.find("second")) << text;
}

TEST(Order, unused_pure_code_leaves_no_trace) {
    auto without = text_of([](Matrix A) { A(0, 0).store(1.0f); });
    auto with = text_of([](Matrix A) {
        (void)exp(A[coord(0, 0), shape(8, 8)]);
        A(0, 0).store(1.0f);
    });
    EXPECT_EQ(without, with);
}

TEST(Order, equal_constants_of_a_region_are_one) {
    auto text = text_of([](Matrix A) { A(3, 3).store(A[coord(3, 3)] * 3.0f + 3.0f); });
    EXPECT_EQ(count(text, "constant"), 2u) << text;
}

TEST(Programs, capture_twice_gives_the_same_text) {
    for (const auto &program : programs::all()) {
        EXPECT_EQ(program.capture().ir_text(), program.capture().ir_text()) << program.name;
    }
}
