// SPDX-License-Identifier: Apache-2.0
#include "compile/cpu.h"

#include "compile/planned.h"
#include "core/clock.h"
#include "ir/text.h"
#include "plan/plan.h"
#include "realize/cpu/realize.h"

namespace luisa::tile::compiler {

namespace {

Planned plan_for(const ir::Module &candidate, const CpuOptions &options) {
    auto facts = facts_of(options);
    plan::PlanOptions plan_options;
    plan_options.may_alias = options.may_alias;
    plan_options.choices = options.choices;
    return make_planned(candidate, facts, plan_options, facts.vector_bytes);
}

}// namespace

target::CpuFacts facts_of(const CpuOptions &options) {
    return options.facts ? *options.facts
                         : target::cpu_facts(options.target.features, options.threads);
}

CpuObject compile_object(const ir::Module &candidate, const CpuOptions &options, CpuTimes *times) {
    CpuTimes own;
    auto &spent = times ? *times : own;
    auto start = now_ms();
    auto planned = plan_for(candidate, options);
    const auto &plan = planned.plan;
    CpuObject object;
    object.plan = plan::print(plan);
    spent.plan_ms = now_ms() - start;
    start = now_ms();
    auto program = cpu::realize(plan);
    spent.realize_ms = now_ms() - start;
    object.code = emit::generate_object(*program.machine, options.target, &spent.emit);
    object.phases = std::move(program.phases);
    object.reports = std::move(program.reports);
    object.scratch_bytes = program.scratch_bytes;
    object.shared_bytes = program.shared_bytes;
    return object;
}

std::shared_ptr<CpuKernel> link(CpuObject object, const CpuTimes &times) {
    auto kernel = std::make_shared<CpuKernel>();
    kernel->plan_ms = times.plan_ms;
    kernel->realize_ms = times.realize_ms;
    kernel->emit = times.emit;
    kernel->code = emit::load_object(object.code, &kernel->emit);
    kernel->plan = std::move(object.plan);
    kernel->reports = std::move(object.reports);
    kernel->scratch_bytes = object.scratch_bytes;
    kernel->shared_bytes = object.shared_bytes;
    for (const auto &phase : object.phases) {
        kernel->phases.push_back(
            {kernel->code->function(phase.function),
             phase.count_function.empty() ? nullptr : kernel->code->function(phase.count_function),
             phase.task_count, phase.grain, phase.task_us});
    }
    return kernel;
}

std::shared_ptr<const CpuKernel> compile_cpu(const ir::Module &candidate,
                                             const CpuOptions &options) {
    CpuTimes times;
    auto object = compile_object(candidate, options, &times);
    return link(std::move(object), times);
}

CpuForms forms_cpu(const ir::Module &candidate, const CpuOptions &options, bool want_llvm,
                   bool want_assembly) {
    CpuForms forms;
    auto planned = plan_for(candidate, options);
    const auto &plan = planned.plan;
    forms.plan = plan::print(plan);
    auto program = cpu::realize(plan);
    forms.machine = ir::print(*program.machine);
    if (want_llvm) {
        forms.llvm = emit::llvm_text(*program.machine, options.target);
    }
    if (want_assembly) {
        forms.assembly = emit::assembly_text(*program.machine, options.target);
    }
    return forms;
}

}// namespace luisa::tile::compiler
