// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/views.h"

#include <limits>

// Facts that hold for a whole kind, over its types, extents and places: reductions, integers and conversions. Each
// answer is computed here, in the plainest way that C++ has.

namespace luisa::tile::test {
namespace {

__extension__ using Wide = __int128;

template<class T> constexpr T highest() {
    if constexpr (std::is_integral_v<T>) {
        return std::numeric_limits<T>::max();
    } else {
        return static_cast<T>(std::numeric_limits<float>::infinity());
    }
}
template<class T> constexpr T lowest() {
    if constexpr (std::is_integral_v<T>) {
        return std::numeric_limits<T>::min();
    } else {
        return static_cast<T>(-std::numeric_limits<float>::infinity());
    }
}

template<class T> struct NumbersFacts : ::testing::Test {};
using Numbers = ::testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                                 uint64_t, half, bf16, float, double>;
TYPED_TEST_SUITE(NumbersFacts, Numbers);
template<class T> struct IntegerFacts : ::testing::Test {};
using Integers =
    ::testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(IntegerFacts, Integers);
template<class T> struct FloatFacts : ::testing::Test {};
using Floats = ::testing::Types<half, bf16, float, double>;
TYPED_TEST_SUITE(FloatFacts, Floats);

}// namespace

// 1 + … + n where every partial sum is exact in the type, along each axis, as an expression and in a nest.
TYPED_TEST(NumbersFacts, sums_count_every_element_once_along_each_axis) {
    using T = TypeParam;
    for (int64_t n : {1, 3, 5, 15}) {
        auto def = tile_kernel(
            [=](TensorView<const T, 2> X, TensorView<T, 1> R, TensorView<T, 1> C) {
                auto i = axis("i", n), j = axis("j", n);
                auto x = X[coord(0, 0), shape(i, j)];
                R(coord(0), shape(i)).store(reduce(x, j, add));
                auto columns = zeros<T>(shape(j));
                for (auto &row : reduce(x.domain(i))) {
                    columns += x.at(row);
                }
                C(coord(0), shape(j)).store(columns);
            });
        std::vector<T> x;
        for (int64_t e = 0; e < n * n; ++e) {
            x.push_back(small_integer<T>(static_cast<int>(e / n == e % n ? e % n + 1 : 1)));
        }
        auto out = run_both(def.capture(tensor_shape(n, n), tensor_shape(n), tensor_shape(n)),
                            {dense<T>({n, n}, x), output_of<T>({n}), output_of<T>({n})});
        for (int64_t e = 0; e < n; ++e) {
            EXPECT_EQ(at(out[1], e), static_cast<float>(n + e)) << n;
            EXPECT_EQ(at(out[2], e), static_cast<float>(n + e)) << n;
        }
    }
}

TYPED_TEST(NumbersFacts, of_nothing_each_reduction_is_its_identity) {
    using T = TypeParam;
    auto def = tile_kernel([](TensorView<const T, 2> X, TensorView<T, 2> Y) {
        auto i = axis("i", 3), none = axis("none", 0);
        auto x = X[coord(0, 0), shape(i, none)];
        Y(coord(0, 0), shape(1, i)).store(reduce(x, none, add));
        Y(coord(1, 0), shape(1, i)).store(reduce(x, none, multiply));
        Y(coord(2, 0), shape(1, i)).store(reduce(x, none, maximum));
        Y(coord(3, 0), shape(1, i)).store(reduce(x, none, minimum));
    });
    auto out = run_both(def.capture(tensor_shape(3, 0), tensor_shape(4, 3)),
                        {dense<T>({3, 0}, std::vector<T>{}), output_of<T>({4, 3})});
    const T expected[] = {small_integer<T>(0), small_integer<T>(1), lowest<T>(), highest<T>()};
    for (int64_t e = 0; e < 12; ++e) {
        auto got = element<T>(out[1], e);
        EXPECT_EQ(std::memcmp(&got, &expected[e / 3], sizeof(T)), 0) << e << ": " << at(out[1], e);
    }
}

TYPED_TEST(FloatFacts, the_place_of_a_nan_wins_wherever_it_stands_unless_it_is_ignored) {
    using T = TypeParam;
    auto run = [](std::vector<T> x, const std::array<int64_t, 4> &expected) {
        auto n = static_cast<int64_t>(x.size());
        auto def = tile_kernel([=](TensorView<const T, 1> X, TensorView<int64_t, 1> Y) {
            auto i = axis("i", n);
            auto t = X[coord(0), shape(i)];
            Y(0).store(reduce(t, i, argmax));
            Y(1).store(reduce(t, i, argmin));
            Y(2).store(reduce(t, i, argmax, {.nan = nan::ignore}));
            Y(3).store(reduce(t, i, argmin, {.nan = nan::ignore}));
        });
        auto out = run_both(def.capture(tensor_shape(n), tensor_shape(4)),
                            {dense<T>({n}, x), output_of<int64_t>({4})});
        for (int64_t e = 0; e < 4; ++e) {
            EXPECT_EQ(element<int64_t>(out[1], e), expected[static_cast<size_t>(e)])
                << n << ", " << e;
        }
    };
    const T nan = static_cast<T>(NAN);
    for (int64_t n : {1, 3, 17, 64, 100}) {
        for (int64_t first : {int64_t{0}, n / 2, n - 1}) {
            std::vector<T> x;
            for (int64_t e = 0; e < n; ++e) {
                x.push_back(small_integer<T>(static_cast<int>(e * 7 % n % 100)));
            }
            std::vector<T> all(x.size(), nan);
            run(all, {0, 0, 0, 0});
            x[static_cast<size_t>(first)] = nan;
            x.back() = nan;
            int64_t high = -1, low = -1;
            for (int64_t e = 0; e < n; ++e) {
                auto v = static_cast<float>(x[static_cast<size_t>(e)]);
                auto value = [&](int64_t k) {
                    return static_cast<float>(x[static_cast<size_t>(k)]);
                };
                if (!std::isnan(v)) {
                    high = high < 0 || v > value(high) ? e : high;
                    low = low < 0 || v < value(low) ? e : low;
                }
            }
            run(x, {first, first, std::max<int64_t>(high, 0), std::max<int64_t>(low, 0)});
        }
    }
}

TYPED_TEST(FloatFacts, extremes_keep_a_nan_on_either_side_and_order_zeros) {
    using T = TypeParam;
    auto f = [](float x) { return static_cast<T>(x); };
    auto def = tile_kernel([=](TensorView<const T, 1> X, TensorView<T, 2> Y) {
        auto i = axis("i", 6);
        auto a = X[coord(0), shape(i)], b = X[coord(6), shape(i)];
        Y(coord(0, 0), shape(1, i)).store(maximum(a, b));
        Y(coord(1, 0), shape(1, i)).store(minimum(a, b));
        Y(coord(2, 0), shape(1, i)).store(fmax(a, b));
        Y(coord(3, 0), shape(1, i)).store(fmin(a, b));
    });
    const float n = NAN;
    std::vector<T> x{f(1), f(n), f(n), f(-0.0f), f(0),     f(INFINITY),
                     f(n), f(1), f(n), f(0),     f(-0.0f), f(-INFINITY)};
    auto out = run_both(def.capture(tensor_shape(12), tensor_shape(4, 6)),
                        {dense<T>({12}, x), output_of<T>({4, 6})});
    const float expected[4][6] = {{n, n, n, 0.0f, 0.0f, INFINITY},
                                  {n, n, n, -0.0f, -0.0f, -INFINITY},
                                  {1, 1, n, 0.0f, 0.0f, INFINITY},
                                  {1, 1, n, -0.0f, -0.0f, -INFINITY}};
    for (int64_t e = 0; e < 24; ++e) {
        auto got = at(out[1], e), right = expected[e / 6][e % 6];
        EXPECT_TRUE(std::isnan(right) ? std::isnan(got)
                                      : got == right && std::signbit(got) == std::signbit(right))
            << e << ": " << got;
    }
}

TYPED_TEST(IntegerFacts, division_and_remainders_of_every_pair_of_extremes) {
    using T = TypeParam;
    using L = std::numeric_limits<T>;
    using W = Wide;
    std::vector<T> some{0,
                        1,
                        2,
                        3,
                        5,
                        7,
                        32,
                        L::max(),
                        L::min(),
                        static_cast<T>(L::max() - 1),
                        static_cast<T>(-7),
                        static_cast<T>(-1),
                        static_cast<T>(-36)};
    std::vector<T> a, b;
    for (auto x : some) {
        for (auto y : some) {
            a.push_back(x), b.push_back(y);
        }
    }
    auto n = static_cast<int64_t>(a.size());
    auto def = tile_kernel(
        [=](TensorView<const T, 1> A, TensorView<const T, 1> B, TensorView<T, 2> Y) {
            auto i = axis("i", n);
            auto x = A[coord(0), shape(i)], y = B[coord(0), shape(i)];
            Y(coord(0, 0), shape(1, i)).store(x / y);
            Y(coord(1, 0), shape(1, i)).store(x % y);
            Y(coord(2, 0), shape(1, i)).store(floor_div(x, y));
            Y(coord(3, 0), shape(1, i)).store(floor_mod(x, y));
            Y(coord(4, 0), shape(1, i)).store(ceil_div(x, y));
        });
    auto out = run_both(def.capture(tensor_shape(n), tensor_shape(n), tensor_shape(5, n)),
                        {dense<T>({n}, a), dense<T>({n}, b), output_of<T>({5, n})});
    for (int64_t e = 0; e < n; ++e) {
        W x = a[static_cast<size_t>(e)], y = b[static_cast<size_t>(e)];
        W q = y == 0 ? 0 : x / y, r = y == 0 ? 0 : x % y;
        bool apart = r != 0 && (r < 0) != (y < 0), same = r != 0 && !apart;
        const W expected[] = {q, r, q - (apart ? 1 : 0), r + (apart ? y : W{0}),
                              q + (same ? 1 : 0)};
        for (int64_t k = 0; k < 5; ++k) {
            EXPECT_EQ(element<T>(out[2], k * n + e), static_cast<T>(expected[k]))
                << static_cast<int64_t>(x) << ", " << static_cast<int64_t>(y) << ", " << k;
        }
    }
}

TYPED_TEST(IntegerFacts, shifts_by_any_count) {
    using T = TypeParam;
    using U = std::make_unsigned_t<T>;
    using L = std::numeric_limits<T>;
    constexpr int width = 8 * sizeof(T);
    std::vector<T> x, by;
    for (T v : {T{1}, T{5}, L::max(), L::min(), static_cast<T>(-5)}) {
        for (int s : {0, 1, width - 1, width, width + 1, 2 * width, -1, -width}) {
            x.push_back(v), by.push_back(static_cast<T>(s));
        }
    }
    auto n = static_cast<int64_t>(x.size());
    auto def = tile_kernel(
        [=](TensorView<const T, 1> A, TensorView<const T, 1> B, TensorView<T, 2> Y) {
            auto i = axis("i", n);
            auto a = A[coord(0), shape(i)], b = B[coord(0), shape(i)];
            Y(coord(0, 0), shape(1, i)).store(a << b);
            Y(coord(1, 0), shape(1, i)).store(a >> b);
        });
    auto out = run_both(def.capture(tensor_shape(n), tensor_shape(n), tensor_shape(2, n)),
                        {dense<T>({n}, x), dense<T>({n}, by), output_of<T>({2, n})});
    for (int64_t e = 0; e < n; ++e) {
        auto v = x[static_cast<size_t>(e)];
        auto count = static_cast<U>(by[static_cast<size_t>(e)]);
        bool all = count >= width;
        auto left = all ? T{0} : static_cast<T>(static_cast<U>(static_cast<uint64_t>(v) << count));
        auto right = all ? (v < 0 ? static_cast<T>(-1) : T{0}) : static_cast<T>(v >> count);
        EXPECT_EQ(element<T>(out[2], e), left) << e;
        EXPECT_EQ(element<T>(out[2], n + e), right) << e;
    }
}

// The first product is rounded to half on the way to the second, whatever is fused.
TEST(RightAnswers, a_product_of_a_product_in_half_rounds_between) {
    constexpr int64_t m_ = 5, n_ = 19, k_ = 40, p_ = 7;
    auto def = tile_kernel([](TensorView<const half, 2> A, TensorView<const half, 2> B,
                              TensorView<const half, 2> C, TensorView<float, 2> Y) {
        auto m = axis("m", m_), n = axis("n", n_), k = axis("k", k_), p = axis("p", p_);
        for ([[maybe_unused]] auto &nest : parallel(shape(1))) {
            auto first = mma(A[coord(0, 0), shape(m, k)], B[coord(0, 0), shape(k, n)],
                             zeros<float>(shape(m, n)));
            Y(coord(0, 0), shape(m, p))
                .store(
                    mma(cast<half>(first), C[coord(0, 0), shape(n, p)], zeros<float>(shape(m, p))));
        }
    });
    auto large = [](std::vector<int64_t> extents, uint32_t seed) {
        std::mt19937 engine{seed};
        std::vector<half> values(211);
        for (auto &v : values) {
            v = half(static_cast<float>(engine() % 16));
        }
        return dense<half>(std::move(extents), values);
    };
    auto a = large({m_, k_}, 1), b = large({k_, n_}, 2), c = integer_view<half>({n_, p_}, 3, 1);
    auto out = run_both(def.capture(tensor_shape(m_, k_), tensor_shape(k_, n_),
                                    tensor_shape(n_, p_), tensor_shape(m_, p_)),
                        {a, b, c, output_view({m_, p_})});
    bool rounded = false;
    for (int64_t e = 0; e < m_ * p_; ++e) {
        float sum = 0;
        for (int64_t j = 0; j < n_; ++j) {
            float inner = 0;
            for (int64_t q = 0; q < k_; ++q) {
                inner += at(a, e / p_ * k_ + q) * at(b, q * n_ + j);
            }
            auto narrow = static_cast<float>(half(inner));
            rounded |= narrow != inner;
            sum += narrow * at(c, j * p_ + e % p_);
        }
        EXPECT_EQ(at(out[3], e), sum) << e;
    }
    EXPECT_TRUE(rounded) << "the data shows no rounding";
}

}// namespace luisa::tile::test
