// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/scan.h>

#include <functional>

namespace luisa::tile {

namespace core {
Value *full(const Shape &shape, Value *scalar, SourceLoc loc);
Value *iota(ScalarType type, Axis axis, SourceLoc loc);
Value *mma(Value *a, Value *b, Value *c, const MmaPolicy *policy, SourceLoc loc);
Value *gather(Value *x, Value *index, Dim axis, Value *fallback, SourceLoc loc);
Value *insert(Value *y, const Coord &place, Value *part, SourceLoc loc);
Value *insert(Value *y, const Nest &nest, Value *part, SourceLoc loc);
Value *reshape(Value *x, const Shape &shape, SourceLoc loc);
Value *broadcast(Value *x, const Shape &shape, SourceLoc loc);
Value *transpose(Value *x, const std::vector<Dim> &dims, SourceLoc loc);
Value *with_dims(Value *x, const std::vector<Dim> &dims, SourceLoc loc);
/// `body` gets one i64 scalar a dimension of `shape` and gives a scalar.
Value *reindex(Value *x, const Shape &shape,
               const std::function<std::vector<Value *>(const std::vector<Value *> &)> &body,
               SourceLoc loc);
/// Opens a body that may read but not assign outer variables, and records no effects.
void begin_pure_body(const char *what, SourceLoc loc);
void end_pure_body();
}// namespace core

/// A tile with every element `value`.
template<Element T>
[[nodiscard]] Tile<T> full(const Shape &shape, std::type_identity_t<ScalarArg<T>> value,
                           SourceLoc loc = SourceLoc::current()) {
    return {core::full(shape, value.v, loc), loc};
}
/// A tile of zeros.
template<Element T>
[[nodiscard]] Tile<T> zeros(const Shape &shape, SourceLoc loc = SourceLoc::current()) {
    return {core::full(shape, core::constant_bits(scalar_type_of<T>, 0, loc), loc), loc};
}
/// A tile of ones.
template<Element T>
[[nodiscard]] Tile<T> ones(const Shape &shape, SourceLoc loc = SourceLoc::current()) {
    return {core::full(shape, core::constant(scalar_type_of<T>, core::literal(1), loc), loc), loc};
}
/// 0, 1, 2, … along an axis.
template<Element T = int64_t>
[[nodiscard]] Tile<T> iota(Axis axis, SourceLoc loc = SourceLoc::current()) {
    return {core::iota(scalar_type_of<T>, axis, loc), loc};
}

/// Converts the elements: one rounding, saturating toward integers, NaN to 0.
template<Element U, StagedValue X>
[[nodiscard]] auto cast(const X &x, SourceLoc loc = SourceLoc::current()) {
    return typename staged_traits<X>::template like<U>(
        core::cast(x.value(loc), scalar_type_of<U>, loc), loc);
}
/// The same bits as another type of equal width.
template<Element U, StagedValue X>
[[nodiscard]] auto bitcast(const X &x, SourceLoc loc = SourceLoc::current()) {
    return typename staged_traits<X>::template like<U>(
        core::bitcast(x.value(loc), scalar_type_of<U>, loc), loc);
}
/// Rounds f32 to an 8-bit float, ties to even. Overflow: the largest value when `saturate`, else infinity or
/// NaN.
template<Element U, StagedValue X>
[[nodiscard]] auto quantize(const X &x, bool saturate, SourceLoc loc = SourceLoc::current()) {
    return typename staged_traits<X>::template like<U>(
        core::quantize(x.value(loc), scalar_type_of<U>, saturate, loc), loc);
}

// Elementwise functions on floating-point values; accuracy in docs/numerics.md.
#define LUISA_TILE_UNARY(NAME)                                                                     \
    template<StagedValue X>                                                                        \
    [[nodiscard]] X NAME(const X &x, SourceLoc loc = SourceLoc::current()) {                       \
        static_assert(is_floating_element<element_t<X>>, #NAME " needs a floating-point operand"); \
        return X(core::elementwise(#NAME, {x.value(loc)}, loc), loc);                              \
    }
LUISA_TILE_UNARY(exp)
LUISA_TILE_UNARY(exp2)
LUISA_TILE_UNARY(expm1)
LUISA_TILE_UNARY(log)
LUISA_TILE_UNARY(log2)
LUISA_TILE_UNARY(log10)
LUISA_TILE_UNARY(log1p)
LUISA_TILE_UNARY(sin)
LUISA_TILE_UNARY(cos)
LUISA_TILE_UNARY(tan)
LUISA_TILE_UNARY(tanh)
LUISA_TILE_UNARY(erf)
LUISA_TILE_UNARY(erfc)
LUISA_TILE_UNARY(sigmoid)
LUISA_TILE_UNARY(silu)
LUISA_TILE_UNARY(gelu)
LUISA_TILE_UNARY(gelu_tanh)
LUISA_TILE_UNARY(softplus)
LUISA_TILE_UNARY(cbrt)
LUISA_TILE_UNARY(sqrt)
LUISA_TILE_UNARY(rsqrt)
LUISA_TILE_UNARY(floor)
LUISA_TILE_UNARY(ceil)
LUISA_TILE_UNARY(rint)
LUISA_TILE_UNARY(trunc)
#undef LUISA_TILE_UNARY

/// Magnitude; MIN stays MIN.
template<StagedValue X> [[nodiscard]] X abs(const X &x, SourceLoc loc = SourceLoc::current()) {
    return X(core::elementwise("abs", {x.value(loc)}, loc), loc);
}

#define LUISA_TILE_BINARY_FUNCTION(NAME)                                                           \
    template<class A, class B>                                                                     \
        requires(StagedValue<A> || StagedValue<B>)                                                 \
    [[nodiscard]] auto NAME(const A &a, const B &b, SourceLoc loc = SourceLoc::current()) {        \
        using T = core::staged_element<A, B>;                                                      \
        TileArg<T> x{a, loc}, y{b, loc};                                                           \
        return core::staged_result<T, A, B>(core::elementwise(#NAME, {x.v, y.v}, loc), loc);       \
    }
LUISA_TILE_BINARY_FUNCTION(pow)
LUISA_TILE_BINARY_FUNCTION(floor_div)
LUISA_TILE_BINARY_FUNCTION(floor_mod)
LUISA_TILE_BINARY_FUNCTION(ceil_div)
#undef LUISA_TILE_BINARY_FUNCTION

/// a · b + c with one rounding.
template<class A, class B, class C>
    requires(StagedValue<A> || StagedValue<B> || StagedValue<C>)
[[nodiscard]] auto fma(const A &a, const B &b, const C &c, SourceLoc loc = SourceLoc::current()) {
    using T = core::staged_element<A, B, C>;
    TileArg<T> x{a, loc}, y{b, loc}, z{c, loc};
    return core::staged_result<T, A, B, C>(core::elementwise("fma", {x.v, y.v, z.v}, loc), loc);
}

/// `yes` where the condition holds, else `no`: chooses between values that are computed already.
template<class C, class A, class B>
    requires(StagedValue<A> || StagedValue<B>)
[[nodiscard]] auto ite(const C &condition, const A &yes, const B &no,
                       SourceLoc loc = SourceLoc::current()) {
    using T = core::staged_element<A, B>;
    TileArg<bool> c{condition, loc};
    TileArg<T> x{yes, loc}, y{no, loc};
    return core::staged_result<T, C, A, B>(core::elementwise("ite", {c.v, x.v, y.v}, loc), loc);
}

/// acc + a · b. Roles come from dimension identities: batch in all three, contracted in a and b only, free
/// in one of them and acc. Without a policy the kernel's default applies.
template<class A, class B, class C>
[[nodiscard]] Tile<C> mma(const Tile<A> &a, const Tile<B> &b, const Tile<C> &acc,
                          SourceLoc loc = SourceLoc::current()) {
    return {core::mma(a.value(loc), b.value(loc), acc.value(loc), nullptr, loc), loc};
}
template<class A, class B, class C>
[[nodiscard]] Tile<C> mma(const Tile<A> &a, const Tile<B> &b, const Tile<C> &acc, MmaPolicy policy,
                          SourceLoc loc = SourceLoc::current()) {
    return {core::mma(a.value(loc), b.value(loc), acc.value(loc), &policy, loc), loc};
}

/// x at `index` along an axis: x's other dimensions joined with those of `index`. Outside: `fallback`.
template<class T>
[[nodiscard]] Tile<T> gather(const Tile<T> &x, const Tile<int64_t> &index, Axis axis,
                             std::type_identity_t<ScalarArg<T>> fallback,
                             SourceLoc loc = SourceLoc::current()) {
    return {core::gather(x.value(loc), index.value(loc), axis.dim, fallback.v, loc), loc};
}

/// y with the part at the nest's coordinate (or at explicit leading coordinates) replaced; outside of
/// y nothing changes.
template<class T>
[[nodiscard]] Tile<T> insert(const Tile<T> &y, const Nest &nest, std::type_identity_t<TileArg<T>> v,
                             SourceLoc loc = SourceLoc::current()) {
    return {core::insert(y.value(loc), nest, v.v, loc), loc};
}
template<class T>
[[nodiscard]] Tile<T> insert(const Tile<T> &y, const Coord &place,
                             std::type_identity_t<TileArg<T>> v,
                             SourceLoc loc = SourceLoc::current()) {
    return {core::insert(y.value(loc), place, v.v, loc), loc};
}

/// The same elements in row-major order under another shape with as many elements.
template<class T>
[[nodiscard]] Tile<T> reshape(const Tile<T> &x, const Shape &shape,
                              SourceLoc loc = SourceLoc::current()) {
    return {core::reshape(x.value(loc), shape, loc), loc};
}
/// x over more dimensions; dimensions of extent one grow.
template<class T>
[[nodiscard]] Tile<T> broadcast(const Tile<T> &x, const Shape &shape,
                                SourceLoc loc = SourceLoc::current()) {
    return {core::broadcast(x.value(loc), shape, loc), loc};
}
/// The dimensions in another order; no data moves.
template<class T>
[[nodiscard]] Tile<T> transpose(const Tile<T> &x, std::initializer_list<Axis> order,
                                SourceLoc loc = SourceLoc::current()) {
    std::vector<Dim> dims;
    for (const auto &a : order) {
        dims.push_back(a.dim);
    }
    return {core::transpose(x.value(loc), dims, loc), loc};
}
/// The same tile under other dimension identities, in order.
template<class T>
[[nodiscard]] Tile<T> with_dims(const Tile<T> &x, std::initializer_list<Axis> identities,
                                SourceLoc loc = SourceLoc::current()) {
    std::vector<Dim> dims;
    for (const auto &a : identities) {
        dims.push_back(a.dim);
    }
    return {core::with_dims(x.value(loc), dims, loc), loc};
}

namespace core {
[[noreturn]] void wrong_coordinate_count(const char *what, size_t takes, size_t count, size_t path,
                                         SourceLoc loc);
template<size_t> using Int64Scalar = Scalar<int64_t>;

template<class F, size_t... I> constexpr bool takes_coordinates(std::index_sequence<I...>) {
    return std::is_invocable_r_v<Coord, const F &, Int64Scalar<I>...>;
}
/// How many coordinates `F` takes, one Scalar<int64_t> each: no signature says it, so all are tried.
template<class F, size_t R = 0> constexpr size_t coordinate_count() {
    static_assert(R <= 6,
                  "the lambda takes one Scalar<int64_t> a dimension, up to six, is not mutable, "
                  "and returns coord(…)");
    if constexpr (R > 6) {
        return 0;
    } else if constexpr (takes_coordinates<F>(std::make_index_sequence<R>{})) {
        return R;
    } else {
        return coordinate_count<F, R + 1>();
    }
}
/// Calls `f` with `at`, whose size is `coordinate_count<F>()`.
template<class F> Coord call_with_coordinates(const F &f, Value *const *at, SourceLoc loc) {
    return [&]<size_t... I>(std::index_sequence<I...>) { return f(Scalar<int64_t>(at[I], loc)...); }
    (std::make_index_sequence<coordinate_count<F>()>{});
}
}// namespace core

/// y[j…] = x[f(j…)]: `f` takes one Scalar<int64_t> a dimension of `shape` and returns a coord(…) of x. Outside
/// of x: zero.
template<class T, class F>
[[nodiscard]] Tile<T> reindex(const Tile<T> &x, const Shape &shape, const F &f,
                              SourceLoc loc = SourceLoc::current()) {
    auto body = [&](const std::vector<core::Value *> &at) {
        constexpr auto takes = core::coordinate_count<F>();
        if (takes != at.size()) {
            core::wrong_coordinate_count("reindex", takes, at.size(), at.size(), loc);
        }
        std::vector<core::Value *> place;
        for (const auto &part : core::call_with_coordinates(f, at.data(), loc).parts) {
            place.push_back(part.value());
        }
        return place;
    };
    return {core::reindex(x.value(loc), shape, body, loc), loc};
}

namespace core {
/// `x` over the join of the operands' dimensions.
Value *broadcast_to_join(Value *x, std::initializer_list<Value *> operands, SourceLoc loc);

template<class F, class... X> auto map(const F &f, SourceLoc loc, const X &...x) {
    static_assert(
        std::is_invocable_v<const F &, Scalar<element_t<X>>...>,
        "map: the lambda takes one Scalar an operand, of its element type, and is not mutable");
    using R = std::remove_cvref_t<std::invoke_result_t<const F &, Scalar<element_t<X>>...>>;
    static_assert(StagedValue<R>, "map: the lambda returns a Scalar");
    begin_pure_body("map", loc);
    Value *value = nullptr;
    {
        auto r = f(Scalar<element_t<X>>(x.value(loc), loc)...);
        value = r.value(loc);
    }
    end_pure_body();
    return staged_result<element_t<R>, X...>(broadcast_to_join(value, {x.value(loc)...}, loc), loc);
}
}// namespace core

/// A scalar expression for each element: `map(x, y, [](Scalar<float> a, Scalar<float> b) { … })`, over up
/// to four tiles and scalars joined by dimension identity. The expression becomes part of the program like
/// any other; it may read outer values but not assign them, and has no effects.
template<StagedValue A, class F>
[[nodiscard]] auto map(const A &a, const F &f, SourceLoc loc = SourceLoc::current()) {
    return core::map(f, loc, a);
}
template<StagedValue A, StagedValue B, class F>
[[nodiscard]] auto map(const A &a, const B &b, const F &f, SourceLoc loc = SourceLoc::current()) {
    return core::map(f, loc, a, b);
}
template<StagedValue A, StagedValue B, StagedValue C, class F>
[[nodiscard]] auto map(const A &a, const B &b, const C &c, const F &f,
                       SourceLoc loc = SourceLoc::current()) {
    return core::map(f, loc, a, b, c);
}
template<StagedValue A, StagedValue B, StagedValue C, StagedValue D, class F>
[[nodiscard]] auto map(const A &a, const B &b, const C &c, const D &d, const F &f,
                       SourceLoc loc = SourceLoc::current()) {
    return core::map(f, loc, a, b, c, d);
}

}// namespace luisa::tile
