// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "emit/llvm/jit.h"
#include "ir/module.h"
#include "ir/report.h"
#include "realize/cpu/program.h"
#include "target/cpu.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace luisa::tile::compiler {

struct CpuPhase {
    emit::TaskFunction run = nullptr;
    emit::TaskFunction count = nullptr;///< writes the task count to scratch[0]; null when static
    int64_t task_count = 0;
    int64_t grain = 1;
    double task_us = 0;
};

/// A kernel ready to run on this machine. Immutable; callable from any thread.
struct CpuKernel {
    std::unique_ptr<emit::CompiledModule> code;
    std::vector<CpuPhase> phases;
    size_t scratch_bytes = 0, shared_bytes = 0;
    std::vector<ir::Report> reports;///< what reports of the code say, by site
    std::string plan;               ///< the printed plan
    double plan_ms = 0, realize_ms = 0;
    emit::EmitTimes emit;
    bool asked_disk = false, from_disk = false;///< looked for in a cache; found there
    double disk_ms = 0;
};

struct CpuTimes {
    double plan_ms = 0, realize_ms = 0;
    emit::EmitTimes emit;
};

/// A kernel that is not linked yet: all that another process needs to run it.
struct CpuObject {
    emit::ObjectCode code;
    std::vector<cpu::Phase> phases;
    size_t scratch_bytes = 0, shared_bytes = 0;
    std::vector<ir::Report> reports;
    std::string plan;
};

struct CpuOptions {
    emit::CpuTarget target;
    int threads = 1;
    bool may_alias = false;///< views may overlap: loads are taken before later stores
    /// What the planner is told of the CPU instead of what is known of the target: narrower vectors, other
    /// caches.
    std::optional<target::CpuFacts> facts;
    std::string choices;///< who decides where plans could differ, as `plan::make_choices` reads it
};

/// The whole CPU pipeline on a verified Candidate module. Throws UnsupportedError that names the
/// operation and its line when the CPU back end cannot realize the program. Thread safe.
[[nodiscard]] std::shared_ptr<const CpuKernel> compile_cpu(const ir::Module &candidate,
                                                           const CpuOptions &options);

/// The two halves of `compile_cpu`.
[[nodiscard]] CpuObject compile_object(const ir::Module &candidate, const CpuOptions &options,
                                       CpuTimes *times = nullptr);
[[nodiscard]] std::shared_ptr<CpuKernel> link(CpuObject object, const CpuTimes &times = {});
/// What the planner is told.
[[nodiscard]] target::CpuFacts facts_of(const CpuOptions &options);

/// The intermediate forms, for `luisa-tile compile --emit` and tests.
struct CpuForms {
    std::string plan, machine, llvm, assembly;
};
[[nodiscard]] CpuForms forms_cpu(const ir::Module &candidate, const CpuOptions &options,
                                 bool want_llvm, bool want_assembly);

}// namespace luisa::tile::compiler
