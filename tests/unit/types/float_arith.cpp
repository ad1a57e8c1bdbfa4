// SPDX-License-Identifier: Apache-2.0
#include "types/arith.h"

#include "types/convert.h"
#include "types/float_environment.h"

#include "model.h"

#include <gtest/gtest.h>

#include <cfenv>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace luisa::tile::test {

namespace {

constexpr ScalarType floats[] = {FLOAT16, BFLOAT16, FLOAT32, FLOAT64, FLOAT8_E4M3FN, FLOAT8_E5M2};
constexpr ScalarType computing[] = {FLOAT16, BFLOAT16, FLOAT32, FLOAT64};

uint64_t sign(ScalarType t) { return uint64_t{1} << (info(t).bits - 1u); }
uint64_t one(ScalarType t) {
    return info(t).computes ? arith::from_int64(t, 1) : arith::quantize(t, 1.0, true);
}
// Quiet and signalling where the format has both.
uint64_t some_nan(ScalarType t) { return t == FLOAT8_E4M3FN ? 0xff : arith::highest(t) + 1; }

TEST(FloatArith, MinimumAndMaximumPropagateNaN) {
    for (auto t : floats) {
        SCOPED_TRACE(to_string(t));
        auto nan = some_nan(t);
        for (auto [a, b] : {std::pair{nan, one(t)}, std::pair{one(t), nan}, std::pair{nan, nan}}) {
            EXPECT_TRUE(arith::is_nan(t, arith::minimum(t, a, b)));
            EXPECT_TRUE(arith::is_nan(t, arith::maximum(t, a, b)));
        }
        EXPECT_EQ(arith::fmin(t, nan, one(t)), one(t));
        EXPECT_EQ(arith::fmin(t, one(t), nan), one(t));
        EXPECT_EQ(arith::fmax(t, nan, one(t)), one(t));
        EXPECT_EQ(arith::fmax(t, one(t), nan), one(t));
        EXPECT_TRUE(arith::is_nan(t, arith::fmin(t, nan, nan)));
        EXPECT_TRUE(arith::is_nan(t, arith::fmax(t, nan, nan)));
    }
    EXPECT_EQ(arith::minimum(FLOAT32, 0x7f800001, 0), 0x7fc00000u);// quiet
}

TEST(FloatArith, NegativeZeroIsBelowZero) {
    for (auto t : floats) {
        SCOPED_TRACE(to_string(t));
        for (auto [a, b] : {std::pair{sign(t), uint64_t{0}}, std::pair{uint64_t{0}, sign(t)}}) {
            EXPECT_EQ(arith::minimum(t, a, b), sign(t));
            EXPECT_EQ(arith::maximum(t, a, b), 0u);
            EXPECT_EQ(arith::fmin(t, a, b), sign(t));
            EXPECT_EQ(arith::fmax(t, a, b), 0u);
            EXPECT_TRUE(arith::eq(t, a, b));
            EXPECT_FALSE(arith::ne(t, a, b));
            EXPECT_FALSE(arith::lt(t, a, b));
            EXPECT_TRUE(arith::le(t, a, b));
        }
    }
}

TEST(FloatArith, EveryPairOfBytes) {
    for (auto &model : {models[2], models[3]}) {
        auto t = model.type;
        SCOPED_TRACE(to_string(t));
        auto wrong = 0;
        for (auto pair = 0; pair < 65536; pair++) {
            auto a = static_cast<uint64_t>(pair >> 8);
            auto b = static_cast<uint64_t>(pair & 255);
            auto x = model.value(a);
            auto y = model.value(b);
            wrong += arith::lt(t, a, b) != (x < y) || arith::le(t, a, b) != (x <= y) ||
                     arith::gt(t, a, b) != (x > y) || arith::ge(t, a, b) != (x >= y) ||
                     arith::eq(t, a, b) != (x == y) || arith::ne(t, a, b) != (x != y);
            if (x < y) {
                wrong += arith::minimum(t, a, b) != a || arith::maximum(t, a, b) != b ||
                         arith::fmin(t, a, b) != a || arith::fmax(t, a, b) != b;
            }
        }
        EXPECT_EQ(wrong, 0);
    }
}

TEST(FloatArith, ComparisonsWithNaN) {
    for (auto t : floats) {
        SCOPED_TRACE(to_string(t));
        auto nan = some_nan(t);
        for (auto [a, b] : {std::pair{nan, one(t)}, std::pair{one(t), nan}, std::pair{nan, nan}}) {
            EXPECT_FALSE(arith::lt(t, a, b) || arith::le(t, a, b) || arith::gt(t, a, b) ||
                         arith::ge(t, a, b) || arith::eq(t, a, b));
            EXPECT_TRUE(arith::ne(t, a, b));
        }
        EXPECT_TRUE(arith::lt(t, arith::lowest(t), arith::highest(t)));
        EXPECT_TRUE(arith::lt(t, 0, 1));// the least subnormal
        EXPECT_TRUE(arith::lt(t, sign(t) | 1, sign(t)));
    }
}

TEST(FloatArith, NegAndAbsTouchOnlyTheSign) {
    for (auto t : floats) {
        SCOPED_TRACE(to_string(t));
        for (auto x : {uint64_t{0}, uint64_t{1}, one(t), arith::highest(t), some_nan(t)}) {
            EXPECT_EQ(arith::neg(t, x), x ^ sign(t));
            EXPECT_EQ(arith::abs(t, x | sign(t)), x & ~sign(t));
        }
    }
}

TEST(FloatArith, SpecialValues) {
    for (auto t : computing) {
        SCOPED_TRACE(to_string(t));
        auto inf = arith::highest(t);
        auto nan = some_nan(t);
        EXPECT_TRUE(arith::is_nan(t, arith::mul(t, inf, 0)));
        EXPECT_TRUE(arith::is_nan(t, arith::sub(t, inf, inf)));
        EXPECT_TRUE(arith::is_nan(t, arith::div(t, 0, 0)));
        EXPECT_TRUE(arith::is_nan(t, arith::div(t, inf, inf)));
        EXPECT_TRUE(arith::is_nan(t, arith::mul(t, nan, 0)));
        EXPECT_TRUE(arith::is_nan(t, arith::sqrt(t, sign(t) | one(t))));
        EXPECT_EQ(arith::mul(t, nan, 0), arith::convert(0x7fc00000, FLOAT32, t));
        EXPECT_EQ(arith::div(t, one(t), 0), inf);
        EXPECT_EQ(arith::div(t, one(t), sign(t)), inf | sign(t));
        EXPECT_EQ(arith::mul(t, sign(t), 0), sign(t));
        EXPECT_EQ(arith::sub(t, sign(t), sign(t)), 0u);
        EXPECT_EQ(arith::add(t, sign(t), sign(t)), sign(t));
        EXPECT_EQ(arith::sqrt(t, sign(t)), sign(t));
        EXPECT_EQ(arith::add(t, inf - 1, inf - 1), inf);
        EXPECT_EQ(arith::add(t, 1, 1), 2u);// subnormals are not flushed
        EXPECT_EQ(arith::mul(t, 1, one(t)), 1u);
    }
}

TEST(FloatArith, Rounding) {
    for (auto t : computing) {
        SCOPED_TRACE(to_string(t));
        struct Case {
            double x, floor, ceil, rint, trunc;
        };
        for (auto c : {Case{0.5, 0, 1, 0, 0}, Case{1.5, 1, 2, 2, 1}, Case{2.5, 2, 3, 2, 2},
                       Case{-0.5, -1, -0.0, -0.0, -0.0}, Case{-1.5, -2, -1, -2, -1},
                       Case{-2.75, -3, -2, -3, -2}, Case{0.25, 0, 1, 0, 0},
                       Case{-0.0, -0.0, -0.0, -0.0, -0.0},
                       Case{HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL}}) {
            auto bits = [t](double x) { return arith::from_double(t, x); };
            EXPECT_EQ(arith::floor(t, bits(c.x)), bits(c.floor)) << c.x;
            EXPECT_EQ(arith::ceil(t, bits(c.x)), bits(c.ceil)) << c.x;
            EXPECT_EQ(arith::rint(t, bits(c.x)), bits(c.rint)) << c.x;
            EXPECT_EQ(arith::trunc(t, bits(c.x)), bits(c.trunc)) << c.x;
        }
    }
}

TEST(FloatArith, FmaRounds) {
    // A native half fma would give 0x3c01 here: by definition the f32 result is rounded again.
    EXPECT_EQ(arith::fma(FLOAT16, 0x1001, 0x3bfe, 0x3c01), 0x3c02u);
    auto a = bits_of(1 + 0x1p-23f);
    auto b = bits_of(1 - 0x1p-23f);
    auto c = bits_of(-1.0f);
    EXPECT_EQ(arith::fma(FLOAT32, a, b, c), bits_of(-0x1p-46f));
    EXPECT_EQ(arith::add(FLOAT32, arith::mul(FLOAT32, a, b), c), 0u);// two roundings
    EXPECT_EQ(arith::fma(FLOAT64, bits_of(1 + 0x1p-52), bits_of(1 - 0x1p-52), bits_of(-1.0)),
              bits_of(-0x1p-104));
    EXPECT_EQ(arith::fma(BFLOAT16, 0x3f81, 0x3f81, 0x8000), 0x3f82u);
}

// One f32 operation and a second rounding equal the correctly rounded result. The model computes
// in double, where sums and products of both formats' random operands are exact or far from ties.
TEST(FloatArith, SixteenBitOperationsAreCorrectlyRounded) {
    constexpr auto seed = uint64_t{6};
    for (auto &model : {models[0], models[1]}) {
        auto t = model.type;
        SCOPED_TRACE(to_string(t));
        Rounder round{model};
        Random random{seed};
        auto wrong = 0;
        for (auto i = 0; i < 200'000; i++) {
            auto a = random() & 0xffff;
            auto b = random() & 0xffff;
            if (i % 2 != 0) {// comparable exponents
                b = (b & 0x80ff) | (a & 0x7f00);
            }
            auto x = model.value(a);
            auto y = model.value(b);
            wrong += arith::add(t, a, b) != round(x + y);
            wrong += arith::sub(t, a, b) != round(x - y);
            wrong += arith::mul(t, a, b) != round(x * y);
            wrong += arith::div(t, a, b) != round(x / y);
            wrong += arith::sqrt(t, a) != round(std::sqrt(x));
        }
        EXPECT_EQ(wrong, 0) << "seed " << seed;
    }
}

TEST(FloatArith, WideOperationsAreTheHardwares) {
    Random random{7};
    auto wrong = 0;
    auto same = [&wrong](auto got, auto want) {
        wrong += got != (std::isnan(want) ? sizeof(want) == 4 ? 0x7fc00000u : 0x7ff8000000000000u
                                          : bits_of(want));
    };
    for (auto i = 0; i < 200'000; i++) {
        auto a = random();
        auto b = i % 2 == 0 ? random() : (random() & 0x800fffff807fffff) | (a & 0x7ff000007f800000);
        auto x = float_of(a);
        auto y = float_of(b);
        same(arith::add(FLOAT32, a, b), x + y);
        same(arith::mul(FLOAT32, a, b), x * y);
        same(arith::div(FLOAT32, a, b), x / y);
        same(arith::sqrt(FLOAT32, a), std::sqrt(x));
        auto u = double_of(a);
        auto v = double_of(b);
        same(arith::sub(FLOAT64, a, b), u - v);
        same(arith::div(FLOAT64, a, b), u / v);
        wrong += arith::lt(FLOAT32, a, b) != (x < y) || arith::le(FLOAT64, a, b) != (u <= v) ||
                 arith::eq(FLOAT64, a, b) != (u == v) || arith::ge(FLOAT32, a, b) != (x >= y);
    }
    EXPECT_EQ(wrong, 0);
}

TEST(FloatArith, DefaultEnvironment) {
    std::fesetround(FE_UPWARD);
#if defined(__x86_64__)
    auto saved = _mm_getcsr();
    _mm_setcsr(saved | 0x8040);// flush results and operands to zero
#endif
    uint64_t sum = 0;
    uint64_t third = 0;
    uint64_t doubled = 0;
    {
        DefaultFloatEnvironment environment;
        sum = arith::add(FLOAT32, bits_of(1.0f), bits_of(0x1p-30f));
        third = arith::div(FLOAT64, bits_of(1.0), bits_of(3.0));
        doubled = arith::add(FLOAT32, 1, 1);
    }
    auto flag_kept = true;
#if defined(__x86_64__)
    flag_kept = (_mm_getcsr() & 0x8040) == 0x8040;
    _mm_setcsr(saved);
#endif
    auto mode = std::fegetround();
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(mode, FE_UPWARD);
    EXPECT_TRUE(flag_kept);
    EXPECT_EQ(sum, bits_of(1.0f));
    EXPECT_EQ(third, 0x3fd5555555555555u);
    EXPECT_EQ(doubled, 2u);
}

}// namespace

}// namespace luisa::tile::test
