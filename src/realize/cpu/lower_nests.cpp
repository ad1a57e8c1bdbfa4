// SPDX-License-Identifier: Apache-2.0
#include "realize/cpu/lowering.h"
#include "realize/cpu/reducers.h"

namespace luisa::tile::cpu {

using ir::Opcode;

namespace {

size_t domain_operands(const ir::Operation &nest) {
    const auto &payload = nest.get<ir::NestPayload>();
    return payload.is_range ? 3 : payload.dims.size();
}

}// namespace

void Lowering::lower_block(const plan::Block &block) {
    for (const auto &step : block.steps) {
        if (const auto *group = std::get_if<plan::LoopGroup>(&step)) {
            lower_group(*group);
        } else if (const auto *contraction = std::get_if<plan::Contraction>(&step)) {
            lower_contraction(*contraction);
        } else {
            lower_sequential(*std::get<plan::Sequential>(step).op);
        }
    }
}

void Lowering::lower_sequential(const ir::Operation &op) {
    _b.set_location(op.loc);
    switch (op.opcode()) {
        case Opcode::PARALLEL: lower_parallel(op); break;
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
        default:
            throw UnsupportedError{std::string{op.name()} + " has no CPU realization yet", op.loc};
    }
    _b.forget_reads();
}

Lowering::Range Lowering::range_of(const ir::Operation &nest) {
    auto *begin = scalar_value(nest.operand(0)), *end = scalar_value(nest.operand(1)),
         *step = scalar_value(nest.operand(2));
    int64_t known = 0;
    if (MachineBuilder::is_constant(step, known) && known > 0) {
        return {begin, end, step, nullptr};
    }
    if (MachineBuilder::is_constant(step, known)) {
        // begin, begin + step, … while > end: as distances 0, |step|, … below begin - end.
        return {_b.index(0), _b.sub(begin, end), _b.index(-known), begin};
    }
    throw UnsupportedError{"a range whose step only the launch knows has no CPU realization yet; "
                           "give it a constant step",
                           nest.loc};
}

Values Lowering::lower_body(const ir::Region &region) {
    lower_block(_plan->blocks.at(&region));
    Values yields;
    auto *terminator = region.terminator();
    for (size_t i = 0; terminator && i < terminator->operand_count(); ++i) {
        auto *value = terminator->operand(i);
        if (value->type()->is_scalar()) {
            yields.push_back(scalar_value(value));
        }
    }
    return yields;
}

void Lowering::lower_nest(const ir::Operation &op) {
    const auto &payload = op.get<ir::NestPayload>();
    auto *body = op.body();
    size_t indices = body->arguments().size() - op.result_count();
    Values initial;
    std::vector<size_t> scalar_states;
    for (size_t i = 0; i < op.result_count(); ++i) {
        if (op.result(i)->type()->is_scalar()) {
            scalar_states.push_back(i);
            initial.push_back(scalar_value(op.operand(domain_operands(op) + i)));
        } else {
            allocate(_plan->home(op.result(i)));
        }
    }
    bool reversed = op.opcode() == Opcode::REDUCE && payload.policy == ReductionPolicy::FOLD_RIGHT;
    if (op.opcode() == Opcode::REDUCE && payload.policy == ReductionPolicy::BALANCED_TREE) {
        throw UnsupportedError{
            "reduce: a balanced tree over a body that is not one built-in update "
            "has no CPU realization yet; write reduce(x, axes, op, "
            "reduction::balanced_tree)",
            op.loc};
    }
    auto run_body = [&](const Values &states) {
        for (size_t i = 0; i < scalar_states.size(); ++i) {
            _scalars[body->argument(indices + scalar_states[i])] = states[i];
        }
        return lower_body(*body);
    };
    std::function<Values(size_t, const Values &)> loops = [&](size_t axis, const Values &states) {
        if (axis == payload.dims.size()) {
            return run_body(states);
        }
        auto *extent = scalar_value(op.operand(axis));
        return _b.loop(_b.index(0), extent, 1, states, [&](ir::Value *iv, const Values &now) {
            auto *index = reversed ? _b.sub(_b.sub(extent, _b.index(1)), iv) : iv;
            _scalars[body->argument(axis)] = index;
            return loops(axis + 1, now);
        });
    };
    Values results;
    if (payload.is_range) {
        auto range = range_of(op);
        results = _b.loop(range.begin, range.end, range.step, initial,
                          [&](ir::Value *iv, const Values &now) {
                              if (reversed) {
                                  auto *span = _b.sub(range.end, range.begin);
                                  auto *last = _b.sub(span, _b.index(1));
                                  auto *steps = _b.mul(_b.div(last, range.step), range.step);
                                  iv = _b.add(range.begin, _b.sub(steps, _b.sub(iv, range.begin)));
                              }
                              _scalars[body->argument(0)] = range.index(_b, iv);
                              return run_body(now);
                          });
    } else {
        results = loops(0, initial);
    }
    for (size_t i = 0; i < scalar_states.size(); ++i) {
        _scalars[op.result(scalar_states[i])] = results[i];
    }
}

void Lowering::lower_parallel(const ir::Operation &op) {
    const auto &payload = op.get<ir::NestPayload>();
    auto *body = op.body();
    size_t indices = body->arguments().size() - op.result_count();
    Values initial;
    std::vector<size_t> scalar_states;
    for (size_t i = 0; i < op.result_count(); ++i) {
        if (op.result(i)->type()->is_scalar()) {
            scalar_states.push_back(i);
            // Every instance reads the value as it came in.
            auto *incoming = scalar_value(op.operand(domain_operands(op) + i));
            initial.push_back(incoming);
            _scalars[body->argument(indices + i)] = incoming;
        } else {
            allocate(_plan->home(op.result(i)));
        }
    }
    std::function<Values(size_t, const Values &)> loops = [&](size_t axis, const Values &states) {
        if (axis == indices) {
            return lower_body(*body);
        }
        if (payload.is_range) {
            auto range = range_of(op);
            return _b.loop(range.begin, range.end, range.step, states,
                           [&](ir::Value *iv, const Values &now) {
                               _scalars[body->argument(0)] = range.index(_b, iv);
                               return loops(1, now);
                           });
        }
        auto *extent = scalar_value(op.operand(axis));
        return _b.loop(_b.index(0), extent, 1, states, [&](ir::Value *iv, const Values &now) {
            _scalars[body->argument(axis)] = iv;
            return loops(axis + 1, now);
        });
    };
    auto results = loops(0, initial);
    for (size_t i = 0; i < scalar_states.size(); ++i) {
        _scalars[op.result(scalar_states[i])] = results[i];
    }
}

void Lowering::lower_if(const ir::Operation &op) {
    for (auto *result : op.results()) {
        if (!result->type()->is_scalar()) {
            allocate(_plan->home(result));
        }
    }
    auto results = _b.branch(
        scalar_value(op.operand(0)), [&] { return lower_body(*op.body(0)); },
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
    Values initial;
    std::vector<size_t> scalar_states;
    for (size_t i = 0; i < op.result_count(); ++i) {
        if (op.result(i)->type()->is_scalar()) {
            scalar_states.push_back(i);
            initial.push_back(scalar_value(op.operand(i)));
        } else {
            allocate(_plan->home(op.result(i)));
        }
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
        for (size_t i = 0; i < scalar_states.size(); ++i) {
            _scalars[body->argument(scalar_states[i])] = states[i];
        }
    };
    auto results = _b.while_loop(
        initial,
        [&](const Values &states) {
            bind(states);
            lower_block(before);
            return scalar_value(condition->operand(0));
        },
        [&](const Values &) {
            lower_block(after);
            Values yields;
            for (auto i : scalar_states) {
                yields.push_back(scalar_value(body->terminator()->operand(i)));
            }
            return yields;
        });
    for (size_t i = 0; i < scalar_states.size(); ++i) {
        _scalars[op.result(scalar_states[i])] = results[i];
    }
}

}// namespace luisa::tile::cpu
