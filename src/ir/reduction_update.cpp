// SPDX-License-Identifier: Apache-2.0
#include "ir/reduction_update.h"

#include <algorithm>
#include <iterator>

namespace luisa::tile::ir {

std::optional<Opcode> merge_of_state(const Operation &reduce, size_t state) {
    static constexpr Opcode merges[] = {Opcode::ADD,     Opcode::MUL,  Opcode::MINIMUM,
                                        Opcode::MAXIMUM, Opcode::FMIN, Opcode::FMAX,
                                        Opcode::AND,     Opcode::OR,   Opcode::XOR};
    const auto *body = reduce.body();
    const auto *argument = body->argument(body->arguments().size() - reduce.result_count() + state);
    const auto *yielded = body->terminator()->operand(state);
    const auto *update = yielded->definition();
    if (!argument->has_one_use() || !yielded->has_one_use() || !update ||
        update->region() != body || yielded->type() != argument->type()) {
        return std::nullopt;
    }
    if (update->opcode() == Opcode::MMA && update->operand(2) == argument) {
        return Opcode::ADD;
    }
    bool known = std::find(std::begin(merges), std::end(merges), update->opcode()) !=
                 std::end(merges);
    if (known && (update->operand(0) == argument || update->operand(1) == argument)) {
        return update->opcode();
    }
    return std::nullopt;
}

}// namespace luisa::tile::ir
