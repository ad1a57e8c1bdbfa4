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

namespace {

/// Shared memory of a block for bins.
constexpr int64_t bins_bytes = 32 << 10;

/// Whether a number is 0 or 1.
bool is_one_or_none(const ir::Value *value) {
    while (const auto *op = value->definition()) {
        switch (op->opcode()) {
            case Opcode::CONSTANT: return op->get<ir::ConstantPayload>().bits <= 1;
            case Opcode::CAST:
                if (op->operand(0)->scalar() == ScalarType::BOOL) {
                    return true;
                }
                return false;
            case Opcode::EXTRACT:
                if (op->get<ir::AccessPayload>().has_fallback) {
                    return false;
                }
                [[fallthrough]];
            case Opcode::BROADCAST:
            case Opcode::RETYPE: value = op->operand(0); break;
            default: return false;
        }
    }
    return false;
}

/// What touches a view inside of a root nest.
struct ViewUse {
    bool only_adds = true, counts = true;
    int64_t updates = 0;
};

void collect_view_uses(const ir::Region &region, const ir::Value *view, const Plan &plan,
                       bool dealt, ViewUse &use) {
    for (const auto *op : region) {
        bool touches = false;
        for (const auto *operand : op->operands()) {
            touches |= operand == view && op->opcode() != Opcode::EXTENT;
        }
        if (touches) {
            bool adds = dealt && op->opcode() == Opcode::ATOMIC &&
                        op->get<ir::AtomicPayload>().op == AtomicOp::ADD;
            use.only_adds &= adds;
            use.counts &= adds && is_one_or_none(op->operand(1));
            ++use.updates;
        }
        for (const auto *inner : op->regions()) {
            collect_view_uses(*inner, view, plan, dealt || plan.dealt_loops.count(op) != 0, use);
        }
    }
}

}// namespace

int64_t PrivateBins::bytes() const noexcept {
    return counts ? 4 : static_cast<int64_t>(size_of(view->type()->scalar));
}

void keep_bins(Plan &plan) {
    for (const auto &phase : plan.phases) {
        if (!phase.nest || phase.alone || plan.may_alias) {
            continue;
        }
        for (const auto *view : plan.kernel->body->arguments()) {
            const auto &type = *view->type();
            if (!type.is_view() || type.rank() != 1 || !is_integer(type.scalar) ||
                size_of(type.scalar) < 4) {
                continue;
            }
            ViewUse use;
            collect_view_uses(*phase.nest->body(), view, plan, false, use);
            if (use.updates == 0 || !use.only_adds) {
                continue;
            }
            PrivateBins bins{phase.nest, view, 0, use.counts};
            auto most = bins_bytes / bins.bytes() / (bins.bytes() == 4 ? 2 : 1);
            auto extent = type.axes[0].extent;
            bins.capacity = extent == ir::runtime_value ? most : extent;
            if (bins.capacity > 0 && bins.capacity <= 2 * most) {
                plan.private_bins.push_back(bins);
            }
        }
    }
}

}// namespace luisa::tile::plan
