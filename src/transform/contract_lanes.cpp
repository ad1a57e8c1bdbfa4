// SPDX-License-Identifier: Apache-2.0
#include "transform/contract_lanes.h"

#include "transform/lane_body.h"

#include <algorithm>
#include <bit>

// A `reduce` whose states are scalars becomes
//
//   lanes = the incoming state in lane 0, the identity in the others
//   serial over steps: lanes = update(lanes, one contribution a lane)
//   merge of the lanes, by halves or by neighbours
//   the contributions that are left, one at a time
//
// A commutative contract gives lane l the contributions l, l + W, …: neighbours in memory. Any other gives it a
// block of consecutive ones, in order.

namespace luisa::tile::transform {

using ir::Opcode;
using ir::Value;

namespace {

std::optional<int64_t> constant_of(const Value *value) {
    const auto *op = value->definition();
    if (!op || op->opcode() != Opcode::CONSTANT) {
        return std::nullopt;
    }
    return static_cast<int64_t>(op->get<ir::ConstantPayload>().bits);
}

class LaneReduction {
public:
    LaneReduction(ir::Module &module, ir::Operation *op, int vector_bytes)
        : _module{module}, _op{op}, _b{module} {
        _b.set_region(op->region(), op);
        _b.loc = op->loc;
        const auto &payload = op->get<ir::NestPayload>();
        _ordered = payload.policy == ReductionPolicy::ORDERED_TREE ||
                   payload.laws.commutative == ir::Provenance::NONE;
        size_t widest = 1;
        for (auto *result : op->results()) {
            widest = std::max(widest, size_of(result->scalar()));
        }
        _lanes = std::max<int64_t>(vector_bytes / static_cast<int64_t>(widest), 1);
    }

    /// Whether this form exists for the reduction. Makes nothing.
    bool admits() {
        const auto &payload = _op->get<ir::NestPayload>();
        bool tree = payload.policy == ReductionPolicy::UNORDERED_TREE ||
                    payload.policy == ReductionPolicy::ORDERED_TREE;
        bool scalars = std::all_of(_op->results().begin(), _op->results().end(),
                                   [](const Value *v) { return v->type()->is_scalar(); });
        bool all_bound = payload.contract.size() == _op->result_count();
        if (!tree || !scalars || !all_bound || _lanes < 2) {
            return false;
        }
        if (payload.is_range) {
            auto step = constant_of(_op->operand(2));
            auto begin = constant_of(_op->operand(0)), end = constant_of(_op->operand(1));
            if (step != 1) {
                return false;
            }
            if (begin && end) {
                _count = std::max<int64_t>(*end - *begin, 0);
            }
        } else if (payload.dims.size() == 1) {
            _count = constant_of(_op->operand(0));
        } else {
            return false;
        }
        bool long_enough = _count ? *_count >= 2 * _lanes : !_ordered;
        return long_enough && (!_ordered || *_count <= longest_block) &&
               LaneBody::admits(_module, *_op->body(), _op->result_count());
    }

    std::string run() {
        make_domain();
        auto lanes = initial_lanes();
        auto merged = merge_lanes(run_steps(lanes));
        if (!_count) {
            auto *some = _b.elementwise(Opcode::GT, {_steps, _b.index(0)});
            for (size_t i = 0; i < merged.size(); ++i) {
                merged[i] = _b.elementwise(Opcode::ITE, {some, merged[i], initial(i)});
            }
        }
        auto results = run_rest(merged);
        for (size_t i = 0; i < results.size(); ++i) {
            _op->result(i)->replace_all_uses_with(results[i]);
        }
        _module.erase(_op);
        return std::to_string(_lanes) + " lanes as partial states, " +
               (_ordered ? "a block of contributions each, merged in order"
                         : "neighbouring contributions each, merged by halves") +
               " at the end";
    }

private:
    static constexpr int64_t longest_block = 1 << 16;

    [[nodiscard]] Value *initial(size_t i) const {
        return _op->operand(_op->operand_count() - _op->result_count() + i);
    }
    [[nodiscard]] const ir::Type *lane_type(size_t i, int64_t lanes) const {
        return _module.tile(_op->result(i)->scalar(), {{_lane, lanes}});
    }

    void make_domain() {
        bool range = _op->get<ir::NestPayload>().is_range;
        _begin = range ? _op->operand(0) : _b.index(0);
        _end = range ? _op->operand(1) : _op->operand(0);
        if (_count) {
            _steps = _b.index(*_count / _lanes);
            return;
        }
        auto *count = _b.elementwise(Opcode::MAXIMUM,
                                     {_b.elementwise(Opcode::SUB, {_end, _begin}), _b.index(0)});
        _steps = _b.elementwise(Opcode::DIV, {count, _b.index(_lanes)});
    }

    /// The identity of each state, by state.
    std::vector<Value *> identity() {
        const auto &bound = _op->get<ir::NestPayload>().contract;
        auto *region = _op->body(1);
        ir::Cloner cloner{_module};
        for (auto *op : *region) {
            if (op->opcode() != Opcode::YIELD) {
                _module.insert_before(_op, cloner.clone(*op));
            }
        }
        std::vector<Value *> values(_op->result_count());
        auto size = region->terminator()->operand_count();
        for (size_t i = 0; i < bound.size(); ++i) {
            values[static_cast<size_t>(bound[i])] = cloner.mapped(
                region->terminator()->operand(i % size));
        }
        return values;
    }

    std::vector<Value *> initial_lanes() {
        auto *number = _b.value(Opcode::IOTA, {},
                                _module.tile(ScalarType::INT64, {{_lane, _lanes}}));
        auto *first = _b.elementwise(Opcode::EQ, {number, _b.index(0)});
        auto neutral = identity();
        std::vector<Value *> lanes;
        for (size_t i = 0; i < neutral.size(); ++i) {
            lanes.push_back(_b.elementwise(Opcode::ITE, {first, initial(i), neutral[i]}));
        }
        return lanes;
    }

    std::vector<Value *> run_steps(const std::vector<Value *> &lanes) {
        ir::NestPayload payload;
        payload.is_range = true;
        std::vector<Value *> operands{_b.index(0), _steps, _b.index(1)};
        std::vector<const ir::Type *> types;
        for (size_t i = 0; i < lanes.size(); ++i) {
            operands.push_back(lanes[i]);
            types.push_back(lane_type(i, _lanes));
        }
        LaneBody body{_module, *_op->body(), ir::DimExtent{_lane, _lanes}};
        if (_ordered) {
            body.hoist_loads(_b, _begin, *_count / _lanes * _lanes);
        }
        auto *loop = _b.emit(Opcode::SERIAL, operands, types, payload, 1);
        auto *step = _module.add_argument(loop->body(), _module.scalar(ScalarType::INT64));
        std::vector<Value *> states;
        for (const auto *type : types) {
            states.push_back(_module.add_argument(loop->body(), type));
        }
        ir::Builder inner{_module, loop->body()};
        inner.loc = _op->loc;
        LaneIndex index;
        if (_ordered) {// lane * steps + step
            index = {_begin, step, *_count / _lanes};
        } else {// step * lanes + lane
            index = {_begin, inner.elementwise(Opcode::MUL, {step, inner.index(_lanes)}), 1};
        }
        inner.emit(Opcode::YIELD, body.emit(inner, index, states, types), {});
        return loop->results();
    }

    /// One level of the merge: lanes `first * l + offset` with the same plus `distance`.
    std::vector<Value *> merge_halves(const std::vector<Value *> &lanes, int64_t half) {
        auto size = _op->body(1)->terminator()->operand_count();
        const auto &bound = _op->get<ir::NestPayload>().contract;
        auto part = [&](size_t state, bool second) {
            auto *type = lane_type(state, half);
            auto *map = _b.emit(Opcode::MAP, {}, {type}, ir::None{}, 1);
            auto *lane = _module.add_argument(map->body(), _module.scalar(ScalarType::INT64));
            ir::Builder inner{_module, map->body()};
            inner.loc = _op->loc;
            auto *at = _ordered ? inner.elementwise(Opcode::MUL, {lane, inner.index(2)}) : lane;
            if (second) {
                at = inner.elementwise(Opcode::ADD, {at, inner.index(_ordered ? 1 : half)});
            }
            auto *element = inner.value(Opcode::EXTRACT, {lanes[state], at},
                                        _module.scalar(type->scalar),
                                        ir::AccessPayload{{_lane}, false});
            inner.emit(Opcode::YIELD, {element}, {});
            return map->result();
        };
        std::vector<Value *> merged(lanes.size());
        for (size_t first = 0; first < bound.size(); first += size) {
            std::vector<Value *> sides;
            for (bool second : {false, true}) {
                for (size_t f = 0; f < size; ++f) {
                    sides.push_back(part(static_cast<size_t>(bound[first + f]), second));
                }
            }
            LaneBody merge{_module, *_op->body(2), ir::DimExtent{_lane, half}};
            std::vector<const ir::Type *> types;
            for (size_t f = 0; f < size; ++f) {
                types.push_back(lane_type(static_cast<size_t>(bound[first + f]), half));
            }
            auto values = merge.emit(_b, {}, sides, types);
            for (size_t f = 0; f < size; ++f) {
                merged[static_cast<size_t>(bound[first + f])] = values[f];
            }
        }
        return merged;
    }

    std::vector<Value *> merge_lanes(std::vector<Value *> lanes) {
        for (auto half = _lanes / 2; half >= 1; half /= 2) {
            lanes = merge_halves(lanes, half);
        }
        for (auto *&value : lanes) {
            value = _b.value(Opcode::EXTRACT, {value, _b.index(0)}, _module.scalar(value->scalar()),
                             ir::AccessPayload{{_lane}, false});
        }
        return lanes;
    }

    /// The contributions that fill no whole step.
    std::vector<Value *> run_rest(const std::vector<Value *> &states) {
        if (_count && *_count % _lanes == 0) {
            return states;
        }
        ir::NestPayload payload;
        payload.is_range = true;
        payload.policy = ReductionPolicy::FOLD_LEFT;
        auto *done = _b.elementwise(Opcode::MUL, {_steps, _b.index(_lanes)});
        std::vector<Value *> operands{_b.elementwise(Opcode::ADD, {_begin, done}), _end,
                                      _b.index(1)};
        std::vector<const ir::Type *> types;
        for (auto *state : states) {
            operands.push_back(state);
            types.push_back(state->type());
        }
        auto *rest = _b.emit(Opcode::REDUCE, operands, types, payload, 1);
        ir::Cloner{_module}.clone_region(*_op->body(), rest->body());
        return rest->results();
    }

    ir::Module &_module;
    ir::Operation *_op;
    ir::Builder _b;
    Dim _lane = tile::dim("lane");
    bool _ordered = false;
    int64_t _lanes = 1;
    std::optional<int64_t> _count;///< contributions, when known
    Value *_begin = nullptr, *_end = nullptr, *_steps = nullptr;
};

}// namespace

std::string reduce_in_lanes(ir::Module &module, ir::Operation *reduce, int vector_bytes) {
    LaneReduction reduction{module, reduce, vector_bytes};
    return reduction.admits() ? reduction.run() : std::string{};
}

}// namespace luisa::tile::transform
