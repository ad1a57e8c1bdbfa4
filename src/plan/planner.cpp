// SPDX-License-Identifier: Apache-2.0
#include "analysis/expressions.h"
#include "analysis/intervals.h"
#include "plan/block_planner.h"
#include "plan/constraints.h"
#include "plan/plan.h"

#include <algorithm>
#include <functional>
#include <unordered_set>

namespace luisa::tile::plan {

using ir::Opcode;

bool LoopGroup::folds(Dim dim) const {
    if (const auto *op = scan()) {
        return op->get<ir::ScanPayload>().dim == dim;
    }
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

const ir::Operation *LoopGroup::scan() const {
    return !roots.empty() && roots.front().kind == Root::Kind::SCAN ? roots.front().op : nullptr;
}

bool LoopGroup::scans_lanes() const {
    return scan() && vector_axis >= 0 && folds(loops[static_cast<size_t>(vector_axis)].dim);
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

/// Whether each phase that needs the result of `op` can compute it again.
bool is_recomputable(const ir::Operation &op) {
    return op.result_count() == 1 && op.result()->type()->is_scalar() && analysis::is_inline(op);
}

/// Whether phases can be separate: what one computes and another uses, be it through scalars that
/// each can compute again, must be such a scalar itself.
bool phases_are_independent(const ir::Function &kernel) {
    std::unordered_map<const ir::Operation *, size_t> phases;
    size_t phase = 0, parallels = 0;
    for (auto *op : *kernel.body) {
        parallels += is_root_parallel(*op);
        phase += is_root_parallel(*op);
        phases[op] = phase;
        phase += is_root_parallel(*op);
    }
    std::unordered_set<const ir::Value *> seen;
    std::function<bool(const ir::Value *, size_t)> leaves = [&](const ir::Value *value,
                                                                size_t home) {
        if (!seen.insert(value).second) {
            return false;
        }
        for (auto *use = value->first_use(); use; use = use->next()) {
            auto *anchor = anchor_in(use->user(), kernel.body);
            if (phases.at(anchor) != home ||
                (is_recomputable(*anchor) && leaves(anchor->result(), home))) {
                return true;
            }
        }
        return false;
    };
    for (auto *op : *kernel.body) {
        for (auto *result : op->results()) {
            seen.clear();
            if (!is_recomputable(*op) && leaves(result, phases.at(op))) {
                return false;
            }
        }
    }
    return parallels > 0;
}

/// Tasks are claimed in portions of about two microseconds, beside which claiming costs little.
void set_grain(Phase &phase, std::optional<double> task_us) {
    constexpr double portion_us = 2, most = 4096;
    if (task_us) {
        phase.task_us = *task_us;
        auto tasks = *task_us > 0 ? portion_us / *task_us : most;
        phase.grain = static_cast<int64_t>(std::clamp(tasks, 1.0, most));
    }
}

}// namespace

Plan make_plan(const ir::Module &module, const target::CpuFacts &facts,
               const PlanOptions &options) {
    Plan plan;
    plan.kernel = module.kernel();
    plan.facts = facts;
    plan.may_alias = options.may_alias;
    plan.team = options.team;
    plan.records = options.record;
    plan.gpu = options.gpu;
    plan.choices = options.team ? nullptr : make_choices(options.choices);
    plan.temporaries = std::make_shared<ir::Module>();
    BlockPlanner planner{plan};
    const auto &body = *plan.kernel->body;
    bool tasks = phases_are_independent(*plan.kernel);
    check_constraints(module, tasks, options.team);
    if (!tasks) {
        auto &phase = plan.phases.emplace_back();
        planner.plan_operations(body, body.first(), nullptr, phase.block);
        if (!body.empty()) {
            plan.notes.push_back("one task: the root holds values that its nests share, or no "
                                 "root `parallel`");
            if (plan.records) {
                plan.alternatives.push_back(
                    {nullptr, "one task", "a task an instance of the root",
                     "the root holds values that its nests share, or it has "
                     "no root `parallel`"});
            }
        }
        return plan;
    }
    for (auto *op = body.first(); op;) {
        if (is_root_parallel(*op)) {
            auto &phase = plan.phases.emplace_back();
            phase.nest = op;
            planner.plan_region(*op->body());
            planner.share_panels(*op);
            phase.band = planner.band_of(*op);
            if (!plan.team) {
                planner.plan_ahead(*op);
            }
            set_grain(phase, planner.predict_us(plan.blocks.at(op->body())));
            if (!planner.takes_preferred()) {
                phase.grain = 1 + phase.grain / 3;
                phase.band = 0;
            }
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
