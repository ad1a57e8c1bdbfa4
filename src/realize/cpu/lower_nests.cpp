// SPDX-License-Identifier: Apache-2.0
#include "analysis/expressions.h"
#include "realize/cpu/lowering.h"
#include "realize/cpu/reducers.h"

namespace luisa::tile::cpu {

using ir::Opcode;

namespace {

/// Steps of begin, begin + step, … before `end` for a step that is not constant: nothing where it
/// is 0. The distance fits in 64 bits without a sign.
ir::Value *range_count(MachineBuilder &b, ir::Value *begin, ir::Value *end, ir::Value *step) {
    auto *zero = b.index(0);
    auto as = [&](ir::Value *x, ScalarType type) {
        return b.pure(Opcode::BITCAST, {x}, ir::None{}, b.module().scalar(type));
    };
    auto *up = b.compare(Opcode::GT, step, zero);
    auto either = [&](ir::Value *yes, ir::Value *no) { return b.pure(Opcode::ITE, {up, yes, no}); };
    auto *distance = either(b.sub(end, begin), b.sub(begin, end));
    auto *width = either(step, b.sub(zero, step));
    auto *runs = b.pure(Opcode::AND, {b.compare(Opcode::NE, step, zero),
                                      either(b.compare(Opcode::LT, begin, end),
                                             b.compare(Opcode::GT, begin, end))});
    auto *whole = b.pure(Opcode::DIV, {as(b.sub(distance, b.index(1)), ScalarType::UINT64),
                                       as(width, ScalarType::UINT64)});
    auto *count = b.add(as(whole, ScalarType::INT64), b.index(1));
    return b.pure(Opcode::ITE, {runs, count, zero});
}

}// namespace

void Lowering::lower_block(const plan::Block &block) {
    for (const auto &step : block.steps) {
        if (!_steps) {
            lower_step(step);
            continue;
        }
        auto found = _steps->find(&step);
        auto before = _b.set_mark(found == _steps->end() ? 0 : found->second);
        lower_step(step);
        _b.set_mark(before);
    }
}

void Lowering::lower_step(const plan::Step &step) {
    if (const auto *group = std::get_if<plan::LoopGroup>(&step)) {
        lower_group(*group);
    } else if (const auto *contraction = std::get_if<plan::Contraction>(&step)) {
        lower_contraction(*contraction);
    } else {
        lower_sequential(*std::get<plan::Sequential>(step).op);
    }
}

void Lowering::lower_sequential(const ir::Operation &op) {
    _b.set_location(op.loc);
    switch (op.opcode()) {
        case Opcode::PARALLEL:
        case Opcode::SERIAL:
        case Opcode::PIPELINE:
        case Opcode::REDUCE: lower_nest(op); break;
        case Opcode::IF: lower_if(op); break;
        case Opcode::WHILE: lower_while(op); break;
        case Opcode::LOAD: {
            Point point;
            _scalars[op.result()] = load(op, point);
            break;
        }
        case Opcode::ATOMIC: lower_atomic(op); break;
        case Opcode::ASSERT:
        case Opcode::PRINT: lower_report(op); break;
        default:
            if (!analysis::is_inline(op)) {
                throw UnsupportedError{std::string{op.name()} + " has no CPU realization yet",
                                       op.loc};
            }
            _scalars[op.result()] = control_value(op.result());
    }
    _b.forget_reads();
}

Lowering::Range Lowering::range_of(const ir::Operation &nest) {
    auto *begin = control_value(nest.operand(0)), *end = control_value(nest.operand(1)),
         *step = control_value(nest.operand(2));
    int64_t known = 0;
    if (!MachineBuilder::is_constant(step, known)) {
        return {_b.index(0), range_count(_b, begin, end, step), _b.index(1), begin, step};
    }
    if (known > 0) {
        return {begin, end, step};
    }
    int64_t first = 0, last = 0, distance = 0;
    bool fits = MachineBuilder::is_constant(begin, first) &&
                MachineBuilder::is_constant(end, last) &&
                !__builtin_sub_overflow(first, last, &distance) && known != INT64_MIN;
    if (!fits) {
        return {_b.index(0), range_count(_b, begin, end, step), _b.index(1), begin, step};
    }
    // begin, begin + step, … while > end: as distances 0, |step|, … below begin - end.
    return {_b.index(0), _b.sub(begin, end), _b.index(-known), begin};
}

Values Lowering::nest_loops(const ir::Operation &nest, bool reversed, const Values &states,
                            const std::function<Values(const Values &)> &body) {
    const auto &payload = nest.get<ir::NestPayload>();
    const auto &arguments = nest.body()->arguments();
    if (payload.is_range) {
        auto range = range_of(nest);
        return _b.loop(range.begin, range.end, range.step, states,
                       [&](ir::Value *iv, const Values &now) {
                           if (reversed) {
                               auto *last = _b.sub(_b.sub(range.end, range.begin), _b.index(1));
                               auto *steps = _b.mul(_b.div(last, range.step), range.step);
                               iv = _b.add(range.begin, _b.sub(steps, _b.sub(iv, range.begin)));
                           }
                           _scalars[arguments[0]] = range.index(_b, iv);
                           return body(now);
                       });
    }
    std::function<Values(size_t, const Values &)> loops = [&](size_t axis, const Values &outer) {
        if (axis == payload.dims.size()) {
            return body(outer);
        }
        auto *extent = control_value(nest.operand(axis));
        return _b.loop(_b.index(0), extent, 1, outer, [&](ir::Value *iv, const Values &now) {
            _scalars[arguments[axis]] = reversed ? _b.sub(_b.sub(extent, _b.index(1)), iv) : iv;
            return loops(axis + 1, now);
        });
    };
    return loops(0, states);
}

std::vector<size_t> Lowering::scalar_states(const ir::Operation &op) {
    std::vector<size_t> scalars;
    for (size_t i = 0; i < op.result_count(); ++i) {
        if (op.result(i)->type()->is_scalar()) {
            scalars.push_back(i);
        } else {
            allocate(_plan->home(op.result(i)));
        }
    }
    return scalars;
}

Values Lowering::lower_body(const ir::Region &region) {
    lower_block(_plan->blocks.at(&region));
    Values yields;
    auto *terminator = region.terminator();
    for (size_t i = 0; terminator && i < terminator->operand_count(); ++i) {
        auto *value = terminator->operand(i);
        if (value->type()->is_scalar()) {
            yields.push_back(control_value(value));
        }
    }
    return yields;
}

void Lowering::lower_nest(const ir::Operation &op) {
    const auto &payload = op.get<ir::NestPayload>();
    if (op.opcode() == Opcode::REDUCE && payload.policy == ReductionPolicy::BALANCED_TREE) {
        return lower_balanced_nest(op);
    }
    auto *body = op.body();
    size_t indices = body->arguments().size() - op.result_count();
    auto scalars = scalar_states(op);
    Values initial;
    for (auto i : scalars) {
        initial.push_back(control_value(op.operand(op.operand_count() - op.result_count() + i)));
    }
    // Every instance of a `parallel` reads the value as it came in.
    bool independent = op.opcode() == Opcode::PARALLEL;
    bool reversed = op.opcode() == Opcode::REDUCE && payload.policy == ReductionPolicy::FOLD_RIGHT;
    auto results = nest_loops(op, reversed, initial, [&](const Values &states) {
        for (size_t i = 0; i < scalars.size(); ++i) {
            _scalars[body->argument(indices + scalars[i])] = independent ? initial[i] : states[i];
        }
        auto yields = lower_body(*body);
        end_iteration(op);
        return yields;
    });
    for (size_t i = 0; i < scalars.size(); ++i) {
        _scalars[op.result(scalars[i])] = results[i];
    }
}

void Lowering::lower_if(const ir::Operation &op) {
    for (auto *result : op.results()) {
        if (!result->type()->is_scalar()) {
            allocate(_plan->home(result));
        }
    }
    auto results = _b.branch(
        control_value(op.operand(0)), [&] { return lower_body(*op.body(0)); },
        [&] { return lower_body(*op.body(1)); });
    size_t next = 0;
    for (auto *result : op.results()) {
        if (result->type()->is_scalar()) {
            _scalars[result] = results.at(next++);
        }
    }
}

void Lowering::lower_while(const ir::Operation &op) {
    auto *body = op.body();
    auto scalars = scalar_states(op);
    Values initial;
    for (auto i : scalars) {
        initial.push_back(control_value(op.operand(i)));
    }
    const auto &steps = _plan->blocks.at(body).steps;
    size_t split = 0;
    const ir::Operation *condition = nullptr;
    for (; split < steps.size() && !condition; ++split) {
        const auto *step = std::get_if<plan::Sequential>(&steps[split]);
        condition = step && step->op->opcode() == Opcode::CONDITION ? step->op : nullptr;
    }
    require(condition != nullptr, "while without a condition");
    plan::Block before{{steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(split) - 1}};
    plan::Block after{{steps.begin() + static_cast<std::ptrdiff_t>(split), steps.end()}};
    auto bind = [&](const Values &states) {
        for (size_t i = 0; i < scalars.size(); ++i) {
            _scalars[body->argument(scalars[i])] = states[i];
        }
    };
    auto results = _b.while_loop(
        initial,
        [&](const Values &states) {
            bind(states);
            lower_before_condition(before);
            return control_value(condition->operand(0));
        },
        [&](const Values &) {
            lower_block(after);
            Values yields;
            for (auto i : scalars) {
                yields.push_back(control_value(body->terminator()->operand(i)));
            }
            end_iteration(op);
            return yields;
        });
    for (size_t i = 0; i < scalars.size(); ++i) {
        _scalars[op.result(scalars[i])] = results[i];
    }
}

}// namespace luisa::tile::cpu
