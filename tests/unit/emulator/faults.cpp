// SPDX-License-Identifier: Apache-2.0
#include "compile/blocks.h"
#include "ir/text.h"
#include "unit/emulator/observed.h"

#include <gtest/gtest.h>

#include <cmath>

// Faults put into code that the realizer made: each is found, and named with the line of the program.

namespace luisa::tile::test {

namespace {

/// The rows of a matrix, each divided by its sum, twice: in between they are read by columns.
const char *const source = R"(kernel @k(%A: view<const f32, 24 x 40>, %C: view<f32, 24 x 40>) {
  %z = constant 0 : i64
  %x = load %A, %z, %z : tile<f32, m:24 n:40>
  %e = exp %x : tile<f32, m:24 n:40>
  %s = reduce.expr %e {op = add, dims = [n]} : tile<f32, m:24>
  %q = div %e, %s : tile<f32, m:24 n:40>
  %t = reduce.expr %q {op = maximum, dims = [m]} : tile<f32, n:40>
  %u = div %q, %t : tile<f32, m:24 n:40>
  store %C, %u, %z, %z {box = [m:24 n:40]}
}
)";

/// A row of 40 elements, doubled.
const char *const doubling = R"(kernel @k(%A: view<const f32, 1 x 40>, %C: view<f32, 1 x 40>) {
  %z = constant 0 : i64
  %x = load %A, %z, %z : tile<f32, m:1 n:40>
  %y = add %x, %x : tile<f32, m:1 n:40>
  store %C, %y, %z, %z {box = [m:1 n:40]}
}
)";

/// A run on views of so many rows of 40 elements that begin `shift` elements after a multiple of 16 bytes: aligned
/// views and others have code of their own.
struct ObservedRun : Finding {
    ObservedRun(const ir::Module &machine, const simt::Phase &phase, size_t rows = 24,
                size_t shift = 0) {
        std::vector<float> a(rows * 40 + shift);
        for (size_t i = 0; i < a.size(); ++i) {
            a[i] = static_cast<float>(i % 7) / 4;
        }
        result.assign(rows * 40 + shift, -1.f);
        // Views: address, extents, strides.
        auto begin = [&](std::vector<float> &v) { return reinterpret_cast<uint64_t>(&v[shift]); };
        emulator::Observer observer;
        observer.add_memory(a.data(), a.size() * 4, "view A", true);
        observer.add_memory(result.data(), result.size() * 4, "view C", true);
        Finding::operator=(run_observed(
            machine, phase, {begin(a), rows, 40, 40, 1, begin(result), rows, 40, 40, 1}, observer));
    }
    std::vector<float> result;
};

}// namespace

TEST(EmulatorFaults, every_barrier_that_is_removed_is_missed) {
    for (size_t which = 0, count = 1; which <= count; ++which) {
        auto forms = compiler::realize_blocks(*ir::parse(source), {});
        ASSERT_EQ(forms.program.phases.size(), 1u);
        auto &machine = *forms.program.machine;
        auto barriers = all_of(machine, ir::Opcode::BARRIER);
        count = barriers.size();
        ASSERT_GT(count, 1u);
        if (which < count) {
            machine.erase(barriers[which]);
        }
        ObservedRun aligned{machine, forms.program.phases[0]};
        ObservedRun shifted{machine, forms.program.phases[0], 24, 1};
        if (which == count) {
            EXPECT_EQ(aligned.error + shifted.error, "") << ir::print(machine);
            continue;
        }
        SCOPED_TRACE("barrier " + std::to_string(which) + " of " + std::to_string(count));
        // Each barrier is of one of the two.
        const auto &run = aligned.error.empty() ? shifted : aligned;
        EXPECT_TRUE(run.kind == ErrorKind::RACE || run.kind == ErrorKind::BOUNDS) << run.error;
        EXPECT_NE(run.error.find("shared memory"), std::string::npos) << run.error;
        EXPECT_TRUE(run.line >= 4 && run.line <= 9) << run.error;
    }
}

TEST(EmulatorFaults, a_mask_that_lets_one_place_too_many_through_is_found) {
    for (size_t shift : {0, 1}) {
        auto forms = compiler::realize_blocks(*ir::parse(doubling), {});
        auto &machine = *forms.program.machine;
        // Where the row ends: one element later.
        auto *body = machine.functions().front().body;
        ir::Builder builder{machine};
        builder.set_region(body, body->first());
        auto *later = builder.value(ir::Opcode::CONSTANT, {}, machine.scalar(ScalarType::INT64),
                                    ir::ConstantPayload{41});
        size_t changed = 0;
        auto change = [&](ir::Opcode opcode, size_t operand) {
            for (auto *op : all_of(machine, opcode)) {
                auto *end = op->operand(operand)->definition();
                if (end && end->opcode() == ir::Opcode::CONSTANT &&
                    end->get<ir::ConstantPayload>().bits == 40) {
                    op->set_operand(operand, later);
                    ++changed;
                }
            }
        };
        change(ir::Opcode::LT, 1);
        change(ir::Opcode::SUB, 0);
        ASSERT_GE(changed, 2u) << ir::print(machine);
        ObservedRun run{machine, forms.program.phases[0], 1, shift};
        EXPECT_EQ(run.kind, ErrorKind::BOUNDS) << run.error;
        EXPECT_NE(run.error.find("outside of all memory"), std::string::npos) << run.error;
        EXPECT_EQ(run.line, 3u) << run.error;
    }
}

}// namespace luisa::tile::test
