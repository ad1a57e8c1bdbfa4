// SPDX-License-Identifier: Apache-2.0
#include "realize/simt/block_lowering.h"

// Loops of atomic updates whose order nothing shows: thread t takes iterations t, t + threads, …

namespace luisa::tile::simt {

using ir::Opcode;

namespace {

/// Iterations of a thread that are under way at once.
constexpr int64_t most_together = 8;

}// namespace

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
    // Iterations side by side, where they come out even: what all of them read is under way before any updates.
    int64_t known = 0, together = most_together;
    bool even = MachineBuilder::is_constant(count, known);
    while (together > 1 && (!even || known % (together * _threads) != 0)) {
        together /= 2;
    }
    auto loop = [&](bool with_bins) {
        ++_alone;
        _b.loop(_thread, count, _b.index(together * _threads), {},
                [&](ir::Value *first, const Values &) {
                    auto each = [&](const std::function<void()> &body) {
                        for (int64_t i = 0; i < together; ++i) {
                            auto *number = _b.add(first, _b.index(i * _threads));
                            bind_iteration(nest, extents, payload.is_range ? &range : nullptr,
                                           number);
                            body();
                        }
                    };
                    each([&] { read_operands(nest); });
                    each([&] { update_all(nest, with_bins); });
                    return Values{};
                });
        --_alone;
        return Values{};
    };
    ir::Value *usable = nullptr;
    bool any = false;
    for (const auto *op : *nest.body()) {
        if (const auto *bins = bins_of(*op)) {
            any = true;
            usable = _b.both(usable, bins->usable);
        }
    }
    if (any && usable) {
        _b.branch(
            usable, [&] { return loop(true); }, [&] { return loop(false); });
    } else {
        loop(any);
    }
    _b.forget_reads();
}

void BlockLowering::read_operands(const ir::Operation &nest) {
    for (const auto *op : *nest.body()) {
        _b.set_location(op->loc);
        if (op->opcode() == Opcode::LOAD && op->result()->type()->is_scalar()) {
            Point point;
            _scalars[op->result()] = load(*op, point);
        } else if (op->opcode() == Opcode::ATOMIC) {
            for (size_t i = 1; i < op->operand_count(); ++i) {
                static_cast<void>(scalar_value(op->operand(i)));
            }
        }
    }
}

void BlockLowering::update_all(const ir::Operation &nest, bool with_bins) {
    for (const auto *op : *nest.body()) {
        _b.set_location(op->loc);
        if (op->opcode() == Opcode::LOAD && op->result()->type()->is_scalar()) {
            // The same as before: it is read once.
            Point point;
            _scalars[op->result()] = load(*op, point);
        } else if (op->opcode() == Opcode::ATOMIC) {
            const auto *bins = with_bins ? bins_of(*op) : nullptr;
            bins ? add_to_bin(*op, *bins) : static_cast<void>(atomic_values(*op));
        }
    }
}

const BlockLowering::Bins *BlockLowering::bins_of(const ir::Operation &op) const {
    for (const auto &bins : _bins) {
        if (op.opcode() == Opcode::ATOMIC && op.operand(0) == bins.plan->view) {
            return &bins;
        }
    }
    return nullptr;
}

ir::Value *BlockLowering::bin_address(const Bins &bins, ir::Value *index) {
    return _b.address(start_of(bins.room), index, bins.plan->bytes());
}

void BlockLowering::add_to_bin(const ir::Operation &atomic, const Bins &bins) {
    auto *at = scalar_value(atomic.operand(2)), *value = scalar_value(atomic.operand(1));
    auto *inside = _b.both(_b.compare(Opcode::GE, at, _b.index(0)),
                           _b.compare(Opcode::LT, at, view_extent(bins.plan->view, 0)));
    auto type = bins.plan->counts ? ScalarType::UINT32 : value->scalar();
    if (bins.plan->counts) {
        value = convert(value, type);
        inside = _b.both(inside, _b.pure(Opcode::NE, {value, _b.constant(type, 0)}));
    }
    _b.branch(
        inside,
        [&] {
            static_cast<void>(_b.atomic(bin_address(bins, at), AtomicOp::ADD, value, nullptr));
            return Values{};
        },
        [] { return Values{}; });
}

/// Clears the bins of a block. Sums of 32 bits do where not even all instances together exceed them.
void BlockLowering::begin_bins(const ir::Operation &nest, ir::Value *instances) {
    _bins.clear();
    constexpr int64_t most_instances = int64_t{1} << 16;
    for (const auto &own : _plan->private_bins) {
        if (own.nest != &nest) {
            continue;
        }
        Bins bins{&own, shared_room(own.capacity * own.bytes()), nullptr};
        auto *extent = view_extent(own.view, 0);
        int64_t known = 0;
        if (!MachineBuilder::is_constant(extent, known) || known > own.capacity) {
            bins.usable = _b.compare(Opcode::LE, extent, _b.index(own.capacity));
        }
        if (own.counts) {
            bins.usable = _b.both(bins.usable,
                                  _b.compare(Opcode::LE, instances, _b.index(most_instances)));
        }
        auto type = own.counts ? ScalarType::UINT32 : own.view->type()->scalar;
        auto bytes = static_cast<uint32_t>(size_of(type));
        element_loop(0, own.capacity, 1, [&](ir::Value *at) {
            _b.effect(Opcode::WRITE, {bin_address(bins, at), _b.constant(type, 0)},
                      ir::MemoryPayload{bytes, false, false});
        });
        _bins.push_back(bins);
    }
    if (!_bins.empty()) {
        barrier();
    }
}

/// Adds what a block has to the view.
void BlockLowering::finish_bins() {
    if (_bins.empty()) {
        return;
    }
    barrier();
    for (const auto &bins : _bins) {
        const auto *view = bins.plan->view;
        auto flush = [&] {
            ++_alone;
            _b.loop(_thread, view_extent(view, 0), _b.index(_threads), {},
                    [&](ir::Value *at, const Values &) {
                        flush_bin(bins, at);
                        return Values{};
                    });
            --_alone;
            return Values{};
        };
        bins.usable ? static_cast<void>(_b.branch(bins.usable, flush, [] { return Values{}; }))
                    : static_cast<void>(flush());
    }
    _bins.clear();
}

void BlockLowering::flush_bin(const Bins &bins, ir::Value *at) {
    const auto *view = bins.plan->view;
    auto element = view->type()->scalar;
    auto type = bins.plan->counts ? ScalarType::UINT32 : element;
    auto *sum = _b.read(Opcode::READ, {bin_address(bins, at)},
                        {static_cast<uint32_t>(size_of(type)), false, false},
                        _b.module().scalar(type));
    _b.branch(
        _b.pure(Opcode::NE, {sum, _b.constant(type, 0)}),
        [&] {
            auto *start = view_word(view, 0, ScalarType::INT64, true);
            auto *address = _b.address(start, _b.mul(at, view_stride(view, 0)),
                                       static_cast<int64_t>(size_of(element)));
            static_cast<void>(_b.atomic(address, AtomicOp::ADD, convert(sum, element), nullptr));
            return Values{};
        },
        [] { return Values{}; });
}

}// namespace luisa::tile::simt
