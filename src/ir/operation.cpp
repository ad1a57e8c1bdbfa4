// SPDX-License-Identifier: Apache-2.0
#include "ir/operation.h"

#include <algorithm>

namespace luisa::tile::ir {

Region *Value::region() const noexcept { return _owner ? _owner : _definition->region(); }

void Value::replace_all_uses_with(Value *other) {
    require(other != this, "a value cannot replace itself");
    while (auto *use = _uses) {
        auto *user = use->_user;
        for (size_t i = 0; i < user->operand_count(); ++i) {
            if (user->operand(i) == this) {
                user->set_operand(i, other);
            }
        }
    }
}

Region::Iterator &Region::Iterator::operator++() noexcept {
    _op = _op->next();
    return *this;
}

void Region::erase_argument(size_t i) {
    require(!_arguments.at(i)->has_uses(), "erased argument still has uses");
    _arguments.erase(_arguments.begin() + static_cast<std::ptrdiff_t>(i));
    for (size_t j = i; j < _arguments.size(); ++j) {
        _arguments[j]->_index = static_cast<uint32_t>(j);
    }
}

Operation *Region::terminator() const noexcept {
    return _last && _last->opcode() == Opcode::YIELD ? _last : nullptr;
}

bool Region::encloses(const Region *other) const noexcept {
    while (other && other != this) {
        other = other->parent() ? other->parent()->region() : nullptr;
    }
    return other == this;
}

std::vector<Value *> Operation::operands() const {
    std::vector<Value *> values(_operand_count);
    for (size_t i = 0; i < _operand_count; ++i) {
        values[i] = _operands[i].value();
    }
    return values;
}

void Operation::attach_uses() {
    for (size_t i = 0; i < _operand_count; ++i) {
        auto &use = _operands[i];
        use._user = this;
        use._previous = nullptr;
        use._next = use._value->_uses;
        if (use._next) {
            use._next->_previous = &use;
        }
        use._value->_uses = &use;
    }
}

void Operation::detach_uses() {
    for (size_t i = 0; i < _operand_count; ++i) {
        auto &use = _operands[i];
        if (use._previous) {
            use._previous->_next = use._next;
        } else {
            use._value->_uses = use._next;
        }
        if (use._next) {
            use._next->_previous = use._previous;
        }
        use._previous = use._next = nullptr;
    }
}

void Operation::set_operand(size_t i, Value *value) {
    require(i < _operand_count && value, "operand index out of range");
    if (_region) {
        detach_uses();
    }
    _operands[i]._value = value;
    if (_region) {
        attach_uses();
    }
}

void Operation::append_operand(Value *value) {
    if (_region) {
        detach_uses();
    }
    auto grown = std::make_unique<Use[]>(_operand_count + 1);
    for (size_t i = 0; i < _operand_count; ++i) {
        grown[i]._value = _operands[i]._value;
    }
    grown[_operand_count]._value = value;
    _operands = std::move(grown);
    ++_operand_count;
    if (_region) {
        attach_uses();
    }
}

void Operation::erase_operand(size_t i) {
    require(i < _operand_count, "operand index out of range");
    if (_region) {
        detach_uses();
    }
    for (size_t j = i; j + 1 < _operand_count; ++j) {
        _operands[j]._value = _operands[j + 1]._value;
    }
    --_operand_count;
    if (_region) {
        attach_uses();
    }
}

void Operation::erase_result(size_t i) {
    require(!_results.at(i)->has_uses(), "erased result still has uses");
    _results.erase(_results.begin() + static_cast<std::ptrdiff_t>(i));
    for (size_t j = i; j < _results.size(); ++j) {
        _results[j]->_index = static_cast<uint32_t>(j);
    }
}

bool Operation::is_before(const Operation *other) const noexcept {
    for (auto *op = _next; op; op = op->_next) {
        if (op == other) {
            return true;
        }
    }
    return false;
}

void Operation::link(Region *region, Operation *before) {
    require(!_region, "operation is linked already");
    _region = region;
    _next = before;
    _previous = before ? before->_previous : region->_last;
    (_previous ? _previous->_next : region->_first) = this;
    (before ? before->_previous : region->_last) = this;
    attach_uses();
}

void Operation::unlink() {
    require(_region != nullptr, "operation is not linked");
    detach_uses();
    (_previous ? _previous->_next : _region->_first) = _next;
    (_next ? _next->_previous : _region->_last) = _previous;
    _previous = _next = nullptr;
    _region = nullptr;
}

}// namespace luisa::tile::ir
