// SPDX-License-Identifier: Apache-2.0
#include "compile/blocks.h"
#include "ir/text.h"

#include <gtest/gtest.h>

// What is decided for rows that the threads of a GPU's block share.

namespace luisa::tile::test {

namespace {

std::string softmax_text(int64_t rows, int64_t columns) {
    auto r = std::to_string(rows), c = std::to_string(columns);
    return "kernel @softmax(%0: view<const f32, " + r + " x " + c + ">, %1: view<f32, " + r +
           " x " + c + ">) {\n  %2 = constant " + r + " : i64\n" +
           "  parallel %2 {dims = [#0]} { %3: i64 ->\n"
           "    %4 = constant 0 : i64\n"
           "    %5 = load %0, %3, %4 : tile<f32, row:1 col:" +
           c + ">\n" +
           "    %6 = reduce.expr %5 {op = maximum, dims = [col]} : tile<f32, row:1>\n"
           "    %7 = sub %5, %6 : tile<f32, row:1 col:" +
           c + ">\n" + "    %8 = exp %7 : tile<f32, row:1 col:" + c + ">\n" +
           "    %9 = reduce.expr %8 {op = add, dims = [col]} : tile<f32, row:1>\n"
           "    %10 = div %8, %9 : tile<f32, row:1 col:" +
           c + ">\n" + "    store %1, %10, %3, %4 {box = [row:1 col:" + c + "]}\n" +
           "    yield\n  }\n}\n";
}

struct Reads {
    int vectors = 0, scalars = 0, barriers = 0, writes = 0;
};

void count(const ir::Region &region, Reads &reads) {
    for (auto *op : region) {
        if (op->opcode() == ir::Opcode::READ) {
            ++(op->result()->type()->is_vector() ? reads.vectors : reads.scalars);
        }
        reads.barriers += op->opcode() == ir::Opcode::BARRIER;
        reads.writes += op->opcode() == ir::Opcode::WRITE;
        for (auto *inner : op->regions()) {
            count(*inner, reads);
        }
    }
}

}// namespace

TEST(SharedLines, softmax_reads_its_row_once) {
    auto module = ir::parse(softmax_text(1024, 1024));
    auto forms = compiler::realize_blocks(*module, {});
    // 128 threads: two vectors of four elements each where views are aligned, eight single elements otherwise.
    EXPECT_NE(forms.plan.find("blocks of 128 threads"), std::string::npos) << forms.plan;
    EXPECT_NE(forms.plan.find("aligned: 128 threads a line, 2 of 4 elements: all in registers"),
              std::string::npos)
        << forms.plan;
    EXPECT_NE(forms.plan.find("otherwise: 128 threads a line, 8 of 1 element: all in registers"),
              std::string::npos)
        << forms.plan;
    Reads reads;
    count(*forms.program.machine->functions().front().body, reads);
    EXPECT_EQ(reads.vectors, 2);
    // Of each version, beside its elements: the parts of four warps, of two folds.
    EXPECT_EQ(reads.scalars, 8 + 2 * 2 * 4);
    EXPECT_EQ(reads.barriers, 2 * 2 + 1) << "and one before the next row";
    // Results, and the parts that warps exchange; nothing is kept in memory.
    EXPECT_EQ(reads.writes, 2 + 8 + 2 * 2);
}

}// namespace luisa::tile::test
