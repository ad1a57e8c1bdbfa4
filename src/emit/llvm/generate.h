// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "emit/llvm/jit.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/CodeGen.h>
#include <llvm/Support/Error.h>

namespace llvm {
class TargetMachine;
}

// From a Machine module to a file of code in memory: what the CPU and the GPU have in common.

namespace luisa::tile::emit {

class Emitter;

/// An LLVM context whose errors are collected instead of ending the process.
class Context : public llvm::LLVMContext {
public:
    explicit Context(bool names);
    /// Throws what code generation reported.
    void check() const;

private:
    std::string _errors;
};

/// The module's LLVM IR, verified, for the machine's target.
[[nodiscard]] std::unique_ptr<llvm::Module> build(Emitter &emitter, const ir::Module &machine,
                                                  llvm::TargetMachine &target);

/// Runs the passes of code generation. CompileError with LLVM's message.
[[nodiscard]] llvm::SmallVector<char, 0> generate(const Context &context, llvm::Module &module,
                                                  llvm::TargetMachine &target,
                                                  llvm::CodeGenFileType type);

/// LLVM IR as text.
[[nodiscard]] std::string print(const llvm::Module &module);

}// namespace luisa::tile::emit
