// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/operation.h"

namespace luisa::tile::ir {

/// Whether the operation itself, not what is nested in it, writes elements of the view that is its
/// operand 0.
[[nodiscard]] inline bool writes_view(const Operation &op) noexcept {
    return op.opcode() == Opcode::STORE || op.opcode() == Opcode::ATOMIC;
}

/// Whether the operation itself does something beside its results: such operations are kept, run as often
/// as they are written, and keep their order.
[[nodiscard]] inline bool has_effect(const Operation &op) noexcept {
    return writes_view(op) || op.opcode() == Opcode::ASSERT || op.opcode() == Opcode::PRINT;
}

}// namespace luisa::tile::ir
