// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/ordering_keys.h"

// A network of exchanges in which the smaller key always goes to the smaller position, so that it needs no
// directions: merging begins by comparing with the mirror image.
//
// Positions are columns × lanes, a whole column before the next lane: exchanges at a distance below the number of
// columns meet whole rows of lanes, which are adjacent in memory, and only the last few levels cross lanes.

namespace luisa::tile::core {

struct KeyLayout {
    std::vector<ir::DimExtent> before, after;///< dimensions that are no part of the order
    ir::DimExtent column, lane;              ///< extents are powers of two; lane.extent 1: no lanes

    [[nodiscard]] int64_t positions() const noexcept { return column.extent * lane.extent; }
    [[nodiscard]] std::vector<ir::DimExtent> dims() const;
    /// A layout for `positions` along `axis` of x in keys of the given type. Other dimensions are lanes where
    /// there are enough of them.
    static KeyLayout of(const Value *x, Dim axis, int64_t positions, ScalarType word);
};

/// A place among the elements of a layout: coordinates of the dimensions outside of the order, and in it.
struct KeyPlace {
    std::vector<Value *> batch;///< of `before`, then of `after`
    Value *column, *lane;
};

/// Keys in a layout. `K` is their type; `index` is used when they are wide.
template<class K> struct Keys {
    KeyLayout layout;
    KeyFormat format;
    SourceLoc loc;
    Tile<K> key;
    Tile<int64_t> index;

    using Element = std::function<KeyWords(Capture &, const KeyPlace &)>;

    Keys(const KeyLayout &layout, const KeyFormat &format, SourceLoc loc)
        : layout{layout}, format{format}, loc{loc} {}
    /// Gives every place a new key.
    void fill(const Element &element);
    [[nodiscard]] KeyWords at(Capture &c, const KeyPlace &place) const;
    /// The current words as tiles, for use inside a map.
    [[nodiscard]] KeyWords words() const;
    [[nodiscard]] KeyWords read(Capture &c, const KeyWords &tiles, const KeyPlace &place) const;
    [[nodiscard]] KeyWords smaller(const KeyWords &a, const KeyWords &b) const;
    [[nodiscard]] KeyWords pick(const KeyWords &own, const KeyWords &other, Value *first) const;

    /// Every key and its partner at `column ^ by`: the smaller goes where `bit` of the column is 0.
    void exchange_columns(Value *by, Value *bit);
    /// The same with a partner at `lane ^ lane_by`, and the mirrored column where `mirrored`.
    void exchange_lanes(int64_t lane_by, int64_t lane_bit, bool mirrored);
    /// Sorts runs of 2^count columns of which the halves are in order (`mirrored`), or which are bitonic.
    void merge_columns(Value *count, bool mirrored);
    /// Sorts runs of 2^levels columns.
    void sort_columns(int levels);
    /// Merges whole columns of runs of `2^level` lanes, of which the halves are in order.
    void merge_lanes(int level);
    void sort();
};

extern template struct Keys<uint32_t>;
extern template struct Keys<uint64_t>;

}// namespace luisa::tile::core
