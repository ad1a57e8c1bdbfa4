// SPDX-License-Identifier: Apache-2.0
#include "transform/orders.h"

#include "ir/effects.h"

#include <unordered_set>
#include <vector>

namespace luisa::tile::transform {

using ir::Opcode;

namespace {

void collect_orders(const ir::Region &region, std::vector<ir::Operation *> &found) {
    for (auto *op : region) {
        if (op->opcode() == Opcode::SORTED) {
            found.push_back(op);
        }
        for (auto *inner : op->regions()) {
            collect_orders(*inner, found);
        }
    }
}

bool does_something(const ir::Operation &op) {
    if (ir::has_effect(op)) {
        return true;
    }
    for (auto *region : op.regions()) {
        for (auto *inner : *region) {
            if (does_something(*inner)) {
                return true;
            }
        }
    }
    return false;
}

/// What an operation and those inside of it use from outside, each once, in order.
void collect_uses(const ir::Operation &op, const ir::Operation &whole,
                  std::unordered_set<ir::Operation *> &seen, std::vector<ir::Operation *> &used) {
    for (auto *operand : op.operands()) {
        auto *definition = operand->definition();
        bool inside = false;
        for (auto *at = definition; at && !inside; at = at->parent()) {
            inside = at == &whole;
        }
        if (definition && !inside && seen.insert(definition).second) {
            used.push_back(definition);
        }
    }
    for (auto *region : op.regions()) {
        for (auto *inner : *region) {
            collect_uses(*inner, whole, seen, used);
        }
    }
}

/// Erases an operation that nothing needs, and what only it needed.
void erase_unneeded(ir::Module &module, ir::Operation *first,
                    std::unordered_set<ir::Operation *> &gone) {
    std::vector<ir::Operation *> pending{first};
    while (!pending.empty()) {
        auto *op = pending.back();
        pending.pop_back();
        bool needed = gone.contains(op) || does_something(*op);
        for (auto *result : op->results()) {
            needed = needed || result->has_uses();
        }
        if (needed) {
            continue;
        }
        std::unordered_set<ir::Operation *> seen;
        collect_uses(*op, *op, seen, pending);
        gone.insert(op);
        module.erase(op);
    }
}

}// namespace

bool has_orders(const ir::Module &module) {
    std::vector<ir::Operation *> found;
    collect_orders(*module.kernel()->body, found);
    return !found.empty();
}

void settle_orders(ir::Module &module, const std::function<bool(const ir::Operation &)> &keep) {
    std::vector<ir::Operation *> found;
    collect_orders(*module.kernel()->body, found);
    std::unordered_set<ir::Operation *> gone;
    for (auto *op : found) {
        if (gone.contains(op)) {
            continue;
        }
        auto *value = op->operand(0);
        std::vector<ir::Operation *> maybe;
        if (keep(*op)) {
            auto word = static_cast<size_t>(op->get<ir::SortedPayload>().word) + 1;
            op->set_operand(0, op->operand(word));
            maybe = {value->definition()};
        } else {
            for (size_t i = 1; i < op->operand_count(); ++i) {
                maybe.push_back(op->operand(i)->definition());
            }
            op->result()->replace_all_uses_with(value);
            module.erase(op);
        }
        for (auto *definition : maybe) {
            if (definition) {
                erase_unneeded(module, definition, gone);
            }
        }
    }
}

}// namespace luisa::tile::transform
