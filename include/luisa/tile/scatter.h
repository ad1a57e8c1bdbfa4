// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/nest.h>
#include <luisa/tile/reduce.h>

#include <initializer_list>

// Values that go to places that data decides: scatter, histograms, reductions by segment. All are
// compositions of loops, inserts, loads, stores and atomic updates.

namespace luisa::tile {

/// What scatter does where several values have one target.
struct ScatterRule {
    enum class Kind : uint8_t { UNIQUE, LAST, REDUCE } kind = Kind::UNIQUE;
    Reducer reducer = Reducer::ADD;
    /// Implicit from a reducer: `scatter(x, axis, index, values, add)`.
    constexpr ScatterRule(ReducerFunction op) : kind{Kind::REDUCE}, reducer{op.reducer} {}
    /// Implicit from the functions `fmin` and `fmax`.
    constexpr ScatterRule(ReducerFunction (*name)(core::ReducerName))
        : ScatterRule{ReducerFunction{name}} {}
    constexpr explicit ScatterRule(Kind kind) : kind{kind} {}
};

/// The caller promises that no two values have one target.
inline constexpr ScatterRule unique{ScatterRule::Kind::UNIQUE};
/// The last value in source order stays. Source order is lexicographic in the dimensions of the values,
/// then those that only the index has.
inline constexpr ScatterRule last{ScatterRule::Kind::LAST};

struct ScatterOptions {
    /// Float reducers update elements atomically: instances of a `parallel` may then have common targets,
    /// and the order in which they come, so the rounding, differs from run to run.
    bool atomic = false;
};

namespace core {
Value *scatter(Value *x, Dim axis, Value *index, Value *values, ScatterRule rule, SourceLoc loc);
void scatter(const ViewHandle &view, const std::vector<Value *> &indices, Value *values,
             ScatterRule rule, ScatterOptions options, SourceLoc loc);
Value *histogram(Value *x, const Axis &bins, Value *mask, SourceLoc loc);
Value *histogram(Value *x, const Axis &bins, Value *low, Value *high, Value *mask, SourceLoc loc);
Value *segmented_reduce(Value *x, Dim axis, Value *segments, const Axis &result, Reducer reducer,
                        SourceLoc loc);

/// One coordinate of targets in a view: integers, staged or of the host.
struct ScatterCoordinate {
    Value *v;
    template<std::integral I>
    ScatterCoordinate(const Tile<I> &index, SourceLoc loc = SourceLoc::current())
        : v{cast(index.value(loc), ScalarType::INT64, loc)} {}
    template<std::integral I>
    ScatterCoordinate(const Scalar<I> &index, SourceLoc loc = SourceLoc::current())
        : v{cast(index.value(loc), ScalarType::INT64, loc)} {}
    template<std::integral I>
    ScatterCoordinate(I index, SourceLoc loc = SourceLoc::current())
        : v{constant(ScalarType::INT64, literal(index), loc)} {}
};

/// The coordinates of targets in a view, one a dimension.
struct ScatterIndex {
    std::vector<Value *> tiles;
    template<std::integral I>
    ScatterIndex(const Tile<I> &index, SourceLoc loc = SourceLoc::current())
        : tiles{ScatterCoordinate{index, loc}.v} {}
    ScatterIndex(std::initializer_list<ScatterCoordinate> indices) {
        for (const auto &index : indices) {
            tiles.push_back(index.v);
        }
    }
};
}// namespace core

/// A tile like `x` in which element [… index …] along `axis` is combined with values. Dimensions that index
/// or values share with x are matched; every other one, and `axis` itself, runs over contributions. For each
/// element of x they come in source order, one after the other: sums of floats have the same bits always.
/// Targets outside of x are dropped. A reducer combines with the element of x; `unique` and `last` replace it.
/// An axis that x lacks: IndexError; extents that differ: ShapeError; other element types: TypeError.
template<class T, std::integral I>
[[nodiscard]] Tile<T> scatter(const Tile<T> &x, DimArg axis, const Tile<I> &index,
                              std::type_identity_t<TileArg<T>> values, ScatterRule rule,
                              SourceLoc loc = SourceLoc::current()) {
    return {core::scatter(x.value(loc), axis.dim,
                          core::cast(index.value(loc), ScalarType::INT64, loc), values.v, rule,
                          loc),
            loc};
}

/// Puts values at data-dependent places of a view: `index` is a tile of integers for a view of rank one, and
/// `{rows, columns}` for more dimensions; they and the values are joined by dimension. With fewer indices
/// than the view has dimensions, the dimensions of the values that no index has are, in order, its last ones:
/// `scatter(Table, ids, gradients, add)` adds to rows. Targets outside the view are dropped. Values of one instance come in source order. Integer reducers other than multiply update
/// atomically, so that instances of a `parallel` may have common targets; so do add, minimum and maximum
/// of floats with `.atomic`. Otherwise instances have targets of their own, which validation checks.
/// A reducer that cannot be atomic with `.atomic`: UnsupportedError.
template<class T, int R>
void scatter(const TensorView<T, R> &view, const core::ScatterIndex &index,
             std::type_identity_t<TileArg<T>> values, ScatterRule rule, ScatterOptions options = {},
             SourceLoc loc = SourceLoc::current()) {
    static_assert(!std::is_const_v<T>, "scatter into TensorView<const T>: the view is read only");
    core::scatter(view.handle(), index.tiles, values.v, rule, options, loc);
}

/// How many elements of x are 0, 1, … below the extent of `bins`; others are not counted. What a load fills
/// in outside its view counts like any other value: load with a fallback of -1, or mask it.
template<std::integral I>
[[nodiscard]] Tile<int64_t> histogram(const Tile<I> &x, const Axis &bins, MaskArg mask = {},
                                      SourceLoc loc = SourceLoc::current()) {
    return {core::histogram(core::cast(x.value(loc), ScalarType::INT64, loc), bins, mask.v, loc),
            loc};
}
/// How many elements of x are in each of equally wide bins that cover [low, high). Values outside and NaN are
/// not counted.
template<class T>
    requires(!std::integral<T>)
[[nodiscard]] Tile<int64_t> histogram(const Tile<T> &x, const Axis &bins,
                                      std::type_identity_t<ScalarArg<T>> low,
                                      std::type_identity_t<ScalarArg<T>> high, MaskArg mask = {},
                                      SourceLoc loc = SourceLoc::current()) {
    return {core::histogram(x.value(loc), bins, low.v, high.v, mask.v, loc), loc};
}

/// For each segment the reduction of the elements of x along `axis` that belong to it: `segments` has the
/// number of the segment of each, in any order, along `axis` (and maybe other dimensions of x). Elements of a
/// segment are folded from the left; numbers outside of `result` are dropped. A segment without elements has
/// what `reduce` gives of nothing.
template<class T, std::integral I>
[[nodiscard]] Tile<T> segmented_reduce(const Tile<T> &x, DimArg axis, const Tile<I> &segments,
                                       const Axis &result, ReducerFunction op,
                                       SourceLoc loc = SourceLoc::current()) {
    return {core::segmented_reduce(x.value(loc), axis.dim,
                                   core::cast(segments.value(loc), ScalarType::INT64, loc), result,
                                   op.reducer, loc),
            loc};
}

}// namespace luisa::tile
