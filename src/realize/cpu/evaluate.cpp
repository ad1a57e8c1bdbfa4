// SPDX-License-Identifier: Apache-2.0
#include "analysis/expressions.h"
#include "realize/cpu/lowering.h"

namespace luisa::tile::cpu {

using ir::Opcode;

ir::Value *Lowering::coordinate_value(const Coordinate &c, int lanes) {
    if (c.per_lane) {
        return c.per_lane;
    }
    if (c.slope == 0) {
        return c.base;
    }
    auto *type = _b.module().vector(ScalarType::INT64, static_cast<uint16_t>(lanes));
    auto *steps = _b.pure(Opcode::LANES, {}, ir::None{}, type);
    if (c.slope != 1) {
        steps = _b.pure(Opcode::MUL, {steps, _b.splat(_b.index(c.slope), lanes)});
    }
    return _b.pure(Opcode::ADD, {_b.splat(c.base, lanes), steps});
}

Coordinate Lowering::local_coordinate(const ir::DimExtent &dim, const Point &point) {
    if (dim.extent == 1) {
        return {_b.index(0), 0, nullptr};
    }
    auto found = point.at.find(dim.dim.id);
    require(found != point.at.end(), "dimension has no coordinate at this point");
    return found->second;
}

Coordinate Lowering::sum(const Coordinate &a, const Coordinate &b, int sign) {
    auto add = [&](ir::Value *x, ir::Value *y) { return sign > 0 ? _b.add(x, y) : _b.sub(x, y); };
    if (!a.per_lane && !b.per_lane) {
        return {add(a.base, b.base), a.slope + sign * b.slope, nullptr};
    }
    int lanes = (a.per_lane ? a : b).per_lane->type()->lanes;
    auto *x = _b.splat(coordinate_value(a, lanes), lanes);
    auto *y = _b.splat(coordinate_value(b, lanes), lanes);
    return {nullptr, 0, _b.pure(sign > 0 ? Opcode::ADD : Opcode::SUB, {x, y})};
}

Coordinate Lowering::coordinate_of_map(const ir::Operation &map, Point &point) {
    const auto *body = map.body();
    const auto &dims = map.result()->type()->dims;
    for (size_t i = 0; i < dims.size(); ++i) {
        _map_arguments[body->argument(i)] = local_coordinate(dims[i], point);
    }
    // Values of the body belong to these coordinates: what was known outside stays known.
    auto inner = point.derived();
    auto result = coordinate_of(body->terminator()->operand(0), inner);
    for (auto *argument : body->arguments()) {
        _map_arguments.erase(argument);
    }
    return result;
}

/// An integer expression as a coordinate, keeping sums and constant multiples of the lane number
/// in closed form: that is what makes accesses contiguous.
Coordinate Lowering::coordinate_of(const ir::Value *value, Point &point) {
    if (auto found = _map_arguments.find(value); found != _map_arguments.end()) {
        return found->second;
    }
    auto *op = value->definition();
    bool computed = op && value->scalar() == ScalarType::INT64 && !_scalars.count(value) &&
                    !_plan->home(value);
    if (computed) {
        switch (op->opcode()) {
            case Opcode::IOTA: return local_coordinate(value->type()->dims.at(0), point);
            case Opcode::BROADCAST:
            case Opcode::PER: return coordinate_of(op->operand(0), point);
            case Opcode::MAP: return coordinate_of_map(*op, point);
            default: break;
        }
    }
    bool linear = computed && (op->opcode() == Opcode::ADD || op->opcode() == Opcode::SUB ||
                               op->opcode() == Opcode::MUL);
    if (linear) {
        auto a = coordinate_of(op->operand(0), point), b = coordinate_of(op->operand(1), point);
        if (op->opcode() != Opcode::MUL) {
            return sum(a, b, op->opcode() == Opcode::ADD ? 1 : -1);
        }
        if (!a.per_lane && !b.per_lane) {
            int64_t factor = 0;
            if (b.slope == 0 && MachineBuilder::is_constant(b.base, factor)) {
                return {_b.mul(a.base, b.base), a.slope * factor, nullptr};
            }
            if (a.slope == 0 && MachineBuilder::is_constant(a.base, factor)) {
                return {_b.mul(a.base, b.base), b.slope * factor, nullptr};
            }
            if (a.slope == 0 && b.slope == 0) {
                return {_b.mul(a.base, b.base), 0, nullptr};
            }
        }
    }
    auto *result = convert(evaluate(value, point), ScalarType::INT64);
    return result->type()->is_vector() ? Coordinate{nullptr, 0, result}
                                       : Coordinate{result, 0, nullptr};
}

ir::Value *Lowering::scalar_value(const ir::Value *value) {
    Point point;
    auto *result = evaluate(value, point);
    require(!result->type()->is_vector(), "scalar expression depends on lanes");
    return result;
}

ir::Value *Lowering::evaluate(const ir::Value *value, Point &point) {
    if (auto found = point.known.find(value); found != point.known.end()) {
        return found->second;
    }
    if (auto found = _map_arguments.find(value); found != _map_arguments.end()) {
        return coordinate_value(found->second, point.lanes);
    }
    if (value->type()->is_scalar()) {
        if (auto found = _scalars.find(value); found != _scalars.end()) {
            return found->second;
        }
    }
    if (auto *before = held(value, point)) {
        return point.known[value] = before;
    }
    ir::Value *result = nullptr;
    if (const auto *home = _plan->home(value)) {
        result = read_storage(home, point);
    } else if (auto word = _argument_words.find(value); word != _argument_words.end()) {
        result = _b.pure(Opcode::ARGUMENT, {_args},
                         ir::IndexPayload{static_cast<int64_t>(word->second)},
                         _b.module().scalar(value->scalar()));
    } else {
        auto *op = value->definition();
        require(op != nullptr, "value is neither stored nor computed");
        auto outer = _b.location();
        _b.set_location(op->loc);
        result = evaluate_operation(*op, point);
        _b.set_location(outer);
    }
    point.known[value] = result;
    hold(value, point, result);
    return result;
}

ir::Value *Lowering::evaluate_operation(const ir::Operation &op, Point &point) {
    auto type = op.result()->scalar();
    switch (op.opcode()) {
        case Opcode::CONSTANT: return _b.constant(type, op.get<ir::ConstantPayload>().bits);
        case Opcode::IOTA: {
            auto c = local_coordinate(op.result()->type()->dims.at(0), point);
            return convert(coordinate_value(c, point.lanes), type);
        }
        case Opcode::BROADCAST:
        case Opcode::PER: return evaluate(op.operand(0), point);
        // Nothing defined: any bits will do.
        case Opcode::MEMORY_ALLOC: return _b.constant(type, 0);
        case Opcode::RETYPE: {
            Point inner;
            inner.lanes = point.lanes;
            inner.mask = point.mask;
            inner.guard = point.guard;
            const auto &from = op.result()->type()->dims, &to = op.operand(0)->type()->dims;
            bool same_place = true;
            for (size_t i = 0; i < to.size(); ++i) {
                same_place &= from[i].extent == 1 || from[i].dim == to[i].dim;
                inner.at[to[i].dim.id] = local_coordinate(from[i], point);
                if (auto clip = point.clips.find(from[i].dim.id); clip != point.clips.end()) {
                    inner.clips[to[i].dim.id] = clip->second;
                }
            }
            if (same_place) {
                inner.known = point.known;
            }
            return evaluate(op.operand(0), inner);
        }
        case Opcode::EXTRACT:
            return op.get<ir::AccessPayload>().dims.empty() ? evaluate(op.operand(0), point)
                                                            : evaluate_extract(op, point);
        case Opcode::INSERT: return evaluate_insert(op, point);
        case Opcode::MAP: return evaluate_map(op, point);
        case Opcode::LOAD: return load(op, point);
        case Opcode::EXTENT:
            return view_extent(op.operand(0),
                               static_cast<size_t>(op.get<ir::IndexPayload>().index));
        default: break;
    }
    require(ir::is_elementwise(op.opcode()), "operation is not evaluated inline");
    Values operands;
    int lanes = 1;
    for (auto *operand : op.operands()) {
        operands.push_back(evaluate(operand, point));
        lanes = std::max<int>(lanes, operands.back()->type()->lanes);
    }
    for (auto *&operand : operands) {
        operand = _b.splat(operand, lanes);
    }
    switch (op.opcode()) {
        case Opcode::CAST: return convert(operands[0], type);
        case Opcode::ITE: return select(operands[0], operands[1], operands[2]);
        case Opcode::BITCAST:
        case Opcode::QUANTIZE: {
            auto *to = lanes > 1 ? _b.module().vector(type, static_cast<uint16_t>(lanes))
                                 : _b.module().scalar(type);
            if (op.opcode() == Opcode::QUANTIZE) {
                operands[0] = convert(operands[0], ScalarType::FLOAT32);
            }
            return _b.pure(op.opcode(), operands, op.payload(), to);
        }
        default: return arithmetic(op.opcode(), operands, &op);
    }
}

ir::Value *Lowering::in_range(ir::Value *coordinate, int64_t extent) {
    int lanes = coordinate->type()->lanes;
    if (!lanes) {
        int64_t known = 0;
        if (MachineBuilder::is_constant(coordinate, known) && known >= 0 && known < extent) {
            return nullptr;
        }
    }
    auto *low = _b.splat(_b.index(0), lanes), *high = _b.splat(_b.index(extent), lanes);
    return _b.both(_b.pure(Opcode::GE, {coordinate, low}), _b.pure(Opcode::LT, {coordinate, high}));
}

ir::Value *Lowering::evaluate_extract(const ir::Operation &op, Point &point) {
    const auto &payload = op.get<ir::AccessPayload>();
    const auto *source = op.operand(0);
    const auto &dims = source->type()->dims;
    auto inner = point.derived();
    ir::Value *valid = nullptr;
    auto type = op.result()->scalar();
    auto outside = [&]() -> ir::Value * {
        return payload.has_fallback ? evaluate(op.operand(op.operand_count() - 1), point)
                                    : _b.constant(type, 0);
    };
    for (size_t i = 0; i < payload.dims.size(); ++i) {
        auto extent = dims[static_cast<size_t>(source->type()->find(payload.dims[i]))].extent;
        if (extent == 0) {
            return outside();
        }
        const auto *expression = op.operand(1 + i);
        auto c = coordinate_of(expression, point);
        int64_t count = 1;
        if (!payload.box.empty()) {
            c = sum(c, local_coordinate(payload.box[i], point), 1);
            count = payload.box[i].extent;
        }
        inner.clips.erase(payload.dims[i].id);
        auto known = analysis::interval_of(expression);
        bool proven = known.low >= 0 && count <= extent && known.high <= extent - count;
        if (!proven) {
            auto *value = coordinate_value(c, point.lanes);
            if (auto *condition = in_range(value, extent)) {
                valid = _b.both(valid, condition);
            }
        }
        inner.at[payload.dims[i].id] = c;
    }
    inner.guard = _b.both(point.guard, valid);
    auto *value = exchanged_lanes(source, inner);
    value = value ? value : evaluate(source, inner);
    return valid ? select(valid, value, outside()) : value;
}

ir::Value *Lowering::evaluate_insert(const ir::Operation &op, Point &point) {
    const auto &payload = op.get<ir::AccessPayload>();
    const auto &type = *op.operand(0)->type();
    ir::Value *here = nullptr;
    auto inner = payload.box.empty() ? Point{} : point.derived();
    for (size_t i = 0; i < payload.dims.size(); ++i) {
        auto at = local_coordinate(type.dims[static_cast<size_t>(type.find(payload.dims[i]))],
                                   point);
        auto wanted = coordinate_of(op.operand(2 + i), point);
        if (payload.box.empty()) {
            auto *x = coordinate_value(at, point.lanes), *y = coordinate_value(wanted, point.lanes);
            int lanes = std::max<int>(x->type()->lanes, y->type()->lanes);
            here = _b.both(here, _b.pure(Opcode::EQ, {_b.splat(x, lanes), _b.splat(y, lanes)}));
            continue;
        }
        auto place = sum(at, wanted, -1);
        auto *value = coordinate_value(place, point.lanes);
        here = _b.both(here, in_range(value, payload.box[i].extent));
        inner.at[payload.box[i].dim.id] = place;
        inner.clips.erase(payload.box[i].dim.id);
    }
    if (!payload.box.empty()) {
        inner.guard = _b.both(point.guard, here);
    }
    auto *part = evaluate(op.operand(1), payload.box.empty() ? point : inner);
    return here ? select(here, part, evaluate(op.operand(0), point)) : part;
}

ir::Value *Lowering::evaluate_map(const ir::Operation &op, Point &point) {
    auto *body = op.body();
    const auto &dims = op.result()->type()->dims;
    for (size_t i = 0; i < dims.size(); ++i) {
        _map_arguments[body->argument(i)] = local_coordinate(dims[i], point);
    }
    // Values of the body belong to these coordinates: what was known outside stays known.
    auto inner = point.derived();
    auto *result = evaluate(body->terminator()->operand(0), inner);
    for (auto *argument : body->arguments()) {
        _map_arguments.erase(argument);
    }
    return result;
}

}// namespace luisa::tile::cpu
