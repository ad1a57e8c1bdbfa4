// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "emit/llvm/jit.h"

#include <cstdint>
#include <string>
#include <vector>

namespace luisa::tile::emit {

/// A line of assembly: an instruction or a label.
struct MarkedLine {
    std::string function, text;
    /// The source line of the operation that it comes from; 0: of none, of several, or of one whose place LLVM
    /// lost as it moved the instruction into a branch.
    uint32_t mark = 0;
    bool is_label = false;
};

/// The assembly of a module, line by line with the operations' source lines. Directives are left out. It is the code
/// that is run: debug locations change nothing but what LLVM says about them.
[[nodiscard]] std::vector<MarkedLine> marked_assembly(const ir::Module &machine,
                                                      const CpuTarget &target);

}// namespace luisa::tile::emit
