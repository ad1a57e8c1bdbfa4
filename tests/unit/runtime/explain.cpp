// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>
#include <luisa/tile/explain.h>

#include "unit/frontend/programs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

// An explanation beside what a device says of the same kernel.

namespace luisa::tile {

namespace {

using namespace test::programs;

Explanation explained(const Kernel &kernel, ExplainOptions options = {}) {
    options.threads = 2;
    return explain(kernel, options);
}

ShaderMetadata compiled(const Kernel &kernel) {
    auto device = Device::create("cpu", {.threads = 2, .cache = false});
    return device.compile(kernel).metadata();
}

Kernel product() {
    return tile_kernel([](TensorView<const float, 2> A, TensorView<const float, 2> B,
                          TensorView<float, 2> C) {
               auto m = axis("m", 32), n = axis("n", 64), k = axis("k", 16);
               for (auto &nest :
                    parallel(shape(ceil_div(C.extent(0), 32), ceil_div(C.extent(1), 64)))) {
                   auto m0 = nest.index(0) * 32, n0 = nest.index(1) * 64;
                   auto acc = zeros<float>(shape(m, n));
                   for (auto &step : nest.pipeline(range(0, A.extent(1), 16))) {
                       step.stage("load");
                       auto a = A[coord(m0, step.index()), shape(m, k)];
                       auto b = B[coord(step.index(), n0), shape(k, n)];
                       step.stage("compute");
                       acc = mma(a, b, acc);
                   }
                   C(coord(m0, n0), shape(m, n)).store(acc);
               }
           })
        .capture(tensor_shape(100, 40), tensor_shape(40, 130), tensor_shape(100, 130));
}

}// namespace

TEST(Explain, figures_are_those_of_the_compiled_kernel) {
    for (const auto &kernel : {gemm_bias(96, 200, 64), softmax(37, 300), product()}) {
        SCOPED_TRACE(kernel.ir_text());
        auto about = explained(kernel);
        auto shader = compiled(kernel);
        EXPECT_EQ(about.plan, shader.plan);
        EXPECT_EQ(about.scratch_bytes, shader.scratch_bytes);
        EXPECT_EQ(about.shared_bytes, shader.shared_bytes);
        EXPECT_EQ(about.tile_ir, kernel.ir_text(true));
        // Every step is a line of the plan, in its order.
        size_t at = 0;
        for (const auto &step : about.steps) {
            at = about.plan.find(step.title, at);
            ASSERT_NE(at, std::string::npos) << step.title;
        }
    }
}

TEST(Explain, counts_what_the_program_asks_for) {
    auto about = explained(product());
    EXPECT_TRUE(about.work_known && about.work_exact);
    EXPECT_EQ(about.flops, 2.0 * 100 * 130 * 40);
    EXPECT_EQ(about.stored, 4.0 * 100 * 130);
    // A is loaded for each of 3 blocks of columns, B for each of 4 blocks of rows.
    EXPECT_EQ(about.loaded, 4.0 * (3 * 100 * 40 + 4 * 40 * 130));
    auto contraction = std::find_if(about.steps.begin(), about.steps.end(),
                                    [](const auto &s) { return s.kind == "contraction"; });
    ASSERT_NE(contraction, about.steps.end());
    EXPECT_EQ(contraction->flops, about.flops);
    EXPECT_EQ(contraction->executions, 12);
    EXPECT_GT(contraction->predicted_us.value_or(0), 0);
    ASSERT_EQ(contraction->roots.size(), 2u);
    EXPECT_EQ(contraction->roots[0].what, "mma");
    EXPECT_EQ(contraction->roots[1].what,
              "store, each instance to elements of its own, in registers");
}

TEST(Explain, says_what_was_not_chosen_and_why) {
    auto about = explained(product());
    std::set<std::string> reasons;
    size_t count = about.alternatives.size();
    for (const auto &step : about.steps) {
        count += step.alternatives.size();
        for (const auto &a : step.alternatives) {
            EXPECT_FALSE(a.what.empty() || a.alternative.empty() || a.reason.empty());
            reasons.insert(a.alternative);
        }
    }
    EXPECT_GE(count, 3u);
    EXPECT_TRUE(reasons.count("vectors along m"));
    EXPECT_TRUE(reasons.count("broadcast operand copied into panels"));
}

TEST(Explain, rooms_fill_the_scratch_memory) {
    auto about = explained(softmax(37, 300));
    int64_t end = 0;
    for (const auto &value : about.values) {
        if (value.shares.empty()) {
            end = std::max(end, value.offset + value.bytes);
            EXPECT_GT(value.first_step, 0);
            EXPECT_GE(value.last_step, value.first_step);
            EXPECT_LE(value.last_step, static_cast<int>(about.steps.size()));
        }
    }
    EXPECT_GT(end, 0);
    EXPECT_LE(end, static_cast<int64_t>(about.scratch_bytes));
}

TEST(Explain, instructions_stand_behind_their_steps) {
    auto about = explained(softmax(37, 300));
    for (const auto &step : about.steps) {
        EXPECT_GT(step.assembly.size(), 5u) << step.title;
    }
    EXPECT_FALSE(about.other_assembly.empty());
    auto without = explained(softmax(37, 300), {.assembly = false});
    for (const auto &step : without.steps) {
        EXPECT_TRUE(step.assembly.empty());
    }
}

TEST(Explain, runtime_extents_are_assumed_or_given) {
    auto kernel = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y) {
                      auto i = axis("i", 64);
                      for (auto &nest : parallel(shape(ceil_div(X.extent(0), 64)))) {
                          auto at = coord(nest.index() * 64);
                          Y(at, shape(i)).store(X[at, shape(i)] * 2.0f);
                      }
                  }).capture(tensor_shape(dynamic("n")), tensor_shape(dynamic("n")));
    auto about = explained(kernel);
    ASSERT_EQ(about.assumed.size(), 1u);
    EXPECT_EQ(about.assumed[0].name, "n");
    EXPECT_EQ(about.flops, 1024);
    EXPECT_EQ(explained(kernel, {.extents = {{"n", 100}}}).flops, 100);
    EXPECT_EQ(about.phases.at(0).tasks, -1);
}

TEST(Explain, nests_name_their_stages) {
    auto about = explained(product());
    ASSERT_EQ(about.nests.size(), 2u);
    EXPECT_EQ(about.nests[0].kind, "parallel");
    EXPECT_EQ(about.nests[0].domain, "4 x 3");
    EXPECT_EQ(about.nests[0].trips, 12);
    EXPECT_EQ(about.nests[1].kind, "pipeline");
    EXPECT_EQ(about.nests[1].domain, "range(0, 40, 16)");
    EXPECT_EQ(about.nests[1].trips, 3);
    EXPECT_EQ(about.nests[1].stages, (std::vector<std::string>{"load", "compute"}));
    EXPECT_FALSE(about.nests[1].realization.empty());
}

TEST(Explain, text_with_source_lines_keeps_them) {
    auto kernel = softmax(4, 8);
    auto text = kernel.ir_text(true);
    auto again = parse_kernel(text, "softmax.tir");
    EXPECT_EQ(again.ir_text(true), text);
    auto about = explained(again);
    ASSERT_FALSE(about.lines.empty());
    EXPECT_EQ(about.lines[0].file, "programs.h");
}

}// namespace luisa::tile
