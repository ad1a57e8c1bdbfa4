// SPDX-License-Identifier: Apache-2.0
#include "plan/block_planner.h"

#include <algorithm>

// Keys that a block of threads puts in order.

namespace luisa::tile::plan {

using ir::Opcode;

namespace {

bool is_ordered(const ir::SortedPayload &payload, Dim dim) {
    return std::find(payload.order.begin(), payload.order.end(), dim) != payload.order.end();
}

}// namespace

const ir::Value *Ordering::keys() const { return ops.front()->operand(1); }

const ir::Value *Ordering::places() const {
    return ops.front()->operand_count() > 2 ? ops.front()->operand(2) : nullptr;
}

bool puts_in_order(const ir::Operation &sorted) {
    int64_t positions = 1;
    for (auto dim : sorted.get<ir::SortedPayload>().order) {
        const auto &keys = *sorted.operand(1)->type();
        positions *= keys.dims[static_cast<size_t>(keys.find(dim))].extent;
    }
    // Places within a line are counted in 32 bits.
    return positions > 1 && positions <= (int64_t{1} << 28) && (positions & (positions - 1)) == 0;
}

/// One step for all words of the same keys.
void BlockPlanner::plan_sorted(const ir::Operation &op, Block &block) {
    for (const auto &step : block.steps) {
        const auto *known = std::get_if<Ordering>(&step);
        if (known && std::find(known->ops.begin(), known->ops.end(), &op) != known->ops.end()) {
            return;
        }
    }
    Ordering ordering;
    for (const auto *other = &op; other; other = other->next()) {
        bool same = other->opcode() == Opcode::SORTED &&
                    other->operand_count() == op.operand_count() &&
                    other->operand(1) == op.operand(1) &&
                    other->operands().back() == op.operands().back();
        if (same) {
            ordering.ops.push_back(other);
        }
    }
    const auto &payload = op.get<ir::SortedPayload>();
    for (const auto &d : op.operand(1)->type()->dims) {
        if (is_ordered(payload, d.dim)) {
            ordering.positions *= d.extent;
        } else if (d.extent != 1) {
            ordering.lines.push_back(d);
        }
    }
    ordering.first = payload.first ? payload.first : ordering.positions;
    for (const auto *sorted : ordering.ops) {
        // Neighbours in the order lie side by side.
        auto order = ordering.lines;
        const auto &result = *sorted->result()->type();
        auto along = payload.first ? payload.to : payload.order;
        std::reverse(along.begin(), along.end());
        for (auto dim : along) {
            order.push_back(result.dims[static_cast<size_t>(result.find(dim))]);
        }
        ensure_storage(sorted->result(), order);
    }
    block.steps.emplace_back(std::move(ordering));
}

}// namespace luisa::tile::plan
