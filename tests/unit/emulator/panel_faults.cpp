// SPDX-License-Identifier: Apache-2.0
#include "compile/blocks.h"
#include "ir/text.h"
#include "unit/emulator/observed.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

// Faults put into products that warpgroups read from shared memory themselves: each is found.

namespace luisa::tile::test {

namespace {

constexpr const char *group_text =
    R"(kernel @k(%A: view<const bf16, 64 x 384>, %B: view<const bf16, 384 x 64>, %C: view<f32, 64 x 64>) {
  %one = constant 1 : i64
  parallel %one {dims = [#0]} { %i: i64 ->
    %z = constant 0.0 : tile<f32, m:64 n:64>
    %zero = constant 0 : i64
    %end = constant 384 : i64
    %step = constant 64 : i64
    %acc = pipeline %zero, %end, %step, %z {range = true} : tile<f32, m:64 n:64> { %k0: i64, %s: tile<f32, m:64 n:64> ->
      %a = load %A, %zero, %k0 : tile<bf16, m:64 k:64>
      %b = load %B, %k0, %zero : tile<bf16, k:64 n:64>
      %r = mma %a, %b, %s : tile<f32, m:64 n:64>
      yield %r
    }
    store %C, %acc, %zero, %zero {box = [m:64 n:64]}
    yield
  }
}
)";

/// Elements of A by row and step, of B by step and column: small integers that repeat with no atom's size.
size_t left_element(size_t i, size_t k) { return (3 * i + 5 * k + i / 8) % 7; }
size_t right_element(size_t k, size_t j) { return (2 * k + 11 * j + k / 8) % 13; }

struct GroupRun : Finding {
    explicit GroupRun(const ir::Module &machine, const simt::Phase &phase)
        : a(64 * 384), b(384 * 64), result(64 * 64, -1.f) {
        auto narrow = [](float x) {
            uint32_t bits = 0;
            std::memcpy(&bits, &x, 4);
            return static_cast<uint16_t>(bits >> 16);
        };
        for (size_t i = 0; i < a.size(); ++i) {
            a[i] = narrow(static_cast<float>(left_element(i / 384, i % 384)));
            b[i] = narrow(static_cast<float>(right_element(i / 64, i % 64)));
        }
        emulator::Observer observer;
        observer.add_memory(a.data(), a.size() * 2, "view A", true);
        observer.add_memory(b.data(), b.size() * 2, "view B", true);
        observer.add_memory(result.data(), result.size() * 4, "view C", true);
        Finding::operator=(run_observed(machine, phase,
                                        {reinterpret_cast<uint64_t>(a.data()), 64, 384, 384, 1,
                                         reinterpret_cast<uint64_t>(b.data()), 384, 64, 64, 1,
                                         reinterpret_cast<uint64_t>(result.data()), 64, 64, 64, 1},
                                        observer));
    }
    [[nodiscard]] bool is_right() const {
        for (size_t i = 0; i < 64; ++i) {
            for (size_t j = 0; j < 64; ++j) {
                size_t sum = 0;
                for (size_t k = 0; k < 384; ++k) {
                    sum += left_element(i, k) * right_element(k, j);
                }
                if (result[64 * i + j] != static_cast<float>(sum)) {
                    return false;
                }
            }
        }
        return true;
    }
    std::vector<uint16_t> a, b;
    std::vector<float> result;
};

class PanelFaults : public ::testing::Test {
protected:
    void SetUp() override {
        forms = compiler::realize_blocks(*ir::parse(group_text),
                                         {false, false, target::find_cuda("sm_90a")});
        ASSERT_NE(forms.plan.find("warpgroups hold 1 of wgmma"), std::string::npos) << forms.plan;
    }
    [[nodiscard]] std::vector<ir::Operation *> all(ir::Opcode opcode) const {
        return all_of(*forms.program.machine, opcode);
    }
    /// All of a kind, in both loops: over panels that are copied alike, and over others.
    [[nodiscard]] std::vector<ir::Operation *> some(ir::Opcode opcode) const {
        auto found = all(opcode);
        EXPECT_GE(found.size(), 2u);
        return found;
    }
    GroupRun run() { return GroupRun{*forms.program.machine, forms.program.phases[0]}; }
    void expect_found(const char *what) {
        auto found = run();
        EXPECT_NE(found.error.find(what), std::string::npos) << found.error;
        EXPECT_TRUE(found.line >= 8 && found.line <= 11) << found.error;
    }
    compiler::BlockForms forms;
};

}// namespace

TEST_F(PanelFaults, nothing_is_found_without_one) {
    auto found = run();
    EXPECT_EQ(found.error, "");
    EXPECT_TRUE(found.is_right());
}

TEST_F(PanelFaults, writes_that_are_not_made_visible_are_found) {
    for (auto *op : some(ir::Opcode::COPIES_VISIBLE)) {
        forms.program.machine->erase(op);
    }
    expect_found("did not make visible");
}

TEST_F(PanelFaults, a_late_wait_for_copies_is_found) {
    for (auto *wait : some(ir::Opcode::COPY_WAIT)) {
        ++wait->get<ir::IndexPayload>().index;
    }
    expect_found("shared memory");
}

TEST_F(PanelFaults, a_missed_barrier_is_found) {
    for (auto *barrier : some(ir::Opcode::BARRIER)) {
        forms.program.machine->erase(barrier);
    }
    expect_found("shared memory");
}

TEST_F(PanelFaults, a_missed_fence_of_sums_is_found) {
    for (auto *op : some(ir::Opcode::PANELS_FENCE)) {
        forms.program.machine->erase(op);
    }
    expect_found("without a fence");
}

TEST_F(PanelFaults, a_product_without_a_group_is_found) {
    for (auto *op : some(ir::Opcode::PANELS_COMMIT)) {
        forms.program.machine->erase(op);
    }
    auto found = run();
    EXPECT_TRUE(!found.error.empty() || !found.is_right());
}

TEST_F(PanelFaults, a_wait_for_too_few_products_is_found) {
    // Those in the loop, which let one group be under way, and those behind it.
    for (int64_t which = 0; which < 2; ++which) {
        SetUp();
        for (auto *wait : some(ir::Opcode::PANELS_WAIT)) {
            auto &groups = wait->get<ir::IndexPayload>().index;
            groups += groups == which ? 1 : 0;
        }
        auto found = run();
        EXPECT_TRUE(!found.error.empty() || !found.is_right()) << which;
    }
}

TEST_F(PanelFaults, wrong_descriptors_are_found) {
    using Change = std::function<void(ir::Operation &)>;
    const Change changes[] = {
        [](ir::Operation &op) { op.get<ir::PanelDescriptorPayload>().stride = 2048; },
        [](ir::Operation &op) { op.get<ir::PanelDescriptorPayload>().stride = 128; }};
    for (size_t which = 0; which < 2; ++which) {
        for (const auto &change : changes) {
            SetUp();
            // Of each loop the descriptors of both operands follow each other.
            auto descriptors = some(ir::Opcode::PANEL_DESCRIPTOR);
            for (size_t i = which; i < descriptors.size(); i += 2) {
                change(*descriptors[i]);
            }
            auto found = run();
            EXPECT_TRUE(!found.error.empty() || !found.is_right());
        }
    }
}

TEST_F(PanelFaults, lines_that_are_taken_for_others_are_found) {
    for (bool of_a : {true, false}) {
        SetUp();
        for (auto *op : all(ir::Opcode::MULTIPLY_PANELS)) {
            auto &payload = op->get<ir::MultiplyPanelsPayload>();
            auto &across = of_a ? payload.a_across : payload.b_across;
            across = !across;
        }
        auto found = run();
        EXPECT_TRUE(!found.error.empty() || !found.is_right());
    }
}

TEST_F(PanelFaults, units_that_are_not_permuted_are_found) {
    // Copies go where the line says, not to the place that it gives its units.
    auto permutations = all(ir::Opcode::XOR);
    ASSERT_GT(permutations.size(), 0u);
    for (auto *op : permutations) {
        op->result()->replace_all_uses_with(op->operand(0));
    }
    auto found = run();
    EXPECT_TRUE(!found.error.empty() || !found.is_right());
}

}// namespace luisa::tile::test
