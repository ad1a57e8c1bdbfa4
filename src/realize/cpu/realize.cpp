// SPDX-License-Identifier: Apache-2.0
#include "realize/cpu/realize.h"

#include "layout/proved.h"
#include "realize/cpu/lowering.h"

#include <luisa/tile/layout_ops.h>

namespace luisa::tile::cpu {

using ir::Opcode;

Lowering::Lowering(const plan::Plan &plan, ir::Module &machine) : _plan{&plan}, _b{machine} {
    size_t word = 0;
    for (auto *parameter : plan.kernel->body->arguments()) {
        _argument_words[parameter] = word;
        word += argument_words(*parameter->type());
    }
}

void Lowering::begin_function(const std::string &name) {
    _function = name;
    auto &module = _b.module();
    auto *function = module.add_function(name, _plan->kernel->loc);
    function->noalias = !_plan->may_alias;
    function->parameter_names = {"args", "begin", "end", "scratch", "shared"};
    auto *i64 = module.scalar(ScalarType::INT64);
    _args = module.add_argument(function->body, module.pointer());
    _begin = module.add_argument(function->body, i64);
    _end = module.add_argument(function->body, i64);
    _scratch = module.add_argument(function->body, module.pointer());
    _shared = module.add_argument(function->body, module.pointer());
    _b.begin_function(*function);
    _b.forget_reads();
    _scalars.clear();
    _offsets.clear();
    _scratch_used = 0;
}

/// The extents of a root domain, and for a range the loop that it stands for.
Values Lowering::domain_extents(const ir::Operation &nest) {
    const auto &payload = nest.get<ir::NestPayload>();
    Values extents;
    if (payload.is_range) {
        auto range = range_of(nest);
        auto *span = _b.maximum(_b.sub(range.end, range.begin), _b.index(0));
        auto *last = _b.add(span, _b.sub(range.step, _b.index(1)));
        extents.push_back(_b.div(last, range.step));
    } else {
        for (size_t i = 0; i < payload.dims.size(); ++i) {
            extents.push_back(scalar_value(nest.operand(i)));
        }
    }
    return extents;
}

void Lowering::bind_task(const ir::Operation &nest, const Values &extents, ir::Value *task) {
    auto *body = nest.body();
    if (nest.get<ir::NestPayload>().is_range) {
        auto range = range_of(nest);
        auto *iv = _b.add(range.begin, _b.mul(task, range.step));
        _scalars[body->argument(0)] = range.index(_b, iv);
        return;
    }
    if (const auto &order = nest.get<ir::NestPayload>().layout; !order.empty()) {
        auto instance = try_inverse(core::proved_map(order)->map);
        require(instance.has_value(), "an order of instances has an inverse");
        for (size_t i = 0; i < extents.size(); ++i) {
            auto one = compose(IndexMap::project(instance->codomain(), {i}), *instance);
            _scalars[body->argument(i)] = index_map(one, {{task, 0, nullptr}}, 1).base;
        }
        return;
    }
    if (_band) {
        auto *whole = _b.mul(extents[0], _b.index(_band));
        auto *first = _b.mul(_b.div(task, whole), _b.index(_band));
        auto *rest = _b.rem(task, whole);
        auto *width = _b.minimum(_b.index(_band), _b.sub(extents[1], first));
        _scalars[body->argument(0)] = _b.div(rest, width);
        _scalars[body->argument(1)] = _b.add(first, _b.rem(rest, width));
        return;
    }
    auto *rest = task;
    for (size_t i = extents.size(); i-- > 0;) {
        _scalars[body->argument(i)] = i == 0 ? rest : _b.rem(rest, extents[i]);
        rest = i == 0 ? rest : _b.div(rest, extents[i]);
    }
}

void Lowering::lower_phase(const plan::Phase &phase, const std::string &name, Phase &out) {
    out.function = name;
    out.grain = phase.grain;
    out.task_us = phase.task_us;
    begin_function(name);
    _root = phase.nest;
    _band = phase.band;
    if (!phase.nest) {
        out.task_count = 1;
        lower_block(phase.block);
        return;
    }
    auto extents = domain_extents(*phase.nest);
    int64_t count = 1;
    bool is_static = true;
    for (auto *extent : extents) {
        int64_t known = 0;
        is_static &= MachineBuilder::is_constant(extent, known);
        if (is_static && __builtin_mul_overflow(count, known, &count)) {
            throw ValueError{"the domain has more than 2^63 instances", phase.nest->loc};
        }
    }
    _b.loop(_begin, _end, 1, {}, [&](ir::Value *task, const Values &) {
        bind_task(*phase.nest, extents, task);
        _task = task;
        _task_extents = extents;
        _b.forget_reads();
        lower_block(_plan->blocks.at(phase.nest->body()));
        return Values{};
    });
    if (is_static) {
        out.task_count = std::max<int64_t>(count, 0);
        return;
    }
    out.count_function = name + ".count";
    begin_function(out.count_function);
    // More instances than a count can hold are -1, unless another extent is zero.
    auto *total = _b.index(1), *zero = _b.index(0);
    for (auto *extent : domain_extents(*phase.nest)) {
        auto *some = _b.maximum(extent, _b.index(1));
        auto *most = _b.pure(Opcode::DIV, {_b.index(INT64_MAX), some});
        auto *valid = _b.both(_b.compare(Opcode::GE, total, zero),
                              _b.compare(Opcode::LE, total, most));
        total = select(valid, _b.mul(total, some), _b.index(-1));
        total = select(_b.compare(Opcode::LE, extent, zero), zero, total);
    }
    _b.effect(Opcode::WRITE, {_scratch, total}, ir::MemoryPayload{8, false, false});
}

Program realize(const plan::Plan &plan, const StepNumbers *trace) {
    Program program;
    program.machine = std::make_unique<ir::Module>(ir::Form::MACHINE);
    Lowering lowering{plan, *program.machine};
    lowering.trace(trace);
    for (size_t i = 0; i < plan.phases.size(); ++i) {
        auto name = plan.kernel->name + (plan.phases.size() > 1 ? "." + std::to_string(i) : "");
        if (const auto *nest = plan.phases[i].nest) {
            size_t packs = 0;
            for (const auto &step : plan.blocks.at(nest->body()).steps) {
                const auto *c = std::get_if<plan::Contraction>(&step);
                for (auto side : {Side::VECTOR, Side::SCALAR}) {
                    const auto *panel = c ? panel_plan(*c, side) : nullptr;
                    if (panel && panel->shared) {
                        lowering.lower_pack(*c, side, *nest,
                                            name + ".pack" + std::to_string(packs++),
                                            program.phases.emplace_back());
                    }
                }
            }
        }
        lowering.lower_phase(plan.phases[i], name, program.phases.emplace_back());
    }
    program.reports = lowering.take_reports();
    program.rooms = lowering.take_rooms();
    program.shared_bytes = static_cast<size_t>(lowering.shared_bytes());
    program.scratch_bytes = static_cast<size_t>(lowering.scratch_bytes()) + 64;
    return program;
}

}// namespace luisa::tile::cpu
