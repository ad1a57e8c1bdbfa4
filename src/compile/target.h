// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "emit/llvm/jit.h"

#include <string>

namespace luisa::tile::compiler {

/// The CPU of this name: empty for this machine, as LLVM calls it, or a generic level. TargetError lists the names.
[[nodiscard]] emit::CpuTarget target_named(const std::string &cpu);

}// namespace luisa::tile::compiler
