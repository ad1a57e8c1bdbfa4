// SPDX-License-Identifier: Apache-2.0
#include "realize/simt/block_lowering.h"

#include <algorithm>

// Steps one after the other, and control, which all threads of a block go through together.

namespace luisa::tile::simt {

using ir::Opcode;

void BlockLowering::lower_step(const plan::Step &step) {
    TouchedBy by{*_plan, _scalars};
    if (const auto *group = std::get_if<plan::LoopGroup>(&step)) {
        by.group(*group);
    } else if (const auto *contraction = std::get_if<plan::Contraction>(&step)) {
        by.contraction(*contraction);
    } else if (const auto *ordering = std::get_if<plan::Ordering>(&step)) {
        by.ordering(*ordering);
    }
    touch(by.result);
    if (const auto *ordering = std::get_if<plan::Ordering>(&step)) {
        lower_ordering(*ordering);
    } else {
        cpu::Lowering::lower_step(step);
    }
    // A barrier inside of the step came before its last accesses.
    _touched.add(by.result);
}

void BlockLowering::lower_sequential(const ir::Operation &op) {
    if (_plan->dealt_loops.count(&op) && !_alone_in_team) {
        _b.set_location(op.loc);
        return lower_updates(op);
    }
    if (op.opcode() == Opcode::LOAD) {
        TouchedBy by{*_plan, _scalars};
        by.operation(op);
        touch(by.result);
    }
    auto before = _touched;
    _loop_marks.push_back(_write_count);
    cpu::Lowering::lower_sequential(op);
    _loop_marks.pop_back();
    if (ir::is_nest(op.opcode()) || op.opcode() == Opcode::WHILE) {
        // A loop of no iterations passes no barrier.
        _touched.add(before);
    }
}

void BlockLowering::lower_if(const ir::Operation &op) {
    before_reading(op.operand(0));
    _branches.push_back({_touched, {}});
    cpu::Lowering::lower_if(op);
    _touched = std::move(_branches.back().after);
    _branches.pop_back();
}

Values BlockLowering::lower_body(const ir::Region &region) {
    bool branch = region.parent()->opcode() == Opcode::IF;
    if (branch) {
        _touched = _branches.back().before;
    }
    auto yields = cpu::Lowering::lower_body(region);
    if (branch) {
        _branches.back().after.add(_touched);
    }
    return yields;
}

/// One thread updates; all get what was there, if anybody asks.
void BlockLowering::lower_atomic(const ir::Operation &op) {
    TouchedBy by{*_plan, _scalars};
    by.operation(op);
    by.writes_view(op.operand(0));
    touch(by.result);
    bool used = op.result()->has_uses();
    auto type = op.result()->scalar();
    ++_alone;
    auto old = _b.branch(
        _b.compare(Opcode::EQ, _thread, _b.index(0)),
        [&] {
            auto values = atomic_values(op);
            return used ? values : Values{};
        },
        [&] { return used ? Values{_b.constant(type, 0)} : Values{}; });
    --_alone;
    if (used) {
        _scalars[op.result()] = broadcast(old).front();
    }
}

ir::ReportPayload BlockLowering::report_at(int64_t site, bool checks) const {
    return {site, checks, !_alone_in_team};
}

}// namespace luisa::tile::simt
