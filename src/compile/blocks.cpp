// SPDX-License-Identifier: Apache-2.0
#include "compile/blocks.h"

#include "compile/planned.h"
#include "core/clock.h"
#include "realize/simt/realize.h"

namespace luisa::tile::compiler {

namespace {

/// Threads hold single elements: no vectors, and loops whose neighbours are adjacent innermost.
target::CpuFacts thread_facts() {
    target::CpuFacts facts;
    facts.vector_bytes = 1;
    facts.vector_registers = 0;
    return facts;
}

/// What the emulator stands for.
constexpr const char *emulated = "sm_90";

/// Partial states of a contract: 32 of four bytes, one a thread of a warp.
constexpr int lane_bytes = 128;

}// namespace

BlockForms realize_blocks(const ir::Module &candidate, const BlockOptions &options) {
    BlockForms forms;
    auto start = now_ms();
    plan::PlanOptions plan_options;
    plan_options.may_alias = options.may_alias;
    plan_options.team = true;
    plan_options.gpu = options.gpu ? options.gpu : target::find_cuda(emulated);
    auto planned = make_planned(candidate, thread_facts(), plan_options, lane_bytes);
    plan::read_along_lines(planned.plan);
    plan::split_instances(planned.plan);
    plan::deal_out(planned.plan);
    plan::keep_bins(planned.plan);
    plan::keep_in_registers(planned.plan);
    forms.plan = plan::print(planned.plan);
    forms.plan_ms = now_ms() - start;
    start = now_ms();
    forms.program = simt::realize(planned.plan);
    forms.realize_ms = now_ms() - start;
    return forms;
}

std::shared_ptr<const EmulatorKernel> compile_emulator(const ir::Module &candidate,
                                                       const BlockOptions &options) {
    auto forms = realize_blocks(candidate, options);
    auto kernel = std::make_shared<EmulatorKernel>();
    kernel->plan = std::move(forms.plan);
    kernel->plan_ms = forms.plan_ms;
    kernel->realize_ms = forms.realize_ms;
    kernel->phases = std::move(forms.program.phases);
    kernel->reports = std::move(forms.program.reports);
    auto target = emit::host_cpu();
    target.observed = options.observed;
    kernel->code = emit::compile(*forms.program.machine, target, &kernel->emit);
    if (options.observed) {
        kernel->machine = std::move(forms.program.machine);
    }
    for (const auto &phase : kernel->phases) {
        auto *function = reinterpret_cast<void (*)()>(kernel->code->function(phase.function));
        kernel->functions.push_back(reinterpret_cast<void (*)(const uint64_t *, void *)>(function));
    }
    return kernel;
}

}// namespace luisa::tile::compiler
