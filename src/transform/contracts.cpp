// SPDX-License-Identifier: Apache-2.0
#include "transform/contracts.h"

#include "ir/reduction_update.h"
#include "ir/tree_reduction.h"
#include "transform/contract_lanes.h"
#include "transform/contract_tree.h"

#include <algorithm>

namespace luisa::tile::transform {

using ir::Opcode;

namespace {

/// Whether a reduction is turned into others here: one with a contract, and a balanced tree over the iterations
/// that contribute.
bool expanded(const ir::Operation &reduce) {
    return reduce.regions().size() > 1 ||
           (reduce.get<ir::NestPayload>().policy == ReductionPolicy::BALANCED_TREE &&
            ir::guard_of(reduce));
}

/// The reductions of a region, inner ones first.
void collect(ir::Region &region, bool contract, std::vector<ir::Operation *> &found) {
    for (auto *op : region) {
        for (auto *inner : op->regions()) {
            collect(*inner, contract, found);
        }
        if (op->opcode() == Opcode::REDUCE && expanded(*op) == contract) {
            found.push_back(op);
        }
    }
}

std::string place_of(const ir::Operation &op) {
    return op.loc.known() ? " @ " + to_string(op.loc) : "";
}

const char *text_of(ir::Provenance provenance) {
    static constexpr const char *names[] = {"not known", "builtin", "derived", "declared"};
    return names[static_cast<size_t>(provenance)];
}

std::string laws_text(const ir::ReductionLaws &laws) {
    return std::string{"associative "} + text_of(laws.associative) + ", identity " +
           text_of(laws.identity) + ", update " + text_of(laws.update) + ", commutative " +
           text_of(laws.commutative);
}

}// namespace

bool has_contracts(const ir::Module &module) {
    std::vector<ir::Operation *> found;
    collect(*module.kernel()->body, true, found);
    return !found.empty();
}

std::vector<std::string> expand_contracts(ir::Module &module, int vector_bytes) {
    std::vector<ir::Operation *> reductions;
    collect(*module.kernel()->body, true, reductions);
    std::vector<std::string> notes;
    for (auto *op : reductions) {
        auto payload = op->get<ir::NestPayload>();
        auto where = place_of(*op);
        bool contract = op->regions().size() > 1;
        auto how = payload.policy == ReductionPolicy::BALANCED_TREE
                       ? reduce_as_tree(module, op)
                       : reduce_in_lanes(module, op, vector_bytes);
        if (how.empty()) {
            how = "contributions in order";
            module.erase_regions(op, 1);
            auto &own = op->get<ir::NestPayload>();
            own.contract.clear();
            own.laws = {};
        }
        notes.push_back(contract ? "contract of reduce" + where + ": " + laws_text(payload.laws) +
                                       "; " + how
                                 : "reduce" + where + ": " + how);
    }
    return notes;
}

std::vector<std::string> tree_notes(const ir::Module &module) {
    std::vector<ir::Operation *> reductions;
    collect(*module.kernel()->body, false, reductions);
    std::vector<std::string> notes;
    for (const auto *op : reductions) {
        auto policy = op->get<ir::NestPayload>().policy;
        bool tree = policy != ReductionPolicy::FOLD_LEFT && policy != ReductionPolicy::FOLD_RIGHT;
        for (size_t i = 0; tree && i < op->result_count(); ++i) {
            const auto *update = ir::updated_state(*op, i)->definition();
            auto merge = ir::tree_merge(*op, i);
            bool builtin = merge && ir::merge_of_state(*op, i) && update->opcode() == *merge;
            notes.push_back("reduce" + place_of(*op) + ": state " + std::to_string(i) +
                            " merges by " +
                            (merge ? ir::to_string(*merge) : "no known operation, in order") +
                            (builtin ? ", builtin"
                             : merge ? ", derived"
                                     : ""));
        }
    }
    return notes;
}

}// namespace luisa::tile::transform
