// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "interpreter/interpreter.h"

#include <cstdint>
#include <vector>

namespace luisa::tile::compiler {

/// The argument block of realize/cpu/program.h for arguments of the interpreter: of a view its address, extents and
/// strides, of a scalar its bits.
[[nodiscard]] std::vector<uint64_t> words_of(const std::vector<KernelArgument> &arguments);

}// namespace luisa::tile::compiler
