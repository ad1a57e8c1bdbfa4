// SPDX-License-Identifier: Apache-2.0
#include "realize/cpu/contraction_lowering.h"

#include <algorithm>

namespace luisa::tile::cpu {

using ir::DimExtent;
using ir::Opcode;

Point ContractionLowering::element(const Point &point, ir::Value *row, int vector,
                                   const ColumnBlock &columns) {
    auto place = point.derived();
    if (!_rows.empty()) {
        place.at[_rows.back().dim.id] = {row, 0, nullptr};
    }
    if (!_columns.empty()) {
        auto *base = _b.add(columns.column, _b.index(int64_t{vector} * _c.lanes));
        place.at[_columns.back().dim.id] = {base, _c.lanes > 1 ? 1 : 0, nullptr};
        place.lanes = _c.lanes;
        if (columns.left && vector == columns.vectors - 1 && _c.lanes > 1) {
            auto *type = _b.module().vector(ScalarType::BOOL, static_cast<uint16_t>(_c.lanes));
            auto *rest = _b.sub(columns.left, _b.index(int64_t{vector} * _c.lanes));
            place.mask = _b.pure(Opcode::LANE_MASK, {rest}, ir::None{}, type);
        }
    }
    return place;
}

void ContractionLowering::register_block(Point &point, const RegisterBlock &block) {
    if (_c.atom == plan::Atom::DOT) {
        return dot_block(point, block);
    }
    if (_c.step_lanes) {
        return lanes_block(point, block);
    }
    Values accumulators;
    auto *row = block.row;
    int height = block.height, vectors = block.columns.vectors;
    if (_panel_begin) {
        for (int i = 0; i < height; ++i) {
            for (int j = 0; j < vectors; ++j) {
                accumulators.push_back(read_sum(_b.add(row, _b.index(i)), j));
            }
        }
        auto sums = nest_steps(0, point, block, accumulators);
        for (int i = 0; i < height; ++i) {
            for (int j = 0; j < vectors; ++j) {
                write_sum(_b.add(row, _b.index(i)), j, sums[static_cast<size_t>(i * vectors + j)]);
            }
        }
        return;
    }
    std::vector<Point> places;
    for (int i = 0; i < height; ++i) {
        for (int j = 0; j < vectors; ++j) {
            places.push_back(element(point, _b.add(row, _b.index(i)), j, block.columns));
            auto *start = _l.evaluate(_c.initial, places.back());
            accumulators.push_back(_b.splat(_l.convert(start, _wide), lanes()));
        }
    }
    accumulators = nest_steps(0, point, block, accumulators);
    finish_block(places, accumulators);
}

/// The interchanged temporal nests, then the contracted dimensions of each product.
Values ContractionLowering::nest_steps(size_t depth, Point &point, const RegisterBlock &block,
                                       const Values &accumulators) {
    if (depth == _c.nests.size()) {
        auto now = accumulators;
        for (size_t p = 0; p < _c.products.size(); ++p) {
            now = product_steps(p, 0, point, block, now);
        }
        return now;
    }
    return nest_loop(*_c.nests[depth], 0, accumulators, [&](const Values &now) {
        prefetch(point, block);
        return nest_steps(depth + 1, point, block, now);
    });
}

/// A temporal nest as loops, binding its indices; `axis` is the domain axis that comes next.
Values ContractionLowering::nest_loop(const ir::Operation &nest, size_t axis, const Values &states,
                                      const StepBody &body) {
    const auto &payload = nest.get<ir::NestPayload>();
    auto *region = nest.body();
    if (payload.is_range) {
        auto range = _l.range_of(nest);
        auto *begin = _panel_begin ? _panel_begin : range.begin;
        auto *end = _panel_begin ? _panel_end : range.end;
        return _b.loop(begin, end, range.step, states, [&](ir::Value *iv, const Values &now) {
            _l._scalars[region->argument(0)] = range.index(_b, iv);
            return body(now);
        });
    }
    if (axis == payload.dims.size()) {
        return body(states);
    }
    auto *end = _l.scalar_value(nest.operand(axis));
    return _b.loop(_b.index(0), end, 1, states, [&](ir::Value *iv, const Values &now) {
        _l._scalars[region->argument(axis)] = iv;
        return nest_loop(nest, axis + 1, now, body);
    });
}

std::vector<DimExtent> ContractionLowering::contracted(size_t product) const {
    return plan::contracted_dims(*_c.products[product]);
}

Values ContractionLowering::product_steps(size_t product, size_t depth, Point &point,
                                          const RegisterBlock &block, const Values &accumulators) {
    auto dims = contracted(product);
    if (depth == dims.size()) {
        return multiply(product, point, block, accumulators);
    }
    if (_c.step_lanes && dims[depth].extent != 1) {
        return lane_steps(product, dims[depth], point, block, accumulators);
    }
    auto *end = depth_end(product, dims[depth], point);
    auto step = [&](ir::Value *at, const Values &now) {
        auto inner = point.derived();
        inner.at[dims[depth].dim.id] = {at, 0, nullptr};
        return product_steps(product, depth + 1, inner, block, now);
    };
    bool innermost = depth + 1 == dims.size();
    auto unrolled = innermost ? unrolled_steps(product, dims[depth].extent, block.columns) : 1;
    auto *whole = unrolled == 1 ? end : _b.sub(end, _b.rem(end, _b.index(unrolled)));
    auto sums = accumulators;
    if (unrolled > 1) {
        sums = _b.loop(_b.index(0), whole, unrolled, sums, [&](ir::Value *iv, Values now) {
            for (int64_t i = 0; i < unrolled; ++i) {
                now = step(_b.add(iv, _b.index(i)), now);
            }
            return now;
        });
    }
    auto *first = unrolled == 1 ? _b.index(0) : whole;
    return _b.loop(first, end, 1, sums, step);
}

/// Steps of a product that one turn of its loop does. A step that only reads is so short that the jump
/// back shows; one that computes its operands is long enough, and its code would be many times as long. Nor is code for
/// the few blocks at the end of a view worth the time to compile it.
int64_t ContractionLowering::unrolled_steps(size_t product, int64_t extent,
                                            const ColumnBlock &columns) const {
    constexpr int64_t most = 4;
    auto reads = [&](Side side) {
        const auto *value = operand(side, product);
        auto *op = value->definition();
        return panel_plan(_c, side) || _l._plan->home(value) ||
               (op && op->opcode() == Opcode::LOAD);
    };
    bool is_short = lanes() > 1 && !columns.rare && reads(Side::VECTOR) && reads(Side::SCALAR);
    return is_short && extent >= 2 * most ? most : 1;
}

/// Steps beyond both operands multiply zeros: a reassociable product may leave them out.
ir::Value *ContractionLowering::depth_end(size_t product, const DimExtent &dim, Point &point) {
    auto *full = _b.index(dim.extent);
    auto clip_a = load_clip(product, 0, dim), clip_b = load_clip(product, 1, dim);
    const auto &policy = _c.products[product]->get<ir::MmaPayload>().policy;
    if (!policy.allow_reassociation || !clip_a || !clip_b || !clip_a->origin || !clip_b->origin ||
        !analysis::same_scalar(clip_a->origin, clip_b->origin)) {
        return full;
    }
    bool same = clip_a->extent == clip_b->extent;
    if (same && clip_a->extent == ir::runtime_value) {
        same = clip_a->view->type()->axes[clip_a->axis].name ==
               clip_b->view->type()->axes[clip_b->axis].name;
    }
    auto known = analysis::interval_of(clip_a->origin);
    if (!same || known.low < 0) {
        return full;
    }
    if (clip_a->extent != ir::runtime_value && known.high <= clip_a->extent - dim.extent) {
        return full;
    }
    point.clips[dim.dim.id] = *clip_a;
    auto *left = _b.sub(_l.view_extent(clip_a->view, clip_a->axis),
                        _l.scalar_value(clip_a->origin));
    return _b.minimum(full, left);
}

/// The load that an operand is (through casts and the like) and where `dim` stands in it.
std::optional<Clip> ContractionLowering::load_clip(size_t product, size_t operand,
                                                   const DimExtent &dim) const {
    const auto *value = _c.products[product]->operand(operand);
    while (auto *op = value->definition()) {
        if (_l._plan->home(value)) {
            return std::nullopt;
        }
        if (op->opcode() == Opcode::LOAD) {
            auto position = value->type()->find(dim.dim);
            const auto &payload = op->get<ir::LoadPayload>();
            if (position < 0 || payload.has_fallback || payload.mapped ||
                payload.bounds != Bounds::ZERO) {
                return std::nullopt;
            }
            auto axis = static_cast<size_t>(position);
            return Clip{op->operand(1 + axis), op->operand(0)->type()->axes[axis].extent,
                        op->operand(0), axis};
        }
        if (op->opcode() != Opcode::CAST && op->opcode() != Opcode::BROADCAST) {
            return std::nullopt;
        }
        value = op->operand(0);
    }
    return std::nullopt;
}

Values ContractionLowering::multiply(size_t product, Point &point, const RegisterBlock &block,
                                     Values accumulators) {
    const auto &op = *_c.products[product];
    _b.set_location(op.loc);
    int vectors = block.columns.vectors;
    Values wide;
    for (int j = 0; j < vectors; ++j) {
        auto place = element(point, block.row, j, block.columns);
        auto *value = _c.vector_panel ? read_panel(product, point, block.columns, j)
                                      : _l.evaluate(operand(Side::VECTOR, product), place);
        wide.push_back(_b.splat(_l.convert(value, _wide), lanes()));
    }
    bool rounds = is_half(_type) && !op.get<ir::MmaPayload>().policy.allow_reassociation;
    for (int i = 0; i < block.height; ++i) {
        auto place = element(point, _b.add(block.row, _b.index(i)), 0, {block.columns.column});
        place.lanes = 1;
        if (!_columns.empty()) {
            place.at.erase(_columns.back().dim.id);
        }
        auto *scalar = _c.scalar_panel ? read_panel_element(product, place, block.row, i)
                                       : _l.evaluate(operand(Side::SCALAR, product), place);
        scalar = _l.convert(scalar, _wide);
        auto *one = _b.splat(scalar, lanes());
        for (int j = 0; j < vectors; ++j) {
            auto &sum = accumulators[static_cast<size_t>(i * vectors + j)];
            auto *other = wide[static_cast<size_t>(j)];
            sum = is_float(_wide) ? _b.pure(Opcode::FMA, {one, other, sum})
                                  : _b.pure(Opcode::ADD, {_b.pure(Opcode::MUL, {one, other}), sum});
            if (rounds) {
                sum = _l.convert(_l.convert(sum, _type), _wide);
            }
        }
    }
    return accumulators;
}

void ContractionLowering::finish_block(std::vector<Point> &places, const Values &accumulators) {
    const auto *home = _l._plan->home(_c.result);
    for (size_t i = 0; i < places.size(); ++i) {
        auto *value = _l.convert(accumulators[i], _type);
        auto &place = places[i];
        if (_c.epilogue.empty()) {
            if (home) {
                _l.write_storage(home, value, place);
            } else {
                _l._scalars[_c.result] = value;
            }
            continue;
        }
        place.known.clear();
        place.known[_c.result] = value;
        for (const auto &root : _c.epilogue) {
            _l.emit_root(root, place);
        }
    }
}

}// namespace luisa::tile::cpu
