// SPDX-License-Identifier: Apache-2.0
#include "frontend/view_checks.h"
#include "ir/check_operations.h"

#include <algorithm>
#include <limits>

namespace luisa::tile {

namespace core {

using ir::Opcode;

Capture &check_view(const ViewHandle &view, SourceLoc loc) {
    auto &c = current(loc);
    if (view->capture != c.id) {
        fail(ErrorKind::OWNERSHIP, "this view belongs to another capture", loc);
    }
    return c;
}

void check_effect_allowed(Capture &c, const char *what, SourceLoc loc) {
    for (auto *r = c.current; r; r = r->parent) {
        if (r->no_writes) {
            const char *instead =
                std::string_view{r->kind} == "while_ condition"
                    ? "do it before the loop and in its body, and read a variable "
                      "in the condition"
                    : "do it outside";
            fail(ErrorKind::SCOPE,
                 std::string{"a "} + r->kind + " may not contain " + what + "; " + instead, loc);
        }
    }
}

namespace {

std::vector<Value *> coordinates(const ViewHandle &view, const Coord &place, SourceLoc loc) {
    auto rank = view->parameter->type()->rank();
    if (place.parts.size() != rank) {
        fail(ErrorKind::SHAPE,
             "the view has rank " + std::to_string(rank) + ", the coordinates have " +
                 std::to_string(place.parts.size()),
             loc);
    }
    std::vector<Value *> values{view->parameter};
    for (const auto &part : place.parts) {
        values.push_back(part.value());
    }
    return values;
}

std::vector<ir::DimExtent> box_of(const ViewHandle &view, const Shape &shape, SourceLoc loc) {
    auto rank = view->parameter->type()->rank();
    if (shape.entries.size() != rank) {
        fail(ErrorKind::SHAPE,
             "the view has rank " + std::to_string(rank) + ", the shape has rank " +
                 std::to_string(shape.entries.size()) +
                 "; give one axis or extent a dimension (1 for a single row)",
             loc);
    }
    return static_dims(shape, loc);
}

}// namespace

static void check_axis(const char *what, const ViewHandle &view, int axis, SourceLoc loc) {
    check_view(view, loc);
    if (axis < 0 || static_cast<size_t>(axis) >= view->extents.size()) {
        fail(ErrorKind::INDEX,
             std::string{what} + "(" + std::to_string(axis) + ") of a view of rank " +
                 std::to_string(view->extents.size()),
             loc);
    }
}

const Index &extent_of(const ViewHandle &view, int axis, SourceLoc loc) {
    check_axis("extent", view, axis, loc);
    return view->extents[static_cast<size_t>(axis)];
}

Index stride_of(const ViewHandle &view, int axis, SourceLoc loc) {
    check_axis("stride", view, axis, loc);
    const auto &type = *view->parameter->type();
    if (!type.strides.empty()) {
        return Index{type.strides[static_cast<size_t>(axis)], loc};
    }
    Index stride{1, loc};
    for (size_t i = type.rank(); i-- > static_cast<size_t>(axis) + 1;) {
        stride = stride * view->extents[i];
    }
    return stride;
}

Value *load(const ViewHandle &view, const Coord &origin, const Shape &shape, Bounds bounds,
            Value *fallback, SourceLoc loc) {
    auto &c = check_view(view, loc);
    check_effect_allowed(c, "a load", loc);
    auto dims = box_of(view, shape, loc);
    auto operands = coordinates(view, origin, loc);
    if (fallback) {
        operands.push_back(fallback);
    }
    return emit_value(c, Opcode::LOAD, operands, c.module->tile(view->parameter->scalar(), dims),
                      ir::LoadPayload{bounds, fallback != nullptr, false}, loc);
}

Value *load_element(const ViewHandle &view, const Coord &place, SourceLoc loc) {
    auto &c = check_view(view, loc);
    check_effect_allowed(c, "a load", loc);
    return emit_value(c, Opcode::LOAD, coordinates(view, place, loc),
                      c.module->scalar(view->parameter->scalar()), ir::LoadPayload{}, loc);
}

Value *fit_into_box(Capture &c, Value *tile, const std::vector<ir::DimExtent> &box, SourceLoc loc) {
    // Positional dimensions of extent one that the box lacks are dropped; the rest must fit it.
    std::vector<ir::DimExtent> kept;
    for (const auto &d : tile->type()->dims) {
        auto found = std::find_if(box.begin(), box.end(),
                                  [&](const ir::DimExtent &b) { return b.dim == d.dim; });
        bool fits = found != box.end() && (found->extent == d.extent || d.extent == 1);
        if (!fits && !(d.dim.is_positional() && d.extent == 1)) {
            auto *op = tile->definition();
            fail(ErrorKind::SHAPE,
                 "store: a tile of shape " + ir::dims_text(*tile->type()) +
                     " into a box of shape " + ir::dims_text(*c.module->tile(tile->scalar(), box)) +
                     ": its dimensions are not those of the box",
                 loc,
                 op && op->loc.known() ? std::vector<Error::Note>{{"tile made here", op->loc}}
                                       : std::vector<Error::Note>{});
        }
        if (fits) {
            kept.push_back(d);
        }
    }
    return fit_dims(c, tile, kept, loc);
}

void store(const ViewHandle &view, const Coord &origin, const Shape &shape, Bounds bounds,
           Value *tile, SourceLoc loc) {
    auto &c = check_view(view, loc);
    check_effect_allowed(c, "a store", loc);
    auto box = box_of(view, shape, loc);
    tile = fit_into_box(c, tile, box, loc);
    auto operands = coordinates(view, origin, loc);
    operands.insert(operands.begin() + 1, tile);
    emit(c, Opcode::STORE, operands, {}, ir::StorePayload{bounds, box, false}, loc);
}

void store_element(const ViewHandle &view, const Coord &place, Value *value, SourceLoc loc) {
    auto &c = check_view(view, loc);
    check_effect_allowed(c, "a store", loc);
    auto operands = coordinates(view, place, loc);
    operands.insert(operands.begin() + 1, value);
    emit(c, Opcode::STORE, operands, {}, ir::StorePayload{}, loc);
}

Value *atomic_element(const ViewHandle &view, const Coord &place, AtomicOp op, Value *value,
                      Value *expected, SourceLoc loc) {
    static constexpr const char *names[] = {"atomic_add", "atomic_min", "atomic_max", "atomic_exch",
                                            "atomic_cas", "atomic_and", "atomic_or",  "atomic_xor"};
    auto &c = check_view(view, loc);
    const auto *name = names[static_cast<size_t>(op)];
    check_effect_allowed(c, "an atomic update", loc);
    auto type = view->parameter->scalar();
    if (!ir::supports_atomic(op, type)) {
        bool bits = op >= AtomicOp::AND;
        fail(ErrorKind::UNSUPPORTED,
             std::string{name} + ": no atomic update of elements of " + to_string(type) +
                 "; it takes " + (bits ? "integers" : "integers, f16, bf16, f32 and f64"),
             loc);
    }
    auto operands = coordinates(view, place, loc);
    operands.insert(operands.begin() + 1, value);
    if (expected) {
        operands.insert(operands.begin() + 2, expected);
    }
    return emit_value(c, Opcode::ATOMIC, operands, c.module->scalar(type), ir::AtomicPayload{op},
                      loc);
}

}// namespace core

Axis axis(const char *label, int64_t extent, SourceLoc loc) {
    return axis(dim(label), extent, loc);
}

Axis axis(Dim d, int64_t extent, SourceLoc loc) {
    if (extent < 0) {
        core::fail(ErrorKind::VALUE,
                   std::string{"axis '"} + d.label + "': extent must be >= 0, got " +
                       std::to_string(extent),
                   loc);
    }
    return {d, extent, loc};
}

Shape Shape::without(Dim d) const {
    Shape s;
    s.loc = loc;
    for (const auto &entry : entries) {
        if (!(entry.dim == d)) {
            s.entries.push_back(entry);
        }
    }
    if (s.entries.size() == entries.size()) {
        core::fail(ErrorKind::INDEX,
                   std::string{"without: the shape has no such dimension"} +
                       (d.is_positional() ? "" : std::string{": '"} + d.label + "'") +
                       "; leave out one of its own, such as x.dim<0>()",
                   loc);
    }
    return s;
}

Shape shape(ShapeArg a, ShapeArg b, ShapeArg c, ShapeArg d, ShapeArg e, ShapeArg f, SourceLoc loc) {
    Shape s;
    s.loc = loc;
    for (const auto *arg : {&a, &b, &c, &d, &e, &f}) {
        if (!arg->_present) {
            break;
        }
        auto position = static_cast<uint32_t>(s.entries.size());
        auto identity = arg->_positional ? Dim::positional(position) : arg->_dim;
        for (const auto &entry : s.entries) {
            if (entry.dim == identity) {
                core::fail(ErrorKind::VALUE, "shape: the same axis stands twice", loc);
            }
        }
        if (arg->_extent.is_static() && int64_t(arg->_extent) < 0) {
            core::fail(ErrorKind::VALUE,
                       "extent must be >= 0, got " + std::to_string(int64_t(arg->_extent)), loc);
        }
        s.entries.push_back({identity, arg->_extent});
    }
    return s;
}

Coord coord(IndexArg a, IndexArg b, IndexArg c, IndexArg d, IndexArg e, IndexArg f, SourceLoc loc) {
    Coord place;
    place.loc = loc;
    for (const auto *part : {&a, &b, &c, &d, &e, &f}) {
        if (part->present()) {
            place.parts.push_back(*part);
        }
    }
    return place;
}

IndexSpace range(IndexArg begin, IndexArg end, IndexArg step, SourceLoc loc) {
    int64_t by = 1, from = 0, to = 0;
    bool known = step.is_host(by);
    if (known && by == 0) {
        core::fail(ErrorKind::VALUE,
                   "range: a step of zero never ends; give a positive or negative step", loc);
    }
    if (known && begin.is_host(from) && end.is_host(to) && (by > 0 ? from < to : from > to)) {
        // Distances fit in 64 bits unsigned.
        auto low = static_cast<uint64_t>(from), high = static_cast<uint64_t>(to);
        auto distance = by > 0 ? high - low : low - high;
        auto stride = by > 0 ? static_cast<uint64_t>(by) : 0 - static_cast<uint64_t>(by);
        if ((distance - 1) / stride >= static_cast<uint64_t>(INT64_MAX)) {
            core::fail(ErrorKind::VALUE,
                       "range: from " + std::to_string(from) + " to " + std::to_string(to) +
                           " by " + std::to_string(by) +
                           " are more steps than int64 counts; give a larger step or two nests",
                       loc);
        }
    }
    return {begin, end, step, loc};
}

Index::operator int64_t() const {
    if (_value) {
        core::fail(ErrorKind::CONSTRAINT,
                   "this extent is known at launch only, and is used as a host integer; keep it "
                   "staged, or "
                   "bind it statically in tensor_shape",
                   _loc);
    }
    return _host;
}

core::Value *Index::value(SourceLoc loc) const {
    if (_value) {
        core::require_capture(_capture, _loc, loc);
        return _value;
    }
    return core::constant(ScalarType::INT64, core::literal(_host), loc);
}

Index Index::fold(const char *op, Index a, Index b) {
    if (!a.is_static() || !b.is_static()) {
        return {core::elementwise(op, {a.value(a._loc), b.value(b._loc)}, a._loc), a._loc};
    }
    auto x = a._host, y = b._host;
    std::string_view name{op};
    bool divides = name == "div" || name == "rem" || name == "ceil_div";
    if (y == 0 && divides) {
        core::fail(ErrorKind::VALUE, "division of an extent by zero", a._loc);
    }
    int64_t result = 0;
    bool overflow = false;
    if (divides) {
        // The least number has no negative.
        overflow = y == -1 && name != "rem" && x == std::numeric_limits<int64_t>::min();
    } else {
        overflow = name == "add"   ? __builtin_add_overflow(x, y, &result)
                   : name == "sub" ? __builtin_sub_overflow(x, y, &result)
                                   : __builtin_mul_overflow(x, y, &result);
    }
    if (overflow) {
        core::fail(ErrorKind::VALUE, "arithmetic on extents leaves the range of int64", a._loc);
    }
    if (name == "rem") {
        result = y == -1 ? 0 : x % y;
    } else if (divides) {
        result = x / y + (name == "ceil_div" && x % y != 0 && (x < 0) == (y < 0));
    }
    return {result, a._loc};
}

IndexArg::IndexArg(Index value, SourceLoc loc) : _present{true}, _loc{loc} {
    if (value.is_static()) {
        _host = int64_t(value);
    } else {
        _value = value.value(loc);
        _capture = core::capture_number();
    }
}

core::Value *IndexArg::value() const {
    if (_value) {
        core::require_capture(_capture, _loc, _loc);
        return _value;
    }
    return core::constant(ScalarType::INT64, core::literal(_host), _loc);
}

}// namespace luisa::tile
