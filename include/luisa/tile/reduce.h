// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/value.h>

#include <tuple>

namespace luisa::tile {

/// Which of several equal elements is meant: the one that a reduction finds, or that which comes first in an order.
enum class TieBreak : uint8_t {
    LOWEST_INDEX, ///< the one before the others in the source: sorting is stable
    HIGHEST_INDEX,///< the one after the others in the source
};

namespace core {

template<class... X> struct first_staged;
template<class X, class... R>
struct first_staged<X, R...>
    : std::conditional_t<StagedValue<X>, std::type_identity<std::remove_cvref_t<X>>,
                         first_staged<R...>> {};
template<> struct first_staged<> { using type = void; };
/// The element type that host numbers among the operands take.
template<class... X> using staged_element = element_t<typename first_staged<X...>::type>;
template<class T, class... X>
using staged_result = std::conditional_t<(TileValue<X> || ...), Tile<T>, Scalar<T>>;

Value *reduce(Reducer reducer, Value *x, const std::vector<Dim> &dims, ReductionPolicy policy,
              Value *mask, NanPolicy nan, SourceLoc loc);
/// The position of the extreme.
Value *position(Reducer reducer, Value *x, const std::vector<Dim> &dims, Value *mask, NanPolicy nan,
                TieBreak ties, SourceLoc loc);
/// The kernel's default reduction policy.
ReductionPolicy default_reduction(SourceLoc loc);

/// op(a, b) of two operands, one of which may be a host number.
template<class A, class B> auto binary(const char *op, const A &a, const B &b, SourceLoc loc) {
    using T = staged_element<A, B>;
    TileArg<T> x{a, loc}, y{b, loc};
    return staged_result<T, A, B>(elementwise(op, {x.v, y.v}, loc), loc);
}
/// What tells `fmin` as the name of a reducer from its elementwise form.
struct ReducerName {};

}// namespace core

/// Elementwise function and reducer under one name: `maximum(a, b)`, `reduce(x, axis, maximum)`.
struct ReducerFunction {
    Reducer reducer;
    const char *op;///< TileIR name of the elementwise form

    constexpr ReducerFunction(Reducer reducer, const char *op) : reducer{reducer}, op{op} {}
    /// Implicit from the functions `fmin` and `fmax`.
    constexpr ReducerFunction(ReducerFunction (*name)(core::ReducerName))
        : ReducerFunction{name(core::ReducerName{})} {}

    template<class A, class B>
        requires(StagedValue<A> || StagedValue<B>)
    auto operator()(const A &a, const B &b, SourceLoc loc = SourceLoc::current()) const {
        return core::binary(op, a, b, loc);
    }
};

inline constexpr ReducerFunction add{Reducer::ADD, "add"}, multiply{Reducer::MULTIPLY, "mul"},
    minimum{Reducer::MINIMUM, "minimum"}, maximum{Reducer::MAXIMUM, "maximum"},
    logical_and{Reducer::LOGICAL_AND, "and"}, logical_or{Reducer::LOGICAL_OR, "or"},
    bit_and{Reducer::BIT_AND, "and"}, bit_or{Reducer::BIT_OR, "or"},
    bit_xor{Reducer::BIT_XOR, "xor"};

// Functions, unlike the other reducers: <cmath> declares functions of these names, beside which no object of theirs
// could be named after `using namespace luisa::tile`.

/// The smaller of two elements, and of a number and NaN the number; −0 is below +0.
template<class A, class B>
    requires(StagedValue<A> || StagedValue<B>)
[[nodiscard]] auto fmin(const A &a, const B &b, SourceLoc loc = SourceLoc::current()) {
    return core::binary("fmin", a, b, loc);
}
/// `fmin` where a reducer is meant: `reduce(x, axis, fmin)`.
[[nodiscard]] constexpr ReducerFunction fmin(core::ReducerName) { return {Reducer::FMIN, "fmin"}; }
/// The larger of two elements, and of a number and NaN the number; −0 is below +0.
template<class A, class B>
    requires(StagedValue<A> || StagedValue<B>)
[[nodiscard]] auto fmax(const A &a, const B &b, SourceLoc loc = SourceLoc::current()) {
    return core::binary("fmax", a, b, loc);
}
/// `fmax` where a reducer is meant: `reduce(x, axis, fmax)`.
[[nodiscard]] constexpr ReducerFunction fmax(core::ReducerName) { return {Reducer::FMAX, "fmax"}; }

/// Reducers without an elementwise form: the position of the extreme, int64.
struct ArgReducer {
    Reducer reducer;
};
inline constexpr ArgReducer argmin{Reducer::ARGMIN}, argmax{Reducer::ARGMAX};

namespace reduction {
inline constexpr ReductionPolicy unordered_tree = ReductionPolicy::UNORDERED_TREE,
                                 ordered_tree = ReductionPolicy::ORDERED_TREE,
                                 fold_left = ReductionPolicy::FOLD_LEFT,
                                 fold_right = ReductionPolicy::FOLD_RIGHT,
                                 balanced_tree = ReductionPolicy::BALANCED_TREE;
}// namespace reduction

namespace core {

/// The states that a contract merges: `using states = std::tuple<…>` of a contract for several types, else
/// the type of `identity()`.
template<class C, class = void> struct contract_states { using type = void; };
template<class C> struct contract_states<C, std::void_t<typename C::states>> {
    using type = typename C::states;
};
template<class C>
    requires(
        !requires { typename C::states; } && requires(const C &c) { c.identity(); })
struct contract_states<C, void> {
    using type = std::tuple<std::remove_cvref_t<decltype(std::declval<const C &>().identity())>>;
};

}// namespace core

/// How states of a reduction merge. A value with
///   `identity()`         a state that merging leaves as the other side is, of single elements;
///   `merge(lhs, rhs)`    the state of lhs followed by rhs; elementwise, associative;
///   `commutative`        optional static bool: the order of lhs and rhs does not matter (default false);
///   `lift(x…)`           optional: the state of one element (default: one update of the identity).
/// A contract for several state types lists them, `using states = std::tuple<…>`, and has
/// `identity<State>()`. The laws are the author's claim; the interpreter's validation samples them.
template<class C>
concept ReductionContract = !std::is_void_v<typename core::contract_states<C>::type>;

namespace nan {
inline constexpr NanPolicy propagate = NanPolicy::PROPAGATE, ignore = NanPolicy::IGNORE;
}// namespace nan

namespace tie {
inline constexpr TieBreak lowest_index = TieBreak::LOWEST_INDEX,
                          highest_index = TieBreak::HIGHEST_INDEX;
}// namespace tie

/// The dimensions that a reduction folds: one or several axes or dims.
struct ReduceAxes {
    std::vector<Dim> dims;
    ReduceAxes(Axis a) : dims{a.dim} {}
    ReduceAxes(Dim d) : dims{d} {}
    ReduceAxes(std::initializer_list<Axis> axes) {
        for (const auto &a : axes) {
            dims.push_back(a.dim);
        }
    }
    ReduceAxes(std::initializer_list<Dim> ds) : dims{ds} {}
};

/// A mask, or none.
struct MaskArg {
    core::Value *v = nullptr;
    MaskArg() = default;
    MaskArg(const Tile<bool> &m, SourceLoc at = SourceLoc::current()) : v{m.value(at)} {}
    MaskArg(const Scalar<bool> &m, SourceLoc at = SourceLoc::current()) : v{m.value(at)} {}
};

struct ReduceOptions {
    MaskArg mask = {};                     ///< contributions where it is false are skipped
    NanPolicy nan = NanPolicy::PROPAGATE;  ///< what NaN does to argmin and argmax
    TieBreak ties = TieBreak::LOWEST_INDEX;///< which of equal elements argmin and argmax find
};

/// Folds `axes` of x by `op`, seeded with its identity; the other dimensions stay. A dimension that x
/// lacks: IndexError; one given twice: ValueError. Folding all dimensions gives a rank-zero tile.
template<class T>
[[nodiscard]] Tile<T> reduce(const Tile<T> &x, const ReduceAxes &axes, ReducerFunction op,
                             ReductionPolicy policy, ReduceOptions options = {},
                             SourceLoc loc = SourceLoc::current()) {
    return {
        core::reduce(op.reducer, x.value(loc), axes.dims, policy, options.mask.v, options.nan, loc),
        loc};
}
/// The same with the kernel's default policy.
template<class T>
[[nodiscard]] Tile<T> reduce(const Tile<T> &x, const ReduceAxes &axes, ReducerFunction op,
                             ReduceOptions options, SourceLoc loc = SourceLoc::current()) {
    return reduce(x, axes, op, core::default_reduction(loc), options, loc);
}
template<class T>
[[nodiscard]] Tile<T> reduce(const Tile<T> &x, const ReduceAxes &axes, ReducerFunction op,
                             SourceLoc loc = SourceLoc::current()) {
    return reduce(x, axes, op, core::default_reduction(loc), {}, loc);
}
/// Position of the extreme along `axes`: lexicographic, lowest among equals unless `options.ties` says
/// otherwise; a NaN wins, and NaNs are equals, unless `options.nan` passes over them. Where the mask leaves nothing:
/// -1. Of an extent of zero: ValueError.
template<class T>
[[nodiscard]] Tile<int64_t> reduce(const Tile<T> &x, const ReduceAxes &axes, ArgReducer op,
                                   ReduceOptions options = {},
                                   SourceLoc loc = SourceLoc::current()) {
    return {core::position(op.reducer, x.value(loc), axes.dims, options.mask.v, options.nan,
                           options.ties, loc),
            loc};
}

}// namespace luisa::tile
