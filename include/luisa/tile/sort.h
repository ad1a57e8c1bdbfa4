// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/functions.h>

// Elements in order along one axis. Every function here is a composition of tile operations: a network of
// exchanges over keys that are compared as integers. The order is total, so the result is one and the same on
// every device: by value, NaN at the end that the options name, and equal values (-0 and +0 are equal, any two
// NaN are) by their place in the source, upward unless the options say otherwise.

namespace luisa::tile {

enum class SortOrder : uint8_t { ASCENDING, DESCENDING };
inline constexpr SortOrder ascending = SortOrder::ASCENDING, descending = SortOrder::DESCENDING;

/// Where NaN goes, whatever the order.
enum class NanPlace : uint8_t {
    LAST,
    FIRST,
    REJECT,///< a NaN ends the launch with an AssertionError that points at the call
};
namespace nan {
inline constexpr NanPlace last = NanPlace::LAST, first = NanPlace::FIRST, reject = NanPlace::REJECT;
}// namespace nan

enum class SortAlgorithm : uint8_t {
    NETWORK,///< values are read again from the source by index
    /// f32 without NaN along a power of two elements, at most 2^31: the value's bits are part of a 64-bit
    /// key, so that no second read is needed. For other types or extents: ValueError or TypeError.
    PACKED_FP32,
};

struct SortOptions {
    NanPlace nan = NanPlace::LAST;
    TieBreak ties = TieBreak::LOWEST_INDEX;
    bool indices =
        true;///< without: `indices` of the result has no value; integers sort in half the time
    SortAlgorithm algorithm = SortAlgorithm::NETWORK;
};

/// Values in order and the place that each had in the source.
template<class T> struct RankedTile {
    Tile<T> values;
    Tile<int64_t> indices;
};

namespace core {
struct SortRequest {
    Dim axis;
    SortOrder order;
    SortOptions options;
};
struct RankedValues {
    Value *values, *indices;///< `indices` may be null
};
RankedValues sort(Value *x, const SortRequest &request, SourceLoc loc);
RankedValues topk(Value *x, int64_t k, Value *count, const SortRequest &request, SourceLoc loc);
RankedValues merge_sorted(const RankedValues &a, const RankedValues &b, const SortRequest &request,
                          SourceLoc loc);

template<class T> RankedTile<T> ranked(const RankedValues &r, SourceLoc loc) {
    RankedTile<T> result{Tile<T>{r.values, loc}, Tile<int64_t>{}};
    if (r.indices) {
        result.indices = Tile<int64_t>{r.indices, loc};
    }
    return result;
}
}// namespace core

/// The elements of x in order along `axis`; the shape of x. Any extent, any type of element. An axis that x
/// lacks: IndexError.
template<class T>
[[nodiscard]] RankedTile<T> sort(const Tile<T> &x, DimArg axis, SortOrder order = ascending,
                                 SortOptions options = {}, SourceLoc loc = SourceLoc::current()) {
    return core::ranked<T>(core::sort(x.value(loc), {axis.dim, order, options}, loc), loc);
}

/// The source index of each element that `sort` would give.
template<class T>
[[nodiscard]] Tile<int64_t> argsort(const Tile<T> &x, DimArg axis, SortOrder order = ascending,
                                    SortOptions options = {},
                                    SourceLoc loc = SourceLoc::current()) {
    options.indices = true;
    return {core::sort(x.value(loc), {axis.dim, order, options}, loc).indices, loc};
}

/// The first `k` elements that `sort` would give: `axis` has k elements in the result. Less work than `sort`
/// where k is small. k below 0 or above the extent: ValueError.
template<class T>
[[nodiscard]] RankedTile<T> topk(const Tile<T> &x, DimArg axis, int64_t k,
                                 SortOrder order = descending, SortOptions options = {},
                                 SourceLoc loc = SourceLoc::current()) {
    return core::ranked<T>(core::topk(x.value(loc), k, nullptr, {axis.dim, order, options}, loc),
                           loc);
}
/// The same for a count that is known at run time, at most `k`: from `count` on, values are zero and indices
/// -1.
template<class T>
[[nodiscard]] RankedTile<T> topk(const Tile<T> &x, DimArg axis, int64_t k,
                                 const Scalar<int64_t> &count, SortOrder order = descending,
                                 SortOptions options = {}, SourceLoc loc = SourceLoc::current()) {
    return core::ranked<T>(
        core::topk(x.value(loc), k, count.value(loc), {axis.dim, order, options}, loc), loc);
}

/// Two tiles that are in order along `axis`, as one that is; the axis is as long as both together. Among equal
/// elements those of `a` come first, with `tie::highest_index` those of `b`. Indices count through a, then b. What is not in order gives some
/// permutation. Other dimensions that differ: ShapeError.
template<class T>
[[nodiscard]] RankedTile<T> merge_sorted(const Tile<T> &a, const Tile<T> &b, DimArg axis,
                                         SortOrder order = ascending, SortOptions options = {},
                                         SourceLoc loc = SourceLoc::current()) {
    return core::ranked<T>(core::merge_sorted({a.value(loc), nullptr}, {b.value(loc), nullptr},
                                              {axis.dim, order, options}, loc),
                           loc);
}
/// The same for ranked tiles, with the indices that they carry.
template<class T>
[[nodiscard]] RankedTile<T> merge_sorted(const RankedTile<T> &a, const RankedTile<T> &b,
                                         DimArg axis, SortOrder order = ascending,
                                         SortOptions options = {},
                                         SourceLoc loc = SourceLoc::current()) {
    return core::ranked<T>(core::merge_sorted({a.values.value(loc), a.indices.value(loc)},
                                              {b.values.value(loc), b.indices.value(loc)},
                                              {axis.dim, order, options}, loc),
                           loc);
}

}// namespace luisa::tile
