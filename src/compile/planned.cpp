// SPDX-License-Identifier: Apache-2.0
#include "compile/planned.h"

#include "ir/clone.h"
#include "transform/collective.h"
#include "transform/contracts.h"
#include "transform/insert_copies.h"
#include "transform/orders.h"

namespace luisa::tile::compiler {

Planned make_planned(const ir::Module &candidate, const target::CpuFacts &facts,
                     const plan::PlanOptions &options, int lane_bytes) {
    Planned planned;
    auto notes = transform::tree_notes(candidate);
    bool collective = transform::has_collective_updates(candidate);
    bool contracts = transform::has_contracts(candidate);
    bool observed = transform::has_observed_inserts(candidate);
    bool orders = transform::has_orders(candidate);
    if (collective || contracts || observed || orders) {
        planned.transformed = ir::clone(candidate);
    }
    if (orders) {
        transform::settle_orders(*planned.transformed, [&](const ir::Operation &op) {
            return options.team && plan::puts_in_order(op);
        });
    }
    if (contracts) {
        auto how = transform::expand_contracts(*planned.transformed, lane_bytes);
        notes.insert(notes.end(), how.begin(), how.end());
    }
    if (observed) {
        transform::separate_observed_inserts(*planned.transformed);
    }
    if (collective) {
        transform::hoist_collective_updates(*planned.transformed, options.may_alias);
    }
    const auto &module = planned.transformed ? *planned.transformed : candidate;
    planned.plan = plan::make_plan(module, facts, options);
    planned.plan.notes.insert(planned.plan.notes.begin(), notes.begin(), notes.end());
    return planned;
}

}// namespace luisa::tile::compiler
