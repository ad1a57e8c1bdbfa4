// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/module.h"

#include <string>

namespace luisa::tile::transform {

/// Whether `expand_contracts` has something to do.
[[nodiscard]] bool has_contracts(const ir::Module &module);

/// Turns reductions with a contract, and balanced trees over domains with a predicate, into reductions and loops
/// without them. Where the policy and the body
/// permit it, lanes of a vector of `vector_bytes` hold partial states that are merged at the end; else the
/// contributions are folded in order. Returns a line for each: what its laws are and how it is done.
[[nodiscard]] std::vector<std::string> expand_contracts(ir::Module &module, int vector_bytes);

/// A line for each state of a tree without a contract: what merges it and how that is known.
[[nodiscard]] std::vector<std::string> tree_notes(const ir::Module &module);

}// namespace luisa::tile::transform
