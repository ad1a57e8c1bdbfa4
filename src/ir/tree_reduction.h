// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/operation.h"

#include <optional>
#include <string>

namespace luisa::tile::ir {

/// Why a `reduce` cannot be a tree, and the operation that is at fault.
struct TreeProblem {
    std::string message;///< empty: it can
    const Operation *at = nullptr;
};

/// Whether partial results of a `reduce` can be merged: each state goes through one built-in operation
/// (several times, under conditions that do not depend on it, in inner nests, or in parts), or its
/// contract merges it, and neither an effect nor another state depends on it.
[[nodiscard]] TreeProblem tree_problem(const Operation &reduce);

/// The operation that merges state `state`, if all of its update goes through one; none for a state that
/// its contract merges.
[[nodiscard]] std::optional<Opcode> tree_merge(const Operation &reduce, size_t state);

}// namespace luisa::tile::ir
