// SPDX-License-Identifier: Apache-2.0
#include "fuzz/build.h"

#include <algorithm>
#include <cmath>

// Nests that carry states in order: serial, pipeline and reduce.

namespace luisa::tile::fuzz {

namespace {

bool rounds(Opcode op, ScalarType type) {
    return is_float(type) && (op == Opcode::ADD || op == Opcode::MUL);
}

}// namespace

/// `state` updated by a recognised merge with something made here; null if nothing suits. With
/// `tree`, any grouping of the updates has the same bits.
Value *Program::accumulated(Value *state, const Fact &initial, int64_t times, bool tree,
                            Fact &result) {
    auto type = state->scalar();
    times = std::max<int64_t>(times, 1);
    if (!state->type()->dims.empty() && type != ScalarType::BOOL && info(type).computes &&
        random.chance(50)) {
        auto *v = product(state, initial, times, result);
        if (v && tree && is_float(type) && !result.known()) {
            module.erase(v->definition());// nothing else may read the state
            return nullptr;
        }
        return v;
    }
    static constexpr Opcode numbers[] = {Opcode::ADD,     Opcode::ADD,     Opcode::MUL,
                                         Opcode::MINIMUM, Opcode::MAXIMUM, Opcode::FMIN,
                                         Opcode::FMAX};
    static constexpr Opcode bits[] = {Opcode::AND, Opcode::OR, Opcode::XOR};
    if (is_float(type) && !info(type).computes) {
        return nullptr;
    }
    auto op = type == ScalarType::BOOL                ? random.pick(bits)
              : is_integer(type) && random.chance(30) ? random.pick(bits)
                                                      : random.pick(numbers);
    // Equal dimensions, or fewer: a contribution may broadcast.
    auto *x = find([&](const Value *v) {
        return v != state && v->scalar() == type &&
               std::all_of(v->type()->dims.begin(), v->type()->dims.end(), [&](const auto &d) {
                   auto at = state->type()->find(d.dim);
                   return at >= 0 &&
                          (d.extent == 1 ||
                           state->type()->dims[static_cast<size_t>(at)].extent == d.extent);
               });
    });
    x = x ? x : value_of(state->type());
    auto f = fact(x);
    auto n = static_cast<double>(times);
    result = anything(state);
    if (op == Opcode::ADD && f.known() && initial.known()) {
        result = {initial.low + std::min(0.0, n * f.low), initial.high + std::max(0.0, n * f.high)};
    } else if (op == Opcode::MUL && f.known() && initial.known()) {
        auto m = std::max(1.0, initial.magnitude()) * std::pow(std::max(1.0, f.magnitude()), n);
        result = {-m, m};
    } else if (!rounds(op, type) && op != Opcode::XOR && is_float(type) && f.known() &&
               initial.known()) {
        result = {std::min(f.low, initial.low), std::max(f.high, initial.high)};
    }
    if (tree && rounds(op, type) && (!result.known() || result.magnitude() > exact_limit(type))) {
        return nullptr;
    }
    auto operands = random.chance(50) ? std::vector<Value *>{state, x}
                                      : std::vector<Value *>{x, state};
    auto dims_of = ir::join_dims("update", operands, {});
    auto *v = builder.value(op, operands, module.tile(type, dims_of));
    if (v->type() != state->type()) {
        // The join may order dimensions otherwise than the state.
        module.erase(v->definition());
        v = builder.value(op, {state, x}, state->type());
    }
    work += trips * state->type()->element_count();
    facts[v] = result;
    return v;
}

bool Program::make_serial() {
    auto domain = make_domain();
    bool pipeline = random.chance(50);
    if (pipeline) {
        domain.payload.pipeline.max_in_flight = static_cast<int>(random.below(4));
    }
    auto operands = domain.operands;
    std::vector<const ir::Type *> types;
    std::vector<Value *> states;
    for (size_t i = 0, n = random.below(4); i < n && !pool.empty(); ++i) {
        auto *like = states.empty() || random.chance(60)
                         ? nullptr
                         : find([&](const Value *v) { return v->type() == states[0]->type(); });
        states.push_back(like ? like : random.pick(pool));
        operands.push_back(states.back());
        types.push_back(states.back()->type());
    }
    auto *nest = builder.emit(pipeline ? Opcode::PIPELINE : Opcode::SERIAL, operands, types,
                              domain.payload, 1);
    std::vector<Fact> results;
    {
        Scope scope{*this, nest->body()};
        enter(domain, nest);
        std::vector<bool> accumulates;
        std::vector<Value *> arguments;
        for (auto *s : states) {
            arguments.push_back(module.add_argument(nest->body(), s->type()));
            facts[arguments.back()] = anything(s);
            accumulates.push_back(random.chance(50));
            if (!accumulates.back()) {
                pool.push_back(arguments.back());
            }
        }
        auto stages = pipeline && random.chance(60) ? 1 + random.below(3) : 0;
        auto body = [&] {
            return make_serial_body(domain, states, arguments, accumulates, stages, results);
        };
        auto yields = random.chance(15) ? make_condition(arguments, body) : body();
        make_sink();
        builder.emit(Opcode::YIELD, yields, {});
    }
    for (size_t i = 0; i < states.size(); ++i) {
        add(nest->result(i), either(results[i], fact(states[i])));
    }
    return true;
}

std::vector<Value *> Program::make_serial_body(const Domain &domain,
                                               const std::vector<Value *> &states,
                                               const std::vector<Value *> &arguments,
                                               const std::vector<bool> &accumulates, size_t stages,
                                               std::vector<Fact> &results) {
    std::vector<Value *> yields;
    for (size_t k = 0; k < std::max<size_t>(stages, 1); ++k) {
        if (stages) {
            builder.emit(Opcode::STAGE, {}, {}, ir::NamePayload{"s" + std::to_string(k)});
        }
        make_operations(1 + random.below(3));
    }
    for (size_t i = 0; i < states.size(); ++i) {
        Value *v = nullptr;
        Fact f = anything(states[i]);
        if (accumulates[i]) {
            v = accumulated(arguments[i], fact(states[i]), domain.count, false, f);
        }
        yields.push_back(v ? v : value_of(states[i]->type()));
        results.push_back(v ? f : anything(states[i]));
    }
    bool swaps = yields.size() > 1 && arguments[0]->type() == arguments[1]->type() &&
                 !accumulates[0] && !accumulates[1];
    if (swaps && random.chance(50)) {
        yields[0] = arguments[1];
        yields[1] = arguments[0];
        results[0] = results[1] = anything(states[0]);
    }
    return yields;
}

bool Program::make_reduce() {
    auto domain = make_domain();
    static constexpr ReductionPolicy policies[] = {
        ReductionPolicy::UNORDERED_TREE, ReductionPolicy::ORDERED_TREE, ReductionPolicy::FOLD_LEFT,
        ReductionPolicy::FOLD_RIGHT, ReductionPolicy::BALANCED_TREE};
    auto policy = random.pick(policies);
    domain.payload.policy = policy;
    bool fold = policy == ReductionPolicy::FOLD_LEFT || policy == ReductionPolicy::FOLD_RIGHT;
    std::vector<Value *> states;
    for (size_t i = 0, n = 1 + random.below(2); i < n && !pool.empty(); ++i) {
        auto *s = random.pick(pool);
        if (fold || !is_float(s->scalar()) || info(s->scalar()).computes) {
            states.push_back(s);
        }
    }
    if (states.empty()) {
        return false;
    }
    auto operands = domain.operands;
    std::vector<const ir::Type *> types;
    for (auto *s : states) {
        operands.push_back(s);
        types.push_back(s->type());
    }
    auto *nest = builder.emit(Opcode::REDUCE, operands, types, domain.payload, 1);
    std::vector<Fact> results;
    {
        Scope scope{*this, nest->body()};
        enter(domain, nest);
        pure = pure || !fold;
        std::vector<Value *> arguments, yields;
        for (auto *s : states) {
            arguments.push_back(module.add_argument(nest->body(), s->type()));
            facts[arguments.back()] = anything(s);
            if (fold && random.chance(50)) {
                pool.push_back(arguments.back());
            }
        }
        make_operations(1 + random.below(3));
        for (size_t i = 0; i < states.size(); ++i) {
            Fact f = anything(states[i]);
            Value *v = nullptr;
            for (int attempt = 0; attempt < 6 && !v; ++attempt) {
                v = accumulated(arguments[i], fact(states[i]), domain.count, !fold, f);
            }
            if (!v && !fold) {
                // A merge of any range whose grouping does not matter.
                auto *x = value_of(states[i]->type());
                auto op = states[i]->scalar() == ScalarType::BOOL ? Opcode::OR : Opcode::MAXIMUM;
                v = builder.value(op, {arguments[i], x}, states[i]->type());
                f = anything(states[i]);
            }
            yields.push_back(v ? v : value_of(states[i]->type()));
            results.push_back(f);
        }
        builder.emit(Opcode::YIELD, yields, {});
    }
    for (size_t i = 0; i < states.size(); ++i) {
        add(nest->result(i), results[i]);
    }
    return true;
}

}// namespace luisa::tile::fuzz
