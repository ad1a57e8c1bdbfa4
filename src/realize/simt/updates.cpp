// SPDX-License-Identifier: Apache-2.0
#include "realize/simt/block_lowering.h"

// Loops of atomic updates whose order nothing shows: thread t takes iterations t, t + threads, …

namespace luisa::tile::simt {

using ir::Opcode;

/// Binds the indices of the iteration with this number, the last axis fastest.
void BlockLowering::bind_iteration(const ir::Operation &nest, const Values &extents,
                                   const Range *range, ir::Value *number) {
    const auto &arguments = nest.body()->arguments();
    if (range) {
        auto *at = _b.add(range->begin, _b.mul(number, range->step));
        _scalars[arguments[0]] = range->index(_b, at);
        return;
    }
    for (size_t axis = extents.size(); axis-- > 0;) {
        _scalars[arguments[axis]] = axis == 0 ? number : _b.rem(number, extents[axis]);
        number = axis == 0 ? number : _b.div(number, extents[axis]);
    }
}

void BlockLowering::lower_updates(const ir::Operation &nest) {
    TouchedBy by{*_plan, _scalars};
    by.operation(nest);
    for (const auto *op : *nest.body()) {
        if (op->opcode() == Opcode::ATOMIC) {
            by.writes_view(op->operand(0));
        }
    }
    touch(by.result);
    const auto &payload = nest.get<ir::NestPayload>();
    Values extents;
    Range range{};
    auto *count = _b.index(1);
    if (payload.is_range) {
        range = range_of(nest);
        auto *length = _b.maximum(_b.sub(range.end, range.begin), _b.index(0));
        auto *up = _b.add(length, _b.sub(range.step, _b.index(1)));
        count = _b.div(up, range.step);
    } else {
        for (size_t axis = 0; axis < payload.dims.size(); ++axis) {
            extents.push_back(control_value(nest.operand(axis)));
            count = _b.mul(count, _b.maximum(extents.back(), _b.index(0)));
        }
    }
    ++_alone;
    _b.loop(_thread, count, _b.index(_threads), {}, [&](ir::Value *number, const Values &) {
        bind_iteration(nest, extents, payload.is_range ? &range : nullptr, number);
        for (const auto *op : *nest.body()) {
            _b.set_location(op->loc);
            if (op->opcode() == Opcode::LOAD && op->result()->type()->is_scalar()) {
                Point point;
                _scalars[op->result()] = load(*op, point);
            } else if (op->opcode() == Opcode::ATOMIC) {
                static_cast<void>(atomic_values(*op));
            }
        }
        return Values{};
    });
    --_alone;
    _b.forget_reads();
}

}// namespace luisa::tile::simt
