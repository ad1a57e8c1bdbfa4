// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>
#include <luisa/tile/sort.h>

#include "support/both.h"

// Tiles stored over what they were made from, through reads at other places than those stored: a load is a
// snapshot, however late the back end reads.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

View numbers(std::vector<int64_t> extents) {
    std::vector<float> values(997);
    for (size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>(i * 7 % 101);
    }
    return dense<float>(std::move(extents), values);
}

/// X = f(X, its dimensions) for each of three bands of rows.
template<class F> void check(int64_t rows, int64_t columns, F f) {
    auto def = tile_kernel([=](TensorView<float, 2> X) {
        auto r = axis("r", rows), c = axis("c", columns);
        for (auto &nest : parallel(shape(3))) {
            auto at = coord(nest.index() * rows, 0);
            X(at, shape(r, c)).store(f(X[at, shape(r, c)], r, c));
        }
    });
    run_both(def.capture(tensor_shape(3 * rows, columns)), {numbers({3 * rows, columns})});
}

}// namespace

TEST(InPlace, lines_are_turned_around) {
    for (int64_t n : {1, 2, 15, 16, 17, 40}) {
        check(2, n, [](auto x, auto &, auto &c) { return flip(x, c); });
        check(n, 3, [](auto x, auto &r, auto &) { return flip(x, r); });
    }
}

TEST(InPlace, lines_move_and_turn) {
    for (int64_t n : {1, 2, 15, 16, 17, 40}) {
        check(2, n, [](auto x, auto &, auto &c) { return shift(x, c, 1, -1.0f); });
        check(2, n, [](auto x, auto &, auto &c) { return rotate(x, c, -3); });
        check(2, n, [](auto x, auto &, auto &c) { return x + rotate(x, c, 5); });
    }
}

TEST(InPlace, squares_are_transposed_under_swapped_names) {
    for (int64_t n : {1, 2, 15, 16, 17, 33}) {
        check(n, n, [](auto x, auto &r, auto &c) {
            return transpose(with_dims(x, {c, r}), {r, c});
        });
    }
}

TEST(InPlace, rows_are_gathered_from_themselves) {
    for (int64_t n : {1, 2, 15, 16, 17, 33}) {
        check(2, n,
              [n](auto x, auto &, auto &c) { return gather(x, (iota(c) * 7) % n, c, -1.0f); });
    }
}

TEST(InPlace, rows_are_sorted) {
    for (int64_t n : {1, 2, 15, 16, 17, 33}) {
        check(1, n, [](auto x, auto &, auto &c) { return sort(x, c).values; });
    }
}

TEST(InPlace, running_sums_replace_their_terms) {
    for (int64_t n : {1, 2, 15, 16, 17, 33}) {
        check(2, n, [](auto x, auto &, auto &c) { return scan(x, c, add, {.reverse = true}); });
        check(2, n, [](auto x, auto &, auto &c) { return scan(flip(x, c), c, add); });
    }
}
