// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "emit/llvm/jit.h"
#include "realize/simt/program.h"
#include "target/cuda.h"

#include <memory>
#include <string>
#include <vector>

namespace luisa::tile::compiler {

struct BlockOptions {
    bool may_alias = false;///< views may overlap: loads are taken before later stores
    bool observed = false; ///< of the emulator: accesses are told to its observer
    const target::CudaFacts *gpu =
        nullptr;///< what to plan for; null: the one that the emulator stands for
};

/// A kernel for blocks of threads in Machine form, and its printed plan.
struct BlockForms {
    simt::Program program;
    std::string plan;
    double plan_ms = 0, realize_ms = 0;
};

/// The pipeline of all GPUs on a verified Candidate module, up to Machine form. Throws UnsupportedError that
/// names the operation and its line. Thread safe.
[[nodiscard]] BlockForms realize_blocks(const ir::Module &candidate, const BlockOptions &options);

/// A kernel of the emulator, ready to run. Immutable; callable from any thread.
struct EmulatorKernel {
    std::unique_ptr<ir::Module> machine;///< of observed code, which names its operations
    std::unique_ptr<emit::CompiledModule> code;
    std::vector<simt::Phase> phases;
    std::vector<void (*)(const uint64_t *args, void *scratch)> functions;///< of the phases
    std::vector<ir::Report> reports;
    std::string plan;
    double plan_ms = 0, realize_ms = 0;
    emit::EmitTimes emit;
};

/// Compiles what a GPU would run for this machine's CPU.
[[nodiscard]] std::shared_ptr<const EmulatorKernel> compile_emulator(const ir::Module &candidate,
                                                                     const BlockOptions &options);

}// namespace luisa::tile::compiler
