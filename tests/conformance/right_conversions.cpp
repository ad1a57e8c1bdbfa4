// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/views.h"

#include <cfloat>
#include <limits>

// Facts about conversions and floating point, over all types: from memory, and of constants, which are folded where
// folding knows how.

namespace luisa::tile::test {
namespace {

__extension__ using Wide = __int128;
__extension__ using WideUnsigned = unsigned __int128;

template<class T> bool alike(T a, T b) {
    if constexpr (is_floating_element<T>) {
        auto x = static_cast<double>(a), y = static_cast<double>(b);
        if (std::isnan(x) || std::isnan(y)) {
            return std::isnan(x) && std::isnan(y);
        }
    }
    return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// f of the elements of x, in one tile from memory and each as a constant.
template<class T, class R, class F>
void expect_both(const std::vector<T> &x, const std::vector<R> &expected, const F &f) {
    auto n = static_cast<int64_t>(x.size());
    auto def = tile_kernel([=](TensorView<const T, 1> X, TensorView<R, 2> Y) {
        auto i = axis("i", n);
        Y(coord(0, 0), shape(1, i)).store(f(X[coord(0), shape(i)]));
        for (int64_t e = 0; e < n; ++e) {
            Y(coord(1, e), shape(1, 1)).store(f(full<T>(shape(1, 1), x[static_cast<size_t>(e)])));
        }
    });
    auto out = run_both(def.capture(tensor_shape(n), tensor_shape(2, n)),
                        {dense<T>({n}, x), output_of<R>({2, n})});
    for (int64_t e = 0; e < 2 * n; ++e) {
        EXPECT_TRUE(alike(element<R>(out[1], e), expected[static_cast<size_t>(e % n)]))
            << to_string(scalar_type_of<T>) << " to " << to_string(scalar_type_of<R>)
            << ", element " << e % n << (e < n ? " from memory: " : " of constants: ")
            << element_value(out[1], static_cast<size_t>(e));
    }
}

/// What a float becomes as an integer: truncated, saturated, NaN zero.
template<class I> I saturated(double x) {
    using L = std::numeric_limits<I>;
    if (std::isnan(x)) {
        return 0;
    }
    auto whole = std::trunc(x);
    // 2^digits is exact in double, where the largest value may not be.
    return whole >= std::ldexp(1.0, L::digits)     ? L::max()
           : whole < static_cast<double>(L::min()) ? L::min()
                                                   : static_cast<I>(whole);
}
template<class T, class I> void expect_saturation() {
    std::vector<T> x;
    std::vector<I> expected;
    for (double v : {0.0,
                     -0.0,
                     0.9,
                     -0.9,
                     1.5,
                     -2.9,
                     126.0,
                     127.0,
                     128.0,
                     -128.0,
                     -129.0,
                     255.0,
                     256.0,
                     510.0,
                     -510.0,
                     32768.0,
                     65504.0,
                     -65504.0,
                     2147483648.0,
                     -2147483648.0,
                     4294967296.0,
                     9223372036854775808.0,
                     -9223372036854775808.0,
                     1e30,
                     -1e30,
                     std::numeric_limits<double>::infinity(),
                     -std::numeric_limits<double>::infinity(),
                     std::numeric_limits<double>::quiet_NaN()}) {
        auto rounded = static_cast<T>(v);
        x.push_back(rounded);
        expected.push_back(saturated<I>(static_cast<double>(rounded)));
    }
    expect_both<T, I>(x, expected, [](auto t) { return cast<I>(t); });
}

template<class T> struct FloatConversions : ::testing::Test {};
using Floats = ::testing::Types<half, bf16, float, double>;
TYPED_TEST_SUITE(FloatConversions, Floats);

/// `value` rounded to T once, to even, by integer arithmetic on `digits` bits of significand.
template<class T> T rounded_once(Wide value, int digits) {
    bool negative = value < 0;
    auto magnitude = static_cast<WideUnsigned>(negative ? -value : value);
    int shift = 0;
    while ((magnitude >> shift) >> digits) {
        ++shift;
    }
    auto kept = magnitude >> shift;
    auto rest = magnitude - (kept << shift);
    auto half_unit = shift ? static_cast<WideUnsigned>(1) << (shift - 1) : 0;
    if (shift && (rest > half_unit || (rest == half_unit && (kept & 1)))) {
        ++kept;
    }
    // At most 2^digits, so exact in double; so is the power of two.
    auto x = std::ldexp(static_cast<double>(static_cast<uint64_t>(kept)), shift);
    return static_cast<T>(negative ? -x : x);
}
template<class I, class T> void expect_one_rounding(int digits) {
    std::vector<I> x;
    std::vector<T> expected;
    auto add_value = [&](Wide v) {
        if (v < std::numeric_limits<I>::min() || v > std::numeric_limits<I>::max()) {
            return;
        }
        x.push_back(static_cast<I>(v));
        expected.push_back(rounded_once<T>(v, digits));
    };
    // Ties and what is one beside them, at every binade; a sticky bit far below the tie.
    for (int e = digits; e < 64; ++e) {
        auto unit = static_cast<Wide>(1) << (e - digits + 1), base = static_cast<Wide>(1) << e;
        for (Wide k : {0, 1, 2, 3}) {
            for (Wide d : {-1, 0, 1}) {
                add_value(base + k * unit + unit / 2 + d);
                add_value(-(base + k * unit + unit / 2 + d));
            }
        }
    }
    add_value(std::numeric_limits<I>::max());
    add_value(std::numeric_limits<I>::min());
    if (x.empty()) {
        return;
    }
    auto n = static_cast<int64_t>(x.size());
    auto def = tile_kernel([=](TensorView<const I, 1> X, TensorView<T, 1> Y) {
        auto i = axis("i", n);
        Y(coord(0), shape(i)).store(cast<T>(X[coord(0), shape(i)]));
    });
    auto out = run_both(def.capture(tensor_shape(n), tensor_shape(n)),
                        {dense<I>({n}, x), output_of<T>({n})});
    for (int64_t e = 0; e < n; ++e) {
        EXPECT_TRUE(alike(element<T>(out[1], e), expected[static_cast<size_t>(e)]))
            << static_cast<double>(x[static_cast<size_t>(e)]) << " gave "
            << element_value(out[1], static_cast<size_t>(e));
    }
}

}// namespace

TYPED_TEST(FloatConversions, to_every_integer_saturate_and_nan_is_zero) {
    expect_saturation<TypeParam, int8_t>();
    expect_saturation<TypeParam, int16_t>();
    expect_saturation<TypeParam, int32_t>();
    expect_saturation<TypeParam, int64_t>();
    expect_saturation<TypeParam, uint8_t>();
    expect_saturation<TypeParam, uint16_t>();
    expect_saturation<TypeParam, uint32_t>();
    expect_saturation<TypeParam, uint64_t>();
}

TYPED_TEST(FloatConversions, from_every_integer_round_once_to_even) {
    constexpr int digits = std::same_as<TypeParam, half>    ? 11
                           : std::same_as<TypeParam, bf16>  ? 8
                           : std::same_as<TypeParam, float> ? 24
                                                            : 53;
    expect_one_rounding<int16_t, TypeParam>(digits);
    expect_one_rounding<uint16_t, TypeParam>(digits);
    expect_one_rounding<int32_t, TypeParam>(digits);
    expect_one_rounding<uint32_t, TypeParam>(digits);
    expect_one_rounding<int64_t, TypeParam>(digits);
    expect_one_rounding<uint64_t, TypeParam>(digits);
}

TYPED_TEST(FloatConversions, arithmetic_with_specials_has_the_answers_of_ieee) {
    using T = TypeParam;
    const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
    std::vector<T> x;
    for (double v : {inf, -inf, nan, -0.0, 0.0, 2.0}) {
        x.push_back(static_cast<T>(v));
    }
    auto answers = [](std::initializer_list<double> values) {
        std::vector<T> list;
        for (double v : values) {
            list.push_back(static_cast<T>(v));
        }
        return list;
    };
    auto zero = T(0.0f);
    expect_both<T, T>(x, answers({nan, nan, nan, -0.0, 0.0, 0.0}),
                      [=](auto t) { return t * zero; });
    expect_both<T, T>(x, answers({nan, nan, nan, 0.0, 0.0, 0.0}), [](auto t) { return t - t; });
    expect_both<T, T>(x, answers({nan, nan, nan, nan, nan, 1.0}), [](auto t) { return t / t; });
    expect_both<T, T>(x, answers({inf, -inf, nan, 0.0, 0.0, 2.0}),
                      [=](auto t) { return t + zero; });
    expect_both<T, T>(x, answers({-inf, inf, nan, 0.0, 0.0, -2.0}),
                      [=](auto t) { return zero - t; });
    expect_both<T, T>(x, answers({0.0, -inf, 0.0, 0.0, 0.0, 0.0}),
                      [=](auto t) { return ite(t < zero, t, zero); });
    expect_both<T, T>(x, answers({inf, -inf, nan, -0.0, 0.0, 2.0}),
                      [](auto t) { return t * T(1.0f); });
}

TYPED_TEST(FloatConversions, subnormal_numbers_are_kept) {
    using T = TypeParam;
    // The least subnormal number, three times it, and the least normal one.
    const double least = std::same_as<T, half>    ? 0x1p-24
                         : std::same_as<T, bf16>  ? 0x1p-133
                         : std::same_as<T, float> ? 0x1p-149
                                                  : 0x1p-1074;
    const double normal = std::same_as<T, half>     ? 0x1p-14
                          : std::same_as<T, double> ? DBL_MIN
                                                    : FLT_MIN;
    std::vector<T> x{T(least), T(3 * least), T(normal), T(-least)};
    auto all = [&](double a, double b, double c, double d) {
        return std::vector<T>{T(a), T(b), T(c), T(d)};
    };
    expect_both<T, T>(x, all(2 * least, 6 * least, 2 * normal, -2 * least),
                      [](auto t) { return t + t; });
    // Half of the least is a tie, to even: zero, with its sign; of three times it, 1.5, also a tie: two.
    expect_both<T, T>(x, all(0.0, 2 * least, normal / 2, -0.0), [](auto t) { return t * T(0.5f); });
    expect_both<T, T>(x, all(0.0, 2 * least, normal / 2, -0.0), [](auto t) { return t / T(2.0f); });
    expect_both<T, double>(x, {least, 3 * least, normal, -least},
                           [](auto t) { return cast<double>(t); });
    expect_both<T, bool>(x, {true, true, true, true}, [](auto t) { return t != T(0.0f); });
}

TEST(RightAnswers, quotients_by_a_constant_are_not_products_by_its_reciprocal) {
    std::vector<float> x, y, expected;
    std::mt19937 engine{5};
    std::uniform_real_distribution<float> d{-1, 1};
    for (int e = 0; e < 500; ++e) {
        x.push_back(d(engine)), y.push_back(d(engine));
        volatile float a = x.back() / 1e-6f, b = y.back() / 1e-6f;
        expected.push_back(a + b);
    }
    auto def = tile_kernel([](TensorView<const float, 1> X, TensorView<const float, 1> Y,
                              TensorView<float, 1> Z) {
        auto i = axis("i", 500);
        Z(coord(0), shape(i)).store(X[coord(0), shape(i)] / 1e-6f + Y[coord(0), shape(i)] / 1e-6f);
    });
    auto out = run_both(def.capture(tensor_shape(500), tensor_shape(500), tensor_shape(500)),
                        {dense<float>({500}, x), dense<float>({500}, y), output_view({500})});
    for (int64_t e = 0; e < 500; ++e) {
        ASSERT_EQ(at(out[2], e), expected[static_cast<size_t>(e)]) << e;
    }
}

// Divided coordinates are where an index analysis may take a shift for a division.
TEST(RightAnswers, negative_coordinates_over_a_power_of_two_truncate) {
    auto def = tile_kernel([](TensorView<const int32_t, 1> X, TensorView<int64_t, 2> Y) {
        auto i = axis("i", 16);
        auto place = iota(i) - 64;
        Y(coord(0, 0), shape(1, i)).store(place / 32);
        Y(coord(1, 0), shape(1, i)).store(place % 32);
        Y(coord(2, 0), shape(1, i)).store(floor_div(place, 32));
        Y(coord(3, 0), shape(1, i)).store(floor_mod(place, 32));
        Y(coord(4, 0), shape(1, i)).store(ceil_div(place, 32));
        Y(coord(5, 0), shape(1, i)).store(place >> 5);
        for (auto &step : serial(range(-64, -48))) {
            Y(coord(6, step.index() + 64), shape(1, 1))
                .store(full<int64_t>(shape(1, 1), step.index() / 32));
        }
        for (auto &nest : parallel(shape(16))) {
            Y(coord(7, nest.index()), shape(1, 1))
                .store(full<int64_t>(shape(1, 1), (nest.index() - 64) % 32));
            // The element itself is found by such a coordinate.
            Y(coord(8, nest.index()), shape(1, 1))
                .store(full<int64_t>(shape(1, 1),
                                     cast<int64_t>(X[coord((nest.index() - 64) / 32 + 2)])));
        }
    });
    auto out = run_both(def.capture(tensor_shape(3), tensor_shape(9, 16)),
                        {dense<int32_t>({3}, {10, 11, 12}), output_of<int64_t>({9, 16})});
    for (int64_t e = 0; e < 16; ++e) {
        auto v = e - 64;
        auto down = v % 32 ? v / 32 - 1 : v / 32;
        const int64_t expected[] = {v / 32, v % 32, down,   v - 32 * down,  v / 32,
                                    down,   v / 32, v % 32, 10 + v / 32 + 2};
        for (int64_t r = 0; r < 9; ++r) {
            EXPECT_EQ(element<int64_t>(out[1], r * 16 + e), expected[r]) << r << ", " << v;
        }
    }
}

TEST(RightAnswers, sums_of_constants_wrap_and_wide_constants_are_exact) {
    auto def = tile_kernel([](TensorView<int32_t, 1> Y, TensorView<uint64_t, 1> Z,
                              TensorView<int8_t, 1> W) {
        auto one = full<int32_t>(shape(1), 1);
        Y(coord(0), shape(1)).store(one << 31);
        Y(coord(1), shape(1)).store(full<int32_t>(shape(1), INT32_MAX) + 1);
        Y(coord(2), shape(1)).store(full<int32_t>(shape(1), INT32_MIN) - 1);
        Y(coord(3), shape(1)).store(full<int32_t>(shape(1), 65536) * 65536);
        Y(coord(4), shape(1)).store(-full<int32_t>(shape(1), INT32_MIN));
        Y(coord(5), shape(1)).store(abs(full<int32_t>(shape(1), INT32_MIN)));
        Z(coord(0), shape(1)).store(full<uint64_t>(shape(1), 0xfedcba9876543211u));
        Z(coord(1), shape(1)).store(full<uint64_t>(shape(1), UINT64_MAX) + uint64_t{2});
        Z(coord(2), shape(1)).store(full<uint64_t>(shape(1), 0x8000000000000001u) / uint64_t{3});
        W(coord(0), shape(1)).store(cast<int8_t>(full<int32_t>(shape(1), 300)));
        W(coord(1), shape(1)).store(cast<int8_t>(full<int64_t>(shape(1), -129)));
    });
    auto out = run_both(
        def.capture(tensor_shape(6), tensor_shape(3), tensor_shape(2)),
        {output_of<int32_t>({6}), output_of<uint64_t>({3}), output_of<int8_t>({2})});
    const int32_t y[] = {INT32_MIN, INT32_MIN, INT32_MAX, 0, INT32_MIN, INT32_MIN};
    for (int64_t e = 0; e < 6; ++e) {
        EXPECT_EQ(element<int32_t>(out[0], e), y[e]) << e;
    }
    EXPECT_EQ(element<uint64_t>(out[1], 0), 0xfedcba9876543211u);
    EXPECT_EQ(element<uint64_t>(out[1], 1), 1u);
    EXPECT_EQ(element<uint64_t>(out[1], 2), 0x8000000000000001u / 3);
    EXPECT_EQ(element<int8_t>(out[2], 0), 44);
    EXPECT_EQ(element<int8_t>(out[2], 1), 127);
}

}// namespace luisa::tile::test
