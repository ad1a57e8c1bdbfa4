// SPDX-License-Identifier: Apache-2.0
#include "ir/clone.h"

namespace luisa::tile::ir {

Value *Cloner::mapped(const Value *from) const {
    if (auto found = _map.find(from); found != _map.end()) {
        return found->second;
    }
    require(_unmapped == Values::SHARED, "a copied operation uses a value that was not copied");
    return const_cast<Value *>(from);// the module that it is copied within owns it
}

Operation *Cloner::clone(const Operation &op) {
    std::vector<Value *> operands;
    operands.reserve(op.operand_count());
    for (size_t i = 0; i < op.operand_count(); ++i) {
        operands.push_back(mapped(op.operand(i)));
    }
    std::vector<const Type *> types;
    types.reserve(op.result_count());
    for (auto *result : op.results()) {
        types.push_back(_to->intern(*result->type()));
    }
    auto *copy = _to->create(op.opcode(), operands, types, op.payload(), op.loc);
    for (size_t i = 0; i < op.result_count(); ++i) {
        copy->result(i)->name = op.result(i)->name;
        map(op.result(i), copy->result(i));
    }
    for (auto *region : op.regions()) {
        clone_region(*region, _to->add_region(copy));
    }
    return copy;
}

void Cloner::clone_region(const Region &from, Region *to) {
    for (auto *argument : from.arguments()) {
        auto *copy = _to->add_argument(to, _to->intern(*argument->type()));
        copy->name = argument->name;
        map(argument, copy);
    }
    for (auto *op : from) {
        _to->append(to, clone(*op));
    }
}

std::unique_ptr<Module> clone(const Module &module) {
    auto copy = std::make_unique<Module>(module.form);
    for (const auto &function : module.functions()) {
        auto *f = copy->add_function(function.name, function.loc);
        f->noalias = function.noalias;
        f->parameter_names = function.parameter_names;
        Cloner{*copy, Cloner::Values::ALL_MAPPED}.clone_region(*function.body, f->body);
    }
    return copy;
}

}// namespace luisa::tile::ir
