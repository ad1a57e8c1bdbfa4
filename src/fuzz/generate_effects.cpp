// SPDX-License-Identifier: Apache-2.0
#include "fuzz/build.h"
#include "ir/check_operations.h"

#include <algorithm>

// Atomic updates of what an instance owns, assertions that hold, and prints.

namespace luisa::tile::fuzz {

bool Program::make_atomic() {
    if (owned.empty() || pure) {
        return false;
    }
    const auto part = random.pick(owned);
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

bool Program::make_assert() {
    if (pure || loops.empty()) {
        return false;
    }
    auto *index = random.pick(loops).index;
    auto *least = index_constant(-1000);
    std::vector<Value *> operands{arithmetic(Opcode::GE, {index, least})};
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
        if (auto *value = find([](const Value *v) { return v->type()->is_scalar(); })) {
            operands.push_back(value);
            payload.format += " {}";
        }
    }
    builder.emit(Opcode::PRINT, operands, {}, payload);
    return true;
}

}// namespace luisa::tile::fuzz
