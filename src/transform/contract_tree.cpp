// SPDX-License-Identifier: Apache-2.0
#include "transform/contract_tree.h"

#include "ir/clone.h"
#include "ir/reduction_update.h"

#include <algorithm>
#include <bit>
#include <optional>

// The tree splits at the largest power of two below the number of contributions, so a binary counter builds it:
//
//   serial over the contributions, number n: s = update(identity, x), where there is one
//     for each trailing one of n: s = merge(row[level], s)
//     row[number of trailing ones] = s
//   the rows of the ones in the count, lowest first: s = merge(row[level], s)
//   merge(the incoming state, s)

namespace luisa::tile::transform {

using ir::Opcode;
using ir::Value;

namespace {

using Values = std::vector<Value *>;

/// Bits of a number of contributions; at least one.
int64_t bits_of(int64_t count) {
    return static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(std::max<int64_t>(count, 1))));
}

class TreeReduction {
public:
    TreeReduction(ir::Module &module, ir::Operation *op)
        : _module{module}, _op{op}, _b{module}, _count{op->result_count()},
          _lead{op->operand_count() - op->result_count()} {
        _b.set_region(op->region(), op);
        _b.loc = op->loc;
        const auto &bound = op->get<ir::NestPayload>().contract;
        for (size_t i = 0; i < _count; ++i) {
            bool by_contract = std::find(bound.begin(), bound.end(), static_cast<int32_t>(i)) !=
                               bound.end();
            _merges.push_back(by_contract ? std::nullopt : ir::merge_of_state(*op, i));
            if (!by_contract && !_merges.back()) {
                throw UnsupportedError{"reduce: balanced_tree merges state " + std::to_string(i) +
                                           " neither by the contract nor by a built-in operation; "
                                           "make it part of the contract, or use fold_left",
                                       op->loc};
            }
        }
        _levels = levels();
    }

    std::string run() {
        auto results = run_contributions();
        auto total = results.back();
        results.pop_back();
        auto merged = merge_rows(results, total);
        auto *some = _b.elementwise(Opcode::GT, {total, _b.index(0)});
        auto with_seed = merge(_b, seeds(), merged);
        for (size_t i = 0; i < _count; ++i) {
            auto *seed = _op->operand(_lead + i);
            _op->result(i)->replace_all_uses_with(choose(_b, some, with_seed[i], seed));
        }
        _module.erase(_op);
        return "one partial state for each of " + std::to_string(_levels) + " levels of the tree";
    }

private:
    [[nodiscard]] Values seeds() const {
        Values all;
        for (size_t i = 0; i < _count; ++i) {
            all.push_back(_op->operand(_lead + i));
        }
        return all;
    }
    [[nodiscard]] const ir::Type *state_type(size_t i) const { return _op->result(i)->type(); }
    [[nodiscard]] const ir::Type *rows_type(size_t i) const {
        auto dims = state_type(i)->dims;
        dims.insert(dims.begin(), {_level, _levels});
        return _module.tile(state_type(i)->scalar, dims);
    }

    /// Bits of the number of contributions, as far as it is known.
    [[nodiscard]] int64_t levels() const {
        auto constant = [&](size_t i) -> std::optional<int64_t> {
            const auto *made = _op->operand(i)->definition();
            if (!made || made->opcode() != Opcode::CONSTANT) {
                return std::nullopt;
            }
            return static_cast<int64_t>(made->get<ir::ConstantPayload>().bits);
        };
        constexpr int64_t any = 63;
        const auto &payload = _op->get<ir::NestPayload>();
        if (payload.is_range) {
            // However large the steps, a range has no more of them than numbers.
            auto begin = constant(0), end = constant(1);
            int64_t most = 0;
            bool known = begin && end && constant(2).value_or(0) > 0 &&
                         !__builtin_sub_overflow(*end, *begin, &most);
            return known ? bits_of(most) : any;
        }
        int64_t most = 1;
        for (size_t i = 0; i < _lead; ++i) {
            auto extent = constant(i);
            if (!extent || __builtin_mul_overflow(most, std::max<int64_t>(*extent, 1), &most)) {
                return any;
            }
        }
        return bits_of(most);
    }

    Value *choose(ir::Builder &b, Value *condition, Value *yes, Value *no) const {
        return b.elementwise(Opcode::ITE, {condition, yes, no});
    }
    Value *row(ir::Builder &b, Value *rows, size_t i, Value *level) const {
        return b.value(Opcode::EXTRACT, {rows, level}, state_type(i),
                       ir::AccessPayload{{_level}, false});
    }
    Value *bit(ir::Builder &b, Value *number) const {
        auto *low = b.elementwise(Opcode::AND, {number, b.index(1)});
        return b.elementwise(Opcode::NE, {low, b.index(0)});
    }

    /// Copies the code of a region on scalars to `b`. Where its arguments stand for tiles, so do the results.
    Values inlined(ir::Builder &b, const ir::Region &region, const Values &arguments) const {
        bool tiles = std::any_of(arguments.begin(), arguments.end(),
                                 [](const Value *v) { return !v->type()->is_scalar(); });
        if (!tiles) {
            return cloned(b, region, arguments);
        }
        bool elementwise = true;
        for (const auto *op : region) {
            elementwise &= ir::is_elementwise(op->opcode()) || op->opcode() == Opcode::CONSTANT ||
                           op->opcode() == Opcode::YIELD;
        }
        return elementwise ? on_tiles(b, region, arguments) : by_elements(b, region, arguments);
    }

    Values cloned(ir::Builder &b, const ir::Region &region, const Values &arguments) const {
        ir::Cloner cloner{_module};
        for (size_t i = 0; i < arguments.size(); ++i) {
            cloner.map(region.argument(i), arguments[i]);
        }
        for (const auto *op : region) {
            if (op->opcode() != Opcode::YIELD) {
                put(b, cloner.clone(*op));
            }
        }
        return yielded(cloner, region);
    }
    static Values yielded(ir::Cloner &cloner, const ir::Region &region) {
        Values yields;
        for (auto *operand : region.terminator()->operands()) {
            yields.push_back(cloner.mapped(operand));
        }
        return yields;
    }

    /// The same operations on whole tiles.
    Values on_tiles(ir::Builder &b, const ir::Region &region, const Values &arguments) const {
        ir::Cloner cloner{_module};
        for (size_t i = 0; i < arguments.size(); ++i) {
            cloner.map(region.argument(i), arguments[i]);
        }
        for (const auto *op : region) {
            if (op->opcode() == Opcode::CONSTANT) {
                put(b, cloner.clone(*op));
            } else if (op->opcode() != Opcode::YIELD) {
                Values operands;
                for (auto *operand : op->operands()) {
                    operands.push_back(cloner.mapped(operand));
                }
                auto dims = ir::join_dims(ir::to_string(op->opcode()), operands, op->loc);
                auto *type = _module.tile(op->result()->scalar(), std::move(dims));
                cloner.map(op->result(), b.value(op->opcode(), operands, type, op->payload()));
            }
        }
        return yielded(cloner, region);
    }

    /// A loop over the elements, since branches and loops of the region go another way for each.
    Values by_elements(ir::Builder &b, const ir::Region &region, const Values &arguments) const {
        auto dims = ir::join_dims("reduce", arguments, _op->loc);
        ir::NestPayload payload;
        Values operands;
        for (const auto &d : dims) {
            payload.dims.push_back(d.dim);
            operands.push_back(b.index(d.extent));
        }
        std::vector<const ir::Type *> types;
        for (auto *value : region.terminator()->operands()) {
            types.push_back(_module.tile(value->scalar(), dims));
            operands.push_back(b.constant_tile(types.back(), 0));
        }
        auto *loop = b.emit(Opcode::SERIAL, operands, types, payload, 1);
        Values indices, results;
        for (size_t i = 0; i < dims.size(); ++i) {
            indices.push_back(_module.add_argument(loop->body(), operands[i]->type()));
        }
        for (const auto *type : types) {
            results.push_back(_module.add_argument(loop->body(), type));
        }
        ir::Builder inner{_module, loop->body()};
        inner.loc = _op->loc;
        Values elements;
        for (auto *argument : arguments) {
            elements.push_back(element(inner, argument, dims, indices));
        }
        auto values = cloned(inner, region, elements);
        for (size_t i = 0; i < results.size(); ++i) {
            Values at{results[i], values[i]};
            at.insert(at.end(), indices.begin(), indices.end());
            results[i] = inner.value(Opcode::INSERT, at, types[i],
                                     ir::AccessPayload{payload.dims, false});
        }
        inner.emit(Opcode::YIELD, results, {});
        return loop->results();
    }
    Value *element(ir::Builder &b, Value *tile, const std::vector<ir::DimExtent> &dims,
                   const Values &indices) const {
        ir::AccessPayload payload;
        Values operands{tile};
        for (size_t i = 0; i < dims.size(); ++i) {
            const auto &own = tile->type()->dims;
            if (std::find(own.begin(), own.end(), dims[i]) != own.end()) {
                payload.dims.push_back(dims[i].dim);
                operands.push_back(indices[i]);
            }
        }
        return payload.dims.empty() ? tile
                                    : b.value(Opcode::EXTRACT, operands,
                                              _module.scalar(tile->scalar()), std::move(payload));
    }

    void put(ir::Builder &b, ir::Operation *op) const {
        if (b.region() == _op->region()) {
            _module.insert_before(_op, op);
        } else {
            _module.append(b.region(), op);
        }
    }
    Value *with_type(ir::Builder &b, Value *x, const ir::Type *type) const {
        return x->type() == type ? x : b.value(Opcode::BROADCAST, {x}, type, ir::None{});
    }

    Values merge(ir::Builder &b, const Values &left, const Values &right) const {
        Values merged(_count);
        const auto &bound = _op->get<ir::NestPayload>().contract;
        auto fields = bound.empty() ? 1 : _op->body(1)->terminator()->operand_count();
        for (size_t first = 0; first < bound.size(); first += fields) {
            Values sides;
            for (const auto *side : {&left, &right}) {
                for (size_t f = 0; f < fields; ++f) {
                    sides.push_back((*side)[static_cast<size_t>(bound[first + f])]);
                }
            }
            auto values = inlined(b, *_op->body(2), sides);
            for (size_t f = 0; f < fields; ++f) {
                auto state = static_cast<size_t>(bound[first + f]);
                merged[state] = with_type(b, values[f], state_type(state));
            }
        }
        for (size_t i = 0; i < _count; ++i) {
            if (_merges[i]) {
                merged[i] = b.elementwise(*_merges[i], {left[i], right[i]});
            }
        }
        return merged;
    }

    /// Begins a copy of the body for states that hold nothing yet.
    void begin_leaf(ir::Builder &b, ir::Cloner &cloner, const Values &indices) const {
        const auto &body = *_op->body();
        const auto &bound = _op->get<ir::NestPayload>().contract;
        auto neutral = bound.empty() ? Values{} : inlined(b, *_op->body(1), {});
        for (size_t i = 0; i < indices.size(); ++i) {
            cloner.map(body.argument(i), indices[i]);
        }
        for (size_t i = 0; i < _count; ++i) {
            auto *from = _merges[i] ? b.constant_tile(state_type(i), 0) : nullptr;
            for (size_t at = 0; at < bound.size() && !from; ++at) {
                if (bound[at] == static_cast<int32_t>(i)) {
                    from = with_type(b, neutral[at % neutral.size()], state_type(i));
                }
            }
            cloner.map(body.argument(indices.size() + i), from);
        }
    }

    /// Copies what stands in a region of the body, other than `not_this`.
    void copy(ir::Builder &b, ir::Cloner &cloner, const ir::Region &region,
              const ir::Operation *not_this = nullptr) const {
        for (const auto *op : region) {
            if (op->opcode() != Opcode::YIELD && op != not_this) {
                put(b, cloner.clone(*op));
            }
        }
    }

    /// What one contribution makes of states that hold nothing yet.
    Values leaf(ir::Builder &b, ir::Cloner &cloner) const {
        const auto &body = *_op->body();
        Values states;
        for (size_t i = 0; i < _count; ++i) {
            const auto *yielded = ir::updated_state(*_op, i);
            const auto *update = yielded->definition();
            if (_merges[i] && update->opcode() != Opcode::MMA) {
                // Not what the operation makes of zero, but the operand that it adds.
                bool second = update->operand(0) ==
                              body.argument(body.arguments().size() - _count + i);
                yielded = update->operand(second ? 1 : 0);
            }
            states.push_back(with_type(b, cloner.mapped(yielded), state_type(i)));
        }
        return states;
    }

    /// Merges the contribution `states`, number `number`, with the rows of the trees that it completes. Gives
    /// the merged states and last the level of their row.
    Values carried(ir::Builder &b, const Values &rows, const Values &states, Value *number) const {
        auto operands = states;
        operands.push_back(number);
        operands.push_back(b.index(0));
        std::vector<const ir::Type *> types;
        for (auto *operand : operands) {
            types.push_back(operand->type());
        }
        auto *loop = b.emit(Opcode::WHILE, operands, types, ir::None{}, 1);
        Values now;
        for (const auto *type : types) {
            now.push_back(_module.add_argument(loop->body(), type));
        }
        ir::Builder inner{_module, loop->body()};
        inner.loc = _op->loc;
        auto *level = now.back();
        auto *left = now[now.size() - 2];
        now.resize(_count);
        inner.emit(Opcode::CONDITION, {bit(inner, left)}, {});
        Values before;
        for (size_t i = 0; i < _count; ++i) {
            before.push_back(row(inner, rows[i], i, level));
        }
        auto next = merge(inner, before, now);
        next.push_back(inner.elementwise(Opcode::SHR, {left, inner.index(1)}));
        next.push_back(inner.elementwise(Opcode::ADD, {level, inner.index(1)}));
        inner.emit(Opcode::YIELD, next, {});
        auto results = loop->results();
        results.erase(results.end() - 2);
        return results;
    }

    /// The rows after all contributions and, last, the number of these.
    Values run_contributions() {
        auto operands = _op->operands();
        operands.resize(_lead);
        std::vector<const ir::Type *> types;
        for (size_t i = 0; i < _count; ++i) {
            types.push_back(rows_type(i));
            operands.push_back(_b.constant_tile(types.back(), 0));
        }
        types.push_back(_module.scalar(ScalarType::INT64));
        operands.push_back(_b.index(0));
        ir::NestPayload payload;
        payload.is_range = _op->get<ir::NestPayload>().is_range;
        payload.dims = _op->get<ir::NestPayload>().dims;
        auto *loop = _b.emit(Opcode::SERIAL, operands, types, payload, 1);
        Values indices, rows;
        for (size_t i = 0; i < _op->body()->arguments().size() - _count; ++i) {
            indices.push_back(_module.add_argument(loop->body(), _op->body()->argument(i)->type()));
        }
        for (const auto *type : types) {
            rows.push_back(_module.add_argument(loop->body(), type));
        }
        ir::Builder inner{_module, loop->body()};
        inner.loc = _op->loc;
        ir::Cloner cloner{_module};
        begin_leaf(inner, cloner, indices);
        copy(inner, cloner, *_op->body(), _guard);
        if (!_guard) {
            inner.emit(Opcode::YIELD, contribute(inner, leaf(inner, cloner), rows), {});
            return loop->results();
        }
        auto *branch = inner.emit(Opcode::IF, {cloner.mapped(_guard->operand(0))}, types,
                                  ir::None{}, 2);
        ir::Builder some{_module, branch->body(0)}, none{_module, branch->body(1)};
        some.loc = none.loc = _op->loc;
        copy(some, cloner, *_guard->body(0));
        some.emit(Opcode::YIELD, contribute(some, leaf(some, cloner), rows), {});
        none.emit(Opcode::YIELD, rows, {});
        inner.emit(Opcode::YIELD, branch->results(), {});
        return loop->results();
    }

    /// The rows and the number of contributions after the contribution `states`.
    Values contribute(ir::Builder &b, const Values &states, const Values &rows) const {
        auto *number = rows.back();
        auto merged = carried(b, rows, states, number);
        Values next;
        for (size_t i = 0; i < _count; ++i) {
            next.push_back(b.value(Opcode::INSERT, {rows[i], merged[i], merged.back()},
                                   rows[i]->type(), ir::AccessPayload{{_level}, false}));
        }
        next.push_back(b.elementwise(Opcode::ADD, {number, b.index(1)}));
        return next;
    }

    /// The rows that belong to the ones of `total`, lowest first.
    Values merge_rows(const Values &rows, Value *total) {
        Values operands{_b.index(0), _b.index(_levels), _b.index(1)};
        std::vector<const ir::Type *> types;
        for (size_t i = 0; i < _count; ++i) {
            types.push_back(state_type(i));
            operands.push_back(_b.constant_tile(types.back(), 0));
        }
        types.push_back(_module.scalar(ScalarType::BOOL));
        operands.push_back(_b.constant(ScalarType::BOOL, 0));
        ir::NestPayload payload;
        payload.is_range = true;
        auto *loop = _b.emit(Opcode::SERIAL, operands, types, payload, 1);
        auto *level = _module.add_argument(loop->body(), _module.scalar(ScalarType::INT64));
        Values now;
        for (const auto *type : types) {
            now.push_back(_module.add_argument(loop->body(), type));
        }
        ir::Builder inner{_module, loop->body()};
        inner.loc = _op->loc;
        auto *some = now.back();
        now.pop_back();
        auto *taken = bit(inner, inner.elementwise(Opcode::SHR, {total, level}));
        Values own;
        for (size_t i = 0; i < _count; ++i) {
            own.push_back(row(inner, rows[i], i, level));
        }
        auto merged = merge(inner, own, now);
        Values next;
        for (size_t i = 0; i < _count; ++i) {
            auto *with_row = choose(inner, some, merged[i], own[i]);
            next.push_back(choose(inner, taken, with_row, now[i]));
        }
        next.push_back(inner.elementwise(Opcode::OR, {some, taken}));
        inner.emit(Opcode::YIELD, next, {});
        auto results = loop->results();
        results.pop_back();
        return results;
    }

    ir::Module &_module;
    ir::Operation *_op;
    ir::Builder _b;
    const ir::Operation *_guard = ir::guard_of(*_op);
    size_t _count, _lead;///< states; operands before them
    Dim _level = tile::dim("level");
    int64_t _levels = 1;
    std::vector<std::optional<Opcode>> _merges;///< none: by the contract
};

}// namespace

std::string reduce_as_tree(ir::Module &module, ir::Operation *reduce) {
    return TreeReduction{module, reduce}.run();
}

}// namespace luisa::tile::transform
