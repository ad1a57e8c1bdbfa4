// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/device_ops.h>

#include <type_traits>

// Long arrays of integer keys in order: a digit at a time, the lowest first. Each pass counts the digits of each
// block, finds where the first key of each digit of each block goes, and moves the keys there in their order.

namespace luisa::tile::device_wide {

inline constexpr int digit_bits = 8;
inline constexpr int64_t digit_count = int64_t{1} << digit_bits;
/// Keys that one instance counts and moves.
inline constexpr int64_t radix_block = 16384;

/// The digit of a key at `shift`, in the order of signed keys.
template<class Key> auto digit_of(const Key &key, const Scalar<int32_t> &shift) {
    using K = typename Key::element;
    using U = std::make_unsigned_t<K>;
    // The sign bit flipped: negative keys come first.
    auto bits = cast<U>(key) ^ (U{1} << (8 * sizeof(K) - 1));
    return cast<int64_t>((bits >> cast<U>(shift)) & static_cast<U>(digit_count - 1));
}

/// Counts[b · 256 + d] = how many keys of block b have digit d.
template<class K> auto count_digits(SourceLoc loc) {
    return tile_kernel(
        [=](TensorView<const K, 1> Keys, TensorView<int64_t, 1> Counts, Scalar<int32_t> shift) {
            auto d = axis("digit", digit_count, loc);
            for (auto &nest : parallel(shape(Counts.extent(0) / digit_count))) {
                auto first = nest.index() * radix_block;
                Tile<int64_t> counts = full<int64_t>(shape(d), 0, loc);
                Scalar<int64_t> n{Keys.extent(0).value(loc), loc};
                for (auto &step : nest.serial(range(0, minimum(n - first, radix_block), 1))) {
                    auto at = digit_of(Keys(first + step.index()).load(), shift);
                    counts = insert(counts, coord(at), counts.at(coord(at)) + int64_t{1});
                }
                Counts(coord(nest.index() * digit_count), shape(d)).store(counts);
            }
        },
        {.noalias = true, .name = "count_digits"});
}

/// Counts become places: how many keys come before the first of block b with digit d.
inline auto place_digits(SourceLoc loc) {
    return tile_kernel(
        [=](TensorView<int64_t, 1> Counts) {
            auto d = axis("digit", digit_count, loc);
            for (auto &root : parallel(shape(1))) {
                Tile<int64_t> totals = full<int64_t>(shape(d), 0, loc);
                for (auto &b : root.serial(range(0, Counts.extent(0), digit_count))) {
                    totals = totals + Counts[coord(b.index()), shape(d)];
                }
                Tile<int64_t> next = scan(totals, d, add, {.exclusive = true}, loc);
                for (auto &b : root.serial(range(0, Counts.extent(0), digit_count))) {
                    Tile<int64_t> own = Counts[coord(b.index()), shape(d)];
                    Counts(coord(b.index()), shape(d)).store(next);
                    next = next + own;
                }
            }
        },
        {.name = "place_digits"});
}

/// Moves keys and what goes with them to the places of their digits.
template<class K> auto move_digits(SourceLoc loc) {
    return tile_kernel(
        [=](TensorView<const K, 1> Keys, TensorView<const int64_t, 1> Places,
            TensorView<const int64_t, 1> First, TensorView<K, 1> OutKeys,
            TensorView<int64_t, 1> OutPlaces, Scalar<int32_t> shift) {
            auto d = axis("digit", digit_count, loc);
            for (auto &nest : parallel(shape(First.extent(0) / digit_count))) {
                auto first = nest.index() * radix_block;
                Scalar<int64_t> n{Keys.extent(0).value(loc), loc};
                Tile<int64_t> next = First[coord(nest.index() * digit_count), shape(d)];
                for (auto &step : nest.serial(range(0, minimum(n - first, radix_block), 1))) {
                    auto from = first + step.index();
                    auto key = Keys(from).load();
                    auto at = digit_of(key, shift);
                    auto to = next.at(coord(at));
                    next = insert(next, coord(at), to + int64_t{1});
                    OutKeys(to).store(key);
                    OutPlaces(to).store(Places(from).load());
                }
            }
        },
        {.noalias = true, .name = "move_digits"});
}

}// namespace luisa::tile::device_wide
