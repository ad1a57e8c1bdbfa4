// SPDX-License-Identifier: Apache-2.0
#include "frontend/element_maps.h"

namespace luisa::tile::core {

using ir::DimExtent;
using ir::Opcode;

namespace {

/// The dimensions of x that coordinates address, and those that stay.
struct Split {
    std::vector<Dim> fixed;
    std::vector<DimExtent> rest;
};

Split split_by(const Value *x, const std::vector<Dim> &dims, const char *what, SourceLoc loc) {
    Split split{dims, {}};
    size_t found = 0;
    for (const auto &d : x->type()->dims) {
        bool addressed = std::find(dims.begin(), dims.end(), d.dim) != dims.end();
        found += addressed;
        if (!addressed) {
            split.rest.push_back(d);
        }
    }
    if (found != dims.size()) {
        fail(ErrorKind::SHAPE,
             std::string{what} + ": the tile of shape " + shape_text(x) +
                 " lacks a dimension of these coordinates",
             loc);
    }
    return split;
}

std::vector<Dim> leading(const Value *x, size_t count, const char *what, SourceLoc loc) {
    if (count > x->type()->rank()) {
        fail(ErrorKind::INDEX,
             std::string{what} + ": " + std::to_string(count) +
                 " coordinates for a tile of shape " + shape_text(x),
             loc);
    }
    std::vector<Dim> dims;
    for (size_t i = 0; i < count; ++i) {
        dims.push_back(x->type()->dims[i].dim);
    }
    return dims;
}

std::vector<Value *> values_of(const Coord &place) {
    std::vector<Value *> values;
    for (const auto &part : place.parts) {
        values.push_back(part.value());
    }
    return values;
}

/// A host coordinate outside its dimension is a mistake that capture can name.
void check_static(const Value *x, const Coord &place, const char *what, SourceLoc loc) {
    for (size_t i = 0; i < place.parts.size() && i < x->type()->rank(); ++i) {
        int64_t at = 0;
        auto extent = x->type()->dims[i].extent;
        if (place.parts[i].is_host(at) && (at < 0 || at >= extent)) {
            fail(ErrorKind::INDEX,
                 std::string{what} + ": coordinate " + std::to_string(at) + " of dimension " +
                     std::to_string(i) + " is outside its extent " + std::to_string(extent),
                 loc);
        }
    }
}

Value *extract_at(Value *x, const std::vector<Dim> &dims, const std::vector<Value *> &at,
                  SourceLoc loc) {
    auto &c = current(loc);
    auto split = split_by(x, dims, "extract", loc);
    std::vector<Value *> operands{x};
    operands.insert(operands.end(), at.begin(), at.end());
    return emit_value(c, Opcode::EXTRACT, operands, c.module->tile(x->scalar(), split.rest),
                      ir::AccessPayload{split.fixed, false}, loc);
}

Value *insert_at(Value *y, const std::vector<Dim> &dims, const std::vector<Value *> &at,
                 Value *part, SourceLoc loc) {
    auto &c = current(loc);
    auto split = split_by(y, dims, "insert", loc);
    if (part->scalar() != y->scalar()) {
        fail(ErrorKind::TYPE,
             std::string{"insert: a part of "} + to_string(part->scalar()) + " into a tile of " +
                 to_string(y->scalar()) + "; write cast<T>(…)",
             loc);
    }
    if (part->type()->is_scalar() && !split.rest.empty()) {
        part = emit_value(c, Opcode::BROADCAST, {part}, c.module->tile(part->scalar(), split.rest),
                          ir::None{}, loc);
    }
    auto *fitted = fit_dims(c, part, split.rest, loc);
    if (!fitted) {
        fail(ErrorKind::SHAPE,
             "insert: a part of shape " + shape_text(part) + " into a tile of shape " +
                 shape_text(y) + " whose other dimensions do not match it",
             loc);
    }
    std::vector<Value *> operands{y, fitted};
    operands.insert(operands.end(), at.begin(), at.end());
    return emit_value(c, Opcode::INSERT, operands, y->type(), ir::AccessPayload{split.fixed, false},
                      loc);
}

}// namespace

Value *extract(Value *x, const Coord &place, SourceLoc loc) {
    check_static(x, place, "at", loc);
    return extract_at(x, leading(x, place.parts.size(), "at", loc), values_of(place), loc);
}

Value *extract(Value *x, const Nest &nest, SourceLoc loc) {
    auto &region = region_of(nest, loc);
    if (region.dims.empty()) {
        fail(ErrorKind::SHAPE,
             "at: the domain of this nest is a range and has no dimensions; write x.at(coord(…))",
             loc, {{"nest opened here", region.loc}});
    }
    return extract_at(x, region.dims, region.indices, loc);
}

Value *insert(Value *y, const Coord &place, Value *part, SourceLoc loc) {
    check_static(y, place, "insert", loc);
    return insert_at(y, leading(y, place.parts.size(), "insert", loc), values_of(place), part, loc);
}

Value *insert(Value *y, const Nest &nest, Value *part, SourceLoc loc) {
    auto &region = region_of(nest, loc);
    if (region.dims.empty()) {
        fail(ErrorKind::SHAPE,
             "insert: the domain of this nest is a range and has no dimensions; write insert(y, "
             "coord(…), v)",
             loc, {{"nest opened here", region.loc}});
    }
    return insert_at(y, region.dims, region.indices, part, loc);
}

Value *gather(Value *x, Value *index, Dim axis, Value *fallback, SourceLoc loc) {
    auto &c = current(loc);
    if (x->type()->find(axis) < 0) {
        fail(ErrorKind::INDEX, "gather: the tile of shape " + shape_text(x) + " has no such axis",
             loc);
    }
    std::vector<DimExtent> dims;
    for (const auto &d : x->type()->dims) {
        if (!(d.dim == axis)) {
            dims.push_back(d);
        }
    }
    for (const auto &d : index->type()->dims) {
        auto found = std::find_if(dims.begin(), dims.end(),
                                  [&](const DimExtent &k) { return k.dim == d.dim; });
        if (found == dims.end()) {
            dims.push_back(d);
        } else if (found->extent != d.extent) {
            fail(ErrorKind::SHAPE,
                 "gather: the tile " + shape_text(x) + " and the index " + shape_text(index) +
                     " share a dimension with different extents",
                 loc);
        }
    }
    auto *type = c.module->tile(x->scalar(), dims);
    return map_over(
        type,
        [&](Capture &capture, const std::vector<Value *> &at) {
            auto coordinate = [&](Dim d) { return at[static_cast<size_t>(type->find(d))]; };
            std::vector<Value *> place;
            for (const auto &d : index->type()->dims) {
                place.push_back(coordinate(d.dim));
            }
            auto *selected = place.empty() ? index
                                           : element_of(capture, index, place, nullptr, loc);
            std::vector<Value *> from;
            for (const auto &d : x->type()->dims) {
                from.push_back(d.dim == axis ? selected : coordinate(d.dim));
            }
            return element_of(capture, x, from, fallback, loc);
        },
        loc);
}

Value *reindex(Value *x, const Shape &shape,
               const std::function<std::vector<Value *>(const std::vector<Value *> &)> &body,
               SourceLoc loc) {
    auto &c = current(loc);
    auto *type = c.module->tile(x->scalar(), static_dims(shape, loc));
    return map_over(
        type,
        [&](Capture &capture, const std::vector<Value *> &at) {
            capture.current->kind = "reindex";
            auto place = body(at);
            if (place.size() != x->type()->rank()) {
                fail(ErrorKind::SHAPE,
                     "reindex: the lambda gives " + std::to_string(place.size()) +
                         " coordinates for a tile of shape " + shape_text(x),
                     loc);
            }
            return element_of(capture, x, place, nullptr, loc);
        },
        loc);
}

/// `x` without its dimensions of one element.
static Value *without_units(Value *x, SourceLoc loc) {
    auto &c = current(loc);
    std::vector<Dim> units;
    for (const auto &d : x->type()->dims) {
        if (d.extent == 1) {
            units.push_back(d.dim);
        }
    }
    std::vector<Value *> zeros(units.size(), integer(c, 0, loc));
    return units.empty() ? x : extract_at(x, units, zeros, loc);
}

/// Row-major coordinates among `from` of the element that stands `at` coordinates among `to`. Runs of
/// dimensions with equal products are independent, so that only what is split or merged takes division.
static std::vector<Value *> regroup(Capture &c, const std::vector<DimExtent> &from,
                                    const std::vector<DimExtent> &to,
                                    const std::vector<Value *> &at, SourceLoc loc) {
    std::vector<Value *> place(from.size());
    for (size_t i = 0, j = 0; i < from.size() && j < to.size();) {
        auto first = i;
        int64_t in = from[i++].extent, out = to[j].extent;
        Value *linear = at[j++];
        while (in != out) {
            if (in < out) {
                in *= from[i++].extent;
            } else {
                auto *scaled = elementwise("mul", {linear, integer(c, to[j].extent, loc)}, loc);
                linear = elementwise("add", {scaled, at[j]}, loc);
                out *= to[j++].extent;
            }
        }
        for (auto k = i; k-- > first;) {
            auto *extent = integer(c, from[k].extent, loc);
            place[k] = k == first ? linear : elementwise("rem", {linear, extent}, loc);
            linear = k == first ? linear : elementwise("div", {linear, extent}, loc);
        }
    }
    return place;
}

Value *reshape(Value *x, const Shape &shape, SourceLoc loc) {
    auto &c = current(loc);
    auto *type = c.module->tile(x->scalar(), static_dims(shape, loc));
    const auto &from = x->type()->dims, &to = type->dims;
    if (x->type()->element_count() != type->element_count()) {
        fail(ErrorKind::SHAPE,
             "reshape: " + shape_text(x) + " has " + std::to_string(x->type()->element_count()) +
                 " elements, " + ir::extents_text(*type) + " has " +
                 std::to_string(type->element_count()),
             loc);
    }
    auto same_extents = [](const auto &a, const auto &b) {
        return std::equal(
            a.begin(), a.end(), b.begin(), b.end(),
            [](const DimExtent &x, const DimExtent &y) { return x.extent == y.extent; });
    };
    if (same_extents(from, to)) {
        return emit_value(c, Opcode::RETYPE, {x}, type, ir::None{}, loc);
    }
    if (type->element_count() == 0) {
        return emit_value(c, Opcode::CONSTANT, {}, type, ir::ConstantPayload{0}, loc);
    }
    // Dimensions of one element come and go without any arithmetic on coordinates.
    auto *core = without_units(x, loc);
    std::vector<DimExtent> wide;
    std::copy_if(to.begin(), to.end(), std::back_inserter(wide),
                 [](const DimExtent &d) { return d.extent != 1; });
    auto *core_type = c.module->tile(x->scalar(), wide);
    if (same_extents(core->type()->dims, wide)) {
        auto *renamed = wide.empty()
                            ? core
                            : emit_value(c, Opcode::RETYPE, {core}, core_type, ir::None{}, loc);
        return emit_value(c, Opcode::BROADCAST, {renamed}, type, ir::None{}, loc);
    }
    auto *regrouped = map_over(
        core_type,
        [&](Capture &capture, const std::vector<Value *> &at) {
            auto place = regroup(capture, core->type()->dims, wide, at, loc);
            return element_of(capture, core, place, nullptr, loc);
        },
        loc);
    return wide.size() == to.size()
               ? regrouped
               : emit_value(c, Opcode::BROADCAST, {regrouped}, type, ir::None{}, loc);
}

Value *broadcast(Value *x, const Shape &shape, SourceLoc loc) {
    auto &c = current(loc);
    auto dims = static_dims(shape, loc);
    for (const auto &d : x->type()->dims) {
        bool fits = std::any_of(dims.begin(), dims.end(), [&](const DimExtent &to) {
            return to.dim == d.dim && (to.extent == d.extent || d.extent == 1);
        });
        if (!fits) {
            fail(ErrorKind::SHAPE,
                 "broadcast: " + shape_text(x) + " does not grow to " +
                     ir::extents_text(*c.module->tile(x->scalar(), dims)) +
                     ": a dimension is missing there, or has another extent",
                 loc);
        }
    }
    return emit_value(c, Opcode::BROADCAST, {x}, c.module->tile(x->scalar(), dims), ir::None{},
                      loc);
}

Value *transpose(Value *x, const std::vector<Dim> &order, SourceLoc loc) {
    auto &c = current(loc);
    std::vector<DimExtent> dims;
    for (auto d : order) {
        auto at = x->type()->find(d);
        bool twice = std::any_of(dims.begin(), dims.end(),
                                 [&](const DimExtent &k) { return k.dim == d; });
        if (at < 0 || twice) {
            fail(twice ? ErrorKind::VALUE : ErrorKind::INDEX,
                 twice ? std::string{"transpose: an axis is given twice"}
                       : "transpose: the tile of shape " + shape_text(x) + " has no such axis",
                 loc);
        }
        dims.push_back(x->type()->dims[static_cast<size_t>(at)]);
    }
    if (dims.size() != x->type()->rank()) {
        fail(ErrorKind::SHAPE,
             "transpose: " + std::to_string(dims.size()) + " axes for a tile of shape " +
                 shape_text(x) + "; name every axis once",
             loc);
    }
    return emit_value(c, Opcode::BROADCAST, {x}, c.module->tile(x->scalar(), dims), ir::None{},
                      loc);
}

Value *with_dims(Value *x, const std::vector<Dim> &identities, SourceLoc loc) {
    auto &c = current(loc);
    if (identities.size() != x->type()->rank()) {
        fail(ErrorKind::SHAPE,
             "with_dims: " + std::to_string(identities.size()) +
                 " identities for a tile of shape " + shape_text(x),
             loc);
    }
    std::vector<DimExtent> dims;
    for (size_t i = 0; i < identities.size(); ++i) {
        if (std::find(identities.begin(), identities.begin() + static_cast<std::ptrdiff_t>(i),
                      identities[i]) != identities.begin() + static_cast<std::ptrdiff_t>(i)) {
            fail(ErrorKind::VALUE,
                 "with_dims: an identity is given twice; each dimension has its own", loc);
        }
        dims.push_back({identities[i], x->type()->dims[i].extent});
    }
    return emit_value(c, Opcode::RETYPE, {x}, c.module->tile(x->scalar(), dims), ir::None{}, loc);
}

void begin_pure_body(const char *what, SourceLoc loc) {
    auto &c = current(loc);
    auto &region = c.regions.emplace_back();
    region.kind = what;
    region.parent = c.current;
    region.region = c.current->region;
    region.no_writes = true;
    region.loc = loc;
    c.current = &region;
}

void end_pure_body() {
    auto &c = *current_or_null();
    close_plain(c, *c.current);
}

Value *broadcast_to_join(Value *x, std::initializer_list<Value *> operands, SourceLoc loc) {
    auto &c = current(loc);
    // The lambda may use outer tiles too, whose dimensions come last.
    std::vector<Value *> all{operands};
    all.push_back(x);
    auto dims = guarded(c, [&] { return ir::join_dims("map", all, loc); });
    if (x->type()->dims == dims) {
        return x;
    }
    return emit_value(c, Opcode::BROADCAST, {x}, c.module->tile(x->scalar(), dims), ir::None{},
                      loc);
}

}// namespace luisa::tile::core
