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
    void operator()(llvm::TargetMachine *machine) const;
};
using BorrowedTargetMachine = std::unique_ptr<llvm::TargetMachine, ReturnTargetMachine>;

/// A code generator for `target` that nobody else uses meanwhile; reused, since making one and its
/// subtarget tables costs as much as a small kernel. Thread safe. Throws TargetError for a CPU or
/// feature that LLVM does not know.
[[nodiscard]] BorrowedTargetMachine borrow_target_machine(const CpuTarget &target);

}// namespace luisa::tile::emit
