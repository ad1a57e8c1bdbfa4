// SPDX-License-Identifier: Apache-2.0
#include "realize/cpu/contraction_lowering.h"

#include <algorithm>

namespace luisa::tile::cpu {

using ir::DimExtent;
using ir::Opcode;

void ContractionLowering::fill_panel(const Source &source, size_t depth, Point &point,
                                     ir::Value *position) {
    auto [side, product] = source;
    const auto &along = panel_plan(_c, side)->contiguous_step;
    auto dims = contracted(product);
    // The dimension along which the operand is contiguous is loaded in vectors, last.
    std::stable_partition(dims.begin(), dims.end(),
                          [&](const DimExtent &d) { return !along || d.dim != *along; });
    if (depth == dims.size()) {
        return fill_vectors(product, point, position);
    }
    if (depth + 1 == dims.size() && side == Side::SCALAR) {
        return fill_transposed(source, axis_of(side), dims[depth], point, position);
    }
    if (depth + 1 == dims.size() && along) {
        return fill_transposed(source, dims[depth], axis_of(side), point, position);
    }
    _b.loop(_b.index(0), _b.index(dims[depth].extent), 1, {}, [&](ir::Value *iv, const Values &) {
        auto inner = point.derived();
        inner.at[dims[depth].dim.id] = {iv, 0, nullptr};
        fill_panel(source, depth + 1, inner, position);
        return Values{};
    });
}

/// One step of a panel of the vector operand, which is contiguous along the columns.
void ContractionLowering::fill_vectors(size_t product, Point &point, ir::Value *position) {
    const auto *value = operand(Side::VECTOR, product);
    auto *row = panel_row(product, position, point);
    if (_columns.empty()) {
        auto *one = _l.convert(_l.evaluate(value, point), _wide);
        _b.effect(Opcode::WRITE, {panel_address(product, row, nullptr, 0), one}, sum_payload());
        return;
    }
    auto extent = _columns.back().extent;
    auto fill = [&](const ColumnBlock &columns) {
        for (int v = 0; v < columns.vectors; ++v) {
            auto place = element(point, _b.index(0), v, columns);
            // Lanes past the end are padding of the panel.
            auto *some = _b.splat(_l.convert(_l.evaluate(value, place), _wide), _c.lanes);
            auto *address = panel_address(product, row, columns.column, v);
            _b.effect(Opcode::WRITE, {address, some}, sum_payload());
        }
        return Values{};
    };
    auto width = panel_width(), rest = extent % width;
    auto vectors = [&](int64_t count) {
        return static_cast<int>((count + _c.lanes - 1) / _c.lanes);
    };
    _b.loop(_b.index(0), _b.index(extent - rest), width, {}, [&](ir::Value *first, const Values &) {
        return fill({first, vectors(width)});
    });
    if (rest > 0) {
        auto *left = rest % _c.lanes ? _b.index(rest) : nullptr;
        fill({_b.index(extent - rest), vectors(rest), left});
    }
}

/// `column` is any multiple of the lanes.
void ContractionLowering::write_columns(size_t product, ir::Value *row, ir::Value *column,
                                        ir::Value *value) {
    auto *inside = _b.rem(column, _b.index(panel_width()));
    auto *address = panel_address(product, row, _b.sub(column, inside), 0);
    _b.effect(Opcode::WRITE, {_b.address(address, inside, element_bytes()), value}, sum_payload());
}

/// Blocks of vectors along `loaded`, one for each of as many places along `stored`, are transposed in
/// registers and written in vectors along `stored`.
void ContractionLowering::fill_transposed(const Source &source, const DimExtent &loaded,
                                          const DimExtent &stored, Point &point,
                                          ir::Value *position) {
    auto whole = stored.extent / _c.lanes * _c.lanes;
    auto places = [&](ir::Value *first, int64_t count) {
        _l.vector_loop(loaded.dim, _b.index(loaded.extent), loaded.extent, _c.lanes, 1, point, {},
                       [&](Point &inner, int, const Values &) {
                           transpose_block({source, loaded, stored, first, count}, inner, position);
                           return Values{};
                       });
    };
    _b.loop(_b.index(0), _b.index(whole), _c.lanes, {}, [&](ir::Value *first, const Values &) {
        places(first, _c.lanes);
        return Values{};
    });
    if (whole < stored.extent) {
        places(_b.index(whole), stored.extent - whole);
    }
}

void ContractionLowering::transpose_block(const TransposedBlock &block, Point &point,
                                          ir::Value *position) {
    auto [side, product] = block.source;
    const auto *value = operand(side, product);
    Values vectors(static_cast<size_t>(_c.lanes), _b.splat(_b.constant(_wide, 0), _c.lanes));
    for (int64_t i = 0; i < block.count; ++i) {
        auto place = point.derived();
        place.at[block.stored.dim.id] = {_b.add(block.first, _b.index(i)), 0, nullptr};
        auto *some = _l.convert(_l.evaluate(value, place), _wide);
        vectors[static_cast<size_t>(i)] = _b.splat(some, _c.lanes);
    }
    vectors = transpose(std::move(vectors));
    auto places = point.mask ? block.loaded.extent % _c.lanes : _c.lanes;
    for (int64_t i = 0; i < places; ++i) {
        auto place = point.derived();
        auto &at = place.at.at(block.loaded.dim.id);
        at = {_b.add(at.base, _b.index(i)), 0, nullptr};
        place.at[block.stored.dim.id] = {block.first, 0, nullptr};
        auto *step = panel_row(product, position, place);
        auto *some = vectors[static_cast<size_t>(i)];
        if (side == Side::VECTOR) {
            write_columns(product, step, block.first, some);
        } else {
            write_steps(product, step, at.base, some, block.count);
        }
    }
}

/// The next `count` steps of one row of the scalar operand.
void ContractionLowering::write_steps(size_t product, ir::Value *step, ir::Value *row,
                                      ir::Value *value, int64_t count) {
    Values operands{element_address(product, step, row, 0), value};
    auto payload = sum_payload();
    if (count < _c.lanes) {
        auto *type = _b.module().vector(ScalarType::BOOL, static_cast<uint16_t>(_c.lanes));
        operands.push_back(_b.pure(Opcode::LANE_MASK, {_b.index(count)}, ir::None{}, type));
        payload.masked = true;
    }
    _b.effect(Opcode::WRITE, operands, payload);
}

/// Lane j of vector i becomes lane i of vector j: blocks of 1, 2, 4, … lanes are exchanged between
/// vectors as far apart.
Values ContractionLowering::transpose(Values rows) {
    auto count = static_cast<int>(rows.size());
    auto *type = rows.front()->type();
    for (int width = 1; width < count; width *= 2) {
        ir::ShufflePayload upper, lower;
        for (int lane = 0; lane < count; ++lane) {
            bool second = (lane & width) != 0;
            upper.lanes.push_back(second ? count + lane - width : lane);
            lower.lanes.push_back(second ? count + lane : lane + width);
        }
        Values next(rows.size());
        for (int i = 0; i < count; ++i) {
            if ((i & width) == 0) {
                auto first = static_cast<size_t>(i), second = static_cast<size_t>(i + width);
                next[first] = _b.pure(Opcode::SHUFFLE, {rows[first], rows[second]}, upper, type);
                next[second] = _b.pure(Opcode::SHUFFLE, {rows[first], rows[second]}, lower, type);
            }
        }
        rows = std::move(next);
    }
    return rows;
}

void Lowering::lower_pack(const plan::Contraction &contraction, Side side,
                          const ir::Operation &root, const std::string &name, Phase &out) {
    const auto *panel = panel_plan(contraction, side);
    _shared_offsets[panel] = _shared_used;
    begin_function(name);
    _root = &root;
    ContractionLowering packing{*this, contraction};
    _shared_used += (packing.shared_bytes(side, root) + 63) / 64 * 64;
    out.function = name;
    out.task_count = 1;
    std::vector<std::pair<size_t, ir::Value *>> axes;
    for (auto axis : panel->shared_axes) {
        auto extent = analysis::interval_of(root.operand(axis)).low;
        out.task_count *= extent;
        axes.emplace_back(axis, _b.index(extent));
    }
    _b.loop(_begin, _end, 1, {}, [&](ir::Value *task, const Values &) {
        auto *rest = task;
        for (size_t i = axes.size(); i-- > 0;) {
            _scalars[root.body()->argument(axes[i].first)] = i == 0 ? rest
                                                                    : _b.rem(rest, axes[i].second);
            rest = i == 0 ? rest : _b.div(rest, axes[i].second);
        }
        _b.forget_reads();
        packing.run_pack(side);
        return Values{};
    });
}

}// namespace luisa::tile::cpu
