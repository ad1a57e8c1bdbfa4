// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/scatter.h>

#include "frontend/element_maps.h"

#include <limits>

namespace luisa::tile::core {

using ir::DimExtent;

namespace {

Value *number(ScalarType type, double value, SourceLoc loc) {
    return constant(type, literal(value), loc);
}
Value *position(int64_t value, SourceLoc loc) {
    return constant(ScalarType::INT64, literal(value), loc);
}

Shape shape_of_dims(const std::vector<DimExtent> &dims, SourceLoc loc) {
    Shape shape;
    shape.loc = loc;
    for (const auto &d : dims) {
        shape.entries.push_back({d.dim, Index{d.extent, loc}});
    }
    return shape;
}

Value *masked(Value *index, Value *mask, SourceLoc loc) {
    return mask ? elementwise("ite", {mask, index, position(-1, loc)}, loc) : index;
}

/// What a reduction of nothing gives.
Value *seed_of(Reducer reducer, ScalarType type, SourceLoc loc) {
    Shape none;
    none.loc = loc;
    none.entries.push_back({Dim::positional(0), Index{0, loc}});
    auto *zero = constant_bits(type, 0, loc);
    return reduce(reducer, full(none, zero, loc), {Dim::positional(0)}, ReductionPolicy::FOLD_LEFT,
                  nullptr, NanPolicy::PROPAGATE, loc);
}

/// The exact identity of a reducer where that is not what a reduction of nothing gives; else null.
Value *own_identity(Reducer reducer, ScalarType type, SourceLoc loc) {
    if (is_float(type) && reducer == Reducer::ADD) {
        return number(type, -0.0, loc);
    }
    if (is_float(type) && (reducer == Reducer::FMIN || reducer == Reducer::FMAX)) {
        return number(type, std::numeric_limits<double>::quiet_NaN(), loc);
    }
    return nullptr;
}

}// namespace

Value *histogram(Value *x, const Axis &bins, Value *mask, SourceLoc loc) {
    check_mask("histogram", x, mask, loc);
    Shape shape;
    shape.loc = loc;
    shape.entries.push_back({bins.dim, Index{bins.extent, loc}});
    auto *zero = full(shape, position(0, loc), loc);
    return scatter(zero, bins.dim, masked(x, mask, loc), position(1, loc), ScatterRule{add}, loc);
}

Value *histogram(Value *x, const Axis &bins, Value *low, Value *high, Value *mask, SourceLoc loc) {
    check_mask("histogram", x, mask, loc);
    auto type = x->scalar();
    if (type != ScalarType::FLOAT64 && type != ScalarType::FLOAT32) {
        type = ScalarType::FLOAT32;
        x = cast(x, type, loc);
        low = cast(low, type, loc);
        high = cast(high, type, loc);
    }
    auto *count = number(type, static_cast<double>(bins.extent), loc);
    auto *scale = elementwise("div", {count, elementwise("sub", {high, low}, loc)}, loc);
    auto *inside = elementwise(
        "and", {elementwise("ge", {x, low}, loc), elementwise("lt", {x, high}, loc)}, loc);
    auto *place = elementwise(
        "floor", {elementwise("mul", {elementwise("sub", {x, low}, loc), scale}, loc)}, loc);
    place = elementwise("ite", {inside, place, number(type, -1, loc)}, loc);
    // What is just below `high` may round up to it.
    auto *bin = elementwise(
        "minimum", {cast(place, ScalarType::INT64, loc), position(bins.extent - 1, loc)}, loc);
    return histogram(bin, bins, mask, loc);
}

Value *segmented_reduce(Value *x, Dim axis, Value *segments, const Axis &result, Reducer reducer,
                        SourceLoc loc) {
    for (const auto *tile : {x, segments}) {
        if (tile->type()->find(axis) < 0) {
            fail(ErrorKind::INDEX,
                 std::string{"segmented_reduce: the tile of "} +
                     (tile == x ? "values" : "segments") + " of shape " + shape_text(tile) +
                     " lacks the axis that is reduced",
                 loc, made_at(tile, "tile made here"));
        }
    }
    std::vector<DimExtent> dims, owners;
    for (const auto &d : x->type()->dims) {
        auto kept = d.dim == axis ? DimExtent{result.dim, result.extent} : d;
        dims.push_back(kept);
        if (d.dim == axis || segments->type()->find(d.dim) >= 0) {
            owners.push_back(kept);
        }
    }
    auto type = x->scalar();
    auto *seed = seed_of(reducer, type, loc);
    auto *identity = own_identity(reducer, type, loc);
    auto *start = full(shape_of_dims(dims, loc), identity ? identity : seed, loc);
    auto *folded = scatter(start, result.dim, segments, x,
                           ScatterRule{ReducerFunction{reducer, ""}}, loc);
    if (!identity) {
        return folded;
    }
    auto *none = full(shape_of_dims(owners, loc), constant_bits(ScalarType::BOOL, 0, loc), loc);
    auto *any = scatter(none, result.dim, segments, constant_bits(ScalarType::BOOL, 1, loc),
                        ScatterRule{ScatterRule::Kind::LAST}, loc);
    auto *chosen = elementwise("ite", {any, folded, seed}, loc);
    auto *fitted = fit_dims(current(loc), chosen, dims, loc);
    return fitted ? fitted : chosen;
}

}// namespace luisa::tile::core
