// SPDX-License-Identifier: Apache-2.0
#include "realize/cpu/lowering.h"

// Atomic updates, assertions and prints: what runs where it stands and has an effect.

namespace luisa::tile::cpu {

using ir::Opcode;

namespace {

/// The integer type that holds an element's bits.
ScalarType bits_type(ScalarType type) {
    static constexpr ScalarType unsigned_types[] = {ScalarType::UINT8, ScalarType::UINT16,
                                                    ScalarType::UINT32, ScalarType::UINT64};
    if (is_integer(type)) {
        return type;
    }
    size_t log = 0;
    while ((size_t{1} << log) < size_of(type)) {
        ++log;
    }
    return unsigned_types[log];
}

/// Updates that move bits only, of whatever type.
bool moves_bits(AtomicOp op) {
    return op == AtomicOp::EXCHANGE || op == AtomicOp::COMPARE_EXCHANGE;
}

Opcode arithmetic_of(AtomicOp op) {
    switch (op) {
        case AtomicOp::ADD: return Opcode::ADD;
        case AtomicOp::MINIMUM: return Opcode::MINIMUM;
        case AtomicOp::MAXIMUM: return Opcode::MAXIMUM;
        default: internal_error("this atomic update of floats is no arithmetic");
    }
}

}// namespace

/// One step of a float update: the new value is computed beside memory, and takes the element's place if
/// that still has the bits from which it was computed; else again, from what is there now.
ir::Value *Lowering::update_by_exchange(ir::Value *address, AtomicOp op, ir::Value *value) {
    auto type = value->scalar();
    const auto *bits = _b.module().scalar(bits_type(type));
    auto as = [&](ir::Value *x, const ir::Type *to) {
        return _b.pure(Opcode::BITCAST, {x}, ir::None{}, to);
    };
    auto *first = _b.read(Opcode::ATOMIC_READ, {address},
                          ir::MemoryPayload{static_cast<uint32_t>(size_of(type)), false, false},
                          bits);
    auto results = _b.while_loop(
        {first, _b.constant(ScalarType::BOOL, 1)}, [](const Values &states) { return states[1]; },
        [&](const Values &states) {
            auto *old = as(states[0], value->type());
            auto *next = arithmetic(arithmetic_of(op), {old, value}, nullptr);
            auto *found = _b.atomic(address, AtomicOp::COMPARE_EXCHANGE, as(next, bits), states[0]);
            return Values{found, _b.pure(Opcode::NE, {found, states[0]})};
        });
    return as(results[0], value->type());
}

void Lowering::lower_atomic(const ir::Operation &op) {
    _scalars[op.result()] = atomic_values(op).front();
}

/// Emits the update; gives what the element was.
Values Lowering::atomic_values(const ir::Operation &op) {
    auto kind = op.get<ir::AtomicPayload>().op;
    bool compares = kind == AtomicOp::COMPARE_EXCHANGE;
    size_t first = compares ? 3 : 2;
    std::vector<const ir::Value *> origins;
    for (size_t i = first; i < op.operand_count(); ++i) {
        origins.push_back(op.operand(i));
    }
    auto *value = scalar_value(op.operand(1));
    auto *expected = compares ? scalar_value(op.operand(2)) : nullptr;
    Point point;
    auto access = view_access(op.operand(0), origins, {}, Bounds::ZERO, false, point);
    auto type = value->scalar();
    const auto *bits = _b.module().scalar(bits_type(type));
    auto update = [&] {
        if (!is_integer(type) && !moves_bits(kind)) {
            return Values{update_by_exchange(access.address, kind, value)};
        }
        auto as = [&](ir::Value *x, const ir::Type *to) {
            return x->type() == to ? x : _b.pure(Opcode::BITCAST, {x}, ir::None{}, to);
        };
        auto *old = _b.atomic(access.address, kind, as(value, bits),
                              expected ? as(expected, bits) : nullptr);
        return Values{as(old, value->type())};
    };
    if (!access.mask) {
        return update();
    }
    auto *zero = _b.constant(type, 0);
    return _b.branch(access.mask, update, [&] { return Values{zero}; });
}

ir::ReportPayload Lowering::report_at(int64_t site, bool checks) const {
    return {site, checks, false};
}

void Lowering::lower_report(const ir::Operation &op) {
    Values operands;
    for (auto *operand : op.operands()) {
        operands.push_back(control_value(operand));
    }
    auto site = static_cast<int64_t>(_reports.size());
    _reports.push_back(ir::report_of(op));
    _b.effect(Opcode::REPORT, operands, report_at(site, op.opcode() == Opcode::ASSERT));
}

}// namespace luisa::tile::cpu
