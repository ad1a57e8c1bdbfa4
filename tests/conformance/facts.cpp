// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>
#include <luisa/tile/sort.h>

#include "support/both.h"

// Right answers of small programs that are easily got wrong, where no other file has them.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

/// Element by element, f from T to R.
template<class T, class R, class F> View each(const std::vector<T> &values, const F &f) {
    auto n = static_cast<int64_t>(values.size());
    auto def = tile_kernel([=](TensorView<const T, 1> X, TensorView<R, 1> Y) {
        auto i = axis("i", n);
        Y(coord(0), shape(i)).store(f(X[coord(0), shape(i)]));
    });
    return run_both(def.capture(tensor_shape(n), tensor_shape(n)),
                    {dense<T>({n}, values), dense<R>({n}, std::vector<R>{R::from_bits(0x55)})})[1];
}

}// namespace

TEST(Facts, the_sum_of_the_only_axis_is_a_scalar) {
    for (int64_t n : {1, 4, 5}) {
        auto def = tile_kernel([=](TensorView<const float, 1> X, TensorView<float, 1> Y) {
            auto i = axis("i", n);
            auto sum = reduce(X[coord(0), shape(i)], i, add);
            EXPECT_EQ(sum.rank(), 0);
            Y(0).store(sum);
        });
        std::vector<float> x{1, 2, 3, 4, 5};
        auto out = run_both(def.capture(tensor_shape(n), tensor_shape(1)),
                            {dense<float>({n}, x), output_view({1})});
        EXPECT_EQ(at(out[1], 0), static_cast<double>(n * (n + 1) / 2));
    }
}
TEST(Facts, a_copy_to_a_larger_tile_has_the_fill_outside) {
    auto def = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Y) {
        auto i = axis("i", 32), j = axis("j", 64);
        for (auto &nest : parallel(shape(2))) {
            auto place = coord(nest.index() * 32, 0);
            Y(place, shape(i, j)).store(X(place, shape(i, j)).load(-99.0f));
        }
    });
    auto x = random_view({60, 60}, 2);
    auto out = run_both(def.capture(tensor_shape(60, 60), tensor_shape(64, 64)),
                        {x, output_view({64, 64})});
    for (int64_t e = 0; e < 64 * 64; ++e) {
        auto r = e / 64, c = e % 64;
        ASSERT_EQ(at(out[1], e), r < 60 && c < 60 ? at(x, r * 60 + c) : -99) << e;
    }
}
TEST(Facts, infinities_and_nans_of_narrow_floats_convert) {
    const float inf = INFINITY;
    auto open = each<half, float8_e5m2>({half(inf), half(-inf)}, [](auto x) {
        return quantize<float8_e5m2>(cast<float>(x), false);
    });
    EXPECT_EQ(at(open, 0), inf);
    EXPECT_EQ(at(open, 1), -inf);
    auto saturated = each<half, float8_e5m2>({half(inf), half(-inf)}, [](auto x) {
        return quantize<float8_e5m2>(cast<float>(x), true);
    });
    EXPECT_EQ(at(saturated, 0), 57344);
    EXPECT_EQ(at(saturated, 1), -57344);
    auto wide = each<float8_e5m2, bf16>(
        {float8_e5m2::from_bits(0x7c), float8_e5m2::from_bits(0xfc)},
        [](auto x) { return cast<bf16>(x); });
    EXPECT_EQ(at(wide, 0), inf);
    EXPECT_EQ(at(wide, 1), -inf);
    auto nan = each<float8_e4m3fn, bf16>({float8_e4m3fn::from_bits(0x7f)},
                                         [](auto x) { return cast<bf16>(x); });
    EXPECT_TRUE(std::isnan(at(nan, 0)));
}
TEST(Facts, narrow_floats_round_once_and_ties_to_even) {
    auto e5m2 = each<float, float8_e5m2>({1.125f, 1.375f, -1.125f},
                                         [](auto x) { return quantize<float8_e5m2>(x, false); });
    EXPECT_EQ(at(e5m2, 0), 1.0);
    EXPECT_EQ(at(e5m2, 1), 1.5);
    EXPECT_EQ(at(e5m2, 2), -1.0);
    // Through half this would be a tie, and 1.0.
    auto e4m3 = each<float, float8_e4m3fn>(
        {1.0625001f, 1.0625f}, [](auto x) { return quantize<float8_e4m3fn>(x, false); });
    EXPECT_EQ(at(e4m3, 0), 1.125);
    EXPECT_EQ(at(e4m3, 1), 1.0);
}
TEST(Facts, products_of_awkward_tiles_are_exact) {
    for (int64_t m : {1, 3, 17, 40}) {
        for (int64_t k : {8, 24}) {
            auto n = 41 - m;
            auto def = tile_kernel([=](TensorView<const half, 2> A, TensorView<const half, 2> B,
                                       TensorView<float, 2> C) {
                auto i = axis("m", m), j = axis("n", n), q = axis("k", k);
                auto acc = zeros<float>(shape(i, j));
                for (auto &step : pipeline(range(0, A.extent(1), k))) {
                    acc = mma(A[coord(0, step.index()), shape(i, q)],
                              B[coord(step.index(), 0), shape(q, j)], acc);
                }
                C(coord(0, 0), shape(i, j)).store(acc);
            });
            auto a = integer_view<half>({m, 50}, 1), b = integer_view<half>({50, n}, 2);
            auto out = run_both(
                def.capture(tensor_shape(m, 50), tensor_shape(50, n), tensor_shape(m, n)),
                {a, b, output_view({m, n})});
            for (int64_t e = 0; e < m * n; ++e) {
                double sum = 0;
                for (int64_t s = 0; s < 50; ++s) {
                    sum += at(a, e / n * 50 + s) * at(b, s * n + e % n);
                }
                ASSERT_EQ(at(out[2], e), sum) << m << ", " << k << ", " << e;
            }
        }
    }
}
TEST(Facts, a_sort_orders_zeros_as_equals_and_keeps_the_order_of_ties) {
    std::vector<bf16> values;
    for (float v : {0.0f, -1.5f, -0.0f, 2.0f, 0.0f, -1.5f, -INFINITY, 2.0f, -0.0f}) {
        values.push_back(bf16(v));
    }
    auto def = tile_kernel(
        [](TensorView<const bf16, 1> X, TensorView<bf16, 1> Y, TensorView<int64_t, 2> P) {
            auto i = axis("i", 9);
            auto up = sort(X[coord(0), shape(i)], i);
            Y(coord(0), shape(i)).store(up.values);
            P(coord(0, 0), shape(1, i)).store(up.indices);
            P(coord(1, 0), shape(1, i)).store(argsort(X[coord(0), shape(i)], i, descending));
        });
    auto out = run_both(def.capture(tensor_shape(9), tensor_shape(9), tensor_shape(2, 9)),
                        {dense<bf16>({9}, values), output_view<bf16>({9}),
                         dense<int64_t>({2, 9}, std::vector<int64_t>{-5})});
    const int64_t up[] = {6, 1, 5, 0, 2, 4, 8, 3, 7}, down[] = {3, 7, 0, 2, 4, 8, 1, 5, 6};
    for (int64_t e = 0; e < 9; ++e) {
        EXPECT_EQ(at(out[2], e), static_cast<double>(up[e])) << e;
        EXPECT_EQ(at(out[2], 9 + e), static_cast<double>(down[e])) << e;
        EXPECT_EQ(std::signbit(at(out[1], e)), std::signbit(at(out[0], up[e]))) << e;
    }
}
TEST(Facts, the_first_k_of_eight) {
    for (int64_t k : {0, 1, 3, 8}) {
        auto def = tile_kernel(
            [=](TensorView<const float, 1> X, TensorView<float, 1> Y, TensorView<int64_t, 1> P) {
                auto i = axis("i", 8);
                auto best = topk(X[coord(0), shape(i)], i, k);
                Y(coord(0), shape(best.values.axis(0))).store(best.values);
                P(coord(0), shape(best.indices.axis(0))).store(best.indices);
            });
        auto out = run_both(def.capture(tensor_shape(8), tensor_shape(9), tensor_shape(9)),
                            {dense<float>({8}, {3, 9, -1, 9, 0, 4, 8, 2}), output_view({9}),
                             dense<int64_t>({9}, std::vector<int64_t>{-5})});
        const int64_t order[] = {1, 3, 6, 5, 0, 7, 4, 2};
        for (int64_t e = 0; e < 9; ++e) {
            EXPECT_EQ(at(out[1], e), e < k ? at(out[0], order[e]) : -77) << k << ", " << e;
            EXPECT_EQ(at(out[2], e), e < k ? static_cast<double>(order[e]) : -5) << k << ", " << e;
        }
    }
}
TEST(Facts, sums_of_a_thousand_narrow_floats_round_at_every_step) {
    auto run = [](auto one) {
        using T = decltype(one);
        auto def = tile_kernel([](TensorView<const T, 1> X, TensorView<T, 1> Y) {
            auto i = axis("i", 1000);
            auto running = scan(X[coord(0), shape(i)], i, add, {.policy = reduction::fold_left});
            Y(coord(0), shape(i)).store(running);
        });
        auto x = random_view<T>({1000}, 6);
        auto out = run_both(def.capture(tensor_shape(1000), tensor_shape(1000)),
                            {x, output_view<T>({1000})});
        T sum(0.0f);
        for (int64_t e = 0; e < 1000; ++e) {
            sum = e == 0 ? T(static_cast<float>(at(x, 0)))
                         : T(static_cast<float>(sum) + static_cast<float>(at(x, e)));
            ASSERT_EQ(at(out[1], e), static_cast<double>(static_cast<float>(sum))) << e;
        }
    };
    run(half(0.0f));
    run(bf16(0.0f));
}
