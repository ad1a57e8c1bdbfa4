// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/module.h"

#include <string>

namespace luisa::tile::transform {

/// Replaces a `reduce` with a contract whose policy is balanced_tree by a loop that keeps one partial state for
/// each level of the tree. Returns how, for the plan's notes. Throws UnsupportedError where a state outside the
/// contract has no known merge.
[[nodiscard]] std::string reduce_as_tree(ir::Module &module, ir::Operation *reduce);

}// namespace luisa::tile::transform
