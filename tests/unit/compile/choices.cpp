// SPDX-License-Identifier: Apache-2.0
// Plans that something else than the planner decides.
#include "kernels.h"

#include "compile/cpu.h"
#include "ir/text.h"
#include "plan/choices.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace luisa::tile::test {

namespace choices {

/// A product with an epilogue, then sums of its rows and columns.
constexpr const char *text =
    R"(kernel @several(%0: view<const f32, 64 x 48>, %1: view<const f32, 48 x 80>, %2: view<f32, 64 x 80>, %3: view<f32, 64>, %4: view<f32, 80>) noalias {
  %5 = constant 2 : i64
  parallel %5 {dims = [#0]} { %6: i64 ->
    %7 = constant 32 : i64
    %8 = mul %6, %7 : i64
    %9 = constant 0 : i64
    %10 = load %0, %8, %9 : tile<f32, m:32 k:48>
    %11 = load %1, %9, %9 : tile<f32, k:48 n:80>
    %12 = constant 0.0 : tile<f32, m:32 n:80>
    %13 = mma %10, %11, %12 : tile<f32, m:32 n:80>
    %14 = neg %13 : tile<f32, m:32 n:80>
    store %2, %14, %8, %9 {box = [m:32 n:80]}
    %15 = reduce.expr %10 {op = maximum, dims = [k]} : tile<f32, m:32>
    store %3, %15, %8 {box = [m:32]}
    yield
  }
}
)";

std::string plan_by(const std::string &how) {
    auto module = ir::parse(text);
    compiler::CpuOptions options{emit::host_cpu(), 2, false, std::nullopt, how};
    return compiler::compile_cpu(*module, options)->plan;
}

}// namespace choices

TEST(Choices, a_seed_stands_for_one_plan_and_seeds_for_many) {
    std::set<std::string> plans;
    for (int seed = 0; seed < 40; ++seed) {
        auto how = "random:" + std::to_string(seed);
        auto plan = choices::plan_by(how);
        EXPECT_EQ(plan, choices::plan_by(how));
        plans.insert(plan);
    }
    EXPECT_GE(plans.size(), 30u);
    EXPECT_EQ(choices::plan_by(""), choices::plan_by(""));
}

TEST(Choices, other_ways_to_plan_are_refused) {
    for (const char *how : {"random", "random:", "random:x", "random:1 ", "best", "random:-1"}) {
        try {
            static_cast<void>(plan::make_choices(how));
            ADD_FAILURE() << how;
        } catch (const ValueError &e) {
            EXPECT_EQ(e.message(), "the way to plan is '" + std::string{how} +
                                       "', expected random:SEED with a number, as in random:7, or "
                                       "nothing for the planner's own choice");
        }
    }
}

}// namespace luisa::tile::test
