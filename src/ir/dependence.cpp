// SPDX-License-Identifier: Apache-2.0
#include "ir/dependence.h"

namespace luisa::tile::ir {

bool Dependence::scan(const Region &region) {
    bool grew = false;
    for (auto *op : region) {
        grew |= visit(*op);
    }
    return grew;
}

bool Dependence::any(const Operation &op, size_t count) const {
    for (size_t i = 0; i < count; ++i) {
        if (contains(op.operand(i))) {
            return true;
        }
    }
    return false;
}

bool Dependence::visit(const Operation &op) {
    bool grew = false;
    if (op.regions().empty()) {
        // What an atomic update gives is the next instance's to change.
        bool depends = op.opcode() == Opcode::ATOMIC || any(op, op.operand_count());
        return depends && mark_all(op.results());
    }
    bool loop = is_nest(op.opcode()) || op.opcode() == Opcode::WHILE;
    auto states = op.result_count(), lead = loop ? op.operand_count() - states : op.operand_count();
    bool all = any(op, lead);
    for (size_t i = op.bodies().size(); i < op.regions().size(); ++i) {
        for (auto *inner : *op.body(i)) {// a contract may read outer values
            all |= any(*inner, inner->operand_count());
        }
    }
    for (bool again = true; again;) {
        again = false;
        for (auto *body : op.bodies()) {
            again |= scan(*body);
            auto arguments = body->arguments().size() - (loop ? states : 0);
            for (auto *inner : *body) {
                all |= inner->opcode() == Opcode::CONDITION && any(*inner, 1);
            }
            for (size_t i = 0; i < states; ++i) {
                if (all || contains(body->terminator()->operand(i)) ||
                    (loop && contains(op.operand(lead + i)))) {
                    again |= mark(op.result(i));
                    again |= loop && mark(body->argument(arguments + i));
                }
            }
        }
        grew |= again;
    }
    return grew;
}

bool Dependence::mark_all(const std::vector<Value *> &values) {
    bool grew = false;
    for (auto *value : values) {
        grew |= mark(value);
    }
    return grew;
}

}// namespace luisa::tile::ir
