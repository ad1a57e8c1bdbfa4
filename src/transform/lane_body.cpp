// SPDX-License-Identifier: Apache-2.0
#include "transform/lane_body.h"

#include <algorithm>

namespace luisa::tile::transform {

using ir::Opcode;
using ir::Operation;
using ir::Value;

LaneBody::LaneBody(ir::Module &module, const ir::Region &body, ir::DimExtent lanes)
    : _module{module}, _body{body}, _lanes{lanes} {
    bool indexed = body.parent()->body() == &body;
    _index = indexed ? body.argument(0) : nullptr;
    for (auto *argument : body.arguments()) {
        _lifted.insert(argument);
    }
    if (_index) {
        _indexed.insert(_index);
    }
    for (auto *op : body) {
        bool any = false, follows = ir::is_elementwise(op->opcode());
        for (size_t i = 0; i < op->operand_count(); ++i) {
            auto *operand = op->operand(i);
            any |= is_lifted(operand);
            follows &= !is_lifted(operand) || _indexed.count(operand) != 0;
        }
        for (auto *result : op->results()) {
            if (any) {
                _lifted.insert(result);
            }
            if (any && follows) {
                _indexed.insert(result);
            }
        }
    }
}

/// How much `v` grows with each contribution, if it grows evenly.
std::optional<int64_t> LaneBody::slope(const Value *v) const {
    if (v == _index) {
        return 1;
    }
    if (!is_lifted(v)) {
        return 0;
    }
    const auto *op = v->definition();
    bool sum = op && (op->opcode() == Opcode::ADD || op->opcode() == Opcode::SUB);
    if (!sum) {
        return std::nullopt;
    }
    auto a = slope(op->operand(0)), b = slope(op->operand(1));
    if (!a || !b) {
        return std::nullopt;
    }
    return op->opcode() == Opcode::ADD ? *a + *b : *a - *b;
}

/// The axis of the view along which the contributions are neighbours, if they are along one only.
std::optional<size_t> LaneBody::followed_axis(const Operation &load) const {
    std::optional<size_t> axis;
    for (size_t i = 1; i <= load.operand(0)->type()->rank(); ++i) {
        auto grows = slope(load.operand(i));
        if (!grows || (*grows != 0 && (*grows != 1 || axis))) {
            return std::nullopt;
        }
        if (*grows == 1) {
            axis = i - 1;
        }
    }
    return axis;
}

bool LaneBody::admits(const Operation &op) const {
    if (op.opcode() == Opcode::YIELD) {
        return true;
    }
    bool simple = op.regions().empty() && op.result_count() == 1;
    if (!simple || !is_lifted(op.result())) {
        return simple;
    }
    if (!op.result()->type()->is_scalar()) {
        return false;
    }
    if (op.opcode() == Opcode::LOAD) {
        bool fallback = op.get<ir::LoadPayload>().has_fallback;
        return followed_axis(op) && !(fallback && is_lifted(op.operand(op.operand_count() - 1)));
    }
    if (op.opcode() == Opcode::EXTRACT) {
        const auto &payload = op.get<ir::AccessPayload>();
        bool follows = !is_lifted(op.operand(0));
        for (size_t i = 1; i < op.operand_count(); ++i) {
            bool fallback = i > payload.dims.size();
            follows &= !is_lifted(op.operand(i)) ||
                       (!fallback && _indexed.count(op.operand(i)) != 0);
        }
        return follows;
    }
    return ir::is_elementwise(op.opcode());
}

bool LaneBody::admits(ir::Module &module, const ir::Region &body, size_t states) {
    if (body.arguments().size() != 1 + states) {
        return false;
    }
    LaneBody lanes{module, body, {}};
    for (auto *op : body) {
        if (!lanes.admits(*op)) {
            return false;
        }
    }
    return true;
}

Value *LaneBody::mapped(Value *v) const {
    auto found = _map.find(v);
    return found == _map.end() ? v : found->second;
}

/// The scalar `v` where the index is `place`.
Value *LaneBody::at_place(ir::Builder &b, Value *v, Value *place) {
    if (v == _index) {
        return place;
    }
    if (!is_lifted(v)) {
        return mapped(v);
    }
    const auto *op = v->definition();
    std::vector<Value *> operands;
    for (auto *operand : op->operands()) {
        operands.push_back(at_place(b, operand, place));
    }
    return b.value(op->opcode(), operands, v->type(), op->payload());
}

/// `count` neighbouring contributions of a load from `first` on, as a tile of the lanes' dimension.
Value *LaneBody::emit_load(ir::Builder &b, const Operation &op, Value *first, int64_t count) {
    auto rank = op.operand(0)->type()->rank();
    auto axis = *followed_axis(op);
    std::vector<Value *> operands{mapped(op.operand(0))}, dropped;
    std::vector<ir::DimExtent> dims;
    ir::AccessPayload places;
    for (size_t i = 0; i < rank; ++i) {
        operands.push_back(at_place(b, op.operand(1 + i), first));
        if (i == axis) {
            dims.push_back({_lanes.dim, count});
        } else {
            dims.push_back({Dim::positional(static_cast<uint32_t>(i)), 1});
            places.dims.push_back(dims.back().dim);
            dropped.push_back(b.index(0));
        }
    }
    for (size_t i = 1 + rank; i < op.operand_count(); ++i) {
        operands.push_back(mapped(op.operand(i)));
    }
    auto type = op.result()->scalar();
    auto *box = b.value(Opcode::LOAD, operands, _module.tile(type, dims), op.payload());
    if (dropped.empty()) {
        return box;
    }
    dropped.insert(dropped.begin(), box);
    return b.value(Opcode::EXTRACT, dropped, _module.tile(type, {{_lanes.dim, count}}), places);
}

void LaneBody::hoist_loads(ir::Builder &b, Value *begin, int64_t count) {
    for (auto *op : _body) {
        // What the load needs beside the index is made again here.
        for (auto *result : op->results()) {
            if (!is_lifted(result) && op->opcode() != Opcode::YIELD) {
                std::vector<Value *> operands;
                for (auto *operand : op->operands()) {
                    operands.push_back(mapped(operand));
                }
                _map[result] = b.value(op->opcode(), operands, result->type(), op->payload());
            }
        }
        if (op->opcode() == Opcode::LOAD && is_lifted(op->result())) {
            _blocks[op->result()] = emit_load(b, *op, begin, count);
        }
    }
}

/// A map over the lanes of one element of `x`, at the coordinates that `place` gives.
static Value *map_of(ir::Module &module, ir::Builder &b, ir::DimExtent lanes, const Value *element,
                     const std::function<Value *(ir::Builder &, Value *)> &body) {
    auto *type = module.tile(element->scalar(), {lanes});
    auto *map = b.emit(Opcode::MAP, {}, {type}, ir::None{}, 1);
    auto *lane = module.add_argument(map->body(), module.scalar(ScalarType::INT64));
    ir::Builder inner{module, map->body()};
    inner.loc = b.loc;
    inner.emit(Opcode::YIELD, {body(inner, lane)}, {});
    return map->result();
}

static Value *offset_of(ir::Builder &b, Value *lane, const LaneIndex &index) {
    auto *own = index.stride == 1 ? lane
                                  : b.elementwise(Opcode::MUL, {lane, b.index(index.stride)});
    return b.elementwise(Opcode::ADD, {own, index.offset});
}

Value *LaneBody::extract_lanes(ir::Builder &b, const Operation &op, const LaneIndex &index) {
    return map_of(_module, b, _lanes, op.result(), [&](ir::Builder &inner, Value *lane) {
        auto *place = inner.elementwise(Opcode::ADD, {index.begin, offset_of(inner, lane, index)});
        std::vector<Value *> operands{mapped(op.operand(0))};
        for (size_t i = 1; i < op.operand_count(); ++i) {
            operands.push_back(at_place(inner, op.operand(i), place));
        }
        return inner.value(Opcode::EXTRACT, operands, op.result()->type(), op.payload());
    });
}

Value *LaneBody::extract_block(ir::Builder &b, Value *block, const LaneIndex &index) {
    return map_of(_module, b, _lanes, block, [&](ir::Builder &inner, Value *lane) {
        return inner.value(Opcode::EXTRACT, {block, offset_of(inner, lane, index)},
                           _module.scalar(block->scalar()), ir::AccessPayload{{_lanes.dim}, false});
    });
}

void LaneBody::emit_operation(ir::Builder &b, const Operation &op, const LaneIndex &index) {
    auto *result = op.result();
    if (is_lifted(result) && op.opcode() == Opcode::LOAD) {
        auto block = _blocks.find(result);
        _map[result] = block != _blocks.end()
                           ? extract_block(b, block->second, index)
                           : emit_load(b, op,
                                       b.elementwise(Opcode::ADD, {index.begin, index.offset}),
                                       _lanes.extent);
        return;
    }
    if (is_lifted(result) && op.opcode() == Opcode::EXTRACT) {
        _map[result] = extract_lanes(b, op, index);
        return;
    }
    std::vector<Value *> operands;
    for (auto *operand : op.operands()) {
        operands.push_back(mapped(operand));
    }
    auto *type = is_lifted(result) ? _module.tile(result->scalar(), {_lanes}) : result->type();
    _map[result] = b.value(op.opcode(), operands, type, op.payload());
}

std::vector<Value *> LaneBody::emit(ir::Builder &b, const LaneIndex &index,
                                    const std::vector<Value *> &given,
                                    const std::vector<const ir::Type *> &types) {
    if (_index) {
        auto *numbers = b.value(Opcode::IOTA, {}, _module.tile(ScalarType::INT64, {_lanes}));
        _map[_index] = b.elementwise(Opcode::ADD, {index.begin, offset_of(b, numbers, index)});
    }
    for (size_t i = 0; i < given.size(); ++i) {
        _map[_body.argument((_index ? 1 : 0) + i)] = given[i];
    }
    auto known = _map;// made before the loop
    for (auto *op : _body) {
        if (op->opcode() != Opcode::YIELD && !known.count(op->result())) {
            emit_operation(b, *op, index);
        }
    }
    std::vector<Value *> yields;
    auto *terminator = _body.terminator();
    for (size_t i = 0; i < terminator->operand_count(); ++i) {
        auto *value = mapped(terminator->operand(i));
        yields.push_back(value->type() == types[i]
                             ? value
                             : b.value(Opcode::BROADCAST, {value}, types[i], ir::None{}));
    }
    return yields;
}

}// namespace luisa::tile::transform
