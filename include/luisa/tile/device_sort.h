// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/device_radix.h>
#include <luisa/tile/sort.h>

#include <limits>

// Whole arrays in order, by integer keys in the order of `sort`: few elements as one tile, many by the digits of
// their keys, in time linear in their number.

namespace luisa::tile {

namespace device_wide {

template<class T> using KeyOf = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
template<class T> inline constexpr KeyOf<T> last_key = std::numeric_limits<KeyOf<T>>::max();

/// Integers in the order of the elements: NaN last, both zeros equal.
template<class T> Tile<KeyOf<T>> keys_of(const Tile<T> &x, SortOrder order) {
    using K = KeyOf<T>;
    auto ordered = [&] {
        if constexpr (std::is_floating_point_v<T>) {
            auto bits = bitcast<K>(ite(x == T{0}, T{0}, x));
            return Tile<K>{ite(bits < K{0}, bits ^ last_key<T>, bits)};
        } else {
            return Tile<K>{cast<K>(x)};
        }
    }();
    if (order == SortOrder::DESCENDING) {
        ordered = ordered ^ K { -1 };
    }
    if constexpr (std::is_floating_point_v<T>) {
        ordered = ite(x != x, last_key<T>, ordered);
    }
    return ordered;
}

/// Keys[p] and Places[p] = p of the elements of X.
template<class T> auto make_keys(SortOrder order, SourceLoc loc) {
    return tile_kernel(
        [=](TensorView<const T, 1> X, TensorView<KeyOf<T>, 1> Keys, TensorView<int64_t, 1> Places) {
            auto i = axis("i", block, loc);
            for (auto &nest : parallel(shape(ceil_div(X.extent(0), block)))) {
                auto first = nest.index() * block;
                Tile<T> x = X(coord(first), shape(i)).load();
                Keys(coord(first), shape(i)).store(keys_of(x, order));
                Places(coord(first), shape(i)).store(iota<int64_t>(i, loc) + first);
            }
        },
        {.name = "make_keys"});
}

inline constexpr int64_t sort_block = 1024;

/// The first `keep` keys of each block of `size`, in order, with their places. Missing elements come last.
template<class K> auto order_blocks(int64_t size, int64_t keep, SourceLoc loc) {
    return tile_kernel(
        [=](TensorView<const K, 1> Keys, TensorView<const int64_t, 1> Places,
            TensorView<K, 1> OutKeys, TensorView<int64_t, 1> OutPlaces) {
            auto i = axis("i", size, loc);
            for (auto &nest : parallel(shape(ceil_div(Keys.extent(0), size)))) {
                auto first = nest.index() * size;
                auto there = present(i, first, Keys.extent(0), loc);
                Tile<K> keys = Keys(coord(first), shape(i)).load();
                keys = ite(there, keys, std::numeric_limits<K>::max());
                Tile<int64_t> places = Places(coord(first), shape(i)).load();
                auto ranked = keep == size ? sort(keys, i, ascending, {}, loc)
                                           : topk(keys, i, keep, ascending, {}, loc);
                auto r = keep == size ? i : axis(i.dim, keep, loc);
                auto to = coord(nest.index() * keep);
                OutKeys(to, shape(r)).store(ranked.values);
                OutPlaces(to, shape(r)).store(gather(places, ranked.indices, i, 0, loc));
            }
        },
        {.name = "order_blocks"});
}

/// Values[p] = X[Places[p]].
template<class T> auto take_places() {
    return tile_kernel(
        [=](TensorView<const T, 1> X, TensorView<const int64_t, 1> Places, TensorView<T, 1> Values,
            TensorView<int64_t, 1> Indices) {
            for (auto &nest : parallel(shape(Values.extent(0)))) {
                auto p = nest.index();
                auto from = Places(p).load();
                Values(p).store(X(from).load());
                Indices(p).store(from);
            }
        },
        {.noalias = true, .name = "take_places"});
}

template<class K> struct Ranked {
    ProgramTensor<const K, 1> keys;
    ProgramTensor<const int64_t, 1> places;
};

template<class K>
Ranked<K> order(Commands &run, const Ranked<K> &from, int64_t size, int64_t keep, SourceLoc loc) {
    auto n = from.keys.extent(0);
    auto count = keep == size ? n : blocks(n, size) * keep;
    auto keys = run.template temporary<K>(count);
    auto places = run.template temporary<int64_t>(count);
    run(order_blocks<K>(size, keep, loc)
            .capture(any_length("n", from.keys), any_length("n", from.places),
                     any_length("m", keys), any_length("m", places)),
        loc)(from.keys, from.places, keys, places);
    return {keys, places};
}

/// Few keys are ordered as one block, many by their digits.
template<class K> Ranked<K> sort_all(Commands &run, const Ranked<K> &from, SourceLoc loc) {
    auto n = from.keys.extent(0);
    if (n <= sort_block) {
        return order(run, from, sort_block, sort_block, loc);
    }
    auto any = tensor_shape(dynamic("n")), all_counts = tensor_shape(dynamic("counts"));
    auto count = count_digits<K>(loc).capture(any, all_counts);
    auto place = place_digits(loc).capture(all_counts);
    auto move = move_digits<K>(loc).capture(any, any, all_counts, any, any);
    auto counts = run.template temporary<int64_t>(blocks(n, radix_block) * digit_count);
    auto keys = run.template temporary<K>(n), other_keys = run.template temporary<K>(n);
    auto places = run.template temporary<int64_t>(n),
         other_places = run.template temporary<int64_t>(n);
    auto now = from;
    for (int32_t shift = 0; shift < static_cast<int32_t>(8 * sizeof(K)); shift += digit_bits) {
        run(count, loc)(now.keys, counts, shift);
        run(place, loc)(counts);
        run(move, loc)(now.keys, now.places, counts, keys, places, shift);
        now = {keys, places};
        std::swap(keys, other_keys);
        std::swap(places, other_places);
    }
    return now;
}

template<class T>
void take(Commands &run, const ProgramTensor<const T, 1> &x, const Ranked<KeyOf<T>> &ranked,
          const ProgramTensor<T, 1> &values, const ProgramTensor<int64_t, 1> &indices,
          SourceLoc loc) {
    auto places = ranked.places.slice(0, 0, values.extent(0));
    run(take_places<T>().capture(any_length("n", x), any_length("k", places),
                                 any_length("k", values), any_length("k", indices)),
        loc)(x, places, values, indices);
}

template<class T>
Ranked<KeyOf<T>> keys(Commands &run, const ProgramTensor<const T, 1> &x, SortOrder order,
                      SourceLoc loc) {
    auto keys = run.template temporary<KeyOf<T>>(x.extent(0));
    auto places = run.template temporary<int64_t>(x.extent(0));
    run(make_keys<T>(order, loc)
            .capture(any_length("n", x), any_length("n", keys), any_length("n", places)),
        loc)(x, keys, places);
    return {keys, places};
}

template<class T>
concept Sortable = std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, int32_t> ||
    std::same_as<T, int64_t>;

}// namespace device_wide

/// The elements of x in order and the place that each had in x: a program `(x, values, indices)`. The order is
/// that of `sort`: NaN last, equal elements as in x. Arguments that
/// overlap: AliasError. Results of another extent: ShapeError.
template<device_wide::Sortable T>
[[nodiscard]] auto device_sort(SortOrder order = ascending, SourceLoc loc = SourceLoc::current()) {
    return tile_program(
        [=](Commands &run, ProgramTensor<const T, 1> x, ProgramTensor<T, 1> values,
            ProgramTensor<int64_t, 1> indices) {
            run.expect_extent(values, 0, x.extent(0));
            run.expect_extent(indices, 0, x.extent(0));
            auto ranked = device_wide::sort_all(run, device_wide::keys<T>(run, x, order, loc), loc);
            device_wide::take<T>(run, x, ranked, values, indices, loc);
        },
        {.name = "device_sort", .parameters = {"x", "values", "indices"}}, loc);
}

/// The first elements that `device_sort` would give, as many as the results have: a program `(x, values,
/// indices)`. Few of many are found without sorting all. Results of different extents: ShapeError; more than
/// x has: IndexError.
template<device_wide::Sortable T>
[[nodiscard]] auto device_topk(SortOrder order = descending, SourceLoc loc = SourceLoc::current()) {
    return tile_program(
        [=](Commands &run, ProgramTensor<const T, 1> x, ProgramTensor<T, 1> values,
            ProgramTensor<int64_t, 1> indices) {
            auto k = values.extent(0);
            run.expect_extent(indices, 0, k);
            if (k > x.extent(0)) {
                throw IndexError{"device_topk: the " + std::to_string(k) + " first elements of " +
                                     std::to_string(x.extent(0)),
                                 loc};
            }
            auto ranked = device_wide::keys<T>(run, x, order, loc);
            while (k > 0 && k <= device_wide::sort_block / 4 &&
                   ranked.keys.extent(0) > device_wide::sort_block) {
                ranked = device_wide::order(run, ranked, device_wide::sort_block, k, loc);
            }
            ranked = device_wide::sort_all(run, ranked, loc);
            device_wide::take<T>(run, x, ranked, values, indices, loc);
        },
        {.name = "device_topk", .parameters = {"x", "values", "indices"}}, loc);
}

}// namespace luisa::tile
