// SPDX-License-Identifier: Apache-2.0
#include "ir/text.h"
#include "kernels.h"

#include <gtest/gtest.h>

namespace luisa::tile::test {

namespace {

void check_round_trip(const ir::Module &module) {
    auto text = compiler::forms_cpu(module, {emit::host_cpu(), 1, false}, false, false).machine;
    auto again = ir::parse(text, "machine");// also verifies
    EXPECT_EQ(ir::print(*again), text);
}

}// namespace

TEST(MachineText, realized_kernels_survive_a_round_trip_and_verify) {
    check_round_trip(*gemm(96, 80, 64, 32, 16, 32));
    check_round_trip(*gemm(33, 17, 29, 16, 16, 16, true));
    check_round_trip(*softmax(7, 100));
}

TEST(MachineText, large_products_ask_for_rows_panels_and_results_ahead) {
    auto text = [](const ir::Module &module) {
        return compiler::forms_cpu(module, {emit::host_cpu(), 1, false}, false, false).machine;
    };
    auto large = text(*gemm(1024, 1024, 1024, 128, 128, 32));
    EXPECT_NE(large.find("prefetch %"), std::string::npos);
    EXPECT_NE(large.find("{level = 1}"), std::string::npos) << "the rows of the step that follows";
    EXPECT_NE(large.find("{exclusive = true}"), std::string::npos) << "the lines of the result";
    auto small = text(*gemm(64, 64, 64, 32, 32, 32));
    EXPECT_EQ(small.find("prefetch"), std::string::npos) << "what is near is not asked for";
}

}// namespace luisa::tile::test
