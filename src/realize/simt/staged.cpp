// SPDX-License-Identifier: Apache-2.0
#include "realize/simt/staged.h"

#include <algorithm>
#include <numeric>

// The panels of all iterations of the nests are one sequence. While one is multiplied, those that follow are copied
// into the other places of a ring; one barrier a panel stands between the last use of a place and the next copy.

namespace luisa::tile::simt {

using ir::DimExtent;
using ir::Opcode;

namespace {

std::vector<DimExtent> wide_dims(const std::vector<DimExtent> &dims) {
    std::vector<DimExtent> kept;
    std::copy_if(dims.begin(), dims.end(), std::back_inserter(kept),
                 [](const DimExtent &d) { return d.extent != 1; });
    return kept;
}

int64_t product_of(const std::vector<DimExtent> &dims) {
    int64_t n = 1;
    for (const auto &d : dims) {
        n *= d.extent;
    }
    return n;
}

}// namespace

void BlockLowering::lower_staged(const plan::Contraction &c) {
    // Panels of products lie in one place: it stands for them all.
    Touched panels;
    panels.writes.insert(&_staging);
    touch(panels);
    auto before = _touched;
    // Other steps may want more threads than the product; of several products the one with the largest sums decides.
    auto own = (c.stage->threads() + 31) / 32 * 32;
    auto resident = static_cast<int>(std::max<int64_t>(c.stage->resident * own / _threads, 1));
    _resident = _resident ? std::min(_resident, resident) : resident;
    auto *lower = c.stage->panel_atom ? lower_by_groups
                  : c.stage->atom     ? lower_by_warps
                                      : lower_by_threads;
    lower(*this, c);
    // Without a panel no barrier is passed.
    _touched.add(before);
    _touched.add(panels);
}

StagedContraction::StagedContraction(BlockLowering &lowering, const plan::Contraction &contraction)
    : _l{lowering}, _b{lowering._b}, _c{contraction}, _s{*contraction.stage},
      _type{contraction.result->scalar()} {
    bool half = _type == ScalarType::FLOAT16 || _type == ScalarType::BFLOAT16;
    _wide = half ? ScalarType::FLOAT32 : _type;
    _batch = wide_dims(_c.roles.batch);
    _columns = wide_dims(_c.transposed ? _c.roles.rows : _c.roles.columns);
    _rows = wide_dims(_c.transposed ? _c.roles.columns : _c.roles.rows);
    _height = product_of(_rows);
    _width = product_of(_columns);
    for (const auto *product : _c.products) {
        std::vector<DimExtent> dims;
        for (const auto &d : product->operand(0)->type()->dims) {
            if (product->result()->type()->find(d.dim) < 0) {
                dims.push_back(d);
            }
        }
        _steps.push_back(wide_dims(dims));
    }
}

void StagedContraction::run() {
    Point point;
    auto space = _batch;
    space.insert(space.end(), _rows.begin(), _rows.end());
    space.insert(space.end(), _columns.begin(), _columns.end());
    _ends = _l.clip_loops(_c.epilogue, space, point);
    _start = _l.start_of(_l.staging_room());
    count_panels();
    auto batches = product_of(_batch);
    _b.loop(_b.index(0), _b.index(batches), 1, {}, [&](ir::Value *number, const Values &) {
        auto inner = point.derived();
        place_in(_b, _batch, number, inner);
        result(inner);
        if (batches > 1) {
            _l.barrier();
        }
        return Values{};
    });
}

/// How many panels all iterations have together.
void StagedContraction::count_panels() {
    int64_t most = 0;
    for (const auto &steps : _steps) {
        most = std::max(most, product_of(steps));
    }
    _chunks = _b.index((most + _s.depth - 1) / _s.depth);
    _panels = _chunks;
    for (const auto *nest : _c.nests) {
        const auto &payload = nest->get<ir::NestPayload>();
        auto *zero = _b.index(0);
        if (payload.is_range) {
            auto range = _l.range_of(*nest);
            auto *span = _b.maximum(_b.sub(range.end, range.begin), zero);
            auto *count = _b.div(_b.add(span, _b.sub(range.step, _b.index(1))), range.step);
            int64_t step = 0;
            bool ascends = MachineBuilder::is_constant(range.step, step) && !range.first;
            _axes.push_back({nest, 0, count, true, ascends ? std::optional{step} : std::nullopt});
        }
        for (size_t i = 0; !payload.is_range && i < payload.dims.size(); ++i) {
            auto *count = _b.maximum(_l.scalar_value(nest->operand(i)), zero);
            _axes.push_back({nest, i, count, false, 1});
        }
    }
    for (const auto &axis : _axes) {
        _panels = _b.mul(_panels, axis.count);
    }
}

/// Binds the indices of the nests, and the first step, to those of a panel.
void StagedContraction::bind_panel(ir::Value *panel) {
    _first = _b.mul(_b.rem(panel, _chunks), _b.index(_s.depth));
    auto *rest = _b.div(panel, _chunks);
    for (size_t i = _axes.size(); i-- > 0;) {
        const auto &axis = _axes[i];
        auto *number = i == 0 ? rest : _b.rem(rest, axis.count);
        rest = i == 0 ? rest : _b.div(rest, axis.count);
        if (axis.is_range) {
            auto range = _l.range_of(*axis.nest);
            auto *iv = _b.add(range.begin, _b.mul(number, range.step));
            number = range.index(_b, iv);
        }
        _l._scalars[axis.nest->body()->argument(axis.argument)] = number;
    }
}

ir::Value *StagedContraction::slot_of(ir::Value *panel) {
    auto *slot = _b.rem(panel, _b.index(_s.stages));
    return _b.address(_start, _b.mul(slot, _b.index(_s.panel_bytes())), 1);
}

PanelCopy StagedContraction::copy_of(size_t product, int side) {
    auto position = static_cast<size_t>((side == 0) == _c.transposed ? 1 : 0);
    auto depth = std::min(_s.depth, product_of(_steps[product]));
    return {_l,
            _c.products[product]->operand(position),
            operand(product, side),
            side == 0 ? _rows : _columns,
            _steps[product],
            depth};
}

/// A number that divides what a scalar grows by with any iteration of the nests (see PanelCopy::Growth).
std::optional<int64_t> StagedContraction::growth(const ir::Value *value) const {
    auto is_inside = [&](const ir::Region *region) {
        const auto *body = _c.nests.front()->body();
        return region == body || body->encloses(region);
    };
    if (_c.nests.empty() || !is_inside(value->region())) {
        return 0;
    }
    const auto *op = value->definition();
    if (!op) {
        for (const auto &axis : _axes) {
            if (axis.nest->body()->argument(axis.argument) == value) {
                return axis.growth;
            }
        }
        return std::nullopt;
    }
    if (op->opcode() == Opcode::CONSTANT) {
        return 0;
    }
    if (op->opcode() == Opcode::ADD) {
        auto a = growth(op->operand(0)), b = growth(op->operand(1));
        return a && b ? std::optional{std::gcd(*a, *b)} : std::nullopt;
    }
    if (op->opcode() == Opcode::MUL) {
        for (size_t side = 0; side < 2; ++side) {
            const auto *factor = op->operand(side)->definition();
            auto by = growth(op->operand(1 - side));
            if (factor && factor->opcode() == Opcode::CONSTANT && by) {
                auto times = static_cast<int64_t>(factor->get<ir::ConstantPayload>().bits);
                constexpr int64_t most = int64_t{1} << 20;
                return times >= 0 && times <= most && *by <= most ? std::optional{*by * times}
                                                                  : std::nullopt;
            }
        }
    }
    return std::nullopt;
}

/// Whether the copies of the last panel tell how all panels are copied.
bool StagedContraction::copies_steadily() {
    for (size_t p = 0; p < _c.products.size(); ++p) {
        for (int side = 0; side < 2; ++side) {
            auto by = [this](const ir::Value *value) { return growth(value); };
            if (!copy_of(p, side).grows_steadily(by)) {
                return false;
            }
        }
    }
    return true;
}

/// The condition that all panels are copied by vectors; null: they are.
ir::Value *StagedContraction::fast_everywhere(const Point &point) {
    bind_panel(_b.maximum(_b.sub(_panels, _b.index(1)), _b.index(0)));
    ir::Value *condition = nullptr;
    auto whole = point.derived();
    whole.clips.clear();
    for (size_t p = 0; p < _c.products.size(); ++p) {
        for (int side = 0; side < 2; ++side) {
            condition = _b.both(condition, copy_of(p, side).fast_everywhere(whole));
        }
    }
    return condition;
}

void StagedContraction::copy_panel(ir::Value *panel, const Point &point, bool fast) {
    auto *exists = _b.compare(Opcode::LT, panel, _panels);
    bind_panel(panel);
    auto *to = slot_of(panel);
    // Whole tiles are copied: what the stores of the result leave out is no promise about operands.
    auto whole = point.derived();
    whole.clips.clear();
    int64_t offset = 0;
    for (size_t p = 0; p < _c.products.size(); ++p) {
        for (int side = 0; side < 2; ++side) {
            copy_of(p, side).emit(_b.address(to, nullptr, 1, offset), _first, exists, whole, fast);
            offset += operand(p, side).bytes();
        }
    }
}

Values StagedContraction::panel(ir::Value *number, Values sums) {
    auto *slot = slot_of(number);
    auto *first = _b.mul(_b.rem(number, _chunks), _b.index(_s.depth));
    int64_t offset = 0;
    for (size_t p = 0; p < _c.products.size(); ++p) {
        auto steps = product_of(_steps[p]);
        auto *exist = steps % _s.depth == 0 || steps < _s.depth
                          ? _b.index(std::min(steps, _s.depth))
                          : _b.minimum(_b.index(_s.depth), _b.sub(_b.index(steps), first));
        Panels panels{_b.address(slot, nullptr, 1, offset),
                      _b.address(slot, nullptr, 1, offset + operand(p, 0).bytes())};
        offset += operand(p, 0).bytes() + operand(p, 1).bytes();
        _b.set_location(_c.products[p]->loc);
        sums = multiply(p, panels, exist, sums);
    }
    if (_s.panel_atom) {
        _b.effect(Opcode::PANELS_COMMIT, {}, ir::None{});
    }
    return sums;
}

/// Where all panels are copied alike, which is asked once, the loop over them does nothing else: what other ways need
/// would take registers and time in all of them.
Values StagedContraction::all_panels(const Point &point, const Values &sums) {
    if (!_s.panel_atom || !copies_steadily()) {
        return panels_in_turn(point, sums, false);
    }
    auto *fast = fast_everywhere(point);
    return fast ? _b.branch(
                      fast, [&] { return panels_in_turn(point, sums, true); },
                      [&] { return panels_in_turn(point, sums, false); })
                : panels_in_turn(point, sums, true);
}

Values StagedContraction::panels_in_turn(const Point &point, const Values &sums, bool fast) {
    // A warpgroup still reads the panel before while the next one is copied.
    auto ahead = _s.stages - (_s.panel_atom ? 2 : 1);
    bool async = std::any_of(_s.operands.begin(), _s.operands.end(), [](const auto &product) {
        return product[0].async || product[1].async;
    });
    auto copy = [&](ir::Value *number) {
        copy_panel(number, point, fast);
        if (async) {
            _b.effect(Opcode::COPY_COMMIT, {}, ir::None{});
        }
    };
    for (int i = 0; i < ahead; ++i) {
        copy(_b.index(i));
    }
    auto done = _b.loop(_b.index(0), _panels, 1, sums, [&](ir::Value *number, const Values &now) {
        if (async) {
            _b.effect(Opcode::COPY_WAIT, {}, ir::IndexPayload{ahead - 1});
        }
        before_panel();
        _l.barrier();
        if (!_s.panel_atom) {
            copy(_b.add(number, _b.index(ahead)));
            return panel(number, now);
        }
        auto next = panel(number, now);
        copy(_b.add(number, _b.index(ahead)));
        return after_panel(next);
    });
    return _s.panel_atom ? after_panels(done) : done;
}

Point StagedContraction::place_of(const Element &element, const Point &batch) {
    auto at = batch.derived();
    place_in(_b, _rows, element.row, at);
    place_in(_b, _columns, element.column, at);
    return at;
}

ir::Value *StagedContraction::initial(const Element &element, const Point &batch, bool anywhere) {
    auto evaluate = [&] {
        auto at = place_of(element, batch);
        return Values{_l.convert(_l.evaluate(_c.initial, at), _wide)};
    };
    if (anywhere || !element.exists) {
        return evaluate().front();
    }
    return _b.branch(element.exists, evaluate, [&] { return Values{_b.constant(_wide, 0)}; })
        .front();
}

void StagedContraction::finish(const Element &element, ir::Value *sum, const Point &batch) {
    auto write = [&] {
        auto place = place_of(element, batch);
        auto *value = _l.convert(sum, _type);
        if (_c.epilogue.empty()) {
            _l.write_storage(_l._plan->home(_c.result), value, place);
            return Values{};
        }
        place.known[_c.result] = value;
        for (const auto &root : _c.epilogue) {
            _l.emit_root(root, place);
        }
        return Values{};
    };
    if (element.exists) {
        _b.branch(element.exists, write, [] { return Values{}; });
    } else {
        write();
    }
}

/// Elements that the stores of the epilogue leave out do not exist.
void StagedContraction::limit(std::vector<Element> &owned, const Point &batch) {
    for (auto &element : owned) {
        auto place = place_of(element, batch);
        for (const auto *dims : {&_batch, &_rows, &_columns}) {
            for (const auto &d : *dims) {
                auto found = _ends.find(d.dim.id);
                int64_t known = 0;
                bool whole = found == _ends.end() ||
                             (MachineBuilder::is_constant(found->second, known) &&
                              known >= d.extent);
                if (!whole) {
                    auto *inside = _b.compare(Opcode::LT, place.at.at(d.dim.id).base,
                                              found->second);
                    element.exists = _b.both(element.exists, inside);
                }
            }
        }
    }
}

/// One matrix of the result.
void StagedContraction::result(const Point &batch) {
    auto owned = elements();
    auto *op = _c.initial->definition();
    bool anywhere = op && op->opcode() == Opcode::CONSTANT;
    Values sums;
    ++_l._alone;
    if (!anywhere) {
        limit(owned, batch);
    }
    for (const auto &element : owned) {
        sums.push_back(initial(element, batch, anywhere));
    }
    --_l._alone;
    sums = all_panels(batch, sums);
    ++_l._alone;
    // Only here are conditions computed that nothing needed before: they would take registers all the while.
    if (anywhere) {
        limit(owned, batch);
    }
    for (size_t i = 0; i < owned.size(); ++i) {
        finish(owned[i], sums[i], batch);
    }
    --_l._alone;
}

}// namespace luisa::tile::simt
