// SPDX-License-Identifier: Apache-2.0
#include "realize/cpu/contraction_lowering.h"

#include <algorithm>

namespace luisa::tile::cpu {

using ir::DimExtent;
using ir::Opcode;

/// The part of a launch's shared memory that all instances' panels take.
int64_t ContractionLowering::shared_bytes(Side side, const ir::Operation &root) {
    lay_out_panels(side);
    auto bytes = panels(side).bytes;
    for (auto axis : panel_plan(_c, side)->shared_axes) {
        bytes *= analysis::interval_of(root.operand(axis)).low;
    }
    return bytes;
}

/// Fills the panels of the instance whose axes are bound.
void ContractionLowering::run_pack(Side side) {
    lay_out_panels(side);
    Point point;
    fill_panels(side, point);
}

void ContractionLowering::lay_out_panels(Side side) {
    auto &set = panels(side);
    set = {};
    for (const auto &layout : panel_plan(_c, side)->layouts) {
        Panel panel;
        panel.shape = plan::shape_of(layout);
        auto size = (panel.shape.elements * element_bytes() + 127) / 64 * 64;
        panel.offset = panel_plan(_c, side)->shared ? set.bytes : _l.allocate_bytes(size);
        set.bytes += size;
        set.of_product.push_back(panel);
    }
}

/// The dimension along which a panel of the operand is contiguous.
DimExtent ContractionLowering::axis_of(Side side) const {
    const auto &dims = side == Side::VECTOR ? _columns : _rows;
    return dims.empty() ? DimExtent{Dim{}, 1} : dims.back();
}

void ContractionLowering::fill_panels(Side side, Point &point) {
    if (_c.atom != plan::Atom::MULTIPLY_ADD) {
        return fill_groups(side, point);
    }
    nest_positions(0, _b.index(0), [&](ir::Value *position) {
        for (size_t p = 0; p < _c.products.size(); ++p) {
            fill_panel({side, p}, 0, point, position);
        }
    });
    _b.forget_reads();
}

void ContractionLowering::nest_positions(size_t depth, ir::Value *position,
                                         const std::function<void(ir::Value *)> &body) {
    if (depth == _c.nests.size()) {
        return body(position);
    }
    nest_loop(*_c.nests[depth], 0, {}, [&](const Values &) {
        auto *here = _b.add(_b.mul(position, _b.index(plan::trips(*_c.nests[depth]))),
                            step_number(*_c.nests[depth]));
        nest_positions(depth + 1, here, body);
        return Values{};
    });
}

/// How many steps came before the current one of a nest.
ir::Value *ContractionLowering::step_number(const ir::Operation &nest) {
    const auto &payload = nest.get<ir::NestPayload>();
    auto *region = nest.body();
    if (payload.is_range) {
        return steps_until(nest, _l._scalars.at(region->argument(0)));
    }
    auto *number = _b.index(0);
    for (size_t i = 0; i < payload.dims.size(); ++i) {
        number = _b.add(_b.mul(number, _l.scalar_value(nest.operand(i))),
                        _l._scalars.at(region->argument(i)));
    }
    return number;
}

/// How many steps of a range come before the one with this index.
ir::Value *ContractionLowering::steps_until(const ir::Operation &nest, ir::Value *index) {
    auto *distance = _b.sub(index, _l.scalar_value(nest.operand(0)));
    return _b.pure(Opcode::DIV, {distance, _l.scalar_value(nest.operand(2))});
}

/// Steps of all nests before the current ones.
ir::Value *ContractionLowering::steps_before() {
    auto *position = _b.index(0);
    for (const auto *nest : _c.nests) {
        position = _b.add(_b.mul(position, _b.index(plan::trips(*nest))), step_number(*nest));
    }
    return position;
}

ir::Value *ContractionLowering::panel_row(size_t product, ir::Value *position, const Point &point) {
    auto *row = position;
    for (const auto &d : contracted(product)) {
        row = _b.add(_b.mul(row, _b.index(d.extent)),
                     d.extent == 1 ? _b.index(0) : point.at.at(d.dim.id).base);
    }
    return row;
}

/// Where the panels of a product start for the current instance.
ir::Value *ContractionLowering::panel_base(Side side, size_t product) {
    const auto &panel = panels(side).of_product[product];
    const auto *plan = panel_plan(_c, side);
    if (!plan->shared) {
        return _b.address(_l._scratch, nullptr, 1, panel.offset);
    }
    // One set of panels for each combination of the axes that they depend on.
    auto *instance = _b.index(0);
    for (auto axis : plan->shared_axes) {
        const auto &root = *_l._root;
        instance = _b.add(_b.mul(instance, _l.scalar_value(root.operand(axis))),
                          _l._scalars.at(root.body()->argument(axis)));
    }
    auto *set = _b.address(_l._shared, instance, panels(side).bytes);
    return _b.address(set, nullptr, 1, _l._shared_offsets.at(plan) + panel.offset);
}

/// Of a vector at step `row`; `first` starts a block of columns (null: there are none), `vector` counts
/// vectors inside it.
ir::Value *ContractionLowering::panel_address(size_t product, ir::Value *row, ir::Value *first,
                                              int vector) {
    auto *base = panel_base(Side::VECTOR, product);
    auto bytes = element_bytes();
    const auto &shape = panels(Side::VECTOR).of_product[product].shape;
    if (first) {
        bool even = shape.neighbour % shape.width == 0;
        base = even ? _b.address(base, first, shape.neighbour / shape.width * bytes)
                    : _b.address(base, _b.div(first, _b.index(shape.width)),
                                 shape.neighbour * bytes);
    }
    return _b.address(base, row, shape.step * bytes, int64_t{vector} * _c.lanes * bytes);
}

/// Of the scalar operand's element of row `first` + `offset` at step `step`.
ir::Value *ContractionLowering::element_address(size_t product, ir::Value *step, ir::Value *first,
                                                int64_t offset) {
    auto pitch = panels(Side::SCALAR).of_product[product].shape.neighbour * element_bytes();
    auto *base = panel_base(Side::SCALAR, product);
    return _b.address(_b.address(base, first, pitch, offset * pitch), step, element_bytes());
}

ir::Value *ContractionLowering::read_panel(size_t product, const Point &point,
                                           const ColumnBlock &columns, int vector) {
    auto *row = panel_row(product, steps_before(), point);
    auto *type = lanes() > 1 ? _b.module().vector(_wide, static_cast<uint16_t>(lanes()))
                             : _b.module().scalar(_wide);
    auto *address = panel_address(product, row, columns.column, vector);
    return _b.stable_read(Opcode::READ, {address}, sum_payload(), type);
}

/// The element of row `first` + `offset` from the panel of the other operand.
ir::Value *ContractionLowering::read_panel_element(size_t product, const Point &point,
                                                   ir::Value *first, int offset) {
    auto *step = panel_row(product, steps_before(), point);
    auto *address = element_address(product, step, first, offset);
    return _b.stable_read(Opcode::READ, {address}, sum_payload(), _b.module().scalar(_wide));
}

}// namespace luisa::tile::cpu
