// SPDX-License-Identifier: Apache-2.0
#include "fuzz/build.h"
#include "ir/check_operations.h"

#include <algorithm>

// Atomic updates of what an instance owns, assertions that hold, and prints.

namespace luisa::tile::fuzz {

bool Program::make_atomic() {
    const auto *mine = writable_part();
    if (!mine) {
        return false;
    }
    const auto part = *mine;
    const auto &view = views[part.view];
    auto type = view.value->scalar();
    auto op = static_cast<AtomicOp>(random.below(static_cast<size_t>(AtomicOp::XOR) + 1));
    bool compares = op == AtomicOp::COMPARE_EXCHANGE;
    // The bits of a NaN that arithmetic makes are not specified, so nothing may compare them.
    if (!ir::supports_atomic(op, type) || (compares && is_float(type))) {
        return false;
    }
    std::vector<Value *> operands = {view.value, scalar_of(type)};
    if (compares) {
        operands.push_back(scalar_of(type));
    }
    for (size_t i = 0; i < part.axes.size(); ++i) {
        const auto &axis = part.axes[i];
        operands.push_back(axis.shared ? coordinate(view.extents[i]) : own_coordinate(axis, 1));
        if (!operands.back()) {
            return false;
        }
    }
    auto before = view.fact;
    before.low = std::min(before.low, 0.0);
    before.high = std::max(before.high, 0.0);
    add(builder.value(Opcode::ATOMIC, operands, module.scalar(type), ir::AtomicPayload{op}),
        before);
    return true;
}

bool Program::make_shared_atomic() {
    static constexpr AtomicOp commuting[] = {AtomicOp::ADD, AtomicOp::MINIMUM, AtomicOp::MAXIMUM,
                                             AtomicOp::AND, AtomicOp::OR,      AtomicOp::XOR};
    auto type = any_type();
    if (pure || !is_integer(type)) {
        return false;
    }
    auto extent = random.between(1, 5);
    auto *view = new_view(type, {extent}, 3);
    auto op = random.pick(commuting);
    for (size_t i = 0, n = 1 + random.below(3); i < n; ++i) {
        // What was there before depends on the order, so nothing looks at it.
        builder.value(Opcode::ATOMIC, {view, scalar_of(type), coordinate(extent)},
                      module.scalar(type), ir::AtomicPayload{op});
        work += trips;
    }
    return true;
}

bool Program::make_assert() {
    if (pure) {
        return false;
    }
    auto *index = loops.empty() ? index_constant(random.between(-9, 9)) : random.pick(loops).index;
    auto *holds = arithmetic(Opcode::GE, {index, index_constant(-1000)});
    if (!holds) {
        return false;
    }
    std::vector<Value *> operands{holds};
    for (const auto &loop : loops) {
        operands.push_back(loop.index);
    }
    builder.emit(Opcode::ASSERT, operands, {}, ir::AssertPayload{"an index is an integer", {}});
    return true;
}

bool Program::make_print() {
    if (pure) {
        return false;
    }
    ir::PrintPayload payload{"values"};
    std::vector<Value *> operands;
    for (auto count = random.below(3); count > 0; --count) {
        operands.push_back(scalar_of(any_type()));
        payload.format += " {}";
    }
    builder.emit(Opcode::PRINT, operands, {}, payload);
    return true;
}

}// namespace luisa::tile::fuzz
