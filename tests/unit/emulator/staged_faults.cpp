// SPDX-License-Identifier: Apache-2.0
#include "compile/blocks.h"
#include "ir/text.h"
#include "unit/emulator/observed.h"

#include <gtest/gtest.h>

#include <algorithm>

// Faults put into products that go through shared memory: each is found, and named with the line of the program.

namespace luisa::tile::test {

namespace {

constexpr int64_t edge = 64, depth = 96;

std::string product_text(const char *type) {
    auto t = std::string{type};
    return "kernel @k(%A: view<const " + t + ", 64 x 96>, %B: view<const " + t +
           R"(, 96 x 64>, %C: view<f32, 64 x 64>) {
  %one = constant 1 : i64
  parallel %one {dims = [#0]} { %i: i64 ->
    %z = constant 0.0 : tile<f32, m:64 n:64>
    %zero = constant 0 : i64
    %end = constant 96 : i64
    %step = constant 32 : i64
    %acc = pipeline %zero, %end, %step, %z {range = true} : tile<f32, m:64 n:64> { %k0: i64, %s: tile<f32, m:64 n:64> ->
      %a = load %A, %zero, %k0 : tile<)" +
           t + R"(, m:64 k:32>
      %b = load %B, %k0, %zero : tile<)" +
           t + R"(, k:32 n:64>
      %r = mma %a, %b, %s : tile<f32, m:64 n:64>
      yield %r
    }
    store %C, %acc, %zero, %zero {box = [m:64 n:64]}
    yield
  }
}
)";
}

struct StagedRun : Finding {
    StagedRun(const ir::Module &machine, const simt::Phase &phase, size_t bytes) {
        // 1.0 in every element: f32 or bf16.
        std::vector<uint32_t> a(edge * depth, bytes == 4 ? 0x3f800000u : 0x3f803f80u), b = a;
        result.assign(edge * edge, -1.f);
        emulator::Observer observer;
        observer.add_memory(a.data(), a.size() * 4, "view A", true);
        observer.add_memory(b.data(), b.size() * 4, "view B", true);
        observer.add_memory(result.data(), result.size() * 4, "view C", true);
        Finding::operator=(run_observed(machine, phase,
                                        {reinterpret_cast<uint64_t>(a.data()), 64, 96, 96, 1,
                                         reinterpret_cast<uint64_t>(b.data()), 96, 64, 64, 1,
                                         reinterpret_cast<uint64_t>(result.data()), 64, 64, 64, 1},
                                        observer));
    }
    std::vector<float> result;
};

class StagedFaults : public ::testing::TestWithParam<const char *> {
protected:
    void SetUp() override {
        forms = compiler::realize_blocks(*ir::parse(product_text(GetParam())), {});
        ASSERT_NE(forms.plan.find("through shared memory"), std::string::npos) << forms.plan;
    }
    StagedRun run() {
        return {*forms.program.machine, forms.program.phases[0],
                std::string{GetParam()} == "f32" ? size_t{4} : size_t{2}};
    }
    void expect_found(const char *what) {
        auto found = run();
        EXPECT_NE(found.error.find("shared memory"), std::string::npos)
            << what << ": " << found.error;
        EXPECT_TRUE(found.line >= 8 && found.line <= 11) << found.error;
    }
    compiler::BlockForms forms;
};

}// namespace

TEST_P(StagedFaults, nothing_is_found_without_one) {
    auto found = run();
    EXPECT_EQ(found.error, "");
    EXPECT_TRUE(std::all_of(found.result.begin(), found.result.end(),
                            [](float x) { return x == static_cast<float>(depth); }));
}

TEST_P(StagedFaults, a_missed_wait_is_found) {
    auto waits = all_of(*forms.program.machine, ir::Opcode::COPY_WAIT);
    ASSERT_EQ(waits.size(), 1u);
    forms.program.machine->erase(waits[0]);
    expect_found("no wait");
}

TEST_P(StagedFaults, a_wait_for_too_few_is_found) {
    auto waits = all_of(*forms.program.machine, ir::Opcode::COPY_WAIT);
    ASSERT_EQ(waits.size(), 1u);
    ++waits[0]->get<ir::IndexPayload>().index;
    expect_found("late wait");
}

TEST_P(StagedFaults, a_missed_barrier_is_found) {
    auto barriers = all_of(*forms.program.machine, ir::Opcode::BARRIER);
    ASSERT_GE(barriers.size(), 1u);
    forms.program.machine->erase(barriers[0]);
    expect_found("no barrier");
}

TEST_P(StagedFaults, lines_that_lie_elsewhere_for_one_side_are_found) {
    // Where copies go: lines one unit closer than they are read.
    size_t changed = 0;
    for (auto *copy : all_of(*forms.program.machine, ir::Opcode::COPY_ASYNC)) {
        for (auto *op = copy->operand(0)->definition(); op && op->opcode() == ir::Opcode::ADDRESS;
             op = op->operand(0)->definition()) {
            if (op->operand_count() == 2 && op->get<ir::AddressPayload>().scale == 1) {
                op->get<ir::AddressPayload>().scale = 2;
                ++changed;
                break;
            }
        }
    }
    ASSERT_GT(changed, 0u);
    auto found = run();
    EXPECT_NE(found.error, "");
}

INSTANTIATE_TEST_SUITE_P(Types, StagedFaults, ::testing::Values("f32", "bf16"),
                         [](const auto &i) { return std::string{i.param}; });

}// namespace luisa::tile::test
