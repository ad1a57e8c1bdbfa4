// SPDX-License-Identifier: Apache-2.0
#include "transform/slice.h"

#include "ir/effects.h"

#include <algorithm>

namespace luisa::tile::transform {

using ir::Opcode;

namespace {

bool carries_states(const ir::Operation &op) {
    return ir::is_nest(op.opcode()) || op.opcode() == Opcode::WHILE;
}

/// Region arguments before the states.
size_t leading_arguments(const ir::Operation &op) {
    return carries_states(op) ? op.body()->arguments().size() - op.result_count()
                              : op.body()->arguments().size();
}

void place(ir::Module &module, ir::InsertPoint at, ir::Operation *op) {
    if (at.before) {
        module.insert_before(at.before, op);
    } else {
        module.append(at.region, op);
    }
}

}// namespace

size_t leading_operands(const ir::Operation &op) {
    return carries_states(op) ? op.operand_count() - op.result_count() : op.operand_count();
}

void Slice::add_operation(const ir::Operation *op) {
    if (!op || !is_inside(op->region()) || !_operations.insert(op).second) {
        return;
    }
    add_operation(op->parent());
    bool whole = op->regions().empty() || op->opcode() == Opcode::MAP;
    for (size_t i = 0; i < leading_operands(*op); ++i) {
        add_value(op->operand(i));
    }
    for (auto *region : op->regions()) {
        for (auto *inner : *region) {
            bool control = inner->opcode() == Opcode::CONDITION || inner->opcode() == Opcode::STAGE;
            if (control || whole) {
                add_operation(inner);
            }
        }
    }
}

void Slice::add_state(const ir::Operation *op, size_t state) {
    if (!_values.insert(op->result(state)).second) {
        return;
    }
    add_operation(op);
    if (carries_states(*op)) {
        _values.insert(op->body()->argument(leading_arguments(*op) + state));
        add_value(op->operand(leading_operands(*op) + state));
    }
    for (auto *region : op->regions()) {
        add_value(region->terminator()->operand(state));
    }
}

void Slice::add_value(const ir::Value *value) {
    if (!is_inside(value->region())) {
        return;
    }
    auto *op = value->definition();
    if (!op) {
        auto *owner = value->owner();
        auto *parent = owner->parent();
        if (owner == _root || !parent) {
            _values.insert(value);
            return;
        }
        auto lead = leading_arguments(*parent);
        if (value->index() >= lead) {
            return add_state(parent, value->index() - lead);
        }
        return add_operation(parent);
    }
    if (!op->regions().empty() && op->opcode() != Opcode::MAP) {
        return add_state(op, value->index());
    }
    _values.insert(value);
    add_operation(op);
}

void Slice::add_stores(const ir::Region &region) {
    for (auto *op : region) {
        if (ir::has_effect(*op)) {
            add_operation(op);
        }
        for (auto *inner : op->regions()) {
            add_stores(*inner);
        }
    }
}

std::vector<size_t> Slice::states_of(const ir::Operation &op) const {
    std::vector<size_t> states;
    for (size_t i = 0; i < op.result_count(); ++i) {
        if (contains(op.result(i))) {
            states.push_back(i);
        }
    }
    return states;
}

ir::Operation *Slice::copy_with_regions(const ir::Operation &op, const std::vector<size_t> &states,
                                        ir::InsertPoint at, ir::Module &module,
                                        ir::Cloner &cloner) const {
    std::vector<ir::Value *> operands;
    std::vector<const ir::Type *> types;
    auto lead = leading_operands(op);
    for (size_t i = 0; i < lead; ++i) {
        operands.push_back(cloner.mapped(op.operand(i)));
    }
    for (auto state : states) {
        types.push_back(op.result(state)->type());
        if (carries_states(op)) {
            operands.push_back(cloner.mapped(op.operand(lead + state)));
        }
    }
    auto payload = op.payload();
    if (auto *nest = std::get_if<ir::NestPayload>(&payload); nest && !nest->updates.empty()) {
        auto updates = nest->updates;
        nest->updates.clear();
        for (auto state : states) {
            nest->updates.push_back(updates.at(state));
        }
    }
    auto *copy = module.create(op.opcode(), operands, types, payload, op.loc, op.regions().size());
    place(module, at, copy);
    for (size_t r = 0; r < op.regions().size(); ++r) {
        auto *from = op.body(r);
        auto *to = copy->body(r);
        for (size_t i = 0; i < from->arguments().size(); ++i) {
            auto *argument = from->argument(i);
            bool state = carries_states(op) && i >= leading_arguments(op);
            bool kept = !state || std::find(states.begin(), states.end(),
                                            i - leading_arguments(op)) != states.end();
            if (kept) {
                cloner.map(argument, module.add_argument(to, argument->type()));
            }
        }
        copy_operations(*from, ir::InsertPoint::end(to), module, cloner);
        std::vector<ir::Value *> yields;
        for (auto state : states) {
            yields.push_back(cloner.mapped(from->terminator()->operand(state)));
        }
        if (auto *terminator = from->terminator()) {
            module.append(to,
                          module.create(Opcode::YIELD, yields, {}, ir::None{}, terminator->loc));
        }
    }
    for (size_t i = 0; i < states.size(); ++i) {
        cloner.map(op.result(states[i]), copy->result(i));
    }
    return copy;
}

void Slice::copy_operations(const ir::Region &region, ir::InsertPoint at, ir::Module &module,
                            ir::Cloner &cloner) const {
    for (auto *op : region) {
        if (!contains(op) || op->opcode() == Opcode::YIELD) {
            continue;
        }
        if (op->regions().empty() || op->opcode() == Opcode::MAP) {
            place(module, at, cloner.clone(*op));
        } else {
            copy_with_regions(*op, states_of(*op), at, module, cloner);
        }
    }
}

}// namespace luisa::tile::transform
