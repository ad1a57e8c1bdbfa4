// SPDX-License-Identifier: Apache-2.0
#include "realize/simt/panel_copy.h"

#include "analysis/expressions.h"
#include "analysis/intervals.h"

#include <algorithm>

// Panels are copied in units of 16 bytes, neighbouring threads neighbouring units. Where the tile lies inside of its
// view and vectors are aligned, which is asked once a panel, a unit is one access; elsewhere it is put together from
// elements, of which those that do not exist are zero.

namespace luisa::tile::simt {

using ir::DimExtent;
using ir::Opcode;

void place_in(cpu::MachineBuilder &b, const std::vector<DimExtent> &dims, ir::Value *index,
              Point &point) {
    auto *rest = index;
    size_t first = 0;
    while (first < dims.size() && dims[first].extent == 1) {
        ++first;
    }
    for (size_t i = dims.size(); i-- > first;) {
        auto *extent = b.index(dims[i].extent);
        point.at[dims[i].dim.id] = {i == first ? rest : b.rem(rest, extent), 0, nullptr};
        rest = i == first ? rest : b.div(rest, extent);
    }
}

PanelCopy::PanelCopy(BlockLowering &lowering, const ir::Value *operand,
                     const plan::StagedOperand &how, std::vector<DimExtent> free,
                     std::vector<DimExtent> steps, int64_t depth)
    : _l{lowering}, _b{lowering._b}, _operand{operand}, _how{how}, _free{std::move(free)},
      _steps{std::move(steps)}, _depth{depth}, _bytes{static_cast<int64_t>(size_of(how.type))},
      _per_unit{16 / _bytes}, _units_per_line{how.length / _per_unit} {
    auto count = [](const std::vector<DimExtent> &dims) {
        int64_t n = 1;
        for (const auto &d : dims) {
            n *= d.extent;
        }
        return n;
    };
    _step_count = count(_steps);
    _elements = _how.along_steps ? _depth : count(_free);
    const auto &dims = _how.along_steps ? _steps : _free;
    for (const auto &d : dims) {
        _along = d.extent != 1 ? &d : _along;
    }
}

PanelCopy::Unit PanelCopy::unit(ir::Value *number) {
    auto *per_line = _b.index(_units_per_line);
    return {_b.div(number, per_line), _b.mul(_b.rem(number, per_line), _b.index(_per_unit))};
}

/// The unit that this thread copies in round `i`.
PanelCopy::Unit PanelCopy::unit_of_thread(int64_t i, ir::Value *first) {
    int64_t threads = _l._threads;
    Unit own;
    if (threads % _units_per_line == 0) {
        own = unit(_l._thread);
        own.line = _b.add(own.line, _b.index(i * (threads / _units_per_line)));
    } else {
        own = unit(_b.add(_l._thread, _b.index(i * threads)));
    }
    if ((i + 1) * threads > units()) {
        own.exists = _b.compare(Opcode::LT, _l._thread, _b.index(units() - i * threads));
    }
    own.filled = has_step(_how.along_steps ? own.start : own.line, first);
    return own;
}

/// Whether the panel has a step so far from its first one; null: always.
ir::Value *PanelCopy::has_step(ir::Value *number, ir::Value *first) {
    auto places = _how.along_steps ? _how.length : _how.lines;
    ir::Value *exists = nullptr;
    if (places > _depth) {
        exists = _b.compare(Opcode::LT, number, _b.index(_depth));
    }
    if (_step_count % _depth != 0) {
        auto *step = _b.add(first, number);
        exists = _b.both(exists, _b.compare(Opcode::LT, step, _b.index(_step_count)));
    }
    return exists;
}

ir::Value *PanelCopy::place(ir::Value *to, const Unit &unit) {
    if (_how.permuted) {
        auto per_part = _how.pitch / 16;
        auto *number = _b.div(unit.start, _b.index(_per_unit));
        auto *in_part = _units_per_line > per_part ? _b.rem(number, _b.index(per_part)) : number;
        auto *line = _b.rem(unit.line, _b.index(target::panel_lines));
        Values terms{_b.mul(_b.pure(Opcode::XOR, {in_part, line}), _b.index(16)),
                     _b.mul(unit.line, _b.index(_how.pitch))};
        if (_units_per_line > per_part) {
            auto *part = _b.div(number, _b.index(per_part));
            terms.push_back(_b.mul(part, _b.index(_how.part_bytes())));
        }
        return _b.address_sum(to, terms, 1);
    }
    return _b.address_sum(
        to, {_b.mul(unit.line, _b.index(_how.pitch)), _b.mul(unit.start, _b.index(_bytes))}, 1);
}

Point PanelCopy::point_at(const Unit &unit, int64_t offset, ir::Value *first, const Point &point) {
    auto at = point.derived();
    auto *along = _b.add(unit.start, _b.index(offset));
    auto *step = _b.add(first, _how.along_steps ? along : unit.line);
    place_in(_b, _free, _how.along_steps ? unit.line : along, at);
    place_in(_b, _steps, step, at);
    return at;
}

/// Lets the load go unchecked at `point` where its whole tile lies inside of the view; gives that condition.
ir::Value *PanelCopy::inside(const ir::Operation &load, Point &point) {
    const auto *view = load.operand(0);
    const auto &box = load.result()->type()->dims;
    ir::Value *condition = nullptr;
    if (load.get<ir::LoadPayload>().bounds == Bounds::ASSUME ||
        load.get<ir::LoadPayload>().mapped) {
        return nullptr;
    }
    for (size_t axis = 0; axis < box.size(); ++axis) {
        const auto *origin = load.operand(1 + axis);
        auto extent = view->type()->axes[axis].extent;
        auto known = analysis::interval_of(origin);
        bool proven = extent != ir::runtime_value && known.high != INT64_MAX &&
                      known.high <= extent - box[axis].extent;
        if (box[axis].extent == 1 || proven || _operand->type()->find(box[axis].dim) < 0 ||
            point.clips.count(box[axis].dim.id)) {
            continue;
        }
        point.clips[box[axis].dim.id] = {origin, extent, view, axis};
        auto *end = _b.add(_l.scalar_value(origin), _b.index(box[axis].extent));
        condition = _b.both(condition, _b.compare(Opcode::LE, end, _l.view_extent(view, axis)));
    }
    return condition;
}

/// The condition that vectors of a load lie at multiples of their size; null: always.
ir::Value *PanelCopy::aligned(const ir::Operation &load, const DimExtent &along) {
    const auto *view = load.operand(0);
    const auto &box = load.result()->type()->dims;
    auto strides = analysis::view_strides(*view->type());
    auto bytes = static_cast<int64_t>(size_of(load.result()->scalar())) * _per_unit;
    ir::Value *condition = nullptr;
    auto is_multiple = [&](ir::Value *value, int64_t of) {
        int64_t known = 0;
        if (MachineBuilder::is_constant(value, known)) {
            value = _b.index(known & (of - 1));
        } else {
            value = _b.pure(Opcode::AND, {value, _b.index(of - 1)});
        }
        condition = _b.both(condition, _b.compare(Opcode::EQ, value, _b.index(0)));
    };
    is_multiple(_l.view_word(view, 0, ScalarType::INT64), bytes);
    for (size_t axis = 0; axis < box.size(); ++axis) {
        bool contiguous = box[axis].dim == along.dim && strides[axis] == 1;
        is_multiple(contiguous ? _l.scalar_value(load.operand(1 + axis))
                               : _l.view_stride(view, axis),
                    _per_unit);
    }
    return condition;
}

/// When units can be copied by one access each; prepares `point` for that. Null: always.
ir::Value *PanelCopy::fast_condition(Point &point) {
    ir::Value *condition = nullptr;
    auto is_leaf = [this](const ir::Value *v) { return _l._plan->home(v) != nullptr; };
    analysis::visit_leaves(_operand, {{_along->dim.id, {true, 1}}}, is_leaf, [&](const auto &leaf) {
        auto *op = leaf.value->definition();
        if (!op || op->opcode() != Opcode::LOAD || leaf.value->type()->is_scalar()) {
            return;
        }
        if (leaf.pointwise) {
            condition = _b.both(condition, inside(*op, point));
        }
        if (analysis::address_slope(*op, leaf.slopes).value == 1) {
            condition = _b.both(condition, aligned(*op, *_along));
        }
    });
    return condition;
}

/// The place of a vector of the operand.
Point PanelCopy::vector_at(const Unit &unit, ir::Value *first, const Point &point) {
    auto at = point_at(unit, 0, first, point);
    at.at[_along->dim.id].slope = 1;
    at.lanes = static_cast<int>(_per_unit);
    return at;
}

/// Where copies past the registers read from; nothing where the load needs more than an address. Addresses are
/// computed before any branch, so that what all panels have in common is computed once.
Values PanelCopy::sources(const std::vector<Unit> &owned, ir::Value *first, const Point &point) {
    Values addresses;
    const auto &load = *_operand->definition();
    for (const auto &unit : owned) {
        auto at = vector_at(unit, first, point);
        auto access = _l.load_access(load, load.get<ir::LoadPayload>().bounds, at);
        if (access.mask || access.indices) {
            return {};
        }
        addresses.push_back(access.address);
    }
    return addresses;
}

/// Runs `body` where a condition holds; null: always.
Values PanelCopy::where(ir::Value *condition, const std::function<Values()> &body,
                        const std::function<Values()> &other) {
    return condition ? _b.branch(condition, body, other) : body();
}

void PanelCopy::write(ir::Value *to, ir::Value *value) {
    _b.effect(Opcode::WRITE, {to, value}, ir::MemoryPayload{16, false, false});
}

void PanelCopy::copy_vectors(const Values &targets, const std::vector<Unit> &owned,
                             const Values &from, ir::Value *first, const Point &point) {
    auto none = [] { return Values{}; };
    auto lanes = static_cast<int>(_per_unit);
    auto *zeros = _b.splat(_b.constant(_how.type, 0), lanes);
    for (size_t i = 0; i < from.size(); ++i) {
        auto copy = [&] {
            _b.effect(Opcode::COPY_ASYNC, {targets[i], from[i]}, ir::CopyPayload{16});
            return Values{};
        };
        auto clear = [&] {
            if (_how.zeros) {
                write(targets[i], zeros);
            }
            return Values{};
        };
        auto unit = [&] { return where(owned[i].filled, copy, clear); };
        where(owned[i].exists, unit, none);
    }
    if (!from.empty()) {
        return;
    }
    // All reads come before the writes, so that they are under way together.
    Values held;
    for (const auto &own : owned) {
        auto read = [&] {
            auto at = vector_at(own, first, point);
            _l._aligned_lanes = lanes;
            auto *value = _l.convert(_l.evaluate(_operand, at), _how.type);
            _l._aligned_lanes = 1;
            return Values{_b.splat(value, lanes)};
        };
        held.push_back(
            where(_b.both(own.exists, own.filled), read, [&] { return Values{zeros}; }).front());
    }
    for (size_t i = 0; i < owned.size(); ++i) {
        auto put = [&] {
            write(targets[i], held[i]);
            return Values{};
        };
        where(owned[i].exists, put, none);
    }
}

/// An element of a unit, in the type of the panel; zero where there is none.
ir::Value *PanelCopy::element(const Unit &unit, int64_t offset, ir::Value *first,
                              const Point &point) {
    auto *along = _b.add(unit.start, _b.index(offset));
    ir::Value *exists = nullptr;
    if (_elements != _how.length) {
        exists = _b.compare(Opcode::LT, along, _b.index(_elements));
    }
    exists = _b.both(exists, has_step(_how.along_steps ? along : unit.line, first));
    auto compute = [&] {
        auto at = point_at(unit, offset, first, point);
        return Values{_l.convert(_l.evaluate(_operand, at), _how.type)};
    };
    auto values = exists ? _b.branch(exists, compute,
                                     [&] { return Values{_b.constant(_how.type, 0)}; })
                         : compute();
    return values.front();
}

void PanelCopy::copy_elements(ir::Value *to, ir::Value *first, const Point &point) {
    _b.loop(_l._thread, _b.index(units()), _l._threads, {}, [&](ir::Value *number, const Values &) {
        auto own = unit(number);
        auto *type = _b.module().vector(_how.type, static_cast<uint16_t>(_per_unit));
        auto *all = _b.splat(_b.constant(_how.type, 0), static_cast<int>(_per_unit));
        for (int64_t j = 0; j < _per_unit; ++j) {
            auto *one = element(own, j, first, point);
            all = _b.pure(Opcode::INSERT_LANE, {all, one}, ir::IndexPayload{j}, type);
        }
        write(place(to, own), all);
        return Values{};
    });
}

bool PanelCopy::grows_steadily(const Growth &growth) const {
    bool steady = _how.vector > 1;
    auto is_leaf = [this](const ir::Value *v) { return _l._plan->home(v) != nullptr; };
    analysis::visit_leaves(_operand, {{_along->dim.id, {true, 1}}}, is_leaf, [&](const auto &leaf) {
        auto *op = leaf.value->definition();
        if (!op || op->opcode() != Opcode::LOAD || leaf.value->type()->is_scalar()) {
            return;
        }
        for (size_t i = 0; i < op->operand_count(); ++i) {
            auto by = growth(op->operand(i));
            // Vectors that lie at a multiple of their size go on doing so.
            steady &= by && *by % _per_unit == 0;
        }
    });
    return steady;
}

ir::Value *PanelCopy::fast_everywhere(const Point &point) {
    auto clipped = point.derived();
    return fast_condition(clipped);
}

void PanelCopy::emit(ir::Value *to, ir::Value *first, ir::Value *exists, const Point &point,
                     bool known_fast) {
    ++_l._alone;
    auto outer = _b.location();
    if (auto *op = _operand->definition()) {
        _b.set_location(op->loc);
    }
    auto none = [] { return Values{}; };
    auto by_elements = [&] {
        copy_elements(to, first, point);
        return Values{};
    };
    if (_how.vector == 1) {
        _b.branch(exists, by_elements, none);
    } else {
        auto clipped = point.derived();
        auto *each = fast_condition(clipped);
        auto *fast = _b.both(exists, known_fast ? nullptr : each);
        int64_t threads = _l._threads;
        std::vector<Unit> owned;
        Values targets;
        for (int64_t i = 0; i * threads < units(); ++i) {
            owned.push_back(unit_of_thread(i, first));
            targets.push_back(place(to, owned.back()));
        }
        auto from = _how.async ? sources(owned, first, clipped) : Values{};
        _b.branch(
            fast,
            [&] {
                copy_vectors(targets, owned, from, first, clipped);
                return Values{};
            },
            [&] {
                // Where every panel can be copied by vectors, the others are those that do not exist.
                return fast == exists ? Values{} : _b.branch(exists, by_elements, none);
            });
    }
    _b.set_location(outer);
    --_l._alone;
}

}// namespace luisa::tile::simt
