// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/operation.h"

#include <optional>

namespace luisa::tile::ir {

/// The `if` that the body of a `reduce` ends in where an iteration may leave all states as they are, as the
/// predicate of a domain makes it: its condition says whether there is a contribution. Null: there always is.
[[nodiscard]] const Operation *guard_of(const Operation &reduce);

/// What a contribution makes of state `state` of a `reduce`: under the guard, if it has one.
[[nodiscard]] const Value *updated_state(const Operation &reduce, size_t state);

/// The operation that merges contributions to state `state` of a `reduce`, if its body updates it
/// as `s = op(s, c)` for a built-in associative op or as `s = mma(a, b, s)`, and no other operation
/// reads the state. `s = mma(a, b, s)` contributes `mma(a, b, 0)` and merges by ADD.
[[nodiscard]] std::optional<Opcode> merge_of_state(const Operation &reduce, size_t state);

}// namespace luisa::tile::ir
