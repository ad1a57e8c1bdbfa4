// SPDX-License-Identifier: Apache-2.0
#include "analysis/expressions.h"
#include "plan/block_planner.h"

#include <algorithm>

// Loops that only update memory atomically, in an order that nothing shows: threads take iterations of their own.

namespace luisa::tile::plan {

using ir::Opcode;

namespace {

/// Updates by one operation give the same bits in every order.
bool commutes(const ir::Operation &atomic) {
    auto op = atomic.get<ir::AtomicPayload>().op;
    bool moves = op == AtomicOp::EXCHANGE || op == AtomicOp::COMPARE_EXCHANGE;
    return !moves && is_integer(atomic.result()->scalar()) && !atomic.result()->has_uses();
}

}// namespace

bool updates_in_any_order(const ir::Operation &nest, bool may_alias) {
    if ((nest.opcode() != Opcode::SERIAL && nest.opcode() != Opcode::PIPELINE) ||
        nest.result_count() != 0) {
        return false;
    }
    std::vector<const ir::Operation *> updates, loads;
    for (const auto *op : *nest.body()) {
        if (op->opcode() == Opcode::ATOMIC) {
            updates.push_back(op);
        } else if (op->opcode() == Opcode::LOAD) {
            loads.push_back(op);
        } else if (op->opcode() != Opcode::YIELD && op->opcode() != Opcode::STAGE &&
                   !analysis::is_inline(*op)) {
            return false;
        }
    }
    auto meets = [&](const ir::Operation *a, const ir::Operation *b) {
        return may_alias || a->operand(0) == b->operand(0);
    };
    for (const auto *update : updates) {
        bool alike = commutes(*update);
        for (const auto *other : updates) {
            alike &= !meets(update, other) ||
                     other->get<ir::AtomicPayload>() == update->get<ir::AtomicPayload>();
        }
        for (const auto *load : loads) {
            alike &= !meets(update, load);
        }
        if (!alike) {
            return false;
        }
    }
    return !updates.empty();
}

}// namespace luisa::tile::plan
