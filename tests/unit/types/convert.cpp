// SPDX-License-Identifier: Apache-2.0
#include "types/convert.h"

#include "types/arith.h"

#include "model.h"

#include <luisa/tile/error.h>

#include <gtest/gtest.h>

#include <cfenv>

namespace luisa::tile::test {

namespace {

uint64_t narrow(double x, ScalarType type) {
    return info(type).computes ? arith::from_double(type, x) : arith::quantize(type, x, false);
}

uint64_t narrow(float x, ScalarType type) {
    return info(type).computes ? arith::convert(bits_of(x), FLOAT32, type)
                               : arith::quantize(bits_of(x), FLOAT32, type, false);
}

TEST(Convert, EveryCodeDecodesAndComesBack) {
    for (auto &model : models) {
        SCOPED_TRACE(to_string(model.type));
        auto wrong = 0;
        for (auto code = uint64_t{0}; code < uint64_t{1} << model.width(); code++) {
            auto expected = model.value(code);
            auto got = arith::to_double(model.type, code);
            auto single = arith::to_float(model.type, code);
            if (std::isnan(expected)) {
                wrong += bits_of(got) != 0x7ff8000000000000 || bits_of(single) != 0x7fc00000 ||
                         narrow(got, model.type) != model.nan || !arith::is_nan(model.type, code);
            } else {
                wrong += bits_of(got) != bits_of(expected) ||
                         bits_of(single) != bits_of(static_cast<float>(expected)) ||
                         narrow(got, model.type) != code || narrow(single, model.type) != code ||
                         arith::is_nan(model.type, code) ||
                         arith::is_infinite(model.type, code) != std::isinf(expected);
            }
        }
        EXPECT_EQ(wrong, 0);
    }
}

// Every midpoint of every format, and its neighbours in both source formats.
TEST(Convert, EveryMidpoint) {
    for (auto &model : models) {
        SCOPED_TRACE(to_string(model.type));
        Rounder round{model};
        auto wrong = 0;
        auto check = [&](auto x) {
            for (auto signed_x : {x, -x}) {
                wrong += narrow(signed_x, model.type) != round(signed_x);
            }
        };
        for (auto bound : round.bounds()) {
            check(bound);
            check(std::nextafter(bound, 0.0));
            check(std::nextafter(bound, HUGE_VAL));
            auto single = static_cast<float>(bound);
            check(single);
            check(std::nextafter(single, 0.0f));
            check(std::nextafter(single, HUGE_VALF));
        }
        EXPECT_EQ(wrong, 0);
    }
}

// Floats in increasing order, so that the model only ever steps forward.
TEST(Convert, FloatSweep) {
    for (auto &model : models) {
        SCOPED_TRACE(to_string(model.type));
        auto bounds = model.upper_bounds();
        auto overflow = model.overflow_code(false);
        auto expected = size_t{0};
        auto wrong = 0;
        auto count = 0;
        for (auto bits = uint32_t{0}; bits <= 0x7f800000; bits += 61) {
            auto x = static_cast<double>(float_of(bits));
            while (expected < bounds.size() &&
                   (x > bounds[expected] || (x == bounds[expected] && (expected & 1u) != 0))) {
                expected++;
            }
            auto code = expected < bounds.size() ? expected : overflow;
            wrong += narrow(float_of(bits), model.type) != code;
            if (count++ % 16 == 0) {
                wrong += narrow(-float_of(bits), model.type) != (model.sign() | code);
            }
        }
        EXPECT_EQ(wrong, 0);
    }
}

TEST(Convert, RandomDoubles) {
    constexpr auto seed = uint64_t{1};
    for (auto &model : models) {
        SCOPED_TRACE(to_string(model.type));
        Rounder round{model};
        Random random{seed};
        auto wrong = 0;
        for (auto i = 0; i < 200'000; i++) {
            auto any = double_of(random());
            auto near = std::ldexp(1 + static_cast<double>(random() >> 12) * 0x1p-52,
                                   static_cast<int>(random() % 60) - 40);
            for (auto x : {any, near}) {
                wrong += narrow(x, model.type) != round(x);
                if (!info(model.type).computes) {
                    wrong += arith::quantize(model.type, x, true) != round(x, true);
                }
            }
        }
        EXPECT_EQ(wrong, 0) << "seed " << seed;
    }
}

TEST(Convert, DoubleToFloatIsTheHardwares) {
    Random random{2};
    auto wrong = 0;
    for (auto i = 0; i < 1'000'000; i++) {
        auto bits = random();
        if (i % 2 != 0) {// the range of float, subnormals included
            bits = (bits & 0x800fffffffffffff) | (1023 - 155 + random() % 290) << 52;
        }
        if (i % 4 == 3) {// close to ties
            bits &= ~uint64_t{0x0fffffff};
        }
        auto x = double_of(bits);
        auto got = arith::convert(bits, FLOAT64, FLOAT32);
        wrong += std::isnan(x) ? got != 0x7fc00000 : got != bits_of(static_cast<float>(x));
        auto back = arith::convert(got, FLOAT32, FLOAT64);
        wrong += !std::isnan(x) && back != bits_of(static_cast<double>(float_of(got)));
    }
    EXPECT_EQ(wrong, 0);
}

TEST(Convert, IntegerToFloatRoundsOnce) {// F4
    EXPECT_EQ(arith::convert(16842753, INT32, BFLOAT16), 0x4b81u);
    EXPECT_EQ(arith::from_int64(BFLOAT16, -16842753), 0xcb81u);
    EXPECT_EQ(arith::from_int64(FLOAT32, (1ll << 24) + 1), bits_of(0x1p24f));
    EXPECT_EQ(arith::from_int64(FLOAT32, (1ll << 24) + 3), bits_of(0x1.000004p24f));
    EXPECT_EQ(arith::from_int64(FLOAT32, (1ll << 54) + (1ll << 30) + 1),
              bits_of(0x1.000002p54f));// via double: a tie to even, 2^54
    EXPECT_EQ(arith::from_uint64(FLOAT32, ~uint64_t{0}), bits_of(0x1p64f));
    EXPECT_EQ(arith::from_uint64(FLOAT64, ~uint64_t{0}), bits_of(0x1p64));
    EXPECT_EQ(arith::from_uint64(BFLOAT16, (uint64_t{1} << 63) + (uint64_t{1} << 55)), 0x5f00u);
    EXPECT_EQ(arith::from_uint64(BFLOAT16, (uint64_t{1} << 63) + (uint64_t{1} << 55) + 1), 0x5f01u);
    EXPECT_EQ(arith::from_int64(FLOAT32, std::numeric_limits<int64_t>::min()), bits_of(-0x1p63f));
    EXPECT_EQ(arith::from_int64(FLOAT16, 65519), 0x7bffu);
    EXPECT_EQ(arith::from_int64(FLOAT16, 65520), 0x7c00u);
    EXPECT_EQ(arith::from_int64(FLOAT16, 0), 0u);
    EXPECT_EQ(arith::convert(1, BOOL, FLOAT16), 0x3c00u);
}

// Hardware converts 64-bit integers to float and double in one rounding too; 32-bit integers are
// exact as doubles, so the nearest-code model can judge the 16-bit formats.
TEST(Convert, RandomIntegers) {
    Random random{3};
    Rounder to_half{models[0]};
    Rounder to_bfloat16{models[1]};
    auto wrong = 0;
    for (auto i = 0; i < 500'000; i++) {
        auto x = random() >> (random() % 64);
        auto y = static_cast<int64_t>(i % 2 == 0 ? x : 0 - x);
        wrong += arith::from_uint64(FLOAT32, x) != bits_of(static_cast<float>(x));
        wrong += arith::from_uint64(FLOAT64, x) != bits_of(static_cast<double>(x));
        wrong += arith::from_int64(FLOAT32, y) != bits_of(static_cast<float>(y));
        wrong += arith::from_int64(FLOAT64, y) != bits_of(static_cast<double>(y));
        auto z = static_cast<int32_t>(y);
        auto bits = static_cast<uint32_t>(z);
        wrong += arith::convert(bits, INT32, FLOAT16) != to_half(z);
        wrong += arith::convert(bits, INT32, BFLOAT16) != to_bfloat16(z);
        wrong += arith::convert(bits, UINT32, BFLOAT16) != to_bfloat16(bits);
    }
    EXPECT_EQ(wrong, 0);
}

// The inputs just beyond a bfloat16 tie that float rounds onto the tie: all of one binade.
TEST(Convert, HardIntegersToBfloat16) {
    Rounder round{models[1]};
    auto wrong = 0;
    auto hard = 0;
    for (auto base = int64_t{1} << 24; base < int64_t{1} << 31; base += int64_t{1} << 16) {
        for (auto delta = -80; delta <= 80; delta++) {
            auto x = static_cast<int32_t>(base + delta);
            auto exact = round(x);
            hard += round(static_cast<float>(x)) != exact;
            wrong += arith::convert(static_cast<uint32_t>(x), INT32, BFLOAT16) != exact;
        }
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_GT(hard, 1000);
}

TEST(Convert, FloatToIntegerSaturates) {// F1
    auto inf = std::numeric_limits<float>::infinity();
    for (auto type : {INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64}) {
        SCOPED_TRACE(to_string(type));
        EXPECT_EQ(arith::convert(bits_of(inf), FLOAT32, type), arith::highest(type));
        EXPECT_EQ(arith::convert(bits_of(-inf), FLOAT32, type), arith::lowest(type));
        EXPECT_EQ(arith::convert(0x7fc00000, FLOAT32, type), 0u);
        EXPECT_EQ(arith::convert(0xffa00001, FLOAT32, type), 0u);
        EXPECT_EQ(arith::convert(0x7c00, FLOAT16, type), arith::highest(type));
        EXPECT_EQ(arith::convert(0x7f, FLOAT8_E4M3FN, type), 0u);
        EXPECT_EQ(arith::from_double(type, 1e300), arith::highest(type));
        EXPECT_EQ(arith::from_double(type, -1e300), arith::lowest(type));
        EXPECT_EQ(arith::from_double(type, 2.9), 2u);
        EXPECT_EQ(arith::from_double(type, -0.9), 0u);
        EXPECT_EQ(arith::from_double(type, 5e-324), 0u);
    }
    EXPECT_EQ(arith::from_double(INT8, 510), 127u);
    EXPECT_EQ(arith::from_double(INT8, -2.9), 0xfeu);
    EXPECT_EQ(arith::from_double(INT8, -128.9), 0x80u);
    EXPECT_EQ(arith::from_double(UINT8, -1.0), 0u);
    EXPECT_EQ(arith::from_double(UINT8, 255.9), 255u);
    EXPECT_EQ(arith::from_double(INT64, 0x1p63), uint64_t{0x7fffffffffffffff});
    EXPECT_EQ(arith::from_double(INT64, -0x1p63), uint64_t{1} << 63);
    EXPECT_EQ(arith::from_double(UINT64, 0x1p63), uint64_t{1} << 63);
    EXPECT_EQ(arith::from_double(UINT64, 0x1p64), ~uint64_t{0});
    EXPECT_EQ(arith::from_double(INT32, 2147483647.9), 0x7fffffffu);
}

TEST(Convert, RandomFloatToInteger) {
    Random random{4};
    auto wrong = 0;
    for (auto i = 0; i < 500'000; i++) {
        auto exponent = static_cast<int>(random() % 67) - 53;
        auto x = std::ldexp(static_cast<double>(random() >> 11), exponent);
        x = random() % 2 == 0 ? x : -x;
        auto clamp = [x](double low, double high) {
            return std::trunc(std::fmin(std::fmax(x, low), high));
        };
        wrong += arith::from_double(INT32, x) !=
                 static_cast<uint32_t>(static_cast<int64_t>(clamp(-0x1p31, 0x1p31 - 1)));
        wrong += arith::from_double(UINT16, x) != static_cast<uint64_t>(clamp(0, 65535));
        if (std::fabs(x) < 0x1p63) {
            wrong += arith::to_int64(FLOAT64, bits_of(x)) != static_cast<int64_t>(x);
        }
    }
    EXPECT_EQ(wrong, 0);
}

TEST(Convert, BetweenIntegers) {// I4
    EXPECT_EQ(arith::convert(300, INT32, INT8), 44u);
    EXPECT_EQ(arith::convert(0xffffffff, INT32, INT64), ~uint64_t{0});
    EXPECT_EQ(arith::convert(0xffffffff, UINT32, INT64), 0xffffffffu);
    EXPECT_EQ(arith::convert(0x80, INT8, UINT16), 0xff80u);
    EXPECT_EQ(arith::convert(uint64_t{1} << 63, UINT64, INT64), uint64_t{1} << 63);
    EXPECT_EQ(arith::to_int64(INT8, 0xff), -1);
    EXPECT_EQ(arith::to_int64(BOOL, 1), 1);
    EXPECT_EQ(arith::convert(0xabcd12, UINT8, UINT8), 0x12u);// what lies above the type is ignored
    EXPECT_EQ(arith::convert(0xabcdff, INT8, INT32), 0xffffffffu);
}

TEST(Convert, ToBool) {
    for (auto type : all_types) {
        SCOPED_TRACE(to_string(type));
        EXPECT_EQ(arith::convert(0, type, BOOL), 0u);
        EXPECT_EQ(arith::convert(1, type, BOOL), 1u);// the least subnormal, for floats
        if (is_float(type)) {
            EXPECT_EQ(arith::convert(arith::neg(type, 0), type, BOOL), 0u);
            EXPECT_EQ(arith::convert(0x7fffffffffffffff >> (64 - info(type).bits), type, BOOL), 1u);
        }
    }
    EXPECT_EQ(arith::convert(256, INT32, BOOL), 1u);
    EXPECT_EQ(arith::convert(4, BOOL, INT32), 1u);// any code but zero of a stored bool is true
}

TEST(Convert, Fp8Sources) {// F2, F3
    EXPECT_EQ(arith::quantize(0x7c00, FLOAT16, FLOAT8_E5M2, false), 0x7cu);
    EXPECT_EQ(arith::quantize(0x7c00, FLOAT16, FLOAT8_E5M2, true), 0x7bu);
    EXPECT_EQ(arith::convert(0x7c, FLOAT8_E5M2, BFLOAT16), 0x7f80u);
    EXPECT_EQ(arith::convert(0x7f, FLOAT8_E4M3FN, BFLOAT16), 0x7fffu);
    EXPECT_EQ(arith::quantize(FLOAT8_E5M2, 1.125, false), 0x3cu);
    EXPECT_EQ(arith::to_float(FLOAT8_E4M3FN,
                              arith::quantize(bits_of(1.0625001f), FLOAT32, FLOAT8_E4M3FN, true)),
              1.125f);
    EXPECT_EQ(arith::quantize(1000, INT32, FLOAT8_E4M3FN, true), 0x7eu);
}

TEST(Convert, NaNs) {
    EXPECT_EQ(arith::convert(0x7f800001, FLOAT32, FLOAT64), 0x7ff8000000000000u);
    EXPECT_EQ(arith::convert(0xfff0000000000001, FLOAT64, FLOAT32), 0x7fc00000u);
    EXPECT_EQ(arith::convert(0x7f800001, FLOAT32, FLOAT32), 0x7f800001u);// a copy keeps the bits
    EXPECT_EQ(arith::convert(0xfe01, FLOAT16, BFLOAT16), 0x7fffu);
    EXPECT_FALSE(arith::is_nan(INT32, 0x7fc00000));
}

TEST(Convert, CastToFp8IsAnInternalError) {
    EXPECT_THROW((void)arith::convert(0, FLOAT32, FLOAT8_E4M3FN), InternalError);
    EXPECT_THROW((void)arith::quantize(0, FLOAT32, FLOAT16, true), InternalError);
}

TEST(Convert, IgnoresTheRoundingMode) {
    for (auto mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
        std::fesetround(mode);
        auto half = arith::from_double(FLOAT16, 65519.0);
        auto single = arith::from_double(FLOAT32, 1 + 0x1p-24);
        auto bfloat16 = arith::from_int64(BFLOAT16, -16842753);
        std::fesetround(FE_TONEAREST);
        EXPECT_EQ(half, 0x7bffu);
        EXPECT_EQ(single, 0x3f800000u);
        EXPECT_EQ(bfloat16, 0xcb81u);
    }
}

#ifdef __FLT16_MAX__
TEST(Convert, HalfIsTheCompilers) {
    Random random{5};
    auto wrong = 0;
    for (auto i = 0; i < 1'000'000; i++) {
        auto bits = static_cast<uint32_t>(random());
        if (i % 2 != 0) {// the range of half
            bits = (bits & 0x807fffff) | static_cast<uint32_t>(127 - 27 + random() % 46) << 23;
        }
        auto x = float_of(bits);
        auto got = arith::convert(bits, FLOAT32, FLOAT16);
        wrong += !std::isnan(x) && got != std::bit_cast<uint16_t>(static_cast<_Float16>(x));
    }
    EXPECT_EQ(wrong, 0);
}
#endif

}// namespace

}// namespace luisa::tile::test
