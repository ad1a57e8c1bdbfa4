// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/operation.h"

#include <optional>

namespace luisa::tile::ir {

/// The operation that merges contributions to state `state` of a `reduce`, if its body updates it
/// as `s = op(s, c)` for a built-in associative op or as `s = mma(a, b, s)`, and no other operation
/// reads the state. `s = mma(a, b, s)` contributes `mma(a, b, 0)` and merges by ADD.
[[nodiscard]] std::optional<Opcode> merge_of_state(const Operation &reduce, size_t state);

}// namespace luisa::tile::ir
