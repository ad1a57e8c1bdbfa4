// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/contract_scan.h>

#include "frontend/element_maps.h"

#include <algorithm>

namespace luisa::tile::core {

using ir::Opcode;

static std::vector<ir::DimExtent> dims_without(const Value *x, Dim axis) {
    std::vector<ir::DimExtent> rest;
    for (const auto &d : x->type()->dims) {
        if (!(d.dim == axis)) {
            rest.push_back(d);
        }
    }
    return rest;
}

Value *extract_along(Value *x, Dim axis, Value *at, SourceLoc loc) {
    if (x->type()->find(axis) < 0) {
        return x;
    }
    auto &c = current(loc);
    auto *type = c.module->tile(x->scalar(), dims_without(x, axis));
    if (x->type()->dims[static_cast<size_t>(x->type()->find(axis))].extent == 1) {
        at = constant_bits(ScalarType::INT64, 0, loc);// one element stands for all
    }
    return emit_value(c, Opcode::EXTRACT, {x, at}, type, ir::AccessPayload{{axis}, false}, loc);
}

Value *insert_along(Value *y, Dim axis, Value *at, Value *part, SourceLoc loc) {
    auto &c = current(loc);
    return emit_value(c, Opcode::INSERT, {y, spread_over(part, y, axis, loc), at}, y->type(),
                      ir::AccessPayload{{axis}, false}, loc);
}

static std::vector<ir::DimExtent> dims_with(const Value *x, Dim axis, const Axis &lane) {
    auto dims = x->type()->dims;
    for (auto &d : dims) {
        d = d.dim == axis ? ir::DimExtent{lane.dim, lane.extent} : d;
    }
    return dims;
}

Value *block_along(Value *x, Dim axis, const Axis &lane, Value *first, bool turned, SourceLoc loc) {
    auto &c = current(loc);
    auto at = x->type()->find(axis);
    if (at < 0) {
        return x;
    }
    if (x->type()->dims[static_cast<size_t>(at)].extent == 1) {
        return extract_along(x, axis, first, loc);// one element stands for all
    }
    auto *block = emit_value(c, Opcode::EXTRACT, {x, first},
                             c.module->tile(x->scalar(), dims_with(x, axis, lane)),
                             ir::AccessPayload{{axis}, false, {{lane.dim, lane.extent}}}, loc);
    return turned ? flip(block, lane.dim, loc) : block;
}

Value *insert_block(Value *y, Dim axis, const Axis &lane, Value *first, Value *block,
                    SourceLoc loc) {
    auto &c = current(loc);
    auto dims = dims_with(y, axis, lane);
    if (block->type()->dims != dims) {
        block = emit_value(c, Opcode::BROADCAST, {block}, c.module->tile(block->scalar(), dims),
                           ir::None{}, loc);
    }
    return emit_value(c, Opcode::INSERT, {y, block, first}, y->type(),
                      ir::AccessPayload{{axis}, false, {{lane.dim, lane.extent}}}, loc);
}

Value *turned(Value *x, const Axis &lane, int64_t by, SourceLoc loc) {
    auto found = x->type()->find(lane.dim);
    if (found < 0) {
        return x;
    }
    return map_over(
        x->type(),
        [&](Capture &c, const std::vector<Value *> &at) {
            auto place = at;
            auto *&along = place[static_cast<size_t>(found)];
            along = elementwise("and",
                                {elementwise("sub", {along, integer(c, by, loc)}, loc),
                                 integer(c, lane.extent - 1, loc)},
                                loc);
            return element_of(c, x, place, nullptr, loc);
        },
        loc);
}

int64_t scanned_lanes(const std::vector<Value *> &values, const Axis &axis) {
    constexpr int64_t vector_bytes = 64, shortest = 4;
    size_t widest = 1;
    for (const auto *value : values) {
        widest = std::max(widest, size_of(value->scalar()));
    }
    auto lanes = std::min<int64_t>(vector_bytes / static_cast<int64_t>(widest), 16);
    int64_t side_by_side = 1;
    const auto &dims = values[0]->type()->dims;
    auto at = static_cast<size_t>(values[0]->type()->find(axis.dim));
    for (auto i = at + 1; i < dims.size(); ++i) {
        side_by_side *= dims[i].extent;
    }
    return side_by_side == 1 && axis.extent >= shortest * lanes ? lanes : 1;
}

bool is_order_free(Reducer reducer, ScalarType type) {
    bool rounds = reducer == Reducer::ADD || reducer == Reducer::MULTIPLY;
    return !rounds || !is_float(type);
}

Axis scanned_axis(const std::vector<Value *> &values, Dim axis, SourceLoc loc) {
    int64_t extent = 0;
    for (auto *value : values) {
        auto at = value->type()->find(axis);
        if (at < 0) {
            fail(ErrorKind::INDEX,
                 "scan: the tile of shape " + shape_text(value) +
                     " has no such axis; scan along one of its own",
                 loc, made_at(value, "tile made here"));
        }
        extent = value->type()->dims[static_cast<size_t>(at)].extent;
        if (value->type()->dims != values[0]->type()->dims) {
            fail(ErrorKind::SHAPE,
                 "scan: the fields of the scanned state have shapes " + shape_text(values[0]) +
                     " and " + shape_text(value) + "; give all of them one shape",
                 loc, made_at(value, "field made here"));
        }
    }
    return tile::axis(axis, extent, loc);
}

void check_contract_scan(ReductionPolicy policy, SourceLoc loc) {
    if (policy != ReductionPolicy::ORDERED_TREE && policy != ReductionPolicy::FOLD_LEFT) {
        fail(ErrorKind::VALUE,
             "scan: a scan by a contract is an ordered_tree or a fold_left; use one of them, with "
             ".reverse to go the other way",
             loc);
    }
}

void check_flags(Value *flags, Value *like, const char *what, SourceLoc loc) {
    if (flags && !spreads(flags, like->type()->dims)) {
        fail(ErrorKind::SHAPE,
             std::string{"scan: a "} + what + " of shape " + shape_text(flags) +
                 " does not fit a tile of shape " + shape_text(like) +
                 "; its dimensions are among those of the tile",
             loc, made_at(flags, "made here"));
    }
}

static Value *spread(Value *x, Value *like, const std::vector<ir::DimExtent> &dims, SourceLoc loc) {
    auto &c = current(loc);
    if (x->type()->dims == dims) {
        return x;
    }
    if (!spreads(x, dims)) {
        fail(ErrorKind::SHAPE,
             "scan: a state of shape " + shape_text(x) + " does not fit a tile of shape " +
                 shape_text(like) + "; it has dimensions of the tile, but not the scanned one",
             loc, made_at(x, "made here"));
    }
    return emit_value(c, Opcode::BROADCAST, {x}, c.module->tile(x->scalar(), dims), ir::None{},
                      loc);
}

Value *spread_like(Value *x, Value *like, SourceLoc loc) {
    return spread(x, like, like->type()->dims, loc);
}

Value *spread_over(Value *x, Value *like, Dim axis, SourceLoc loc) {
    return spread(x, like, dims_without(like, axis), loc);
}

}// namespace luisa::tile::core
