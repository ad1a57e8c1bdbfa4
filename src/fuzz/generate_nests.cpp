// SPDX-License-Identifier: Apache-2.0
#include "fuzz/build.h"

#include "ir/dependence.h"

#include <algorithm>
#include <cmath>

// parallel, serial, pipeline and reduce.

namespace luisa::tile::fuzz {

namespace {

constexpr int64_t counts[] = {0, 1, 1, 2, 2, 3, 4, 5, 7};

}// namespace

Domain Program::make_domain() {
    Domain domain;
    auto number = [&](int64_t n) {
        // The same number from the launch, if the program has it.
        auto *v = find([&](const Value *x) {
            return x->type()->is_scalar() && x->scalar() == ScalarType::INT64 &&
                   fact(x).low == static_cast<double>(n) && fact(x).high == fact(x).low;
        });
        return v && random.chance(70) ? v : index_constant(n);
    };
    auto pick = [&] {
        auto n = random.pick(counts);
        return trips * n > 200 ? int64_t{1} : n;
    };
    if (random.chance(30)) {
        auto n = pick();
        domain.payload.is_range = true;
        domain.begin = random.chance(50) ? 0 : random.between(-3, 5);
        domain.step = random.pick({1, 1, 2, 3, 8, -1, -2});
        domain.end = domain.begin + n * domain.step;
        if (n > 0 && std::abs(domain.step) > 1 && random.chance(50)) {
            domain.end += domain.step > 0 ? -1 : 1;
        }
        domain.operands = {number(domain.begin), number(domain.end), number(domain.step)};
        domain.extents = {n};
        domain.count = n;
        return domain;
    }
    auto rank = random.chance(65) ? 1u : 2u;
    for (auto i = 0u; i < rank; ++i) {
        auto n = pick();
        auto d = i == 0 || random.chance(50) ? random.pick(dims).dim : dim("i");
        if (i > 0 && d == domain.payload.dims[0]) {
            d = dim("j");
        }
        domain.payload.dims.push_back(d);
        domain.operands.push_back(number(n));
        domain.extents.push_back(n);
        domain.count *= n;
    }
    return domain;
}

void Program::enter(const Domain &domain, ir::Operation *nest) {
    trips *= std::max<int64_t>(domain.count, 1);
    bool parallel = nest->opcode() == Opcode::PARALLEL;
    for (auto extent : domain.extents) {
        auto *index = module.add_argument(nest->body(), module.scalar(ScalarType::INT64));
        auto last = std::max<int64_t>(extent - 1, 0) * domain.step + domain.begin;
        Fact f{static_cast<double>(std::min(domain.begin, last)),
               static_cast<double>(std::max(domain.begin, last))};
        loops.push_back(
            {add(index, f), f.low < 0 ? -1 : static_cast<int64_t>(f.high) + 1, parallel});
    }
}

void Program::split_owned(const Domain &domain, const std::vector<Value *> &indices) {
    std::vector<Owned> kept;
    for (auto part : owned) {
        if (part.whole) {
            continue;
        }
        std::vector<size_t> axes(part.axes.size());
        for (size_t i = 0; i < axes.size(); ++i) {
            axes[i] = i;
        }
        random.shuffle(axes);
        bool split = indices.size() <= axes.size();
        for (size_t i = 0; i < indices.size() && split; ++i) {
            auto &axis = part.axes[axes[i]];
            auto n = std::max<int64_t>(domain.extents[i], 1);
            int64_t length = std::max<int64_t>(axis.length / n, 1);
            if (!axis.shared && (axis.length / n == 0 || domain.begin != 0 || domain.step != 1)) {
                split = false;
                break;
            }
            if (axis.shared && random.chance(60)) {
                length = any_dim(true).extent;// the last parts may lie outside the view
            }
            auto *origin = indices[i];
            if (length > 1) {
                origin = arithmetic(Opcode::MUL, {origin, index_constant(length)});
            }
            if (origin && axis.origin) {
                origin = arithmetic(Opcode::ADD, {axis.origin, origin});
            }
            split = origin != nullptr;
            axis = {origin, length, false};
        }
        if (split) {
            kept.push_back(std::move(part));
        }
    }
    owned = std::move(kept);
}

Value *Program::insert_at(Value *state, const std::vector<Value *> &at,
                          const std::vector<Dim> &where) {
    ir::AccessPayload payload;
    auto rest = state->type()->dims;
    std::vector<Value *> coordinates;
    for (const auto &d : state->type()->dims) {
        auto found = std::find(where.begin(), where.end(), d.dim);
        if (found == where.end() && random.chance(60)) {
            continue;
        }
        payload.dims.push_back(d.dim);
        coordinates.push_back(found == where.end()
                                  ? coordinate(d.extent)
                                  : at[static_cast<size_t>(found - where.begin())]);
        rest.erase(std::find(rest.begin(), rest.end(), d));
    }
    auto *part = value_of(module.tile(state->scalar(), rest));
    std::vector<Value *> operands = {state, part};
    operands.insert(operands.end(), coordinates.begin(), coordinates.end());
    auto *v = builder.value(Opcode::INSERT, operands, state->type(), payload);
    facts[v] = either(fact(state), fact(part));
    work += trips * part->type()->element_count();
    return v;
}

Value *Program::insert_chain(Value *state, const Domain &domain,
                             const std::vector<Value *> &indices) {
    // Where each index goes: one dimension each, so that instances write apart.
    auto order = state->type()->dims;
    random.shuffle(order);
    std::vector<Dim> where;
    std::vector<Value *> at;
    for (size_t i = 0; i < indices.size(); ++i) {
        if (i >= order.size()) {
            if (domain.extents[i] > 1) {
                return nullptr;
            }
            continue;
        }
        where.push_back(order[i].dim);
        auto *c = random.chance(20)
                      ? arithmetic(Opcode::ADD, {indices[i], index_constant(random.between(-1, 2))})
                      : indices[i];
        at.push_back(c ? c : indices[i]);
    }
    auto *v = state;
    if (random.chance(20) && trips < 100) {
        // By way of an inner loop that carries the state.
        auto *inner = builder.emit(Opcode::SERIAL, {index_constant(2), v}, {v->type()},
                                   ir::NestPayload{false, {dim("s")}}, 1);
        Scope scope{*this, inner->body()};
        add(module.add_argument(inner->body(), module.scalar(ScalarType::INT64)), {0, 1});
        auto *carried = module.add_argument(inner->body(), v->type());
        facts[carried] = anything(v);
        builder.emit(Opcode::YIELD, {insert_at(carried, at, where)}, {});
        facts[inner->result()] = anything(v);
        return inner->result();
    }
    for (size_t i = 0, n = random.below(3); i < n; ++i) {
        v = insert_at(v, at, where);
        if (random.chance(20)) {
            pool.push_back(v);
        }
    }
    return v;
}

bool Program::make_parallel() {
    auto domain = make_domain();
    std::vector<Value *> states;
    for (size_t i = 0, n = random.below(3); i < n; ++i) {
        bool inserts = random.chance(65);
        auto *v = find([&](const Value *x) { return !inserts || !x->type()->dims.empty(); });
        if (!v || std::find(states.begin(), states.end(), v) != states.end()) {
            continue;
        }
        states.push_back(v);
        domain.payload.updates.push_back(inserts ? ir::AncestorUpdate::INSERT
                                                 : ir::AncestorUpdate::COLLECTIVE);
    }
    auto operands = domain.operands;
    std::vector<const ir::Type *> types;
    for (auto *s : states) {
        operands.push_back(s);
        types.push_back(s->type());
    }
    auto *nest = builder.emit(Opcode::PARALLEL, operands, types, domain.payload, 1);
    std::vector<Fact> results;
    {
        Scope scope{*this, nest->body()};
        enter(domain, nest);
        std::vector<Value *> indices = nest->body()->arguments(), arguments;
        for (auto *s : states) {
            arguments.push_back(module.add_argument(nest->body(), s->type()));
            facts[arguments.back()] = fact(s);
            if (random.chance(30)) {
                pool.push_back(arguments.back());
            }
        }
        split_owned(domain, indices);
        bool inserts = std::all_of(domain.payload.updates.begin(), domain.payload.updates.end(),
                                   [](auto u) { return u == ir::AncestorUpdate::INSERT; });
        auto body = [&] { return make_parallel_body(nest, domain, states, arguments, indices); };
        // Whether an instance does anything depends on its index, so no update is collective then.
        auto yields = inserts && random.chance(20) ? make_condition(arguments, body) : body();
        for (size_t i = 0; i < states.size(); ++i) {
            auto known = facts.find(yields[i]);
            results.push_back(known == facts.end() ? anything(states[i])
                                                   : either(fact(states[i]), known->second));
        }
        make_sink();
        builder.emit(Opcode::YIELD, yields, {});
    }
    for (size_t i = 0; i < states.size(); ++i) {
        add(nest->result(i), results[i]);
    }
    return true;
}

std::vector<Value *> Program::make_parallel_body(ir::Operation *nest, const Domain &domain,
                                                 const std::vector<Value *> &states,
                                                 const std::vector<Value *> &arguments,
                                                 const std::vector<Value *> &indices) {
    make_operations(1 + random.below(5));
    std::vector<Value *> yields;
    for (size_t i = 0; i < states.size(); ++i) {
        Value *v = nullptr;
        if (nest->get<ir::NestPayload>().updates[i] == ir::AncestorUpdate::INSERT) {
            v = insert_chain(arguments[i], domain, indices);
        } else {
            ir::Dependence dependent{*nest->body(), indices};
            v = find([&](const Value *x) {
                return x->type() == states[i]->type() && !dependent.contains(x);
            });
        }
        yields.push_back(v ? v : arguments[i]);
    }
    return yields;
}

}// namespace luisa::tile::fuzz
