// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/inspect.h>

#include "compile/blocks.h"
#include "compile/cpu.h"
#include "compile/cuda.h"
#include "compile/target.h"
#include "frontend/kernel_access.h"
#include "ir/text.h"
#include "target/cpu.h"

#include <algorithm>

namespace luisa::tile {

emit::CpuTarget compiler::target_named(const std::string &cpu) {
    auto host = emit::host_cpu();
    if (cpu.empty() || cpu == host.cpu) {
        return host;
    }
    if (const auto *level = target::find_cpu_level(cpu)) {
        return {level->name, level->features};
    }
    throw TargetError{"no CPU called \"" + cpu + "\"; expected " +
                      target::cpu_names(host.cpu, false)};
}

std::vector<ParameterInfo> parameters(const Kernel &kernel) {
    const auto &function = *module_of(kernel)->kernel();
    std::vector<ParameterInfo> all;
    for (auto *argument : function.body->arguments()) {
        const auto &type = *argument->type();
        ParameterInfo p;
        if (all.size() < function.parameter_names.size()) {
            p.name = function.parameter_names[all.size()];
        }
        p.is_view = type.is_view();
        p.read_only = type.read_only;
        p.type = type.scalar;
        for (const auto &axis : type.axes) {
            p.axes.push_back({axis.extent == ir::runtime_value ? -1 : axis.extent, axis.name});
        }
        p.runtime_strides = std::find(type.strides.begin(), type.strides.end(),
                                      ir::runtime_value) != type.strides.end();
        if (!p.runtime_strides) {
            p.strides = type.strides;
        }
        all.push_back(std::move(p));
    }
    return all;
}

KernelForms forms(const Kernel &kernel, const std::string &cpu, bool llvm, bool assembly) {
    compiler::CpuOptions options;
    options.target = compiler::target_named(cpu);
    auto made = compiler::forms_cpu(*module_of(kernel), options, llvm, assembly);
    return {std::move(made.plan), std::move(made.machine), std::move(made.llvm),
            std::move(made.assembly)};
}

GpuForms gpu_forms(const Kernel &kernel, const std::string &architecture, bool llvm, bool ptx) {
    const auto *facts = target::find_cuda(architecture);
    if (!facts) {
        throw TargetError{"no GPU architecture called \"" + architecture + "\"; expected one of " +
                          target::cuda_names()};
    }
    const auto &candidate = *module_of(kernel);
    compiler::BlockOptions how;
    how.gpu = facts;
    auto made = compiler::realize_blocks(candidate, how);
    GpuForms forms;
    forms.plan = std::move(made.plan);
    forms.machine = ir::print(*made.program.machine);
    auto options = compiler::gpu_options(made.program.phases, compiler::argument_words(candidate),
                                         *facts, 0);
    if (llvm) {
        forms.llvm = emit::gpu_llvm_text(*made.program.machine, options);
    }
    if (ptx) {
        forms.ptx = emit::generate_ptx(*made.program.machine, options).ptx;
    }
    return forms;
}

}// namespace luisa::tile
