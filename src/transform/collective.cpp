// SPDX-License-Identifier: Apache-2.0
#include "transform/collective.h"

#include "analysis/intervals.h"
#include "ir/effects.h"
#include "transform/slice.h"

namespace luisa::tile::transform {

using ir::Opcode;

namespace {

bool is_collective(const ir::Operation &nest, size_t state) {
    return nest.get<ir::NestPayload>().updates.at(state) == ir::AncestorUpdate::COLLECTIVE;
}

template<class F> void visit(const ir::Region &region, const F &f) {
    for (auto *op : region) {
        for (auto *inner : op->regions()) {
            visit(*inner, f);
        }
        f(*op);
    }
}

/// How often the instances of a nest run, as far as that is known.
enum class Instances : uint8_t { ANY, SOME, SEVERAL };

Instances instances_of(const ir::Operation &nest) {
    const auto &payload = nest.get<ir::NestPayload>();
    if (payload.is_range) {
        auto begin = analysis::interval_of(nest.operand(0)),
             end = analysis::interval_of(nest.operand(1)),
             step = analysis::interval_of(nest.operand(2));
        bool up = step.low > 0 && begin.high < end.low;
        bool down = step.high < 0 && begin.low > end.high;
        return up || down ? Instances::SOME : Instances::ANY;
    }
    auto known = Instances::SOME;
    bool several = false;
    for (size_t i = 0; i < payload.dims.size(); ++i) {
        auto extent = analysis::interval_of(nest.operand(i));
        known = extent.low < 1 ? Instances::ANY : known;
        several |= extent.low > 1;
    }
    return known == Instances::SOME && several ? Instances::SEVERAL : known;
}

/// The operation of `body` that `op` is or is inside of.
const ir::Operation *anchor_in(const ir::Operation *op, const ir::Region *body) {
    while (op->region() != body) {
        op = op->parent();
    }
    return op;
}

enum class Place : uint8_t { BEFORE, AFTER, INSIDE };

/// Where the operations of `slice` read the same as inside: before the nest, unless an instance
/// stores to what they load. With several instances such a store would interfere with the others'
/// loads, which the author excludes; one instance alone may do it.
Place place_of(const ir::Operation &nest, const Slice &slice, bool may_alias) {
    if (instances_of(nest) == Instances::SEVERAL) {
        return Place::BEFORE;
    }
    const auto *body = nest.body();
    bool stored_before = false, stored_after = false;
    visit(*body, [&](const ir::Operation &load) {
        if (load.opcode() != Opcode::LOAD || !slice.contains(&load)) {
            return;
        }
        const auto *reads = anchor_in(&load, body);
        visit(*body, [&](const ir::Operation &store) {
            if (!ir::writes_view(store) || (!may_alias && store.operand(0) != load.operand(0))) {
                return;
            }
            const auto *writes = anchor_in(&store, body);
            stored_before |= writes == reads || writes->is_before(reads);
            stored_after |= writes == reads || reads->is_before(writes);
        });
    });
    return !stored_before ? Place::BEFORE : !stored_after ? Place::AFTER : Place::INSIDE;
}

/// A condition that holds where the nest has an instance; null where it always has.
ir::Value *has_instances(const ir::Operation &nest, ir::Builder &b) {
    if (instances_of(nest) != Instances::ANY) {
        return nullptr;
    }
    const auto &payload = nest.get<ir::NestPayload>();
    if (payload.is_range) {
        auto *begin = nest.operand(0), *end = nest.operand(1), *step = nest.operand(2);
        auto direction = [&](Opcode order) {
            return b.elementwise(Opcode::AND, {b.elementwise(order, {step, b.index(0)}),
                                               b.elementwise(order, {end, begin})});
        };
        return b.elementwise(Opcode::OR, {direction(Opcode::GT), direction(Opcode::LT)});
    }
    ir::Value *all = nullptr;
    for (size_t i = 0; i < payload.dims.size(); ++i) {
        if (analysis::interval_of(nest.operand(i)).low < 1) {
            auto *positive = b.elementwise(Opcode::GT, {nest.operand(i), b.index(0)});
            all = all ? b.elementwise(Opcode::AND, {all, positive}) : positive;
        }
    }
    return all;
}

struct Hoist {
    ir::Module &module;
    ir::Operation &nest;
    std::vector<size_t> states;
    Slice slice;

    explicit Hoist(ir::Module &m, ir::Operation &n) : module{m}, nest{n}, slice{*n.body()} {}

    [[nodiscard]] size_t first_argument() const {
        return nest.body()->arguments().size() - nest.result_count();
    }
    [[nodiscard]] ir::Value *initial(size_t state) const {
        return nest.operand(leading_operands(nest) + state);
    }

    void add(size_t state) {
        states.push_back(state);
        slice.add_value(nest.body()->terminator()->operand(state));
    }

    /// Copies the slice to `at`; gives what the states become.
    std::vector<ir::Value *> copy_to(ir::InsertPoint at) const {
        ir::Cloner cloner{module};
        for (size_t i = 0; i < nest.result_count(); ++i) {
            cloner.map(nest.body()->argument(first_argument() + i), initial(i));
        }
        slice.copy_operations(*nest.body(), at, module, cloner);
        std::vector<ir::Value *> values;
        for (auto state : states) {
            values.push_back(cloner.mapped(nest.body()->terminator()->operand(state)));
        }
        return values;
    }

    /// Emits the update once; gives the new values of the states.
    std::vector<ir::Value *> emit(ir::InsertPoint at) const {
        if (states.empty()) {
            return {};
        }
        ir::Builder b{module};
        b.set_region(at.region, at.before);
        b.loc = nest.loc;
        auto *condition = has_instances(nest, b);
        if (!condition) {
            return copy_to(at);
        }
        std::vector<const ir::Type *> types;
        std::vector<ir::Value *> before;
        for (auto state : states) {
            types.push_back(nest.result(state)->type());
            before.push_back(initial(state));
        }
        auto *branch = b.emit(Opcode::IF, {condition}, types, ir::None{}, 2);
        auto after = copy_to(ir::InsertPoint::end(branch->body(0)));
        ir::Builder{module, branch->body(0)}.emit(Opcode::YIELD, after, {});
        ir::Builder{module, branch->body(1)}.emit(Opcode::YIELD, before, {});
        return branch->results();
    }
};

/// The nest without the given states; null when nothing is left to do in it.
ir::Operation *rebuild(ir::Module &module, ir::Operation &nest, const std::vector<size_t> &kept,
                       ir::Cloner &cloner) {
    auto *body = nest.body();
    Slice rest{*body};
    rest.add_stores(*body);
    for (auto state : kept) {
        rest.add_value(body->terminator()->operand(state));
    }
    bool empty = kept.empty();
    for (auto *op : *body) {
        empty &= !rest.contains(op);
    }
    if (empty) {
        return nullptr;
    }
    size_t first = body->arguments().size() - nest.result_count();
    for (size_t i = 0; i < nest.result_count(); ++i) {
        cloner.map(body->argument(first + i), nest.operand(leading_operands(nest) + i));
    }
    return rest.copy_with_regions(nest, kept, ir::InsertPoint::at(&nest), module, cloner);
}

void hoist_from(ir::Module &module, ir::Operation &nest, bool may_alias) {
    Hoist before{module, nest}, after{module, nest};
    std::vector<size_t> kept;
    for (size_t i = 0; i < nest.result_count(); ++i) {
        auto place = Place::INSIDE;
        if (is_collective(nest, i)) {
            Slice own{*nest.body()};
            own.add_value(nest.body()->terminator()->operand(i));
            place = place_of(nest, own, may_alias);
        }
        if (place == Place::INSIDE) {
            kept.push_back(i);
        } else {
            (place == Place::BEFORE ? before : after).add(i);
        }
    }
    if (kept.size() == nest.result_count()) {
        return;
    }
    std::vector<ir::Value *> results(nest.result_count());
    auto settle = [&](const std::vector<size_t> &states, const std::vector<ir::Value *> &values) {
        for (size_t i = 0; i < states.size(); ++i) {
            results[states[i]] = values[i];
        }
    };
    settle(before.states, before.emit(ir::InsertPoint::at(&nest)));
    ir::Cloner cloner{module};
    if (auto *copy = rebuild(module, nest, kept, cloner)) {
        settle(kept, copy->results());
    }
    settle(after.states, after.emit(ir::InsertPoint::at(&nest)));
    ir::Rewriter{module}.replace(&nest, results);
}

void hoist_in(ir::Module &module, ir::Region &region, bool may_alias) {
    for (auto *op = region.first(); op;) {
        auto *next = op->next();
        for (auto *inner : op->regions()) {
            hoist_in(module, *inner, may_alias);
        }
        if (op->opcode() == Opcode::PARALLEL) {
            hoist_from(module, *op, may_alias);
        }
        op = next;
    }
}

}// namespace

bool has_collective_updates(const ir::Module &module) {
    bool found = false;
    visit(*module.kernel()->body, [&](const ir::Operation &op) {
        for (size_t i = 0; op.opcode() == Opcode::PARALLEL && i < op.result_count(); ++i) {
            found |= is_collective(op, i);
        }
    });
    return found;
}

void hoist_collective_updates(ir::Module &module, bool may_alias) {
    hoist_in(module, *module.kernel()->body, may_alias);
}

}// namespace luisa::tile::transform
