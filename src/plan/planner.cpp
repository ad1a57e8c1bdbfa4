// SPDX-License-Identifier: Apache-2.0
#include "analysis/expressions.h"
#include "analysis/intervals.h"
#include "plan/block_planner.h"
#include "plan/plan.h"

#include <algorithm>

namespace luisa::tile::plan {

using ir::Opcode;

bool LoopGroup::folds(Dim dim) const {
    for (const auto &root : roots) {
        if (root.kind == Root::Kind::REDUCE) {
            const auto &dims = root.op->get<ir::ReducePayload>().dims;
            return std::find(dims.begin(), dims.end(), dim) != dims.end();
        }
    }
    return false;
}

bool LoopGroup::has_reduction() const {
    return std::any_of(roots.begin(), roots.end(),
                       [](const Root &r) { return r.kind == Root::Kind::REDUCE; });
}

const ir::Value *Plan::home(const ir::Value *value) const {
    for (auto found = shares.find(value); found != shares.end(); found = shares.find(value)) {
        value = found->second;
    }
    return storage.count(value) ? value : nullptr;
}

namespace {

bool is_root_parallel(const ir::Operation &op) {
    return op.opcode() == Opcode::PARALLEL && op.result_count() == 0;
}

/// Whether phases can be separate: what one computes and another uses must be a scalar that each
/// can compute again.
bool phases_are_independent(const ir::Function &kernel) {
    size_t parallels = 0;
    for (auto *op : *kernel.body) {
        parallels += is_root_parallel(*op);
    }
    for (auto *op : *kernel.body) {
        for (auto *result : op->results()) {
            bool recomputable = result->type()->is_scalar() && analysis::is_inline(*op);
            for (auto *use = result->first_use(); use && !recomputable; use = use->next()) {
                auto *anchor = anchor_in(use->user(), kernel.body);
                if (anchor && is_root_parallel(*anchor)) {
                    return false;
                }
            }
        }
    }
    return parallels > 0;
}

}// namespace

Plan make_plan(const ir::Module &module, const target::CpuFacts &facts,
               const PlanOptions &options) {
    Plan plan;
    plan.kernel = module.kernel();
    plan.facts = facts;
    plan.may_alias = options.may_alias;
    plan.temporaries = std::make_shared<ir::Module>();
    BlockPlanner planner{plan};
    const auto &body = *plan.kernel->body;
    if (!phases_are_independent(*plan.kernel)) {
        auto &phase = plan.phases.emplace_back();
        planner.plan_operations(body, body.first(), nullptr, phase.block);
        if (!body.empty()) {
            plan.notes.push_back("one task: the root holds values that its nests share, or no "
                                 "root `parallel`");
        }
        return plan;
    }
    for (auto *op = body.first(); op;) {
        if (is_root_parallel(*op)) {
            auto &phase = plan.phases.emplace_back();
            phase.nest = op;
            planner.plan_region(*op->body());
            planner.share_panels(*op);
            op = op->next();
            continue;
        }
        auto *end = op;
        bool effects = false;
        while (end && !is_root_parallel(*end)) {
            effects |= !analysis::is_inline(*end);
            end = end->next();
        }
        if (effects) {
            auto &phase = plan.phases.emplace_back();
            planner.plan_operations(body, op, end, phase.block);
        }
        op = end;
    }
    return plan;
}

}// namespace luisa::tile::plan
