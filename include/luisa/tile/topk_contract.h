// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/nest.h>
#include <luisa/tile/sort.h>

// The K largest values of a reduction, with their places.

namespace luisa::tile {

namespace core {
/// Poisons the capture and throws.
[[noreturn]] void fail(ErrorKind kind, std::string message, SourceLoc loc,
                       std::vector<Error::Note> notes);
}// namespace core

/// The K largest values so far, largest first, equal ones by ascending index, NaNs last; an index of -1 marks
/// a place that nothing has taken yet (its value is zero).
template<class T, int K> struct TopKState {
    std::array<Tile<T>, K> values;
    std::array<Tile<int64_t>, K> indices;
    LUISA_TILE_STATE(TopKState, values, indices)
};

/// A value and where it stands. Indices are not negative and no two values have the same.
template<class T> struct IndexedValue {
    Tile<T> value;
    Tile<int64_t> index;
};
/// A value with its index: what one step of a top-K reduction contributes.
template<class T>
[[nodiscard]] IndexedValue<T> indexed_value(const Tile<T> &value, const Tile<int64_t> &index) {
    return {value, index};
}
template<class T>
[[nodiscard]] IndexedValue<T> indexed_value(const Scalar<T> &value, const Tile<int64_t> &index) {
    return {value, index};
}

/// The state of nothing, of single elements.
template<class T, int K> [[nodiscard]] TopKState<T, K> topk_identity() {
    TopKState<T, K> state;
    for (int i = 0; i < K; ++i) {
        state.values[static_cast<size_t>(i)] = full<T>(shape(), T{});
        state.indices[static_cast<size_t>(i)] = Scalar<int64_t>{-1};
    }
    return state;
}
/// The same with its order written out. There is a contract for this one alone: `descending`, `tie::lowest_index` and
/// `nan::last`; others are a ValueError, and `topk` has them.
template<class T, int K>
[[nodiscard]] TopKState<T, K> topk_identity(SortOrder order, TieBreak ties = TieBreak::LOWEST_INDEX,
                                            NanPlace nans = NanPlace::LAST,
                                            SourceLoc loc = SourceLoc::current()) {
    if (order != SortOrder::DESCENDING || ties != TieBreak::LOWEST_INDEX ||
        nans != NanPlace::LAST) {
        core::fail(ErrorKind::VALUE,
                   "topk_identity: this contract keeps the largest values, equal ones by their "
                   "lowest index, NaN last; topk(x, axis, k, order, options) has other orders",
                   loc, {});
    }
    return topk_identity<T, K>();
}

namespace core {
/// Whether `a` stands before `b` in the order of TopKState.
template<class T> Tile<bool> ranks_before(const IndexedValue<T> &a, const IndexedValue<T> &b) {
    Tile<bool> greater = a.value > b.value, equal = a.value == b.value;
    if constexpr (is_floating_element<T>) {
        Tile<bool> a_is_nan = a.value != a.value, b_is_nan = b.value != b.value;
        greater = greater || (b_is_nan && !a_is_nan);
        equal = equal || (a_is_nan && b_is_nan);
    }
    return a.index >= 0 && (b.index < 0 || greater || (equal && a.index < b.index));
}
}// namespace core

/// `state` after one more value.
template<int K, class T>
[[nodiscard]] TopKState<T, K> topk_insert(const TopKState<T, K> &state,
                                          const IndexedValue<T> &item) {
    TopKState<T, K> result;
    // What is still to be placed; new variables, since the first may lack dimensions of the state.
    std::array<IndexedValue<T>, K> rest;
    for (size_t i = 0; i < static_cast<size_t>(K); ++i) {
        const auto &next = i ? rest[i] : item;
        IndexedValue<T> kept{state.values[i], state.indices[i]};
        Tile<bool> first = core::ranks_before(next, kept);
        result.values[i] = ite(first, next.value, kept.value);
        result.indices[i] = ite(first, next.index, kept.index);
        if (i + 1 < static_cast<size_t>(K)) {
            rest[i + 1].value = ite(first, kept.value, next.value);
            rest[i + 1].index = ite(first, kept.index, next.index);
        }
    }
    return result;
}

/// Merges the K largest values of two parts of the data.
template<int K> struct TopKMerge {
    template<class... T> using States = std::tuple<TopKState<T, K>...>;
    using states = States<float, double, half, bfloat16, int8_t, int16_t, int32_t, int64_t, uint8_t,
                          uint16_t, uint32_t, uint64_t>;
    static constexpr bool commutative = true;
    static constexpr bool shipped_with_luisa_tile = true;
    /// The state of no values.
    template<class State> [[nodiscard]] State identity() const {
        using Value = typename std::remove_cvref_t<decltype(State{}.values[0])>::element;
        return topk_identity<Value, K>();
    }
    /// The K largest of both states.
    template<class T>
    [[nodiscard]] TopKState<T, K> merge(const TopKState<T, K> &lhs,
                                        const TopKState<T, K> &rhs) const {
        auto merged = lhs;
        for (size_t i = 0; i < static_cast<size_t>(K); ++i) {
            merged = topk_insert<K>(merged, IndexedValue<T>{rhs.values[i], rhs.indices[i]});
        }
        return merged;
    }
};
template<int K> inline constexpr TopKMerge<K> topk_merge{};

}// namespace luisa::tile
