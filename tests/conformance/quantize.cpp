// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>
#include <luisa/tile/quantize.h>

#include "support/views.h"

#include <limits>

// quantize with the rounding and the overflow rule named, against a search of the nearest codes on the host.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

constexpr double INF = std::numeric_limits<double>::infinity();
constexpr double NOT_A_NUMBER = std::numeric_limits<double>::quiet_NaN();

/// The values of a format, from zero up, and the one after the largest as if its exponents went on.
template<class U> std::vector<double> magnitudes() {
    std::vector<double> list;
    if constexpr (std::same_as<U, float4_e2m1>) {
        list = {0, 0.5, 1, 1.5, 2, 3, 4, 6, 8};
    } else {
        bool e4m3 = std::same_as<U, float8_e4m3fn>;
        for (int code = 0; code <= (e4m3 ? 0x7e : 0x7b); ++code) {
            list.push_back(
                static_cast<double>(static_cast<float>(U::from_bits(static_cast<uint8_t>(code)))));
        }
        list.push_back(e4m3 ? 480 : 65536);
    }
    return list;
}

enum class Way { NEAREST, ZERO, STOCHASTIC };

/// Values at, next to and between all neighbours of the format, and the special ones.
template<class T> std::vector<T> around(const std::vector<double> &grid) {
    std::vector<T> list;
    auto add = [&](double x) {
        for (auto y : {x, -x}) {
            list.push_back(static_cast<T>(y));
            list.push_back(std::nextafter(static_cast<T>(y), static_cast<T>(INF)));
            list.push_back(std::nextafter(static_cast<T>(y), static_cast<T>(-INF)));
        }
    };
    for (size_t i = 0; i + 1 < grid.size(); ++i) {
        auto low = grid[i], high = grid[i + 1];
        for (auto part : {0.0, 0.25, 0.5, 0.75}) {
            add(low + (high - low) * part);
        }
    }
    for (auto x : {grid.back(), 1.5 * grid.back(), 1e30, INF, NOT_A_NUMBER, 1e-40}) {
        add(x);
    }
    return list;
}
/// The value that `x` rounds to; beyond the last of `grid` it is that one or more.
double rounded(const std::vector<double> &grid, double x, Way way, uint32_t random) {
    auto magnitude = std::fabs(x);
    size_t i = 0;
    while (i + 1 < grid.size() && grid[i + 1] <= magnitude) {
        ++i;
    }
    if (i + 1 == grid.size()) {
        return x;
    }
    auto part = (magnitude - grid[i]) / (grid[i + 1] - grid[i]);
    bool up = way == Way::NEAREST      ? part > 0.5 || (part == 0.5 && i % 2 == 1)
              : way == Way::STOCHASTIC ? static_cast<double>(random >> 8) < part * 0x1p24
                                       : false;
    return std::copysign(grid[i + (up ? 1 : 0)], x);
}

template<class T, class U>
View run(Way way, Overflow rule, const std::vector<T> &x, const std::vector<uint32_t> &random) {
    auto n = static_cast<int64_t>(x.size());
    using V =
        typename std::conditional_t<PackedElement<U>, packed_traits<U>, std::type_identity<void>>;
    auto body = [=]<class R>(R *) {
        auto def = tile_kernel([=](TensorView<const T, 1> X, TensorView<const uint32_t, 1> B,
                                   TensorView<R, 1> Y) {
            auto i = axis("i", 96);
            for (auto &nest : parallel(shape(ceil_div(X.extent(0), 96)))) {
                auto at = coord(nest.index() * 96);
                auto v = X[at, shape(i)];
                auto bits = B[at, shape(i)];
                Y(at, shape(i))
                    .store(way == Way::NEAREST ? quantize<U>(v, rounding::nearest_even, rule)
                           : way == Way::ZERO  ? quantize<U>(v, rounding::toward_zero, rule)
                                               : quantize<U>(v, rounding::stochastic(bits), rule));
            }
        });
        return run_both(def.capture(tensor_shape(n), tensor_shape(n), tensor_shape(n)),
                        {dense<T>({n}, x), dense<uint32_t>({n}, random), output_of<R>({n})})[2];
    };
    if constexpr (PackedElement<U>) {
        return body(static_cast<typename V::carrier *>(nullptr));
    } else {
        return body(static_cast<U *>(nullptr));
    }
}

std::vector<uint32_t> random_bits(size_t n) {
    std::mt19937 engine{7};
    std::vector<uint32_t> bits(n);
    for (auto &b : bits) {
        b = static_cast<uint32_t>(engine());
    }
    return bits;
}

template<class T, class U> void check_floats(Overflow rule) {
    auto grid = magnitudes<U>();
    auto x = around<T>(grid);
    auto random = random_bits(x.size());
    auto largest = grid[grid.size() - 2];
    bool e5m2 = std::same_as<U, float8_e5m2>;
    for (auto way : {Way::NEAREST, Way::ZERO, Way::STOCHASTIC}) {
        auto out = run<T, U>(way, rule, x, random);
        for (size_t i = 0; i < x.size(); ++i) {
            auto exact = static_cast<double>(x[i]);
            auto expected = rounded(grid, exact, way, random[i]);
            if (std::isnan(exact)) {
                expected = PackedElement<U> ? 6 : NOT_A_NUMBER;
            } else if (std::fabs(expected) > largest) {
                expected = std::copysign(rule == Overflow::SATURATE ? largest
                                         : e5m2                     ? INF
                                                                    : NOT_A_NUMBER,
                                         expected);
            }
            auto got = element_value(out, i);
            ASSERT_TRUE(std::isnan(expected)
                            ? std::isnan(got)
                            : got == expected && std::signbit(got) == std::signbit(expected))
                << std::hexfloat << exact << " way " << static_cast<int>(way) << ": got " << got
                << ", expected " << expected;
        }
    }
}

/// `U`'s carrier, its ends, and the low bits of `x` as U.
template<class U> struct Whole {
    static constexpr double least = static_cast<double>(std::numeric_limits<U>::min()),
                            greatest = static_cast<double>(std::numeric_limits<U>::max());
    static double wrap(int64_t x) { return static_cast<double>(static_cast<U>(x)); }
};
template<> struct Whole<int4> {
    static constexpr double least = -8, greatest = 7;
    static double wrap(int64_t x) { return int4::from_bits(static_cast<uint8_t>(x & 15)); }
};
template<> struct Whole<uint4> {
    static constexpr double least = 0, greatest = 15;
    static double wrap(int64_t x) { return uint4::from_bits(static_cast<uint8_t>(x & 15)); }
};

template<class T, class U> void check_integers() {
    std::vector<double> grid;
    for (int i = 0; i < 40; ++i) {
        grid.push_back(i);
    }
    auto x = around<T>(grid);
    for (auto y : {126.5, 127.0, 127.5, 128.5, 254.5, 255.5, 256.5, 300.25, 32767.5, 65535.5}) {
        x.push_back(static_cast<T>(y));
        x.push_back(static_cast<T>(-y));
    }
    auto random = random_bits(x.size());
    for (auto way : {Way::NEAREST, Way::ZERO, Way::STOCHASTIC}) {
        for (auto rule : {Overflow::SATURATE, Overflow::WRAP}) {
            auto out = run<T, U>(way, rule, x, random);
            for (size_t i = 0; i < x.size(); ++i) {
                auto exact = static_cast<double>(x[i]);
                if (rule == Overflow::WRAP && !(std::fabs(exact) < 0x1p62)) {
                    continue;// what wraps is below 2^63
                }
                auto low = std::trunc(exact), part = std::fabs(exact - low);
                bool up = way == Way::STOCHASTIC &&
                          static_cast<double>(random[i] >> 8) < part * 0x1p24;
                auto whole = way == Way::NEAREST ? std::nearbyint(exact)
                                                 : low + (up ? std::copysign(1.0, exact) : 0.0);
                auto expected = std::isnan(exact) ? 0.0
                                : rule == Overflow::WRAP
                                    ? Whole<U>::wrap(static_cast<int64_t>(whole))
                                    : std::min(std::max(whole, Whole<U>::least),
                                               Whole<U>::greatest);
                ASSERT_EQ(element_value(out, i), expected)
                    << exact << " way " << static_cast<int>(way) << " rule "
                    << static_cast<int>(rule);
            }
        }
    }
}

}// namespace

TEST(Quantize, to_e4m3_and_e5m2_rounds_once_to_a_neighbour_in_every_way) {
    for (auto rule : {Overflow::SATURATE, Overflow::SPECIAL}) {
        check_floats<float, float8_e4m3fn>(rule);
        check_floats<float, float8_e5m2>(rule);
        check_floats<double, float8_e4m3fn>(rule);
        check_floats<double, float8_e5m2>(rule);
    }
}
TEST(Quantize, to_e2m1_saturates) {
    check_floats<float, float4_e2m1>(Overflow::SATURATE);
    check_floats<double, float4_e2m1>(Overflow::SATURATE);
}
TEST(Quantize, to_integers_saturates_or_wraps) {
    check_integers<float, int8_t>();
    check_integers<float, uint8_t>();
    check_integers<double, int16_t>();
    check_integers<float, int4>();
    check_integers<float, uint4>();
    check_integers<double, uint4>();
}
TEST(Quantize, stochastic_rounding_is_right_on_average) {
    // 2.25 to e2m1 lies a quarter of the way from 2 to 3.
    constexpr int64_t N = 1 << 16;
    std::vector<float> x(N, 2.25f);
    auto out = run<float, float4_e2m1>(Way::STOCHASTIC, Overflow::SATURATE, x, random_bits(N));
    double sum = 0;
    for (size_t i = 0; i < x.size(); ++i) {
        sum += element_value(out, i);
    }
    EXPECT_NEAR(sum / static_cast<double>(N), 2.25, 0.01);
}
TEST(Quantize, scales_and_zero_points_are_ordinary_tiles) {
    auto def = tile_kernel([](TensorView<const float, 2> X, TensorView<const float, 1> S,
                              TensorView<const int8_t, 1> Z, TensorView<uint8_t, 2> Q,
                              TensorView<float, 2> Y) {
        auto m = axis("m", 8), k = axis("k", 40);
        for (auto &nest : parallel(shape(ceil_div(X.extent(0), 8)))) {
            auto at = coord(nest.index() * 8, 0), row = coord(nest.index() * 8);
            auto scale = S[row, shape(m)];
            auto zero = Z[row, shape(m)];
            auto q = quantize<uint8_t>(X[at, shape(m, k)] / scale + cast<float>(zero),
                                       rounding::nearest_even, overflow::saturate);
            Q(at, shape(m, k)).store(q);
            Y(at, shape(m, k)).store(dequantize<float>(q, scale, zero));
        }
    });
    std::vector<float> scales{0.25f, 0.5f, 2.0f};
    std::vector<int8_t> zeros_{100, 3, 127, 0};
    auto out = run_both(def.capture(tensor_shape(13, 37), tensor_shape(13), tensor_shape(13),
                                    tensor_shape(13, 37), tensor_shape(13, 37)),
                        {random_view({13, 37}, 5), dense<float>({13}, scales),
                         dense<int8_t>({13}, zeros_), output_of<uint8_t>({13, 37}),
                         output_of<float>({13, 37})});
    for (size_t i = 0; i < 13 * 37; ++i) {
        auto r = i / 37;
        auto s = scales[r % 3];
        auto z = static_cast<float>(zeros_[r % 4]);
        auto q = std::min(
            255.0f,
            std::max(0.0f, std::nearbyint(static_cast<float>(element_value(out[0], i)) / s + z)));
        ASSERT_EQ(element_value(out[3], i), static_cast<double>(q));
        ASSERT_EQ(element_value(out[4], i), static_cast<double>((q - z) * s));
    }
}

namespace {

/// Every code of a 16-bit format, to U, is what its exact f32 value gives.
template<class T, class U> void check_sixteen(Overflow rule) {
    std::vector<T> codes(65536);
    std::vector<float> wide(65536);
    for (uint32_t i = 0; i < 65536; ++i) {
        codes[i] = T::from_bits(static_cast<uint16_t>(i));
        wide[i] = codes[i];
    }
    auto random = random_bits(codes.size());
    for (auto way : {Way::NEAREST, Way::ZERO, Way::STOCHASTIC}) {
        auto narrow = run<T, U>(way, rule, codes, random);
        EXPECT_EQ(narrow.bytes, (run<float, U>(way, rule, wide, random).bytes));
    }
}

}// namespace

TEST(Quantize, half_and_bfloat16_are_rounded_from_their_exact_value) {
    check_sixteen<half, float8_e4m3fn>(Overflow::SPECIAL);
    check_sixteen<half, float8_e5m2>(Overflow::SATURATE);
    check_sixteen<bfloat16, float8_e5m2>(Overflow::SPECIAL);
    check_sixteen<bfloat16, float4_e2m1>(Overflow::SATURATE);
    check_sixteen<half, int8_t>(Overflow::WRAP);
    check_sixteen<bfloat16, uint4>(Overflow::SATURATE);
}
TEST(Quantize, of_scalars) {
    auto def = tile_kernel([](TensorView<const float, 1> X, TensorView<float8_e5m2, 1> Y) {
        Scalar<float> x = X[coord(0)];
        Y(0).store(quantize<float8_e5m2>(x, rounding::toward_zero, overflow::saturate));
    });
    auto out = run_both(def.capture(tensor_shape(1), tensor_shape(1)),
                        {dense<float>({1}, {1.24f}), output_of<float8_e5m2>({1})});
    EXPECT_EQ(element_value(out[1], 0), 1.0);
}
