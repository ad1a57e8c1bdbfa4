// SPDX-License-Identifier: Apache-2.0
#include "frontend/canonical.h"

#include "ir/effects.h"

#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace luisa::tile::core {

using namespace ir;

namespace {

bool changes_something(const Operation *op) {
    if (has_effect(*op)) {
        return true;
    }
    for (auto *region : op->regions()) {
        for (auto *inner : *region) {
            if (changes_something(inner)) {
                return true;
            }
        }
    }
    return false;
}

/// Keeps its place in the program: effects, control and regions (`map` is an expression).
bool is_anchor(const Operation *op) {
    auto family = info(op->opcode()).family;
    return has_effect(*op) || family == Family::CONTROL ||
           (family == Family::REGION && op->opcode() != Opcode::MAP);
}

/// Makes one operation of equal constants.
void intern_constants(Module &module, Region *region) {
    std::map<std::tuple<const Type *, uint64_t>, Operation *> first;
    for (auto *op = region->first(); op;) {
        auto *next = op->next();
        if (op->opcode() == Opcode::CONSTANT) {
            auto key = std::tuple{op->result()->type(), op->get<ConstantPayload>().bits};
            auto [known, added] = first.emplace(key, op);
            if (!added) {
                op->result()->replace_all_uses_with(known->second->result());
                module.erase(op);
            }
        }
        op = next;
    }
}

/// The new order of one region, whose inner regions are in order already.
class Order {
public:
    explicit Order(Region *region) : _region{region} {
        uint32_t epoch = 0, stage = 0;
        for (auto *op : *region) {
            _written.emplace(op, Position{epoch, stage});
            if (is_anchor(op)) {
                _anchors.push_back(op);
                epoch += changes_something(op) ? 1 : 0;
                stage += op->opcode() == Opcode::STAGE ? 1 : 0;
            }
        }
        // First the order of need alone, then the same walk with the two constraints.
        for (auto *op : _anchors) {
            place(op);
        }
        std::vector<std::vector<Operation *>> loads(epoch + 1), staged(stage + 1);
        for (auto *op : std::exchange(_order, {})) {
            if (!is_anchor(op)) {
                auto at = _written.at(op);
                staged[at.stage].push_back(op);
                if (reads(op)) {
                    loads[at.epoch].push_back(op);
                }
            }
        }
        _placed.clear();
        for (auto *op : _anchors) {
            auto at = _written.at(op);
            if (op->opcode() == Opcode::STAGE) {
                place_all(staged[at.stage]);
            }
            if (changes_something(op)) {
                place_all(loads[at.epoch]);
            }
            place(op);
        }
    }
    [[nodiscard]] const std::vector<Operation *> &operations() const { return _order; }

private:
    struct Position {
        uint32_t epoch, stage;
    };
    struct Step {
        Operation *op;
        std::vector<Operation *> needs;
        size_t next = 0;
    };

    void place_all(const std::vector<Operation *> &ops) {
        for (auto *op : ops) {
            place(op);
        }
    }

    static bool reads(const Operation *op) {
        if (op->opcode() == Opcode::LOAD) {
            return true;
        }
        for (auto *region : op->regions()) {
            for (auto *inner : *region) {
                if (reads(inner)) {
                    return true;
                }
            }
        }
        return false;
    }

    /// Appends `op` after everything it needs. Iterative: expressions may be very deep.
    void place(Operation *root) {
        std::vector<Step> stack;
        auto enter = [&](Operation *op) {
            if (_placed.insert(op).second) {
                stack.push_back({op, needs(op)});
            }
        };
        enter(root);
        while (!stack.empty()) {
            auto &step = stack.back();
            if (step.next < step.needs.size()) {
                enter(step.needs[step.next++]);
            } else {
                _order.push_back(step.op);
                stack.pop_back();
            }
        }
    }

    /// The operations of this region whose results `op` uses, also inside its regions.
    std::vector<Operation *> needs(const Operation *op) const {
        std::vector<Operation *> found;
        collect(op, found);
        return found;
    }
    void collect(const Operation *op, std::vector<Operation *> &found) const {
        for (size_t i = 0; i < op->operand_count(); ++i) {
            auto *definition = op->operand(i)->definition();
            if (definition && definition->region() == _region) {
                found.push_back(definition);
            }
        }
        for (auto *region : op->regions()) {
            for (auto *inner : *region) {
                collect(inner, found);
            }
        }
    }

    Region *_region;
    std::unordered_map<const Operation *, Position> _written;
    std::vector<Operation *> _anchors, _order;
    std::unordered_set<const Operation *> _placed;
};

void canonicalize(Module &module, Region *region) {
    for (auto *op : *region) {
        for (auto *inner : op->regions()) {
            canonicalize(module, inner);
        }
    }
    intern_constants(module, region);
    Order order{region};
    for (auto *op : order.operations()) {
        module.move(op, region, nullptr);
    }
}

}// namespace

void canonicalize(Module &module) { canonicalize(module, module.kernel()->body); }

}// namespace luisa::tile::core
