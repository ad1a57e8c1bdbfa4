// SPDX-License-Identifier: Apache-2.0
#include "transform/contracts.h"

#include "transform/contract_lanes.h"

#include <algorithm>

namespace luisa::tile::transform {

using ir::Opcode;

namespace {

void collect(ir::Region &region, std::vector<ir::Operation *> &found) {
    for (auto *op : region) {
        for (auto *inner : op->regions()) {
            collect(*inner, found);
        }
        if (op->opcode() == Opcode::REDUCE && op->regions().size() > 1) {
            found.push_back(op);
        }
    }
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
    collect(*module.kernel()->body, found);
    return !found.empty();
}

std::vector<std::string> expand_contracts(ir::Module &module, int vector_bytes) {
    std::vector<ir::Operation *> reductions;// inner ones first
    collect(*module.kernel()->body, reductions);
    std::vector<std::string> notes;
    for (auto *op : reductions) {
        auto payload = op->get<ir::NestPayload>();
        if (payload.policy == ReductionPolicy::BALANCED_TREE) {
            throw UnsupportedError{
                "reduce: the CPU back end has no balanced_tree over a contract; use "
                "ordered_tree, or fold_left",
                op->loc};
        }
        auto where = op->loc.known() ? " @ " + to_string(op->loc) : "";
        auto how = reduce_in_lanes(module, op, vector_bytes);
        if (how.empty()) {
            how = "contributions in order";
            module.erase_regions(op, 1);
            auto &own = op->get<ir::NestPayload>();
            own.contract.clear();
            own.laws = {};
        }
        notes.push_back("contract of reduce" + where + ": " + laws_text(payload.laws) + "; " + how);
    }
    return notes;
}

}// namespace luisa::tile::transform
