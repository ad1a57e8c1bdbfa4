// SPDX-License-Identifier: Apache-2.0
#include "compile/blocks.h"
#include "ir/text.h"

#include <gtest/gtest.h>

// What is decided for columns, trees and few instances, which threads and blocks of a GPU share.

namespace luisa::tile::test {

namespace {

/// `what` of strips of 256 columns.
compiler::BlockForms strips(int64_t rows, int64_t columns, bool sums) {
    auto r = std::to_string(rows), c = std::to_string(columns);
    auto tile = "tile<f32, row:" + r + " column:256>";
    auto result = sums ? "tile<f32, column:256>" : tile;
    auto output = sums ? "view<f32, " + c + ">" : "view<f32, " + r + " x " + c + ">";
    auto text = "kernel @strips(%0: view<const f32, " + r + " x " + c + ">, %1: " + output +
                ") {\n  %2 = constant " + std::to_string(columns / 256) + " : i64\n" +
                "  parallel %2 {dims = [#0]} { %3: i64 ->\n"
                "    %4 = constant 0 : i64\n"
                "    %5 = constant 256 : i64\n"
                "    %6 = mul %3, %5 : i64\n"
                "    %7 = load %0, %4, %6 : " +
                tile + "\n" +
                (sums ? "    %8 = reduce.expr %7 {op = add, dims = [row]} : " + result +
                            "\n    store %1, %8, %6 {box = [column:256]}\n"
                      : "    %8 = scan %7 {op = add, dim = row} : " + result +
                            "\n    store %1, %8, %4, %6 {box = [row:" + r + " column:256]}\n") +
                "    yield\n  }\n}\n";
    return compiler::realize_blocks(*ir::parse(text), {});
}

bool says(const compiler::BlockForms &forms, const char *text) {
    return forms.plan.find(text) != std::string::npos;
}

}// namespace

TEST(SharedColumns, few_instances_are_shared_by_blocks) {
    for (bool sums : {true, false}) {
        auto forms = strips(4096, 1024, sums);
        EXPECT_TRUE(says(forms, "16 blocks an instance, each with column:16 of it")) << forms.plan;
        EXPECT_TRUE(says(forms, "aligned: 4 threads a line, 64 lines, 16 of 4 elements at a time"))
            << forms.plan;
        EXPECT_EQ(forms.program.phases.front().instances, 64);
        EXPECT_EQ(forms.program.phases.front().scratch_bytes, 0u);
    }
}

TEST(SharedColumns, many_instances_have_a_block_each) {
    auto forms = strips(4096, 256 * 256, true);
    EXPECT_FALSE(says(forms, "blocks an instance")) << forms.plan;
    EXPECT_EQ(forms.program.phases.front().instances, 256);
}

TEST(SharedColumns, little_work_is_not_split) {
    auto forms = strips(4, 256, true);
    EXPECT_FALSE(says(forms, "blocks an instance")) << forms.plan;
    EXPECT_EQ(forms.program.phases.front().instances, 1);
}

TEST(SharedColumns, trees_up_to_an_end_stay_in_registers) {
    auto forms = compiler::realize_blocks(*ir::parse(R"(
kernel @reduce_blocks(%0: view<const f32, ?elements, strides 1>, %1: view<f32, ?blocks, strides 1>) {
  %2 = extent %1 {index = 0} : i64
  %3 = extent %0 {index = 0} : i64
  parallel %2 {dims = [#0]} { %4: i64 ->
    %5 = constant 4096 : i64
    %6 = mul %4, %5 : i64
    %7 = load %0, %6 : tile<f32, i:4096>
    %8 = iota : tile<i64, i:4096>
    %9 = add %8, %6 : tile<i64, i:4096>
    %10 = lt %9, %3 : tile<bool, i:4096>
    %11 = reduce.expr %7, %10 {op = add, dims = [i], policy = balanced_tree, mask = true} : f32
    store %1, %11, %4
    yield
  }
}
)"),
                                          {});
    EXPECT_TRUE(says(forms, "aligned: 256 threads a line, 4 of 4 elements: all in registers"))
        << forms.plan;
    EXPECT_EQ(forms.program.phases.front().scratch_bytes, 0u);
}

}// namespace luisa::tile::test
