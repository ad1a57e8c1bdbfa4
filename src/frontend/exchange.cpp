// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/exchange.h>

#include "frontend/element_maps.h"

namespace luisa::tile::core {

namespace {

/// The extent of `axis`, which the tile must have.
int64_t extent_of(const Value *x, Dim axis, const char *what, SourceLoc loc) {
    auto at = x->type()->find(axis);
    if (at < 0) {
        fail(ErrorKind::INDEX,
             std::string{what} + ": the tile of shape " + shape_text(x) + " has no such axis", loc,
             made_at(x, "tile made here"));
    }
    return x->type()->dims[static_cast<size_t>(at)].extent;
}

/// The coordinates of x that are `at` over the dimensions of `type`, with `along` on the axis.
std::vector<Value *> place_along(const Value *x, const ir::Type *type,
                                 const std::vector<Value *> &at, Dim axis, Value *along) {
    std::vector<Value *> place;
    for (const auto &d : x->type()->dims) {
        place.push_back(d.dim == axis ? along : at[static_cast<size_t>(type->find(d.dim))]);
    }
    return place;
}

/// A tile like x whose element at j on the axis is `element(c, j, read)`, where `read(k, fallback)` is x at k.
template<class F> Value *along_axis(Value *x, Dim axis, const F &element, SourceLoc loc) {
    const auto *type = x->type();
    return map_over(
        type,
        [&](Capture &c, const std::vector<Value *> &at) {
            auto read = [&](Value *along, Value *fallback) {
                return element_of(c, x, place_along(x, type, at, axis, along), fallback, loc);
            };
            return element(c, at[static_cast<size_t>(type->find(axis))], read);
        },
        loc);
}

Value *zero_like(Capture &c, const Value *x, SourceLoc loc) {
    return emit_value(c, ir::Opcode::CONSTANT, {}, c.module->scalar(x->scalar()),
                      ir::ConstantPayload{0}, loc);
}

}// namespace

Value *shift(Value *x, Dim axis, const IndexArg &delta, Value *fill, SourceLoc loc) {
    auto &c = current(loc);
    extent_of(x, axis, "shift", loc);
    auto *by = delta.value();
    auto *outside = fill ? fill : zero_like(c, x, loc);
    return along_axis(
        x, axis,
        [&](Capture &, Value *at, const auto &read) {
            return read(elementwise("sub", {at, by}, loc), outside);
        },
        loc);
}

Value *rotate(Value *x, Dim axis, const IndexArg &delta, SourceLoc loc) {
    auto &c = current(loc);
    auto extent = extent_of(x, axis, "rotate", loc);
    int64_t host = 0;
    if (extent <= 1 || (delta.is_host(host) && host % extent == 0)) {
        return x;
    }
    // Two reads with unit slope instead of a remainder an element; exactly one of them is inside.
    auto *by = delta.value(), *wrapped = by;
    if (delta.is_host(host)) {
        auto rest = (host % extent + extent) % extent;
        by = integer(c, rest, loc);
        wrapped = integer(c, rest - extent, loc);
    } else {
        auto *count = integer(c, extent, loc);
        by = elementwise("floor_mod", {by, count}, loc);
        wrapped = elementwise("sub", {by, count}, loc);
    }
    auto *outside = zero_like(c, x, loc);
    return along_axis(
        x, axis,
        [&](Capture &, Value *at, const auto &read) {
            auto *tail = read(elementwise("sub", {at, wrapped}, loc), outside);
            return read(elementwise("sub", {at, by}, loc), tail);
        },
        loc);
}

Value *flip(Value *x, Dim axis, SourceLoc loc) {
    auto &c = current(loc);
    auto *last = integer(c, extent_of(x, axis, "flip", loc) - 1, loc);
    return along_axis(
        x, axis,
        [&](Capture &, Value *at, const auto &read) {
            return read(elementwise("sub", {last, at}, loc), nullptr);
        },
        loc);
}

Value *butterfly(Value *x, Dim axis, const IndexArg &mask, SourceLoc loc) {
    auto &c = current(loc);
    extent_of(x, axis, "butterfly", loc);
    int64_t host = 0;
    if (mask.is_host(host) && host < 0) {
        fail(ErrorKind::VALUE,
             "butterfly: the mask is " + std::to_string(host) +
                 "; expected the distance to the partner, 0 or more",
             loc, made_at(x, "tile made here"));
    }
    auto *by = mask.value();
    auto *outside = zero_like(c, x, loc);
    bool one_bit = mask.is_host(host) && host > 0 && (host & (host - 1)) == 0;
    return along_axis(
        x, axis,
        [&](Capture &inner, Value *at, const auto &read) {
            if (!one_bit) {
                return read(elementwise("xor", {at, by}, loc), outside);
            }
            // One bit is an addition or a subtraction: two reads with unit slope instead of a gather.
            auto *bit = elementwise("and", {at, by}, loc);
            auto *low = elementwise("eq", {bit, integer(inner, 0, loc)}, loc);
            auto *above = read(elementwise("add", {at, by}, loc), outside);
            auto *below = read(elementwise("sub", {at, by}, loc), outside);
            return elementwise("ite", {low, above, below}, loc);
        },
        loc);
}

Value *concat(Dim axis, const std::vector<Value *> &parts, SourceLoc loc) {
    auto &c = current(loc);
    auto *first = parts.front();
    auto dims = first->type()->dims;
    extent_of(first, axis, "concat", loc);
    auto &along = dims[static_cast<size_t>(first->type()->find(axis))];
    std::vector<int64_t> begins{0};
    for (size_t i = 1; i < parts.size(); ++i) {
        auto *part = parts[i];
        auto extent = extent_of(part, axis, "concat", loc);
        bool fits = part->type()->rank() == dims.size();
        for (const auto &d : part->type()->dims) {
            fits &= d.dim == axis || std::find(dims.begin(), dims.end(), d) != dims.end();
        }
        if (!fits) {
            auto notes = made_at(first, "first part made here");
            auto more = made_at(part, "part made here");
            notes.insert(notes.end(), more.begin(), more.end());
            fail(ErrorKind::SHAPE,
                 "concat: part 0 is " + shape_text(first) + " and part " + std::to_string(i) +
                     " is " + shape_text(part) +
                     "; beside the axis, every part has the same dimensions: broadcast or "
                     "with_dims relates them",
                 loc, notes);
        }
        begins.push_back(along.extent);
        along.extent += extent;
    }
    check_count(dims, "concat", loc);
    auto *type = c.module->tile(first->scalar(), dims);
    return map_over(
        type,
        [&](Capture &capture, const std::vector<Value *> &at) {
            // Every part is read where it is; the one that holds the element is the only one inside.
            auto *j = at[static_cast<size_t>(type->find(axis))];
            auto *element = zero_like(capture, first, loc);
            for (size_t i = parts.size(); i-- > 0;) {
                auto *from = begins[i] == 0
                                 ? j
                                 : elementwise("sub", {j, integer(capture, begins[i], loc)}, loc);
                element = element_of(capture, parts[i], place_along(parts[i], type, at, axis, from),
                                     element, loc);
            }
            return element;
        },
        loc);
}

}// namespace luisa::tile::core
