// SPDX-License-Identifier: Apache-2.0
#include "plan/panels.h"

#include "analysis/intervals.h"
#include "core/internal_error.h"
#include "layout/node.h"

#include <algorithm>

namespace luisa::tile::plan {

namespace {

int64_t rounded_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

int64_t known(const ir::Value *value) {
    auto range = analysis::interval_of(value);
    require(range.low == range.high, "panels are planned where every trip count is static");
    return range.low;
}

/// Elements of one column or row: steps, or words that hold the steps of a group.
int64_t depth_of(const Contraction &c, size_t product) {
    int64_t turns = 1, steps = 1;
    for (const auto *nest : c.nests) {
        turns *= trips(*nest);
    }
    for (const auto &d : contracted_dims(*c.products[product])) {
        steps *= d.extent;
    }
    if (c.atom == Atom::MULTIPLY_ADD) {
        return std::max<int64_t>(turns * steps, 1);
    }
    auto group = group_size(is_float(c.result->scalar()) ? ir::GroupFactors::BF16
                                                         : ir::GroupFactors::S8S8);
    auto words = std::max<int64_t>(turns * ((steps + group - 1) / group), 1);
    return c.atom == Atom::DOT ? words : rounded_up(words, c.lanes);
}

/// Blocks of columns one after the other, each with all its steps: what a register block reads lies in one piece,
/// whose lines fall into different cache sets.
IndexMap vector_layout(const Contraction &c, int64_t depth) {
    const auto &columns = c.transposed ? c.roles.rows : c.roles.columns;
    int64_t lanes = columns.empty() ? 1 : c.lanes;
    int64_t extent = columns.empty() ? 1 : columns.back().extent;
    auto width = std::clamp(rounded_up(extent, lanes), lanes, c.vectors * lanes);
    auto blocks = std::max<int64_t>((extent + width - 1) / width, 1);
    return IndexMap::mixed_radix(
        {LayoutMode{{depth}, {{width}}}, LayoutMode{{width, blocks}, {{1}, {depth * width}}}}, {0});
}

/// Rows one after the other. The distance is never a multiple of a page, whose rows would fall into the same cache
/// sets, and leaves room for a vector behind the last step.
IndexMap scalar_layout(const Contraction &c, int64_t depth) {
    const auto &rows = c.transposed ? c.roles.columns : c.roles.rows;
    int64_t lanes = (c.transposed ? c.roles.rows : c.roles.columns).empty() ? 1 : c.lanes;
    int64_t extent = rows.empty() ? 1 : std::max<int64_t>(rows.back().extent, 1);
    if (c.atom == Atom::MATRIX) {
        extent = rounded_up(extent, matrix_rows);
    }
    auto pitch = rounded_up(depth, lanes) + lanes;
    auto map = IndexMap::mixed_radix({LayoutMode{{depth}, {{1}}}, LayoutMode{{extent}, {{pitch}}}},
                                     {0});
    return map.into(IndexSet{{extent * pitch}});
}

void prove(const IndexMap &layout) {
    auto proof = layout.prove();
    require(proof.totality.proof == Proof::PROVEN && proof.bounds.proof == Proof::PROVEN &&
                proof.injectivity.proof == Proof::PROVEN,
            "every element of a panel has a place of its own");
}

}// namespace

int64_t trips(const ir::Operation &nest) {
    const auto &payload = nest.get<ir::NestPayload>();
    if (payload.is_range) {
        auto begin = known(nest.operand(0)), end = known(nest.operand(1)),
             step = known(nest.operand(2));
        return step > 0 ? std::max<int64_t>(0, (end - begin + step - 1) / step)
                        : std::max<int64_t>(0, (begin - end - step - 1) / -step);
    }
    int64_t count = 1;
    for (size_t i = 0; i < payload.dims.size(); ++i) {
        count *= known(nest.operand(i));
    }
    return count;
}

std::vector<ir::DimExtent> contracted_dims(const ir::Operation &product) {
    std::vector<ir::DimExtent> dims;
    for (const auto &d : product.operand(0)->type()->dims) {
        if (product.result()->type()->find(d.dim) < 0) {
            dims.push_back(d);
        }
    }
    return dims;
}

void lay_out_panels(Contraction &c) {
    for (auto *panel : {&c.vector_panel, &c.scalar_panel}) {
        if (*panel) {
            (*panel)->layouts.clear();
        }
    }
    for (size_t p = 0; p < c.products.size(); ++p) {
        auto depth = c.vector_panel || c.scalar_panel ? depth_of(c, p) : 0;
        for (auto *panel : {&c.vector_panel, &c.scalar_panel}) {
            if (*panel) {
                bool vector = panel == &c.vector_panel;
                auto layout = vector ? vector_layout(c, depth) : scalar_layout(c, depth);
                prove(layout);
                (*panel)->layouts.push_back(std::move(layout));
            }
        }
    }
}

PanelShape shape_of(const IndexMap &layout) {
    auto affine = core::affine_form(layout);
    require(affine && affine->modes.size() == 2, "panels have strides");
    const auto &steps = affine->modes[0], &places = affine->modes[1];
    PanelShape shape;
    shape.depth = layout.domain().extents()[0];
    shape.step = steps.stride[0][0];
    bool blocks = places.shape.size() == 2;
    shape.width = blocks ? places.shape[0] : 1;
    shape.neighbour = places.stride.back()[0];
    shape.elements = layout.codomain().extents()[0];
    return shape;
}

}// namespace luisa::tile::plan
