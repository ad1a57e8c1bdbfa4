// SPDX-License-Identifier: Apache-2.0
#include "plan/liveness.h"

#include "analysis/expressions.h"
#include "ir/effects.h"

#include <algorithm>
#include <unordered_set>

namespace luisa::tile::plan {

using ir::Opcode;

const ir::Operation *anchor_in(const ir::Operation *op, const ir::Region *region) {
    while (op && op->region() != region) {
        op = op->parent();
    }
    return op;
}

namespace {

struct SiteWalk {
    const std::function<bool(const ir::Value *)> &is_kept;
    const ir::Region *region;
    std::unordered_set<const ir::Value *> seen;
    std::unordered_set<const ir::Operation *> sites;

    void walk(const ir::Value *value) {
        if (!seen.insert(value).second) {
            return;
        }
        for (auto *use = value->first_use(); use; use = use->next()) {
            const auto *anchor = anchor_in(use->user(), region);
            if (!anchor) {
                continue;
            }
            bool inside_map = anchor != use->user() && anchor->opcode() == Opcode::MAP;
            // A load takes its coordinates and fallback where it is evaluated itself.
            if ((anchor == use->user() || inside_map) && analysis::is_inline(*anchor) &&
                !is_kept(anchor->result())) {
                walk(anchor->result());
            } else {
                sites.insert(anchor);
            }
        }
    }
};

double own_cost(const ir::Operation &op) {
    if (ir::info(op.opcode()).family == ir::Family::MATH) {
        return 14;
    }
    switch (op.opcode()) {
        // Of a tile at uniform coordinates; inside a map it is a load.
        case Opcode::EXTRACT: return op.result()->type()->is_scalar() ? 1 : 0;
        case Opcode::CONSTANT:
        case Opcode::IOTA:
        case Opcode::BROADCAST:
        case Opcode::RETYPE:
        case Opcode::PER:
        case Opcode::MEMORY_ALLOC:
        case Opcode::EXTENT: return 0;
        case Opcode::DIV:
        case Opcode::SQRT: return op.result()->type()->scalar == ScalarType::FLOAT32 ? 6 : 12;
        case Opcode::REM:
        case Opcode::FLOOR_DIV:
        case Opcode::FLOOR_MOD:
        case Opcode::CEIL_DIV: return 20;
        default: return 1;
    }
}

}// namespace

std::vector<const ir::Operation *> evaluation_sites(
    const ir::Value *value, const std::function<bool(const ir::Value *)> &is_kept) {
    SiteWalk walk{is_kept, value->region(), {}, {}};
    walk.walk(value);
    std::vector<const ir::Operation *> ordered;
    for (auto *op : *value->region()) {
        if (walk.sites.count(op)) {
            ordered.push_back(op);
        }
    }
    return ordered;
}

void visit_stores(const ir::Operation &op,
                  const std::function<void(const ir::Operation &)> &visit) {
    if (ir::writes_view(op)) {
        visit(op);
    }
    for (auto *region : op.regions()) {
        for (auto *inner : *region) {
            visit_stores(*inner, visit);
        }
    }
}

double CostModel::element_cost(const ir::Value *value) {
    if (auto found = _known.find(value); found != _known.end()) {
        return found->second;
    }
    auto *op = value->definition();
    if (!op || _is_kept(value) || !analysis::is_inline(*op)) {
        return 1;
    }
    // Scalars are computed once, outside the loops.
    if (value->type()->is_scalar()) {
        return 0;
    }
    _known[value] = 0;
    double cost = own_cost(*op);
    if (op->opcode() == Opcode::MAP) {
        for (auto *inner : *op->body()) {
            cost += own_cost(*inner);
            for (auto *operand : inner->operands()) {
                if (!operand->type()->is_scalar()) {
                    cost += element_cost(operand);
                }
            }
        }
    } else if (op->opcode() != Opcode::LOAD) {
        // What depends on fewer coordinates is computed outside the loop over the others, where that is
        // the inner one.
        auto spread = [](const ir::Value *v) {
            const auto &dims = v->type()->dims;
            return std::count_if(dims.begin(), dims.end(),
                                 [](const ir::DimExtent &d) { return d.extent != 1; });
        };
        for (auto *operand : op->operands()) {
            cost += element_cost(operand) * (spread(operand) < spread(value) ? 0.5 : 1);
        }
    }
    return _known[value] = cost;
}

}// namespace luisa::tile::plan
