// SPDX-License-Identifier: Apache-2.0
#include "realize/cpu/lower_scan.h"

#include "plan/block_planner.h"
#include "realize/cpu/reducers.h"

#include <bit>

namespace luisa::tile::cpu {

using ir::Opcode;

ScanLowering::ScanLowering(Lowering &lowering, const plan::LoopGroup &group)
    : _l{lowering}, _b{lowering._b}, _group{group}, _op{*group.scan()},
      _payload{_op.get<ir::ScanPayload>()}, _type{_op.operand(0)->scalar()},
      _balanced{plan::scan_policy(_op) == ReductionPolicy::BALANCED_TREE},
      _in_lanes{group.scans_lanes()}, _lanes{group.vector_axis >= 0 ? group.lanes : 1} {
    bool differs = identity_bits(_payload.reducer, _type) != seed_bits(_payload.reducer, _type);
    _flagged = !_balanced && !_payload.has_seed && differs &&
               (_payload.has_mask || _payload.exclusive);
    for (const auto &loop : group.loops) {
        if (group.folds(loop.dim)) {
            _axis = loop;
        }
    }
    _levels = _balanced ? tree_levels() : 0;
    if (_levels > 0) {
        auto bytes = static_cast<int64_t>(size_of(_type)) * (_in_lanes ? 1 : _lanes);
        _stack_offset = _l.allocate_private(_levels * bytes);
    }
}

/// Of the trees over as many elements, or vectors of elements, as a line has.
int64_t ScanLowering::tree_levels() const {
    auto leaves = _in_lanes ? (_axis.extent + _lanes - 1) / _lanes : _axis.extent;
    return leaves > 1 ? std::bit_width(static_cast<uint64_t>(leaves - 1)) : 0;
}

void ScanLowering::run() {
    Point point;
    kept_loops(0, point);
}

void ScanLowering::kept_loops(size_t depth, Point &point) {
    const auto &loops = _group.loops;
    if (depth == loops.size() || _group.folds(loops[depth].dim)) {
        return line(point);
    }
    bool is_vector = static_cast<int>(depth) == _group.vector_axis;
    _l.vector_loop(loops[depth].dim, _b.index(loops[depth].extent), loops[depth].extent,
                   is_vector ? _lanes : 1, 1, point, {}, [&](Point &inner, int, const Values &) {
                       kept_loops(depth + 1, inner);
                       return Values{};
                   });
}

/// All elements along the axis: states are [value][flag][elements so far].
void ScanLowering::line(Point &point) {
    int width = _in_lanes ? 1 : _lanes;
    auto bits = _balanced ? seed_bits(_payload.reducer, _type)
                          : identity_bits(_payload.reducer, _type);
    _seed = _payload.has_seed ? _b.splat(_l.evaluate(_op.operand(1), point), width) : nullptr;
    Values states{_seed ? _seed : _b.splat(_b.constant(_type, bits), width)};
    if (_flagged) {
        states.push_back(_b.splat(_b.constant(ScalarType::BOOL, 0), width));
    }
    if (_balanced) {
        states.push_back(_b.index(0));
    }
    if (_in_lanes) {
        return vectors(point, states);
    }
    _b.loop(_b.index(0), _b.index(_axis.extent), 1, states, [&](ir::Value *iv, const Values &now) {
        auto inner = point.derived();
        auto *at = _payload.reverse ? _b.sub(_b.index(_axis.extent - 1), iv) : iv;
        inner.at[_payload.dim.id] = {at, 0, nullptr};
        return element(inner, now);
    });
}

/// The line as vectors that begin at its first element, the last one masked.
void ScanLowering::vectors(Point &point, Values states) {
    auto whole = _axis.extent / _lanes * _lanes;
    auto at = [&](ir::Value *base, ir::Value *mask, const Values &now) {
        auto inner = point.derived();
        inner.at[_payload.dim.id] = {base, 1, nullptr};
        inner.lanes = _lanes;
        inner.mask = mask;
        return vector(inner, now);
    };
    auto rest = [&] {
        if (whole < _axis.extent) {
            auto *type = _b.module().vector(ScalarType::BOOL, static_cast<uint16_t>(_lanes));
            auto *mask = _b.pure(Opcode::LANE_MASK, {_b.index(_axis.extent - whole)}, ir::None{},
                                 type);
            states = at(_b.index(whole), mask, states);
        }
    };
    if (_payload.reverse) {
        rest();
    }
    states = _b.loop(_b.index(0), _b.index(whole), _lanes, states,
                     [&](ir::Value *iv, const Values &now) {
                         auto *base = _payload.reverse ? _b.sub(_b.index(whole - _lanes), iv) : iv;
                         return at(base, nullptr, now);
                     });
    if (!_payload.reverse) {
        rest();
    }
}

/// One element of each line.
Values ScanLowering::element(Point &point, const Values &states) {
    _b.forget_reads();
    _b.set_location(_op.loc);
    auto *x = _b.splat(_l.evaluate(_op.operand(0), point), _lanes);
    auto *active = _payload.has_mask
                       ? _b.splat(_l.evaluate(_op.operand(_op.operand_count() - 1), point), _lanes)
                       : nullptr;
    auto next = states;
    if (_balanced) {
        auto append = [&] {
            auto *tree = merge_with_stack(x, states[1]);
            tree = _seed ? step(_seed, tree) : tree;
            return Values{tree, _b.add(states[1], _b.index(1))};
        };
        next = active ? _b.branch(active, append, [&] { return states; }) : append();
    } else {
        auto *value = step(states[0], x);
        next[0] = active ? _l.select(active, value, states[0]) : value;
    }
    if (_flagged) {
        next[1] = active ? _b.pure(Opcode::OR, {states[1], active})
                         : _b.splat(_b.constant(ScalarType::BOOL, 1), _lanes);
    }
    const auto &seen = _payload.exclusive ? states : next;
    emit(point, shown(seen[0], _flagged ? seen[1] : nullptr));
    return next;
}

/// `_lanes` neighbours of one line: a prefix in the register, then what came before.
Values ScanLowering::vector(Point &point, const Values &states) {
    _b.forget_reads();
    _b.set_location(_op.loc);
    auto *active = point.mask;
    if (_payload.has_mask) {
        auto *mask = _l.evaluate(_op.operand(_op.operand_count() - 1), point);
        active = _b.both(active, _b.splat(mask, _lanes));
    }
    auto *x = _b.splat(_l.evaluate(_op.operand(0), point), _lanes);
    auto *identity = _b.constant(_type, identity_bits(_payload.reducer, _type));
    auto *own = prefix(active ? _l.select(active, x, _b.splat(identity, _lanes)) : x,
                       [&](ir::Value *a, ir::Value *b) { return step(a, b); });
    auto next = states;
    ir::Value *value = nullptr, *flags = nullptr;
    if (_balanced) {
        value = merge_with_stack(own, states[1]);
        value = _seed ? step(_b.splat(_seed, _lanes), value) : value;
        next = {last(value), _b.add(states[1], _b.index(1))};
    } else {
        value = step(_b.splat(states[0], _lanes), own);
        next[0] = step(states[0], last(own));// not through `value`: that would lengthen the chain
    }
    if (_flagged) {
        auto either = [&](ir::Value *a, ir::Value *b) { return _b.pure(Opcode::OR, {a, b}); };
        flags = active ? prefix(active, either)
                       : _b.splat(_b.constant(ScalarType::BOOL, 1), _lanes);
        flags = either(_b.splat(states[1], _lanes), flags);
        next[1] = last(flags);
    }
    if (_payload.exclusive) {
        value = moved_up(value, states[0]);
        flags = flags ? moved_up(flags, states[1]) : nullptr;
    }
    emit(point, shown(value, flags));
    return next;
}

void ScanLowering::emit(Point &point, ir::Value *value) {
    point.known[_op.result()] = value;
    if (const auto *home = _l._plan->home(_op.result())) {
        _l.write_storage(home, value, point);
    }
    for (const auto &root : _group.roots) {
        if (root.kind != plan::Root::Kind::SCAN) {
            _l.emit_root(root, point);
        }
    }
}

ir::Value *ScanLowering::shown(ir::Value *value, ir::Value *flag) {
    if (!flag) {
        return value;
    }
    auto *nothing = _b.constant(_type, seed_bits(_payload.reducer, _type));
    return _l.select(flag, value, _b.splat(nothing, _lanes));
}

ir::Value *ScanLowering::step(ir::Value *left, ir::Value *right) {
    return _l.reduce_step(_payload.reducer, left, right);
}

/// Trees over 2^k leaves wait at place k of the stack while bit k of the number of leaves is set. A new
/// leaf merges with all that wait, the smallest first. Leaves are elements, or vectors of them of which
/// the stack keeps the last element.
ir::Value *ScanLowering::merge_with_stack(ir::Value *leaf, ir::Value *count) {
    if (_levels == 0) {
        return leaf;
    }
    bool scalar = _in_lanes || _lanes == 1;
    const auto *shape = scalar ? _b.module().scalar(_type)
                               : _b.module().vector(_type, static_cast<uint16_t>(_lanes));
    auto bytes = static_cast<int64_t>(size_of(_type)) * (scalar ? 1 : _lanes);
    ir::MemoryPayload access{static_cast<uint32_t>(size_of(_type)), false, false};
    auto *stack = _l.private_start(_stack_offset, _levels * bytes);
    auto merged = _b.loop(
        _b.index(0), _b.index(_levels), 1, {leaf}, [&](ir::Value *level, const Values &now) {
            auto *place = _b.address(stack, level, bytes);
            auto *bit = _b.pure(Opcode::AND, {_b.pure(Opcode::SHR, {count, level}), _b.index(1)});
            return _b.branch(
                _b.compare(Opcode::NE, bit, _b.index(0)),
                [&] {
                    auto *waiting = _b.read(Opcode::READ, {place}, access, shape);
                    return Values{step(_b.splat(waiting, _lanes), now[0])};
                },
                [&] {
                    // The last write before the bit is set is of the whole tree.
                    _b.effect(Opcode::WRITE, {place, _in_lanes ? last(now[0]) : now[0]}, access);
                    return now;
                });
        });
    return merged[0];
}

/// The balanced prefixes of the lanes: at each level the upper half of every block takes in the last of
/// its lower half.
ir::Value *ScanLowering::prefix(ir::Value *value,
                                const std::function<ir::Value *(ir::Value *, ir::Value *)> &merge) {
    for (int half = 1; half < _lanes; half *= 2) {
        std::vector<int32_t> from(static_cast<size_t>(_lanes)), choice(from.size());
        for (int i = 0; i < _lanes; ++i) {
            auto lane = static_cast<size_t>(lane_of(i));
            bool upper = (i & half) != 0;
            from[lane] = lane_of(upper ? (i & -half) - 1 : i);
            choice[lane] = static_cast<int32_t>(lane) + (upper ? 0 : _lanes);
        }
        auto *lower = _b.pure(Opcode::SHUFFLE, {value, value}, ir::ShufflePayload{from},
                              value->type());
        value = _b.pure(Opcode::SHUFFLE, {merge(lower, value), value}, ir::ShufflePayload{choice},
                        value->type());
    }
    return value;
}

/// Each lane gets the value of the one before, the first gets `first`.
ir::Value *ScanLowering::moved_up(ir::Value *value, ir::Value *first) {
    std::vector<int32_t> from(static_cast<size_t>(_lanes));
    for (int i = 0; i < _lanes; ++i) {
        from[static_cast<size_t>(lane_of(i))] = i == 0 ? _lanes : lane_of(i - 1);
    }
    return _b.pure(Opcode::SHUFFLE, {value, _b.splat(first, _lanes)}, ir::ShufflePayload{from},
                   value->type());
}

ir::Value *ScanLowering::last(ir::Value *value) {
    return _b.pure(Opcode::EXTRACT_LANE, {value}, ir::IndexPayload{lane_of(_lanes - 1)},
                   _b.module().scalar(value->scalar()));
}

}// namespace luisa::tile::cpu
