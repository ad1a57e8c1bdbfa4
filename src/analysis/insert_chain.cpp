// SPDX-License-Identifier: Apache-2.0
#include "analysis/insert_chain.h"

namespace luisa::tile::analysis {

using ir::Opcode;

const ir::Value *InsertChain::follow(const ir::Value *value, const ir::Region *region) {
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

const ir::Value *InsertChain::through_branches(const ir::Operation &op, size_t state) {
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

const ir::Value *InsertChain::through_loop(const ir::Operation &op, size_t state) {
    const auto *body = op.body();
    const auto *argument = body->argument(body->arguments().size() - op.result_count() + state);
    values.push_back(argument);
    const auto *base = follow(body->terminator()->operand(state), body);
    return base == argument ? op.operand(op.operand_count() - op.result_count() + state) : nullptr;
}

bool InsertChain::is_private() const {
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

}// namespace luisa::tile::analysis
