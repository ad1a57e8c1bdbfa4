// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/module.h"

#include <memory>
#include <string>
#include <vector>

namespace luisa::tile::emit {

/// What generated code may use. Names as LLVM spells them ("znver4", "+avx512f,…").
struct CpuTarget {
    std::string cpu, features;
    bool observed = false;///< each access is told to the Team that runs the code (team.h)
};

/// The machine this process runs on.
[[nodiscard]] CpuTarget host_cpu();

/// The type of every Machine function on a CPU:
///   args     kernel argument words (see realize/cpu/abi.h)
///   begin…end range of tasks
///   scratch  memory of this thread, 64-byte aligned
///   shared   memory of this launch, 64-byte aligned
using TaskFunction = void (*)(const uint64_t *args, int64_t begin, int64_t end, void *scratch,
                              void *shared);

/// Native code of one Machine module. Immutable, callable from any thread; frees its code on
/// destruction.
class CompiledModule {
public:
    virtual ~CompiledModule() = default;
    /// The function called `name`; an internal error if there is none.
    [[nodiscard]] virtual TaskFunction function(const std::string &name) const = 0;
    [[nodiscard]] virtual size_t code_bytes() const noexcept = 0;
};

struct EmitTimes {
    double build_ms = 0, optimise_ms = 0, codegen_ms = 0, link_ms = 0;
};

/// Object code of one Machine module, not yet linked: it may be kept and linked by another process.
struct ObjectCode {
    std::vector<std::string> functions;
    std::string bytes;
};

/// Generates code for every function of a verified Machine module. Thread safe. Throws CompileError with
/// LLVM's message when code generation fails, TargetError for an unknown CPU.
[[nodiscard]] ObjectCode generate_object(const ir::Module &machine, const CpuTarget &target,
                                         EmitTimes *times = nullptr);

/// Links object code into this process. Thread safe. CompileError for what is not such code. Whoever passes
/// bytes from elsewhere has checked that they are what `generate_object` gave: they are run.
[[nodiscard]] std::unique_ptr<CompiledModule> load_object(const ObjectCode &object,
                                                          EmitTimes *times = nullptr);

/// What generates code here: LLVM's version and the target triple.
[[nodiscard]] std::string generator_name();

/// Compiles every function of a verified Machine module. Thread safe. Throws CompileError with
/// LLVM's message when code generation fails, TargetError for an unknown CPU.
[[nodiscard]] std::unique_ptr<CompiledModule> compile(const ir::Module &machine,
                                                      const CpuTarget &target,
                                                      EmitTimes *times = nullptr);

/// Texts for `luisa-tile compile --emit llvm|asm`, explain and tests.
[[nodiscard]] std::string llvm_text(const ir::Module &machine, const CpuTarget &target);
[[nodiscard]] std::string assembly_text(const ir::Module &machine, const CpuTarget &target);

}// namespace luisa::tile::emit
