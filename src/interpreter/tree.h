// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/operation.h"

#include <bit>
#include <cstdint>
#include <optional>

namespace luisa::tile::interpreter {

/// The balanced tree over `count` > 0 leaves: split at the largest power of two below the length.
/// Leaves are made in order.
template<class T, class Leaf, class Merge>
T balanced_tree(int64_t first, int64_t count, const Leaf &leaf, const Merge &merge) {
    if (count == 1) {
        return leaf(first);
    }
    auto split = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(count - 1)));
    auto left = balanced_tree<T>(first, split, leaf, merge);
    auto right = balanced_tree<T>(first + split, count - split, leaf, merge);
    return merge(left, right);
}

/// The operation that merges contributions to state `state` of a `reduce`, if its body updates it
/// as `s = op(s, c)` for a built-in associative op or as `s = mma(a, b, s)`, and no other operation
/// reads a state.
[[nodiscard]] inline std::optional<ir::Opcode> merge_of_state(const ir::Operation *reduce,
                                                              size_t state, size_t index_count) {
    using ir::Opcode;
    static constexpr Opcode merges[] = {Opcode::ADD,     Opcode::MUL,  Opcode::MINIMUM,
                                        Opcode::MAXIMUM, Opcode::FMIN, Opcode::FMAX,
                                        Opcode::AND,     Opcode::OR,   Opcode::XOR};
    const auto *body = reduce->body();
    const auto *argument = body->argument(index_count + state);
    const auto *yielded = body->terminator()->operand(state);
    const auto *update = yielded->definition();
    if (!argument->has_one_use() || !yielded->has_one_use() || !update ||
        update->region() != body || yielded->type() != argument->type()) {
        return std::nullopt;
    }
    if (update->opcode() == Opcode::MMA && update->operand(2) == argument) {
        return Opcode::ADD;
    }
    for (auto op : merges) {
        if (update->opcode() == op &&
            (update->operand(0) == argument || update->operand(1) == argument)) {
            return op;
        }
    }
    return std::nullopt;
}

}// namespace luisa::tile::interpreter
