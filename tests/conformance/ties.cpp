// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/views.h"

#include <algorithm>

// Which of equal elements is meant: `.ties` of reductions by position and of orders.

namespace luisa::tile::test {
namespace {

/// The last of the largest (or least) of n elements beginning at `base`, by steps; NaNs are above all unless ignored.
int64_t last_extreme(const std::vector<float> &x, bool largest, bool ignore,
                     const std::vector<uint8_t> &active) {
    int64_t best = -1;
    for (size_t i = 0; i < x.size(); ++i) {
        if (!active[i]) {
            continue;
        }
        auto wins = [&](float a, float b) {
            if (std::isnan(a) || std::isnan(b)) {
                return ignore ? std::isnan(b) : std::isnan(a);
            }
            return largest ? a >= b : a <= b;
        };
        if (best < 0 || wins(x[i], x[static_cast<size_t>(best)])) {
            best = static_cast<int64_t>(i);
        }
    }
    return best;
}

template<class T> struct Ties : ::testing::Test {};
using Types = ::testing::Types<float, double, half, bf16, int32_t, uint8_t>;
TYPED_TEST_SUITE(Ties, Types);

}// namespace

TYPED_TEST(Ties, the_highest_index_is_the_last_of_equals) {
    using T = TypeParam;
    for (int64_t n : {1, 2, 7, 16, 33, 100}) {
        auto def = tile_kernel(
            [=](TensorView<const T, 2> X, TensorView<const bool, 2> M, TensorView<int64_t, 2> Y) {
                auto i = axis("i", 5), j = axis("j", n);
                auto x = X[coord(0, 0), shape(i, j)];
                auto mask = M[coord(0, 0), shape(i, j)];
                auto put = [&](int64_t row, const Tile<int64_t> &p) {
                    Y(coord(row, 0), shape(1, i)).store(p);
                };
                put(0, reduce(x, j, argmax, {.ties = tie::highest_index}));
                put(1, reduce(x, j, argmin, {.ties = tie::highest_index}));
                put(2, reduce(x, j, argmax, {.nan = nan::ignore, .ties = tie::highest_index}));
                put(3, reduce(x, j, argmin, {.mask = mask, .ties = tie::highest_index}));
                put(4, reduce(x, j, argmax, {.ties = tie::lowest_index}));
            });
        std::vector<T> x;
        std::mt19937 engine{static_cast<uint32_t>(n)};
        for (int64_t e = 0; e < 5 * n; ++e) {
            bool special = is_floating_element<T> && engine() % 20 == 0;
            x.push_back(special ? static_cast<T>(NAN)
                                : small_integer<T>(static_cast<int>(engine() % 3)));
        }
        auto mask = flags({5, n}, 4, 40);
        std::fill_n(mask.bytes.begin(), n, uint8_t{0});
        auto out = run_both(def.capture(tensor_shape(5, n), tensor_shape(5, n), tensor_shape(5, 5)),
                            {dense<T>({5, n}, x), mask, output_of<int64_t>({5, 5})});
        for (int64_t r = 0; r < 5; ++r) {
            std::vector<float> row;
            std::vector<uint8_t> all(static_cast<size_t>(n), 1), active;
            for (int64_t c = 0; c < n; ++c) {
                row.push_back(at(out[0], r * n + c));
                active.push_back(mask.bytes[static_cast<size_t>(r * n + c)]);
            }
            EXPECT_EQ(element<int64_t>(out[2], r), last_extreme(row, true, false, all)) << n;
            EXPECT_EQ(element<int64_t>(out[2], 5 + r), last_extreme(row, false, false, all)) << n;
            EXPECT_EQ(element<int64_t>(out[2], 10 + r), last_extreme(row, true, true, all)) << n;
            EXPECT_EQ(element<int64_t>(out[2], 15 + r), last_extreme(row, false, false, active))
                << n;
            auto reversed = row;
            std::reverse(reversed.begin(), reversed.end());
            EXPECT_EQ(element<int64_t>(out[2], 20 + r),
                      n - 1 - last_extreme(reversed, true, false, all))
                << n;
        }
    }
}

TEST(TiesOfPositions, over_two_axes_count_in_the_order_of_the_tile) {
    auto def = tile_kernel([](TensorView<const float, 3> X, TensorView<int64_t, 2> Y) {
        auto i = axis("i", 3), j = axis("j", 4), k = axis("k", 5);
        auto x = X[coord(0, 0, 0), shape(i, j, k)];
        Y(coord(0, 0), shape(1, j)).store(reduce(x, {i, k}, argmax, {.ties = tie::highest_index}));
        Y(coord(1, 0), shape(1, 1))
            .store(reduce(x, {i, j, k}, argmin, {.ties = tie::highest_index}));
    });
    auto x = integer_view({3, 4, 5}, 7, 1);
    auto out = run_both(def.capture(tensor_shape(3, 4, 5), tensor_shape(2, 4)),
                        {x, output_of<int64_t>({2, 4})});
    std::vector<uint8_t> all(60, 1);
    std::vector<float> whole;
    for (int64_t e = 0; e < 60; ++e) {
        whole.push_back(at(x, e));
    }
    for (int64_t j = 0; j < 4; ++j) {
        std::vector<float> line;
        for (int64_t i = 0; i < 3; ++i) {
            for (int64_t k = 0; k < 5; ++k) {
                line.push_back(at(x, (i * 4 + j) * 5 + k));
            }
        }
        EXPECT_EQ(element<int64_t>(out[1], j), last_extreme(line, true, false, all)) << j;
    }
    EXPECT_EQ(element<int64_t>(out[1], 4), last_extreme(whole, false, false, all));
}

TEST(TiesOfOrders, the_highest_index_comes_first) {
    for (auto order : {ascending, descending}) {
        for (int64_t n : {0, 1, 5, 16, 37}) {
            auto k = std::min<int64_t>(n, 4);
            auto def = tile_kernel(
                [=](TensorView<const float, 1> X, TensorView<int64_t, 2> Y, Scalar<int64_t> count) {
                    auto i = axis("i", n);
                    auto x = X[coord(0), shape(i)];
                    SortOptions options{.ties = tie::highest_index};
                    auto all = sort(x, i, order, options);
                    auto put = [&](int64_t row, const Tile<int64_t> &t) {
                        Y(coord(row, 0), shape(1, t.axis(0))).store(t);
                    };
                    put(0, all.indices);
                    put(1, argsort(x, i, order, options));
                    put(2, topk(x, i, k, order, options).indices);
                    put(3, topk(x, i, k, count, order, options).indices);
                    auto low = sort(concat(i, x, x), i, order, options);
                    auto merged = merge_sorted(all.values, all.values, i, order, options);
                    put(4, merged.indices);
                    put(5, merge_sorted(all, all, i, order, options).indices);
                    put(6, cast<int64_t>(low.values == merged.values));
                });
            auto x = integer_view({n}, 3, 2);
            auto out = run_both(def.capture(tensor_shape(n), tensor_shape(7, 2 * n + 1)),
                                {x, dense<int64_t>({7, 2 * n + 1}, std::vector<int64_t>{-9})},
                                {uint64_t{2}});
            std::vector<int64_t> sorted;
            for (int64_t e = n - 1; e >= 0; --e) {
                sorted.push_back(e);
            }
            std::stable_sort(sorted.begin(), sorted.end(), [&](int64_t a, int64_t b) {
                return order == ascending ? at(x, a) < at(x, b) : at(x, a) > at(x, b);
            });
            auto got = [&](int64_t row, int64_t e) {
                return element<int64_t>(out[1], row * (2 * n + 1) + e);
            };
            for (int64_t e = 0; e < n; ++e) {
                auto right = sorted[static_cast<size_t>(e)];
                EXPECT_EQ(got(0, e), right) << n << ", " << e;
                EXPECT_EQ(got(1, e), right) << n << ", " << e;
                if (e < k) {
                    EXPECT_EQ(got(2, e), right) << n << ", " << e;
                    EXPECT_EQ(got(3, e), e < 2 ? right : -1) << n << ", " << e;
                }
            }
            for (int64_t e = 0; e < 2 * n; ++e) {
                // Equal elements of the second tile come before those of the first.
                auto place = got(4, e);
                auto value = [&](int64_t p) { return at(x, sorted[static_cast<size_t>(p % n)]); };
                EXPECT_EQ(got(5, e), sorted[static_cast<size_t>(place % n)]) << n << ", " << e;
                EXPECT_EQ(got(6, e), 1) << n << ", " << e;
                if (e > 0 && value(got(4, e - 1)) == value(place)) {
                    EXPECT_TRUE(got(4, e - 1) / n > place / n ||
                                (got(4, e - 1) / n == place / n && got(4, e - 1) < place))
                        << n << ", " << e;
                }
            }
        }
    }
}

}// namespace luisa::tile::test
