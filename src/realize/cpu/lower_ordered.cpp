// SPDX-License-Identifier: Apache-2.0
#include "realize/cpu/lowering.h"
#include "realize/cpu/reducers.h"

#include <algorithm>
#include <cstdint>

// argmin and argmax: the first of equals wins. Each lane sees its elements in their order; the results of lanes are
// ordered by value, then by position.

namespace luisa::tile::cpu {

using ir::Opcode;
using plan::LoopGroup;
using plan::Root;

namespace {

/// Whether `x` beats `best`: NaN first under PROPAGATE, last under IGNORE; ties keep the earlier.
ir::Value *beats(MachineBuilder &b, Reducer reducer, NanPolicy nan, ir::Value *x, ir::Value *best) {
    auto *better = b.pure(reducer == Reducer::ARGMAX ? Opcode::GT : Opcode::LT, {x, best});
    if (!is_float(x->scalar())) {
        return better;
    }
    auto *x_nan = b.pure(Opcode::NE, {x, x}), *best_nan = b.pure(Opcode::NE, {best, best});
    if (nan == NanPolicy::IGNORE) {
        auto *first_number = b.pure(Opcode::AND, {best_nan, b.pure(Opcode::NOT, {x_nan})});
        return b.pure(Opcode::OR, {better, first_number});
    }
    auto *number_so_far = b.pure(Opcode::NOT, {best_nan});
    return b.pure(Opcode::AND, {number_so_far, b.pure(Opcode::OR, {better, x_nan})});
}

ScalarType compare_type(ScalarType type) {
    return is_float(type) && size_of(type) < 4 ? ScalarType::FLOAT32 : type;
}

/// Whether another candidate for the same place in the order stands before the best so far, which ties keep
/// by position: what partial results of several lanes or accumulators need.
ir::Value *stands_before(MachineBuilder &b, Reducer reducer, NanPolicy nan, const Candidate &x,
                         const Candidate &best) {
    auto *zero = b.splat(b.constant(x.index->scalar(), 0), x.index->type()->lanes);
    auto *some = b.pure(Opcode::GE, {x.index, zero}),
         *none = b.pure(Opcode::LT, {best.index, zero});
    auto *worse = beats(b, reducer, nan, best.value, x.value);
    auto *tie = b.pure(Opcode::AND,
                       {b.pure(Opcode::NOT, {worse}), b.pure(Opcode::LT, {x.index, best.index})});
    auto *better = b.pure(Opcode::OR, {beats(b, reducer, nan, x.value, best.value), tie});
    return b.pure(Opcode::AND, {some, b.pure(Opcode::OR, {none, better})});
}

/// Positions in as few bits as hold them, so that a vector of them is no wider than one of elements.
ScalarType position_type(const ir::Operation &op) {
    int64_t count = 1;
    const auto &source = *op.operand(0)->type();
    for (auto dim : op.get<ir::ReducePayload>().dims) {
        count *= source.dims[static_cast<size_t>(source.find(dim))].extent;
    }
    return count <= INT32_MAX ? ScalarType::INT32 : ScalarType::INT64;
}

}// namespace

Values Lowering::arg_identity(const LoopGroup &group, int lanes, int parts) {
    Values states;
    for (const auto &root : group.roots) {
        if (root.kind != Root::Kind::REDUCE) {
            continue;
        }
        auto type = compare_type(root.op->operand(0)->scalar());
        auto count = static_cast<size_t>(parts);
        states.insert(states.end(), count, _b.splat(_b.constant(type, 0), lanes));
        auto index = position_type(*root.op);
        auto none = index == ScalarType::INT32 ? UINT32_MAX : UINT64_MAX;
        states.insert(states.end(), count, _b.splat(_b.constant(index, none), lanes));
    }
    return states;
}

/// The place of the current element in the order of the reduction, one a lane.
ir::Value *Lowering::position_in(const ir::Operation &op, Point &point) {
    const auto &source = *op.operand(0)->type();
    auto *position = _b.index(0);
    ir::Value *by_lane = nullptr;
    for (auto folded : op.get<ir::ReducePayload>().dims) {
        const auto &d = source.dims[static_cast<size_t>(source.find(folded))];
        auto c = local_coordinate(d, point);
        position = _b.mul(position, _b.index(d.extent));
        if (c.is_uniform()) {
            position = _b.add(position, c.base);
        } else {// the last dimension: the planner folds no other one in lanes
            by_lane = coordinate_value(c, point.lanes);
        }
    }
    auto type = position_type(op);
    auto *uniform = _b.splat(convert(position, type), point.lanes);
    return by_lane ? _b.pure(Opcode::ADD, {uniform, convert(by_lane, type)}) : uniform;
}

Values Lowering::arg_elements(const LoopGroup &group, int part, Point &point, Values states) {
    size_t slot = static_cast<size_t>(part), parts = static_cast<size_t>(group.accumulators);
    for (const auto &root : group.roots) {
        if (root.kind != Root::Kind::REDUCE) {
            emit_root(root, point);
            continue;
        }
        const auto &payload = root.op->get<ir::ReducePayload>();
        auto *&best = states[slot], *&index = states[slot + parts];
        slot += 2 * parts;
        int lanes = best->type()->is_vector() ? best->type()->lanes : 1;
        auto *x = _b.splat(convert(evaluate(root.op->operand(0), point), best->scalar()), lanes);
        auto *none = _b.pure(Opcode::LT, {index, _b.splat(_b.constant(index->scalar(), 0), lanes)});
        auto *take = _b.pure(Opcode::OR, {none, beats(_b, payload.reducer, payload.nan, x, best)});
        bool lanes_fold = group.vector_axis >= 0 &&
                          group.folds(group.loops[static_cast<size_t>(group.vector_axis)].dim);
        if (lanes_fold && point.mask) {
            take = _b.both(take, point.mask);
        }
        if (payload.has_mask) {
            take = _b.both(take, _b.splat(evaluate(root.op->operand(1), point), lanes));
        }
        best = select(take, x, best);
        index = select(take, _b.splat(position_in(*root.op, point), lanes), index);
    }
    return states;
}

Candidate Lowering::merge_candidates(const ir::ReducePayload &payload, const Candidate &best,
                                     const Candidate &x) {
    auto *take = stands_before(_b, payload.reducer, payload.nan, x, best);
    return {select(take, x.value, best.value), select(take, x.index, best.index)};
}

/// The first of the partial results of accumulators, then of lanes by halves.
ir::Value *Lowering::merge_positions(const ir::ReducePayload &payload, Candidates parts,
                                     bool across_lanes) {
    auto merge = [&](const Candidate &best, const Candidate &x) {
        return merge_candidates(payload, best, x);
    };
    auto best = parts.front();
    for (size_t i = 1; i < parts.size(); ++i) {
        best = merge(best, parts[i]);
    }
    if (!across_lanes || !best.value->type()->is_vector()) {
        return best.index;
    }
    int lanes = best.value->type()->lanes;
    for (int half = lanes / 2; half >= 1; half /= 2) {
        std::vector<int32_t> order(static_cast<size_t>(lanes));
        for (int i = 0; i < lanes; ++i) {
            order[static_cast<size_t>(i)] = i < half ? i + half : i;
        }
        auto upper = [&](ir::Value *v) {
            return _b.pure(Opcode::SHUFFLE, {v, v}, ir::ShufflePayload{order}, v->type());
        };
        best = merge(best, {upper(best.value), upper(best.index)});
    }
    return _b.pure(Opcode::EXTRACT_LANE, {best.index}, ir::IndexPayload{0},
                   _b.module().scalar(best.index->scalar()));
}

void Lowering::lower_arg_reduction(const LoopGroup &group, size_t depth, Point &point) {
    bool axis_folded = group.vector_axis >= static_cast<int>(depth);
    int lanes = group.vector_axis >= 0 ? group.lanes : 1;
    auto states = fold_loops(group, depth, point,
                             arg_identity(group, lanes, axis_folded ? group.accumulators : 1),
                             [&](int part, Point &place, Values now) {
                                 return arg_elements(group, part, place, std::move(now));
                             });
    size_t slot = 0, parts = static_cast<size_t>(group.accumulators);
    for (const auto &root : group.roots) {
        if (root.kind != Root::Kind::REDUCE) {
            continue;
        }
        Candidates found;
        for (size_t part = 0; part < parts; ++part) {
            found.push_back({states[slot + part], states[slot + parts + part]});
        }
        slot += 2 * parts;
        auto *index = merge_positions(root.op->get<ir::ReducePayload>(), found, axis_folded);
        write_result(root, convert(index, ScalarType::INT64), point);
    }
}

}// namespace luisa::tile::cpu
