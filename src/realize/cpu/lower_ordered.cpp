// SPDX-License-Identifier: Apache-2.0
#include "realize/cpu/lowering.h"
#include "realize/cpu/reducers.h"

#include <algorithm>

// argmin and argmax: the first of equals wins, so elements are seen in their order.

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

}// namespace

void Lowering::lower_arg_reduction(const LoopGroup &group, size_t depth, Point &point) {
    int lanes = group.vector_axis >= 0 ? group.lanes : 1;
    Values states;
    for (const auto &root : group.roots) {
        if (root.kind == Root::Kind::REDUCE) {
            auto type = compare_type(root.op->operand(0)->scalar());
            states.push_back(_b.splat(_b.constant(type, 0), lanes));
            states.push_back(_b.splat(_b.index(-1), lanes));
        }
    }
    std::function<Values(size_t, Point &, const Values &)> loops =
        [&](size_t at, Point &place, const Values &now) -> Values {
        if (at < group.loops.size()) {
            const auto &loop = group.loops[at];
            return _b.loop(_b.index(0), _b.index(loop.extent), 1, now,
                           [&](ir::Value *iv, const Values &inner) {
                               auto next = place.derived();
                               next.at[loop.dim.id] = {iv, 0, nullptr};
                               return loops(at + 1, next, inner);
                           });
        }
        auto next = now;
        size_t slot = 0;
        for (const auto &root : group.roots) {
            if (root.kind != Root::Kind::REDUCE) {
                emit_root(root, place);
                continue;
            }
            const auto &payload = root.op->get<ir::ReducePayload>();
            auto *&best = next[slot], *&best_index = next[slot + 1];
            slot += 2;
            auto *position = _b.index(0);
            const auto &source = *root.op->operand(0)->type();
            for (auto folded : payload.dims) {
                const auto &d = source.dims[static_cast<size_t>(source.find(folded))];
                position = _b.add(_b.mul(position, _b.index(d.extent)),
                                  local_coordinate(d, place).base);
            }
            auto *x = _b.splat(convert(evaluate(root.op->operand(0), place), best->scalar()),
                               lanes);
            auto *none = _b.pure(Opcode::LT, {best_index, _b.splat(_b.index(0), lanes)});
            auto *take = _b.pure(Opcode::OR,
                                 {none, beats(_b, payload.reducer, payload.nan, x, best)});
            if (payload.has_mask) {
                take = _b.both(take, _b.splat(evaluate(root.op->operand(1), place), lanes));
            }
            best = select(take, x, best);
            best_index = select(take, _b.splat(position, lanes), best_index);
        }
        return next;
    };
    auto results = loops(depth, point, states);
    size_t slot = 1;
    for (const auto &root : group.roots) {
        if (root.kind == Root::Kind::REDUCE) {
            write_result(root, results[slot], point);
            slot += 2;
        }
    }
}

}// namespace luisa::tile::cpu
