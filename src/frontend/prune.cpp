// SPDX-License-Identifier: Apache-2.0
#include "frontend/canonical.h"

#include "ir/effects.h"

#include <algorithm>
#include <unordered_set>

namespace luisa::tile::core {

using namespace ir;

namespace {

/// Number of operands before the initial states of a region operation.
size_t leading_operands(const Operation *op) {
    if (is_nest(op->opcode())) {
        const auto &nest = op->get<NestPayload>();
        return nest.is_range ? 3 : nest.dims.size();
    }
    return op->opcode() == Opcode::IF ? 1 : 0;
}

/// Number of region arguments before the states.
size_t leading_arguments(const Operation *op) {
    return op->body()->arguments().size() - op->result_count();
}

bool carries_states(const Operation *op) {
    return is_nest(op->opcode()) || op->opcode() == Opcode::WHILE;
}

bool is_bound(const Operation *op, size_t state) {
    if (!is_nest(op->opcode())) {
        return false;
    }
    const auto &bound = op->get<NestPayload>().contract;
    return std::find(bound.begin(), bound.end(), static_cast<int32_t>(state)) != bound.end();
}

/// The states that a contract merges together with state `i`, itself included; none without a contract.
std::vector<size_t> contract_group(const Operation *op, size_t i) {
    if (!is_bound(op, i)) {
        return {};
    }
    const auto &bound = op->get<NestPayload>().contract;
    auto size = op->body(1)->terminator()->operand_count();
    auto at = static_cast<size_t>(std::find(bound.begin(), bound.end(), static_cast<int32_t>(i)) -
                                  bound.begin());
    auto first = bound.begin() + static_cast<std::ptrdiff_t>(at / size * size);
    return {first, first + static_cast<std::ptrdiff_t>(size)};
}

/// What something observable depends on.
class Liveness {
public:
    explicit Liveness(Region *body) {
        seed(body);
        while (!_pending.empty()) {
            auto *value = _pending.back();
            _pending.pop_back();
            visit(value);
        }
    }
    [[nodiscard]] bool contains(const Operation *op) const { return _ops.contains(op); }
    [[nodiscard]] bool contains(const Value *value) const { return _values.contains(value); }

private:
    void seed(Region *region) {
        for (auto *op : *region) {
            if (has_effect(*op)) {
                mark(op);
            }
            for (auto *inner : op->regions()) {
                seed(inner);
            }
        }
    }

    /// Marks an operation that must run, and what it needs to run at all: not its states.
    void mark(Operation *op) {
        if (!op || !_ops.insert(op).second) {
            return;
        }
        mark(op->parent());
        auto count = op->regions().empty() ? op->operand_count() : leading_operands(op);
        if (op->opcode() != Opcode::YIELD) {
            for (size_t i = 0; i < count; ++i) {
                mark(op->operand(i));
            }
        }
        for (auto *region : op->regions()) {
            for (auto *inner : *region) {
                if (inner->opcode() == Opcode::CONDITION || inner->opcode() == Opcode::STAGE ||
                    inner->opcode() == Opcode::YIELD) {
                    mark(inner);
                }
            }
        }
    }

    void mark(Value *value) {
        if (_values.insert(value).second) {
            _pending.push_back(value);
        }
    }

    void visit(Value *value) {
        if (auto *op = value->definition()) {
            mark(op);
            if (carries_states(op)) {
                mark_state(op, value->index());
            } else {
                for (auto *region : op->regions()) {
                    mark(region->terminator()->operand(value->index()));
                }
            }
            return;
        }
        auto *op = value->owner()->parent();
        if (op && carries_states(op) && value->owner() == op->body() &&
            value->index() >= leading_arguments(op)) {
            mark_state(op, value->index() - leading_arguments(op));
        }
    }

    void mark_state(Operation *op, size_t i) {
        mark_one(op, i);
        for (auto partner : contract_group(op, i)) {
            mark_one(op, partner);
        }
        for (size_t r = op->bodies().size(); r < op->regions().size(); ++r) {
            auto *yield = op->body(r)->terminator();
            for (size_t k = 0; k < yield->operand_count(); ++k) {
                mark(yield->operand(k));
            }
        }
    }

    void mark_one(Operation *op, size_t i) {
        mark(op->result(i));
        mark(op->operand(leading_operands(op) + i));
        mark(op->body()->argument(leading_arguments(op) + i));
        mark(op->body()->terminator()->operand(i));
    }

    std::unordered_set<const Operation *> _ops;
    std::unordered_set<const Value *> _values;
    std::vector<Value *> _pending;
};

/// Takes state `i` out of the contract's groups; those after it count one less.
void unbind_state(Operation *op, int32_t i) {
    if (!is_nest(op->opcode())) {
        return;
    }
    auto &bound = op->get<NestPayload>().contract;
    bound.erase(std::remove(bound.begin(), bound.end(), i), bound.end());
    for (auto &state : bound) {
        state -= state > i ? 1 : 0;
    }
}

/// Removes state `i`: its result and argument must have no other uses than its own yield.
void erase_state(Operation *op, size_t i) {
    for (auto *region : op->bodies()) {
        region->terminator()->erase_operand(i);
    }
    if (carries_states(op)) {
        auto argument = leading_arguments(op) + i;
        op->erase_operand(leading_operands(op) + i);
        op->body()->erase_argument(argument);
        unbind_state(op, static_cast<int32_t>(i));
        if (op->opcode() == Opcode::PARALLEL) {
            auto &updates = op->get<NestPayload>().updates;
            updates.erase(updates.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }
    op->erase_result(i);
}

/// Last to first, so that uses go before what they use.
void sweep(Module &module, Region *region, const Liveness &live) {
    for (auto *op = region->last(); op;) {
        auto *previous = op->previous();
        if (!live.contains(op) && op->opcode() != Opcode::YIELD) {
            module.erase(op);
        } else if (op->opcode() != Opcode::MAP && !op->regions().empty()) {
            std::vector<size_t> dead;
            for (size_t i = op->result_count(); i-- > 0;) {
                if (!live.contains(op->result(i))) {
                    dead.push_back(i);
                    for (auto *inner : op->bodies()) {
                        inner->terminator()->set_operand(i, op->operand(0));// breaks the cycle
                    }
                }
            }
            for (auto *inner : op->regions()) {
                sweep(module, inner, live);
            }
            for (auto i : dead) {
                erase_state(op, i);
            }
            if (op->opcode() == Opcode::REDUCE && op->regions().size() > 1 &&
                op->get<NestPayload>().contract.empty()) {
                module.erase_regions(op, 1);
                op->get<NestPayload>().laws = {};
            }
        } else {
            for (auto *inner : op->regions()) {
                sweep(module, inner, live);
            }
        }
        op = previous;
    }
}

/// Replaces states that every iteration hands on unchanged. Returns whether there was one.
bool collapse(Region *region) {
    bool changed = false;
    for (auto *op : *region) {
        for (auto *inner : op->regions()) {
            changed |= collapse(inner);
        }
        if (!carries_states(op)) {
            continue;
        }
        for (size_t i = op->result_count(); i-- > 0;) {
            auto *argument = op->body()->argument(leading_arguments(op) + i);
            if (op->body()->terminator()->operand(i) == argument && !is_bound(op, i)) {
                auto *initial = op->operand(leading_operands(op) + i);
                argument->replace_all_uses_with(initial);
                op->result(i)->replace_all_uses_with(initial);
                erase_state(op, i);
                changed = true;
            }
        }
    }
    return changed;
}

}// namespace

void prune(Module &module) {
    auto *body = module.kernel()->body;
    do {
        sweep(module, body, Liveness{body});
    } while (collapse(body));
}

}// namespace luisa::tile::core
