// SPDX-License-Identifier: Apache-2.0
#include "plan/block_planner.h"

// Tiles of an outer scope whose parts a `parallel` body inserts under branches and in loops.

namespace luisa::tile::plan {

using ir::Opcode;

namespace {

/// The values that a state goes through from the start of a body to its yield.
struct Chain {
    std::vector<const ir::Value *> values;///< after the incoming one
    std::vector<const ir::Operation *> inserts;
    std::unordered_map<const ir::Value *, size_t> uses;///< as links of the chain

    /// Follows `value` back to the first value that is not made inside `region`; null when a link is
    /// no insert, nest or branch.
    const ir::Value *follow(const ir::Value *value, const ir::Region *region) {
        ++uses[value];
        while (region->encloses(value->region()) && value->definition()) {
            values.push_back(value);
            const auto *op = value->definition();
            const ir::Value *before = nullptr;
            if (op->opcode() == Opcode::INSERT) {
                inserts.push_back(op);
                before = op->operand(0);
            } else if (op->opcode() == Opcode::IF) {
                before = through_branches(*op, value->index());
                value = before;
                if (!before) {
                    return nullptr;
                }
                continue;// the branches use it, not the operation
            } else if (ir::is_nest(op->opcode()) || op->opcode() == Opcode::WHILE) {
                before = through_loop(*op, value->index());
            }
            if (!before) {
                return nullptr;
            }
            value = before;
            ++uses[value];
        }
        return value;
    }

    const ir::Value *through_branches(const ir::Operation &op, size_t state) {
        const ir::Value *common = nullptr;
        for (const auto *region : op.regions()) {
            const auto *base = follow(region->terminator()->operand(state), region);
            if (!base || (common && base != common)) {
                return nullptr;
            }
            common = base;
        }
        return common;
    }

    const ir::Value *through_loop(const ir::Operation &op, size_t state) {
        const auto *body = op.body();
        const auto *argument = body->argument(body->arguments().size() - op.result_count() + state);
        values.push_back(argument);
        const auto *base = follow(body->terminator()->operand(state), body);
        return base == argument ? op.operand(op.operand_count() - op.result_count() + state)
                                : nullptr;
    }

    /// Whether nothing but the chain reads a value of it.
    [[nodiscard]] bool is_private() const {
        for (const auto *value : values) {
            size_t count = 0;
            for (auto *use = value->first_use(); use; use = use->next()) {
                ++count;
            }
            if (count != uses.at(value)) {
                return false;
            }
        }
        return true;
    }
};

}// namespace

void BlockPlanner::share_insert_chain(const ir::Value *yielded, const ir::Value *incoming,
                                      const ir::Value *target) {
    Chain chain;
    const auto *base = chain.follow(yielded, incoming->owner());
    if (base != incoming || !chain.is_private()) {
        throw UnsupportedError{
            "a part of an outer tile that is inserted under a branch or in a loop of `parallel` "
            "and "
            "read again in the same instance has no CPU realization yet; keep the part in a value "
            "of its own",
            incoming->owner()->parent()->loc};
    }
    _insert_incoming[incoming] = target;
    for (const auto *value : chain.values) {
        _plan->shares[value] = target;
    }
    for (const auto *insert : chain.inserts) {
        _insert_targets[insert] = target;
    }
}

bool BlockPlanner::inserts_nothing(const ir::Value *value, const ir::Value *target) const {
    auto found = _insert_incoming.find(value);
    return target && found != _insert_incoming.end() &&
           _plan->home(found->second) == _plan->home(target);
}

}// namespace luisa::tile::plan
