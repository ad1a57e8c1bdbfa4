// SPDX-License-Identifier: Apache-2.0
#include "ir/text.h"

#include <gtest/gtest.h>

#include <string>

// Rules of nests, reductions and stores: the whole message, caret included.

namespace luisa::tile::ir {

namespace {

std::string rejected(const std::string &body) {
    try {
        (void)parse("kernel @k(%A: view<f32, 4>, %n: i64, %b: bool) {\n" + body + "\n}\n");
    } catch (const VerifyError &e) {
        return e.message();
    }
    return "accepted";
}

}// namespace

TEST(InvalidNest, a_collective_update_that_depends_on_the_indices) {
    EXPECT_EQ(rejected("  %r = parallel %n, %n {dims = [#0], updates = [collective]} : i64 { %i: "
                       "i64, %s: i64 ->\n"
                       "    %t = add %s, %i : i64\n    yield %t\n  }"),
              "parallel: a collective update depends on the indices; only inserts may\n"
              "2:   %3 = parallel %1, %1 {dims = [#0], updates = [collective]} : i64 { %4: i64, "
              "%5: i64 ->\n"
              "     ^");
}

TEST(InvalidNest, an_insert_update_that_is_no_chain_of_inserts) {
    EXPECT_EQ(
        rejected(
            "  %r = parallel %n, %n {dims = [#0], updates = [insert]} : i64 { %i: i64, %s: i64 ->\n"
            "    %t = add %s, %i : i64\n    yield %t\n  }"),
        "parallel: an insert update is no chain of inserts on its state\n"
        "2:   %3 = parallel %1, %1 {dims = [#0], updates = [insert]} : i64 { %4: i64, %5: i64 ->\n"
        "     ^");
}

TEST(InvalidNest, a_malformed_insert_in_a_chain_is_named_itself) {
    EXPECT_EQ(
        rejected(
            "  %r = parallel %n, %n {dims = [#0], updates = [insert]} : i64 { %i: i64, %s: i64 ->\n"
            "    %t = insert : i64\n    yield %t\n  }"),
        "insert: has 0 operands, expected 2\n3:     %6 = insert : i64\n       ^");
}

TEST(InvalidNest, policies_of_another_nest) {
    EXPECT_EQ(
        rejected("  serial %n {dims = [#0], policy = fold_left} { %i: i64 ->\n    yield\n  }"),
        "serial: only reduce has a reduction policy\n"
        "2:   serial %1 {dims = [#0], policy = fold_left} { %3: i64 ->\n     ^");
    EXPECT_EQ(rejected("  serial %n {dims = [#0], exec = thread} { %i: i64 ->\n    yield\n  }"),
              "serial: only parallel is pinned to an execution level\n"
              "2:   serial %1 {dims = [#0], exec = thread} { %3: i64 ->\n     ^");
    EXPECT_EQ(rejected("  serial %n {dims = [#0], in_flight = 2} { %i: i64 ->\n    yield\n  }"),
              "serial: only pipeline has a pipeline policy\n"
              "2:   serial %1 {dims = [#0], in_flight = 2} { %3: i64 ->\n     ^");
}

TEST(InvalidNest, a_value_used_outside_its_region) {
    EXPECT_EQ(
        rejected(
            "  serial %n {dims = [#0]} { %i: i64 ->\n    %t = add %i, %n : i64\n    yield\n  }\n"
            "  %u = add %t, %n : i64"),
        "add: operand 0 is used before or outside its definition\n"
        "6:   %5 = add %4, %1 : i64\n     ^");
}

TEST(InvalidReduction, an_element_type_that_the_reducer_does_not_fold) {
    EXPECT_EQ(rejected("  %x = constant true : tile<bool, m:4>\n"
                       "  %y = reduce.expr %x {op = add, dims = [m]} : bool"),
              "reduce.expr: this reducer does not fold bool\n"
              "3:   %4 = reduce.expr %3 {op = add, dims = [m]} : bool\n     ^");
}

TEST(InvalidStore, a_box_of_another_rank_or_a_negative_extent) {
    EXPECT_EQ(rejected("  %x = constant 1.0 : f32\n  store %A, %x, %n {box = [m:2 m:2]}"),
              "store: has not one coordinate a dimension of the view\n"
              "3:   store %0, %3, %1 {box = [m:2 m:2]}\n     ^");
    EXPECT_EQ(rejected("  %x = constant 1.0 : f32\n  store %A, %x, %n {box = [m:-2]}"),
              "store: the box has a negative extent\n"
              "3:   store %0, %3, %1 {box = [m:-2]}\n     ^");
}

}// namespace luisa::tile::ir
