// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "emit/llvm/jit.h"

#include <memory>

namespace llvm {
class TargetMachine;
}

namespace luisa::tile::emit {

/// Gives a borrowed target machine back for the next user.
struct ReturnTargetMachine {
    CpuTarget target;
    std::string triple;
    void operator()(llvm::TargetMachine *machine) const;
};
using BorrowedTargetMachine = std::unique_ptr<llvm::TargetMachine, ReturnTargetMachine>;

/// A code generator for `target` that nobody else uses meanwhile; reused, since making one and its
/// subtarget tables costs as much as a small kernel. Thread safe. Throws TargetError for a CPU or
/// feature that LLVM does not know. Without a triple it is that of this process.
[[nodiscard]] BorrowedTargetMachine borrow_target_machine(const CpuTarget &target,
                                                          const std::string &triple = {});

}// namespace luisa::tile::emit
