// SPDX-License-Identifier: Apache-2.0
// Every field of a plan for products of narrow elements changes the code, and none changes the product.
#include "kernels.h"

#include "emit/llvm/jit.h"
#include "emit/llvm/target.h"
#include "ir/text.h"
#include "plan/panels.h"
#include "realize/cpu/realize.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace luisa::tile::test {

namespace grouped_plans {

constexpr int64_t m = 192, n = 160, k = 128;

/// int8 · int8 in tiles of 64 × 80 × 64.
constexpr const char *text =
    R"(kernel @product(%0: view<const i8, 192 x 128>, %1: view<const i8, 128 x 160>, %2: view<i32, 192 x 160>) {
  %3 = constant 3 : i64
  %4 = constant 2 : i64
  parallel %3, %4 {dims = [#0 #1]} { %5: i64, %6: i64 ->
    %7 = constant 0 : i64
    %8 = constant 128 : i64
    %9 = constant 64 : i64
    %10 = constant 80 : i64
    %11 = mul %5, %9 : i64
    %12 = mul %6, %10 : i64
    %13 = constant 0 : tile<i32, m:64 n:80>
    %14 = pipeline %7, %8, %9, %13 {range = true} : tile<i32, m:64 n:80> { %15: i64, %16: tile<i32, m:64 n:80> ->
      %17 = load %0, %11, %15 : tile<i8, m:64 k:64>
      %18 = load %1, %15, %12 : tile<i8, k:64 n:80>
      %19 = mma %17, %18, %16 : tile<i32, m:64 n:80>
      yield %19
    }
    store %2, %14, %11, %12 {box = [m:64 n:80]}
    yield
  }
}
)";

static target::CpuFacts facts_for(plan::Atom atom) {
    target::CpuFacts facts;
    facts.l2_bytes = 4 << 20;
    facts.dot_int8 = facts.dot_bf16 = atom == plan::Atom::DOT;
    facts.matrix_int8 = facts.matrix_bf16 = atom == plan::Atom::MATRIX;
    return facts;
}

static plan::Contraction &contraction_of(plan::Plan &plan) {
    auto *body = plan.phases.back().nest->body();
    for (auto &step : plan.blocks.at(body).steps) {
        if (auto *c = std::get_if<plan::Contraction>(&step)) {
            return *c;
        }
    }
    throw std::runtime_error{"the plan has no contraction"};
}

/// Realizes an edited plan, runs it where this machine can, and gives its Machine form.
static std::string realize_and_run(const plan::Plan &plan, bool runs) {
    auto program = cpu::realize(plan);
    auto form = ir::print(*program.machine);
    if (!runs) {
        return form;
    }
    compiler::CpuObject object;
    object.code = emit::generate_object(*program.machine, emit::host_cpu());
    object.phases = std::move(program.phases);
    object.scratch_bytes = program.scratch_bytes;
    object.shared_bytes = program.shared_bytes;
    auto kernel = compiler::link(std::move(object));
    std::vector<int8_t> a(static_cast<size_t>(m * k)), b(static_cast<size_t>(k * n));
    for (size_t i = 0; i < a.size(); ++i) {
        a[i] = static_cast<int8_t>(i * 37 + i / 11);
    }
    for (size_t i = 0; i < b.size(); ++i) {
        b[i] = static_cast<int8_t>(i * 53 + i / 7);
    }
    std::vector<int32_t> c(static_cast<size_t>(m * n), -1);
    launch(*kernel, {{a.data(), {m, k}, {}}, {b.data(), {k, n}, {}}, {c.data(), {m, n}, {}}});
    for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) {
            int32_t sum = 0;
            for (int64_t q = 0; q < k; ++q) {
                sum += a[static_cast<size_t>(i * k + q)] * b[static_cast<size_t>(q * n + j)];
            }
            if (c[static_cast<size_t>(i * n + j)] != sum) {
                ADD_FAILURE() << "at " << i << ", " << j;
                return form;
            }
        }
    }
    return form;
}

struct Edit {
    const char *name;
    plan::Atom atom;
    std::function<void(plan::Plan &, plan::Contraction &)> change;
};

}// namespace grouped_plans

TEST(GroupedPlans, each_field_changes_the_code_and_not_the_product) {
    using namespace grouped_plans;
    using plan::Atom;
    auto module = ir::parse(text);
    auto host = target::cpu_facts(emit::host_cpu().features, 1);
    const Edit edits[] = {
        {"rows", Atom::MATRIX, [](auto &, auto &c) { c.rows = 16; }},
        {"vectors", Atom::MATRIX,
         [](auto &, auto &c) {
             c.vectors = 1;
             plan::lay_out_panels(c);
         }},
        {"panel_steps", Atom::MATRIX, [](auto &, auto &c) { c.panel_steps = 1; }},
        {"band", Atom::MATRIX, [](auto &p, auto &) { p.phases.back().band = 1; }},
        {"scalar panel", Atom::MATRIX,
         [](auto &, auto &c) {
             c.scalar_panel.emplace();
             c.scalar_panel->contiguous_step = c.roles.contracted.front().dim;
             plan::lay_out_panels(c);
         }},
        {"shared panel", Atom::MATRIX, [](auto &, auto &c) { c.vector_panel->shared = false; }},
        {"rows of dot products", Atom::DOT, [](auto &, auto &c) { c.rows = 2; }},
        {"vectors of dot products", Atom::DOT,
         [](auto &, auto &c) {
             c.vectors = 2;
             plan::lay_out_panels(c);
         }},
        {"where a packed row lies", Atom::DOT,
         [](auto &, auto &c) {
             auto &rows = c.scalar_panel->layouts.front();
             auto extents = rows.domain().extents();
             auto pitch = 4 * (extents[0] + c.lanes);
             rows = IndexMap::strided(extents, {1, pitch}).into({extents[1] * pitch});
         }},
        {"where packed columns lie", Atom::DOT,
         [](auto &, auto &c) {
             auto &columns = c.vector_panel->layouts.front();
             auto extents = columns.domain().extents();
             int64_t width = c.vectors * c.lanes, step = width + 16,
                     block = (extents[0] + 3) * step;
             columns = IndexMap::mixed_radix(
                 {LayoutMode{{extents[0]}, {{step}}},
                  LayoutMode{{width, extents[1] / width}, {{1}, {block}}}},
                 {0});
         }},
        {"the way a panel is filled", Atom::DOT,
         [](auto &, auto &c) { c.scalar_panel->contiguous_step.reset(); }},
        {"atom", Atom::DOT,
         [](auto &, auto &c) {
             c.atom = Atom::MULTIPLY_ADD;
             plan::lay_out_panels(c);
         }},
    };
    for (const auto &edit : edits) {
        SCOPED_TRACE(edit.name);
        bool runs = edit.atom == Atom::MATRIX ? host.matrix_int8 : host.dot_int8;
        auto made = plan::make_plan(*module, facts_for(edit.atom));
        ASSERT_EQ(contraction_of(made).atom, edit.atom) << plan::print(made);
        auto before = realize_and_run(made, runs);
        edit.change(made, contraction_of(made));
        EXPECT_NE(realize_and_run(made, runs), before);
    }
}

TEST(GroupedPlans, the_plan_says_what_multiplies) {
    using namespace grouped_plans;
    auto module = ir::parse(text);
    auto said = [&](plan::Atom atom) {
        return plan::print(plan::make_plan(*module, facts_for(atom)));
    };
    EXPECT_NE(said(plan::Atom::MATRIX).find("matrix registers of groups of 4 steps"),
              std::string::npos);
    EXPECT_NE(said(plan::Atom::DOT).find("dot products of groups of 4 steps"), std::string::npos);
    EXPECT_EQ(said(plan::Atom::MULTIPLY_ADD).find("groups of"), std::string::npos);
}

}// namespace luisa::tile::test
