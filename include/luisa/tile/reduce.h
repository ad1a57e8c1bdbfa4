// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/value.h>

#include <tuple>

namespace luisa::tile {

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
/// The kernel's default reduction policy.
ReductionPolicy default_reduction(SourceLoc loc);

}// namespace core

/// Elementwise function and reducer under one name: `maximum(a, b)`, `reduce(x, axis, maximum)`.
struct ReducerFunction {
    Reducer reducer;
    const char *op;///< TileIR name of the elementwise form

    template<class A, class B>
        requires(StagedValue<A> || StagedValue<B>)
    auto operator()(const A &a, const B &b, SourceLoc loc = SourceLoc::current()) const {
        using T = core::staged_element<A, B>;
        TileArg<T> x{a, loc}, y{b, loc};
        return core::staged_result<T, A, B>(core::elementwise(op, {x.v, y.v}, loc), loc);
    }
};

inline constexpr ReducerFunction add{Reducer::ADD, "add"}, multiply{Reducer::MULTIPLY, "mul"},
    minimum{Reducer::MINIMUM, "minimum"}, maximum{Reducer::MAXIMUM, "maximum"},
    fmin{Reducer::FMIN, "fmin"}, fmax{Reducer::FMAX, "fmax"},
    logical_and{Reducer::LOGICAL_AND, "and"}, logical_or{Reducer::LOGICAL_OR, "or"},
    bit_and{Reducer::BIT_AND, "and"}, bit_or{Reducer::BIT_OR, "or"},
    bit_xor{Reducer::BIT_XOR, "xor"};

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
    MaskArg mask = {};                   ///< contributions where it is false are skipped
    NanPolicy nan = NanPolicy::PROPAGATE;///< what NaN does to argmin and argmax
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
/// Position of the extreme along `axes`: lexicographic, lowest among equals; the first NaN wins unless
/// `options.nan` says otherwise. Of nothing: ValueError.
template<class T>
[[nodiscard]] Tile<int64_t> reduce(const Tile<T> &x, const ReduceAxes &axes, ArgReducer op,
                                   ReduceOptions options = {},
                                   SourceLoc loc = SourceLoc::current()) {
    return {core::reduce(op.reducer, x.value(loc), axes.dims, core::default_reduction(loc),
                         options.mask.v, options.nan, loc),
            loc};
}

}// namespace luisa::tile
