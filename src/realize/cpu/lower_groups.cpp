// SPDX-License-Identifier: Apache-2.0
#include "plan/block_planner.h"
#include "realize/cpu/lower_scan.h"
#include "realize/cpu/reducers.h"

#include <algorithm>

namespace luisa::tile::cpu {

using ir::Opcode;
using plan::LoopGroup;
using plan::Root;

namespace {

ScalarType state_type(const Root &root) { return root.op->operand(0)->scalar(); }

bool is_arg(const Root &root) {
    auto reducer = root.op->get<ir::ReducePayload>().reducer;
    return reducer == Reducer::ARGMIN || reducer == Reducer::ARGMAX;
}

std::vector<const Root *> reductions(const LoopGroup &group) {
    std::vector<const Root *> roots;
    for (const auto &root : group.roots) {
        if (root.kind == Root::Kind::REDUCE) {
            roots.push_back(&root);
        }
    }
    return roots;
}

}// namespace

bool Lowering::carries_flag(const Root &root) {
    const auto &payload = root.op->get<ir::ReducePayload>();
    auto type = state_type(root);
    return payload.has_mask && identity_bits(effective_reducer(payload), type) !=
                                   seed_bits(effective_reducer(payload), type);
}

/// The end of each loop: its extent, or less where every root is a store that does nothing beyond.
std::unordered_map<uint32_t, ir::Value *> Lowering::clip_loops(
    const std::vector<Root> &roots, const std::vector<ir::DimExtent> &loops, Point &point) {
    std::unordered_map<uint32_t, ir::Value *> ends;
    for (const auto &loop : loops) {
        ends[loop.dim.id] = _b.index(loop.extent);
        Clip clip;
        bool agrees = !roots.empty();
        for (const auto &root : roots) {
            if (root.kind != Root::Kind::STORE ||
                root.op->get<ir::StorePayload>().bounds == Bounds::ASSUME ||
                root.op->get<ir::StorePayload>().mapped) {
                agrees = false;
                break;
            }
            const auto &box = root.op->get<ir::StorePayload>().box;
            for (size_t axis = 0; axis < box.size(); ++axis) {
                if (!(box[axis].dim == loop.dim) || box[axis].extent == 1) {
                    continue;
                }
                Clip own{root.op->operand(2 + axis), root.op->operand(0)->type()->axes[axis].extent,
                         root.op->operand(0), axis};
                if (!clip.origin) {
                    clip = own;
                } else {
                    bool same = own.extent == clip.extent &&
                                (own.extent != ir::runtime_value ||
                                 own.view->type()->axes[axis].name ==
                                     clip.view->type()->axes[clip.axis].name);
                    agrees &= same && analysis::same_scalar(own.origin, clip.origin);
                }
            }
        }
        if (!agrees || !clip.origin) {
            continue;
        }
        auto known = analysis::interval_of(clip.origin);
        bool proven = clip.extent != ir::runtime_value && known.high != INT64_MAX &&
                      known.high <= clip.extent - loop.extent;
        bool inside = lies_inside(clip.view, clip.axis, clip.origin, loop.extent);
        if (proven || inside || known.low < 0) {
            continue;
        }
        auto *left = _b.sub(view_extent(clip.view, clip.axis), scalar_value(clip.origin));
        ends[loop.dim.id] = _b.minimum(_b.index(loop.extent), left);
        point.clips[loop.dim.id] = clip;
    }
    return ends;
}

Values Lowering::vector_loop(Dim axis, ir::Value *end, int64_t extent, int lanes, int parts,
                             Point &point, const Values &states,
                             const std::function<Values(Point &, int, const Values &)> &body) {
    auto at = [&](ir::Value *base, ir::Value *mask) {
        auto inner = point.derived();
        inner.at[axis.id] = {base, lanes > 1 ? 1 : 0, nullptr};
        inner.lanes = std::max(lanes, point.lanes);
        inner.mask = mask ? mask : point.mask;
        return inner;
    };
    auto *zero = _b.index(0);
    int64_t known = 0;
    bool is_static = MachineBuilder::is_constant(end, known);
    auto floor_to = [&](int64_t multiple) {
        if (is_static) {
            return _b.index(std::max<int64_t>(known, 0) / multiple * multiple);
        }
        auto *positive = _b.maximum(end, zero);
        return _b.sub(positive, _b.rem(positive, _b.index(multiple)));
    };
    auto current = states;
    ir::Value *done = zero;
    if (parts > 1 && extent >= int64_t{lanes} * parts) {
        auto *whole = floor_to(int64_t{lanes} * parts);
        current = _b.loop(
            zero, whole, int64_t{lanes} * parts, current, [&](ir::Value *iv, const Values &inner) {
                auto next = inner;
                for (int part = 0; part < parts; ++part) {
                    auto place = at(_b.add(iv, _b.index(int64_t{part} * lanes)), nullptr);
                    next = body(place, part, next);
                }
                return next;
            });
        done = whole;
    }
    auto *whole = floor_to(lanes);
    current = _b.loop(done, whole, lanes, current, [&](ir::Value *iv, const Values &inner) {
        auto place = at(iv, nullptr);
        return body(place, 0, inner);
    });
    if (lanes == 1 || (is_static && std::max<int64_t>(known, 0) % lanes == 0)) {
        return current;
    }
    auto rest = [&] {
        auto *type = _b.module().vector(ScalarType::BOOL, static_cast<uint16_t>(lanes));
        auto *mask = _b.pure(Opcode::LANE_MASK, {_b.sub(end, whole)}, ir::None{}, type);
        auto place = at(whole, mask);
        return body(place, 0, current);
    };
    if (is_static) {
        return rest();
    }
    return _b.branch(_b.compare(Opcode::LT, whole, end), rest, [&] { return current; });
}

void Lowering::emit_root(const Root &root, Point &point) {
    switch (root.kind) {
        case Root::Kind::STORE: {
            _b.set_location(root.op->loc);
            store(*root.op, evaluate(root.op->operand(1), point), point);
            return;
        }
        case Root::Kind::WRITE: {
            // Evaluate as an expression even though the value has a home: this is what fills it.
            const auto *home = _plan->home(root.target);
            ir::Value *value = nullptr;
            if (root.source == root.target && root.source->definition()) {
                auto *op = root.source->definition();
                _b.set_location(op->loc);
                auto read = point.known.find(root.source);
                value = read != point.known.end() ? read->second : evaluate_operation(*op, point);
                point.known[root.source] = value;
                hold(root.source, point, value);
            } else {
                value = evaluate(root.source, point);
            }
            write_storage(home, value, point);
            return;
        }
        case Root::Kind::INSERT: {
            const auto &payload = root.op->get<ir::AccessPayload>();
            const auto *home = _plan->home(root.target);
            const auto &type = *root.target->type();
            auto *value = evaluate(root.op->operand(1), point);
            auto inner = point.derived();
            for (size_t i = 0; i < payload.dims.size(); ++i) {
                auto extent = type.dims[static_cast<size_t>(type.find(payload.dims[i]))].extent;
                const auto *expression = root.op->operand(2 + i);
                Coordinate at{scalar_value(expression), 0, nullptr};
                int64_t count = 1;
                if (!payload.box.empty()) {
                    at = sum(at, local_coordinate(payload.box[i], point), 1);
                    count = payload.box[i].extent;
                }
                auto known = analysis::interval_of(expression);
                if (known.low < 0 || known.high > extent - count) {
                    auto *place = coordinate_value(at, point.lanes);
                    inner.guard = _b.both(inner.guard, in_range(place, extent));
                }
                inner.at[payload.dims[i].id] = at;
            }
            write_storage(home, value, inner);
            return;
        }
        case Root::Kind::REDUCE:
        case Root::Kind::SCAN: return;
    }
}

void Lowering::emit_roots(const LoopGroup &group, Point &point) {
    ask_ahead(group, point);
    for (const auto &root : group.roots) {
        emit_root(root, point);
    }
}

void Lowering::begin_group(const LoopGroup &group) {
    _b.forget_reads();
    _written.clear();
    _stores_in_step = false;
    for (const auto &root : group.roots) {
        if (root.target) {
            _written.insert(_plan->home(root.target));
        }
        _stores_in_step |= root.kind == Root::Kind::STORE &&
                           (_plan->may_alias || root.op->operand(0)->type()->read_only == false);
    }
    _b.forget_reads();
}

void Lowering::end_group() {
    _b.forget_reads();
    _written.clear();
}

void Lowering::lower_group(const LoopGroup &group) {
    begin_group(group);
    auto folds = reductions(group);
    for (const auto *root : folds) {
        if (root->op->get<ir::ReducePayload>().policy == ReductionPolicy::BALANCED_TREE &&
            !plan::regroups(*root->op) && !is_arg(*root)) {
            require(group.roots.size() == 1, "a balanced tree is a group of its own");
            lower_balanced(group, *root);
            _b.forget_reads();
            return;
        }
    }
    if (group.scan()) {
        ScanLowering{*this, group}.run();
        return end_group();
    }
    Point point;
    auto ends = clip_loops(group.roots, group.loops, point);
    lower_loops(group, 0, point, ends);
    end_group();
}

/// Loops over what the group keeps; where folded loops begin, partial results start.
void Lowering::lower_loops(const LoopGroup &group, size_t depth, Point &point,
                           const std::unordered_map<uint32_t, ir::Value *> &ends) {
    bool at_fold = group.has_reduction() &&
                   (depth == group.loops.size() || group.folds(group.loops[depth].dim));
    if (at_fold) {
        return lower_fold(group, depth, point);
    }
    if (depth == group.loops.size()) {
        return emit_roots(group, point);
    }
    const auto &loop = group.loops[depth];
    bool is_vector = static_cast<int>(depth) == group.vector_axis;
    if (is_vector && group.columns > 1) {
        return lower_columns(group, depth, point, ends);
    }
    auto *end = ends.at(loop.dim.id);
    vector_loop(loop.dim, end, loop.extent, is_vector ? group.lanes : 1, 1, point, {},
                [&](Point &inner, int, const Values &) {
                    lower_loops(group, depth + 1, inner, ends);
                    return Values{};
                });
}

/// The place `vectors` whole vectors further along the vector axis.
static Point column_at(MachineBuilder &b, const LoopGroup &group, const Point &point, int vectors) {
    auto place = point.derived();
    auto &at = place.at[group.loops[static_cast<size_t>(group.vector_axis)].dim.id];
    at.base = b.add(at.base, b.index(int64_t{vectors} * group.lanes));
    return place;
}

/// The vector axis by blocks of neighbouring vectors, whose folds go side by side; then what fills no block.
void Lowering::lower_columns(const LoopGroup &group, size_t depth, Point &point,
                             const std::unordered_map<uint32_t, ir::Value *> &ends) {
    const auto &loop = group.loops[depth];
    auto block = int64_t{group.columns} * group.lanes;
    auto whole = loop.extent / block * block;
    auto fold_at = [&](ir::Value *at, int columns) {
        auto inner = point.derived();
        inner.at[loop.dim.id] = {at, 1, nullptr};
        inner.lanes = group.lanes;
        lower_fold(group, depth + 1, inner, columns);
    };
    int64_t end = 0;
    require(MachineBuilder::is_constant(ends.at(loop.dim.id), end) && end == loop.extent,
            "the loops of a fold are whole");
    _b.loop(_b.index(0), _b.index(whole), block, {}, [&](ir::Value *iv, const Values &) {
        fold_at(iv, group.columns);
        return Values{};
    });
    auto rest = static_cast<int>((loop.extent - whole) / group.lanes);
    if (rest > 0) {
        fold_at(_b.index(whole), rest);
    }
    if (auto left = loop.extent % group.lanes; left > 0) {
        auto *type = _b.module().vector(ScalarType::BOOL, static_cast<uint16_t>(group.lanes));
        auto inner = point.derived();
        inner.at[loop.dim.id] = {_b.index(loop.extent - left), 1, nullptr};
        inner.lanes = group.lanes;
        inner.mask = _b.pure(Opcode::LANE_MASK, {_b.index(left)}, ir::None{}, type);
        lower_fold(group, depth + 1, inner);
    }
}

Values Lowering::fold_identity(const LoopGroup &group, int lanes, int parts) {
    Values states;
    for (const auto *root : reductions(group)) {
        auto type = state_type(*root);
        auto reducer = effective_reducer(root->op->get<ir::ReducePayload>());
        auto *identity = _b.splat(_b.constant(type, identity_bits(reducer, type)), lanes);
        states.insert(states.end(), static_cast<size_t>(parts), identity);
        if (carries_flag(*root)) {
            states.insert(states.end(), static_cast<size_t>(parts),
                          _b.splat(_b.constant(ScalarType::BOOL, 0), lanes));
        }
    }
    return states;
}

void Lowering::lower_fold(const LoopGroup &group, size_t depth, Point &point, int columns) {
    auto folds = reductions(group);
    if (is_arg(*folds.front())) {
        return lower_arg_reduction(group, depth, point);
    }
    bool axis_folded = group.vector_axis >= static_cast<int>(depth);
    bool vector = group.vector_axis >= 0;
    int lanes = vector ? group.lanes : 1;
    int parts = axis_folded ? group.accumulators : columns;
    auto states = fold_identity(group, lanes, parts);
    states = fold_loops(group, depth, point, states, [&](int part, Point &place, Values now) {
        if (columns == 1) {
            ask_ahead(group, place);
            return fold_elements(group, part, parts, place, std::move(now));
        }
        for (int column = 0; column < columns; ++column) {
            auto at = column_at(_b, group, place, column);
            now = fold_elements(group, column, parts, at, std::move(now));
        }
        return now;
    });
    finish_fold(group, states, columns, point);
}

Values Lowering::fold_loops(const LoopGroup &group, size_t depth, Point &point, Values states,
                            const Contribute &contribute) {
    const auto &first = *reductions(group).front();
    if (depth == group.loops.size()) {
        return contribute(0, point, states);
    }
    const auto &loop = group.loops[depth];
    bool is_vector = static_cast<int>(depth) == group.vector_axis;
    bool reversed = !is_arg(first) &&
                    first.op->get<ir::ReducePayload>().policy == ReductionPolicy::FOLD_RIGHT;
    auto *end = _b.index(loop.extent);
    return vector_loop(loop.dim, end, loop.extent, is_vector ? group.lanes : 1,
                       is_vector ? group.accumulators : 1, point, states,
                       [&](Point &inner, int part, const Values &now) {
                           if (reversed && !is_vector) {
                               auto &at = inner.at[loop.dim.id];
                               at.base = _b.sub(_b.index(loop.extent - 1), at.base);
                           }
                           return depth + 1 == group.loops.size()
                                      ? contribute(part, inner, now)
                                      : fold_loops(group, depth + 1, inner, now, contribute);
                       });
}

/// One contribution to each fold, and the group's other roots for the same elements.
Values Lowering::fold_elements(const LoopGroup &group, int part, int parts, Point &point,
                               Values states) {
    size_t slot = 0;
    for (const auto &root : group.roots) {
        if (root.kind != Root::Kind::REDUCE) {
            emit_root(root, point);
            continue;
        }
        const auto &payload = root.op->get<ir::ReducePayload>();
        _b.set_location(root.op->loc);
        auto &state = states[slot + static_cast<size_t>(part)];
        auto *element = evaluate(root.op->operand(0), point);
        bool right = payload.policy == ReductionPolicy::FOLD_RIGHT;
        auto reducer = effective_reducer(payload);
        auto *next = right ? reduce_step(reducer, element, state)
                           : reduce_step(reducer, state, element);
        bool lanes_fold = group.vector_axis >= 0 &&
                          group.folds(group.loops[static_cast<size_t>(group.vector_axis)].dim);
        ir::Value *active = point.active ? point.active : lanes_fold ? point.mask : nullptr;
        if (payload.has_mask) {
            active = _b.both(active, evaluate(root.op->operand(1), point));
        }
        state = active ? select(active, next, state) : next;
        slot += static_cast<size_t>(parts);
        if (carries_flag(root)) {
            auto &flag = states[slot + static_cast<size_t>(part)];
            flag = _b.splat(_b.pure(Opcode::OR, {flag, _b.splat(active, flag->type()->lanes)}),
                            flag->type()->lanes);
            slot += static_cast<size_t>(parts);
        }
    }
    return states;
}

ir::Value *Lowering::merge_parts(Reducer reducer, Values parts, bool across_lanes) {
    while (parts.size() > 1) {
        Values merged;
        for (size_t i = 0; i < parts.size(); i += 2) {
            merged.push_back(i + 1 < parts.size() ? reduce_step(reducer, parts[i], parts[i + 1])
                                                  : parts[i]);
        }
        parts = merged;
    }
    auto *value = parts.front();
    if (!across_lanes || !value->type()->is_vector()) {
        return value;
    }
    auto type = value->scalar();
    if (type != ScalarType::FLOAT16 && type != ScalarType::BFLOAT16 &&
        !(is_float(type) && size_of(type) == 1)) {
        return _b.pure(Opcode::REDUCE_LANES, {value}, ir::LaneReducePayload{reducer},
                       _b.module().scalar(type));
    }
    // Narrow floats round at each step, so the tree is spelled out.
    int lanes = value->type()->lanes;
    for (int half = lanes / 2; half >= 1; half /= 2) {
        std::vector<int32_t> order(static_cast<size_t>(lanes));
        for (int i = 0; i < lanes; ++i) {
            order[static_cast<size_t>(i)] = i < half ? i + half : i;
        }
        auto *upper = _b.pure(Opcode::SHUFFLE, {value, value}, ir::ShufflePayload{order},
                              value->type());
        value = reduce_step(reducer, value, upper);
    }
    return _b.pure(Opcode::EXTRACT_LANE, {value}, ir::IndexPayload{0}, _b.module().scalar(type));
}

void Lowering::finish_fold(const LoopGroup &group, const Values &states, int columns,
                           Point &point) {
    size_t slot = 0;
    bool lanes_fold = group.vector_axis >= 0 &&
                      group.folds(group.loops[static_cast<size_t>(group.vector_axis)].dim);
    // Partial results merge, columns are results of their own.
    size_t parts = lanes_fold ? static_cast<size_t>(group.accumulators) : 1;
    bool empty = std::any_of(group.loops.begin(), group.loops.end(), [&](const ir::DimExtent &d) {
        return d.extent == 0 && group.folds(d.dim);
    });
    auto count = parts * static_cast<size_t>(columns);
    for (const auto *root : reductions(group)) {
        const auto &payload = root->op->get<ir::ReducePayload>();
        auto type = state_type(*root);
        auto reducer = effective_reducer(payload);
        auto *seed = _b.constant(type, seed_bits(reducer, type));
        auto part_of = [&](size_t first, int column) {
            auto begin = states.begin() +
                         static_cast<std::ptrdiff_t>(first + static_cast<size_t>(column) * parts);
            return Values(begin, begin + static_cast<std::ptrdiff_t>(parts));
        };
        for (int column = 0; column < columns; ++column) {
            auto *value = merge_parts(reducer, part_of(slot, column), lanes_fold);
            if (carries_flag(*root)) {
                auto *any = merge_parts(Reducer::LOGICAL_OR, part_of(slot + count, column),
                                        lanes_fold);
                value = select(any, value, seed);
            }
            auto place = column == 0 ? point : column_at(_b, group, point, column);
            write_result(*root, empty ? seed : value, place);
        }
        slot += carries_flag(*root) ? 2 * count : count;
    }
}

void Lowering::write_result(const Root &root, ir::Value *value, Point &point) {
    auto *result = root.op->result();
    if (result->type()->is_scalar()) {
        _scalars[result] = value;
        return;
    }
    write_storage(_plan->home(result), value, point);
}

}// namespace luisa::tile::cpu
