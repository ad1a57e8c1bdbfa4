// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/both.h"

// Small programs that are easy to get wrong, with the values that the contract gives them.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

template<class T> std::vector<T> one_to(int64_t n) {
    std::vector<T> values;
    for (int64_t i = 1; i <= n; ++i) {
        values.push_back(static_cast<T>(i));
    }
    return values;
}
/// What f makes of two tiles of constants: at launch from memory, and folded at capture.
template<class T, class R, class F>
void expect_each(const std::vector<T> &a, const std::vector<T> &b, const std::vector<R> &expected,
                 const F &f) {
    auto n = static_cast<int64_t>(a.size());
    auto def = tile_kernel([=](TensorView<const T, 1> A, TensorView<const T, 1> B,
                               TensorView<R, 1> Y, TensorView<R, 1> Z) {
        auto i = axis("i", n);
        Y(coord(0), shape(i)).store(f(A[coord(0), shape(i)], B[coord(0), shape(i)]));
        for (int64_t e = 0; e < n; ++e) {
            auto x = full<T>(shape(), a[static_cast<size_t>(e)]);
            auto y = full<T>(shape(), b[static_cast<size_t>(e)]);
            Z(e).store(f(x, y));
        }
    });
    auto out = run_both(
        def.capture(tensor_shape(n), tensor_shape(n), tensor_shape(n), tensor_shape(n)),
        {dense<T>({n}, a), dense<T>({n}, b), dense<R>({n}, {R(77)}), dense<R>({n}, {R(77)})});
    for (size_t i = 0; i < a.size(); ++i) {
        R got{}, folded{};
        std::memcpy(&got, out[2].bytes.data() + i * sizeof(R), sizeof(R));
        std::memcpy(&folded, out[3].bytes.data() + i * sizeof(R), sizeof(R));
        EXPECT_EQ(got, expected[i]) << "element " << i;
        EXPECT_EQ(folded, expected[i]) << "element " << i << " of constants";
    }
}

}// namespace

TEST(Reductions, of_one_to_n_are_the_triangular_numbers) {
    for (int64_t n : {1, 3, 5, 47, 48, 49, 63, 65, 127}) {
        auto def = tile_kernel([=](TensorView<const int32_t, 1> I, TensorView<const float, 1> F,
                                   TensorView<int32_t, 1> Y, TensorView<float, 1> Z) {
            auto i = axis("i", n);
            Y(0).store(Scalar<int32_t>(reduce(I[coord(0), shape(i)], i, add)));
            Z(0).store(Scalar<float>(reduce(F[coord(0), shape(i)], i, add)));
        });
        auto out = run_both(
            def.capture(tensor_shape(n), tensor_shape(n), tensor_shape(1), tensor_shape(1)),
            {dense<int32_t>({n}, one_to<int32_t>(n)), dense<float>({n}, one_to<float>(n)),
             dense<int32_t>({1}, {-1}), output_view({1})});
        EXPECT_EQ(at(out[2], 0), static_cast<double>(n * (n + 1) / 2));
        EXPECT_EQ(at(out[3], 0), static_cast<double>(n * (n + 1) / 2));
    }
}
TEST(Reductions, count_and_combine_truth) {
    auto def = tile_kernel([](TensorView<const float, 2> X, TensorView<int64_t, 1> Y) {
        auto i = axis("i", 32), j = axis("j", 32);
        auto b = X[coord(0, 0), shape(i, j)] > 0.0f;
        Y(0).store(Scalar<int64_t>(reduce(cast<int64_t>(b), {i, j}, add)));
        Y(1).store(Scalar<int64_t>(cast<int64_t>(reduce(b, {i, j}, luisa::tile::logical_or))));
        Y(2).store(Scalar<int64_t>(cast<int64_t>(reduce(b, {i, j}, luisa::tile::logical_and))));
    });
    auto kernel = def.capture(tensor_shape(32, 32), tensor_shape(3));
    auto x = dense<float>({32, 32}, {1.0f});
    auto out = run_both(kernel, {x, dense<int64_t>({3}, {-1})});
    EXPECT_EQ(at(out[1], 0), 1024);
    EXPECT_EQ(at(out[1], 1), 1);
    EXPECT_EQ(at(out[1], 2), 1);
    std::memset(x.bytes.data() + 4 * 1000, 0, 4);
    out = run_both(kernel, {x, dense<int64_t>({3}, {-1})});
    EXPECT_EQ(at(out[1], 0), 1023);
    EXPECT_EQ(at(out[1], 1), 1);
    EXPECT_EQ(at(out[1], 2), 0);
}
TEST(Reductions, argmax_gives_the_first_nan_unless_it_ignores_them) {
    const float n = NAN;
    struct Row {
        std::vector<float> x;
        int64_t propagate, ignore;
    };
    for (const auto &row : {Row{{n, 6, 8}, 0, 2}, Row{{6, n, 8}, 1, 2}, Row{{n, n, n}, 0, 0},
                            Row{{8, 8, 6}, 0, 0}, Row{{-0.0f, 0.0f, -1}, 0, 0}}) {
        auto def = tile_kernel([](TensorView<const float, 1> X, TensorView<int64_t, 1> Y) {
            auto i = axis("i", 3);
            auto x = X[coord(0), shape(i)];
            Y(0).store(Scalar<int64_t>(reduce(x, i, argmax)));
            Y(1).store(Scalar<int64_t>(reduce(x, i, argmax, {.nan = luisa::tile::nan::ignore})));
        });
        auto out = run_both(def.capture(tensor_shape(3), tensor_shape(2)),
                            {dense<float>({3}, row.x), dense<int64_t>({2}, {-5})});
        EXPECT_EQ(at(out[1], 0), static_cast<double>(row.propagate));
        EXPECT_EQ(at(out[1], 1), static_cast<double>(row.ignore));
    }
}
TEST(Reductions, each_element_counts_once_at_odd_multiples_of_a_vector) {
    for (int64_t n : {24, 40, 72, 200}) {
        for (int64_t peak = 0; peak < n; peak += 7) {
            std::vector<float> x(static_cast<size_t>(n), 0.5f);
            x[static_cast<size_t>(peak)] = -9.0f;
            auto def = tile_kernel([=](TensorView<const float, 1> X, TensorView<float, 1> Y) {
                auto i = axis("i", n);
                auto t = X[coord(0), shape(i)];
                Y(0).store(Scalar<float>(reduce(abs(t), i, maximum)));
                Y(1).store(Scalar<float>(reduce(t, i, add)));
            });
            if (peak == 0 || n == 40) {
                auto out = run_both(def.capture(tensor_shape(n), tensor_shape(2)),
                                    {dense<float>({n}, x), output_view({2})});
                EXPECT_EQ(at(out[1], 0), 9);
                EXPECT_EQ(at(out[1], 1), static_cast<double>(n - 1) / 2 - 9);
            }
        }
    }
}
TEST(Reductions, over_several_axes_of_several_tiles_do_not_disturb_each_other) {
    auto def = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 1> R,
                              TensorView<float, 1> C, TensorView<float, 1> S) {
        auto i = axis("i", 7), j = axis("j", 19);
        auto x = X[coord(0, 0), shape(i, j)], y = x * 2.0f + 1.0f;
        R(coord(0), shape(i)).store(reduce(x, j, add) + reduce(y, j, maximum));
        C(coord(0), shape(j)).store(reduce(x, i, minimum) + reduce(y, i, add));
        S(0).store(Scalar<float>(reduce(x, {i, j}, add)));
        S(1).store(Scalar<float>(reduce(reduce(y, i, maximum), j, add)));
    });
    auto x = integer_view({7, 19}, 6);
    auto out = run_both(
        def.capture(tensor_shape(7, 19), tensor_shape(7), tensor_shape(19), tensor_shape(2)),
        {x, output_view({7}), output_view({19}), output_view({2})});
    double total = 0, maxima = 0;
    for (int64_t c = 0; c < 19; ++c) {
        double low = 9, sum = 0, high = -99;
        for (int64_t r = 0; r < 7; ++r) {
            auto v = at(x, r * 19 + c);
            low = std::min(low, v), sum += 2 * v + 1, high = std::max(high, 2 * v + 1), total += v;
        }
        maxima += high;
        EXPECT_EQ(at(out[2], c), low + sum);
    }
    EXPECT_EQ(at(out[3], 0), total);
    EXPECT_EQ(at(out[3], 1), maxima);
}
TEST(Reductions, of_nothing_give_the_seed) {
    auto def = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Y) {
        auto i = axis("i", 3), j = axis("j", 0);
        auto x = X[coord(0, 0), shape(i, j)];
        Y(coord(0, 0), shape(1, i)).store(reduce(x, j, add));
        Y(coord(1, 0), shape(1, i)).store(reduce(x, j, maximum));
        Y(coord(2, 0), shape(1, i)).store(reduce(x, j, minimum));
        Y(coord(3, 0), shape(1, i)).store(reduce(x, j, multiply));
        Scalar<float> sum = 42.0f;
        for (auto &r : reduce(range(0, X.extent(1)))) {
            sum += cast<float>(r.index());
        }
        Y(4, 0).store(sum);
    });
    auto out = run_both(def.capture(tensor_shape(3, 0), tensor_shape(5, 3)),
                        {dense<float>({3, 0}, {}), output_view({5, 3})});
    EXPECT_EQ(at(out[1], 0), 0);
    EXPECT_EQ(at(out[1], 3), -INFINITY);
    EXPECT_EQ(at(out[1], 6), INFINITY);
    EXPECT_EQ(at(out[1], 9), 1);
    EXPECT_EQ(at(out[1], 12), 42);
}
TEST(Reductions, a_fold_has_the_bits_of_a_sequential_loop) {
    auto x = random_view({1000}, 12);
    auto def = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        auto i = axis("i", 1000);
        auto t = X[coord(0), shape(i)];
        Y(0).store(Scalar<float>(reduce(t, i, add)));
        Y(1).store(Scalar<float>(reduce(t, i, add, reduction::fold_left)));
    });
    auto out = run_both(def.capture(tensor_shape(1000), tensor_shape(2)), {x, output_view({2})}, {},
                        {1e-4});
    float sum = 0;
    for (int64_t i = 0; i < 1000; ++i) {
        sum += static_cast<float>(at(x, i));
    }
    EXPECT_EQ(at(out[1], 1), sum);
}
TEST(Reductions, skip_what_the_mask_excludes) {
    auto def = tile_kernel(
        [](TensorView<const float, 1> X, TensorView<float, 1> Y, TensorView<int64_t, 1> Z) {
            auto i = axis("i", 37);
            auto x = X[coord(0), shape(i)];
            auto odd = iota(i) % 2 == 1;
            Y(0).store(Scalar<float>(reduce(x, i, add, {.mask = odd})));
            Y(1).store(Scalar<float>(reduce(x, i, minimum, {.mask = odd})));
            Y(2).store(Scalar<float>(reduce(x, i, add, {.mask = x < 0.0f})));
            Z(0).store(Scalar<int64_t>(reduce(x, i, argmax, {.mask = odd})));
            Z(1).store(Scalar<int64_t>(reduce(x, i, argmax, {.mask = x < 0.0f})));
        });
    auto out = run_both(
        def.capture(tensor_shape(37), tensor_shape(3), tensor_shape(2)),
        {dense<float>({37}, one_to<float>(37)), output_view({3}), dense<int64_t>({2}, {-5})});
    EXPECT_EQ(at(out[1], 0), 18 * 19);
    EXPECT_EQ(at(out[1], 1), 2);
    EXPECT_EQ(at(out[1], 2), 0);
    EXPECT_EQ(at(out[2], 0), 35);
    EXPECT_EQ(at(out[2], 1), -1);
}

TEST(Integers, divide_toward_zero_and_by_zero_without_a_trap) {
    std::vector<int32_t> a{-7, 7, -7, 5, INT32_MIN, 0, -36}, b{2, -2, -2, 0, -1, 0, 5};
    expect_each<int32_t, int32_t>(a, b, {-3, -3, 3, 0, INT32_MIN, 0, -7},
                                  [](auto x, auto y) { return x / y; });
    expect_each<int32_t, int32_t>(a, b, {-1, 1, -1, 0, 0, 0, -1},
                                  [](auto x, auto y) { return x % y; });
    expect_each<int32_t, int32_t>(a, b, {-4, -4, 3, 0, INT32_MIN, 0, -8},
                                  [](auto x, auto y) { return floor_div(x, y); });
    expect_each<int32_t, int32_t>(a, b, {1, -1, -1, 0, 0, 0, 4},
                                  [](auto x, auto y) { return floor_mod(x, y); });
    expect_each<int32_t, int32_t>(a, b, {-3, -3, 4, 0, INT32_MIN, 0, -7},
                                  [](auto x, auto y) { return ceil_div(x, y); });
}
TEST(Integers, a_negative_tile_over_a_power_of_two_truncates) {
    std::vector<int32_t> a{-64, -63, -62, -61, -60, -59, -58, -57}, b(8, 32);
    expect_each<int32_t, int32_t>(a, b, {-2, -1, -1, -1, -1, -1, -1, -1},
                                  [](auto x, auto y) { return x / y; });
}
TEST(Integers, wrap) {
    expect_each<int32_t, int32_t>(
        {1, INT32_MAX, INT32_MIN, 46341}, {31, 1, -1, 46341},
        {INT32_MIN, INT32_MIN, INT32_MAX, -2147479015},
        [](auto x, auto y) { return ite(y == 31, x << y, ite(x == y, x * y, x + y)); });
    expect_each<int32_t, int8_t>({300, -129, 128}, {0, 0, 0}, {44, 127, -128},
                                 [](auto x, auto y) { return cast<int8_t>(x + y); });
    expect_each<uint64_t, uint64_t>({UINT64_MAX - 3, uint64_t{1} << 63}, {3, uint64_t{1} << 63},
                                    {UINT64_MAX, 0}, [](auto x, auto y) { return x + y; });
}
TEST(Integers, shifted_by_their_width_or_more_lose_all_bits_but_the_sign) {
    std::vector<int32_t> a{5, -5, 5, -5, -5, 1}, b{32, 32, 33, -1, INT32_MIN, 31};
    expect_each<int32_t, int32_t>(a, b, {0, 0, 0, 0, 0, INT32_MIN},
                                  [](auto x, auto y) { return x << y; });
    expect_each<int32_t, int32_t>(a, b, {0, -1, 0, -1, -1, 0},
                                  [](auto x, auto y) { return x >> y; });
    expect_each<uint8_t, uint8_t>({255, 255, 255}, {7, 8, 200}, {1, 0, 0},
                                  [](auto x, auto y) { return x >> y; });
}

TEST(Floats, arithmetic_with_specials_is_never_folded_away) {
    auto def = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 2> Y) {
        auto i = axis("i", 4);
        auto x = X[coord(0), shape(i)];
        Y(coord(0, 0), shape(1, i)).store(x * 0.0f);
        Y(coord(1, 0), shape(1, i)).store(x - x);
        Y(coord(2, 0), shape(1, i)).store(x / x);
        Y(coord(3, 0), shape(1, i)).store(x + 0.0f);
        Y(coord(4, 0), shape(1, i)).store(ite(x < 0.0f, x, 0.0f));
        Y(coord(5, 0), shape(1, i)).store(0.0f - x);
        Y(coord(6, 0), shape(1, i)).store(-x);
    });
    auto out = run_both(def.capture(tensor_shape(4), tensor_shape(7, 4)),
                        {dense<float>({4}, {INFINITY, NAN, -0.0f, 2.0f}), output_view({7, 4})});
    auto is = [&](int64_t row, int64_t column, double expected) {
        auto got = at(out[1], row * 4 + column);
        return std::isnan(expected)
                   ? std::isnan(got)
                   : got == expected && std::signbit(got) == std::signbit(expected);
    };
    const double expected[7][4] = {{NAN, NAN, -0.0, 0.0},      {NAN, NAN, 0.0, 0.0},
                                   {NAN, NAN, NAN, 1.0},       {INFINITY, NAN, 0.0, 2.0},
                                   {0.0, 0.0, 0.0, 0.0},       {-INFINITY, NAN, 0.0, -2.0},
                                   {-INFINITY, NAN, 0.0, -2.0}};
    for (int64_t r = 0; r < 7; ++r) {
        for (int64_t c = 0; c < 4; ++c) {
            EXPECT_TRUE(is(r, c, expected[r][c]))
                << r << ", " << c << ": " << at(out[1], r * 4 + c);
        }
    }
}
TEST(Floats, maximum_propagates_nan_on_either_side_folded_or_not) {
    auto def = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        auto a = X(0).load(), b = X(1).load();
        Y(0).store(maximum(a, b));
        Y(1).store(maximum(b, a));
        Y(2).store(maximum(Scalar<float>(1.0f), Scalar<float>(NAN)));
        Y(3).store(maximum(Scalar<float>(NAN), Scalar<float>(1.0f)));
        Y(4).store(minimum(Scalar<float>(0.0f), Scalar<float>(-0.0f)));
    });
    auto out = run_both(def.capture(tensor_shape(2), tensor_shape(5)),
                        {dense<float>({2}, {1.0f, NAN}), output_view({5})});
    for (int64_t i = 0; i < 4; ++i) {
        EXPECT_TRUE(std::isnan(at(out[1], i))) << i;
    }
    EXPECT_TRUE(std::signbit(at(out[1], 4)));
}
TEST(Floats, a_product_and_a_sum_round_twice_and_fma_once) {
    // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: the last bit is lost before the subtraction.
    auto def = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        auto a = X(0).load();
        Y(0).store(a * a + (-1.0f - std::exp2(-11.0f)));
        Y(1).store(fma(a, a, -1.0f - std::exp2(-11.0f)));
    });
    auto out = run_both(def.capture(tensor_shape(1), tensor_shape(2)),
                        {dense<float>({1}, {1 + std::exp2(-12.0f)}), output_view({2})});
    EXPECT_EQ(at(out[1], 0), 0);
    EXPECT_EQ(at(out[1], 1), std::exp2(-24.0));
}
TEST(Floats, subnormals_are_not_flushed) {
    const float tiny = 1e-42f;
    auto def = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        auto x = X(0).load();
        Y(0).store(x + x);
        Y(1).store(x * 0.5f);
        Y(2).store(x / 4.0f);
        Y(3).store(sqrt(x));
        Y(4).store(cast<float>(cast<double>(x)));
        Y(5).store(exp(Scalar<float>(X(1).load())));
    });
    auto out = run_both(def.capture(tensor_shape(2), tensor_shape(6)),
                        {dense<float>({2}, {tiny, -100.0f}), output_view({6})});
    EXPECT_EQ(at(out[1], 0), static_cast<double>(tiny + tiny));
    EXPECT_EQ(at(out[1], 1), static_cast<double>(tiny * 0.5f));
    EXPECT_EQ(at(out[1], 2), static_cast<double>(tiny / 4.0f));
    EXPECT_EQ(at(out[1], 3), static_cast<double>(std::sqrt(tiny)));
    EXPECT_EQ(at(out[1], 4), static_cast<double>(tiny));
    EXPECT_NEAR(at(out[1], 5), std::exp(-100.0), 1.5e-45);
}
