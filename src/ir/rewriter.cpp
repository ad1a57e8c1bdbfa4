// SPDX-License-Identifier: Apache-2.0
#include "ir/rewriter.h"

#include <algorithm>

namespace luisa::tile::ir {

void Rewriter::remove_listener(RewriteListener *listener) {
    _listeners.erase(std::remove(_listeners.begin(), _listeners.end(), listener), _listeners.end());
}

void Rewriter::announce(Event event, Operation *op) {
    for (auto *listener : _listeners) {
        (listener->*event)(op);
    }
}

void Rewriter::announce_all(Event event, Operation *op) {
    if (_listeners.empty()) {
        return;
    }
    for (auto *region : op->regions()) {
        for (auto *inner : *region) {
            announce_all(event, inner);
        }
    }
    announce(event, op);
}

void Rewriter::announce_inserted(InsertPoint at, Operation *previous) {
    for (auto *op = previous ? previous->next() : at.region->first(); op != at.before;
         op = op->next()) {
        announce_all(&RewriteListener::inserted, op);
    }
}

void Rewriter::insert(InsertPoint at, Operation *op) {
    if (at.before) {
        _module->insert_before(at.before, op);
    } else {
        _module->append(at.region, op);
    }
    announce_all(&RewriteListener::inserted, op);
}

Operation *Rewriter::clone(const Operation &op, InsertPoint at, Cloner &cloner) {
    auto *copy = cloner.clone(op);
    insert(at, copy);
    return copy;
}

void Rewriter::set_operand(Operation *op, size_t i, Value *value) {
    require(op->operand(i)->type() == value->type(),
            "an operand is replaced by one of another type");
    if (op->operand(i) != value) {
        op->set_operand(i, value);
        announce(&RewriteListener::changed, op);
    }
}

void Rewriter::replace_uses(Value *from, Value *to) {
    require(from != to, "a value cannot replace itself");
    while (auto *use = from->first_use()) {
        auto *user = use->user();
        for (size_t i = 0; i < user->operand_count(); ++i) {
            if (user->operand(i) == from) {
                require(from->type() == to->type(), "a value is replaced by one of another type");
                user->set_operand(i, to);
            }
        }
        announce(&RewriteListener::changed, user);
    }
}

void Rewriter::replace_uses_within(Operation *user, Value *from, Value *to) {
    for (size_t i = 0; i < user->operand_count(); ++i) {
        if (user->operand(i) == from) {
            set_operand(user, i, to);
        }
    }
    for (auto *region : user->regions()) {
        for (auto *inner : *region) {
            replace_uses_within(inner, from, to);
        }
    }
}

void Rewriter::replace(Operation *op, const std::vector<Value *> &values) {
    require(values.size() == op->result_count(),
            "an operation is replaced by another number of values");
    for (size_t i = 0; i < values.size(); ++i) {
        replace_uses(op->result(i), values[i]);
    }
    erase(op);
}

void Rewriter::erase(Operation *op) {
    announce_all(&RewriteListener::erased, op);
    _module->erase(op);
}

void Rewriter::move(Operation *op, InsertPoint to) {
    for (auto *region : op->regions()) {
        require(!region->encloses(to.region), "an operation is moved into itself");
    }
    if (to.before == op) {
        return;
    }
    _module->move(op, to.region, to.before);
    announce_all(&RewriteListener::moved, op);
}

std::vector<Value *> Rewriter::inline_region(Region *region, InsertPoint to,
                                             const std::vector<Value *> &arguments) {
    require(arguments.size() == region->arguments().size(),
            "a region is inlined with another number of arguments");
    require(!region->encloses(to.region), "a region is inlined into itself");
    for (size_t i = 0; i < arguments.size(); ++i) {
        replace_uses(region->argument(i), arguments[i]);
    }
    std::vector<Value *> yielded;
    if (auto *terminator = region->terminator()) {
        yielded = terminator->operands();
        erase(terminator);
    }
    while (auto *op = region->first()) {
        move(op, to);
    }
    return yielded;
}

}// namespace luisa::tile::ir
