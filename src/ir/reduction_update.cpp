// SPDX-License-Identifier: Apache-2.0
#include "ir/reduction_update.h"

#include <algorithm>
#include <iterator>

namespace luisa::tile::ir {

namespace {

const Value *state_argument(const Operation &reduce, size_t state) {
    const auto *body = reduce.body();
    return body->argument(body->arguments().size() - reduce.result_count() + state);
}

/// Whether the only reader of `state` is `update`, besides a guard's branch that leaves it as it is.
bool read_only_by(const Value *state, const Operation *update, const Operation *guard) {
    size_t reads = 0;
    for (auto *use = state->first_use(); use; use = use->next()) {
        reads += use->user() == update;
        if (use->user() != update && !(guard && use->user() == guard->body(1)->terminator())) {
            return false;
        }
    }
    return reads == 1;
}

}// namespace

const Operation *guard_of(const Operation &reduce) {
    const auto *end = reduce.body()->terminator();
    const auto *guard = end->operand_count() > 0 ? end->operand(0)->definition() : nullptr;
    if (!guard || guard->opcode() != Opcode::IF || guard->region() != reduce.body() ||
        guard->next() != end || guard->body(1)->first() != guard->body(1)->terminator()) {
        return nullptr;
    }
    for (size_t i = 0; i < end->operand_count(); ++i) {
        const auto *yielded = end->operand(i);
        if (yielded->definition() != guard || !yielded->has_one_use() ||
            guard->body(1)->terminator()->operand(yielded->index()) != state_argument(reduce, i)) {
            return nullptr;
        }
    }
    return guard;
}

const Value *updated_state(const Operation &reduce, size_t state) {
    const auto *yielded = reduce.body()->terminator()->operand(state);
    const auto *guard = guard_of(reduce);
    return guard ? guard->body(0)->terminator()->operand(yielded->index()) : yielded;
}

std::optional<Opcode> merge_of_state(const Operation &reduce, size_t state) {
    static constexpr Opcode merges[] = {Opcode::ADD,     Opcode::MUL,  Opcode::MINIMUM,
                                        Opcode::MAXIMUM, Opcode::FMIN, Opcode::FMAX,
                                        Opcode::AND,     Opcode::OR,   Opcode::XOR};
    const auto *argument = state_argument(reduce, state);
    const auto *yielded = updated_state(reduce, state);
    const auto *update = yielded->definition();
    const auto *guard = guard_of(reduce);
    if (!yielded->has_one_use() || !update || yielded->type() != argument->type() ||
        update->region() != (guard ? guard->body(0) : reduce.body()) ||
        !read_only_by(argument, update, guard)) {
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
