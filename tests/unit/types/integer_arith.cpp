// SPDX-License-Identifier: Apache-2.0
#include "types/arith.h"

#include "types/convert.h"

#include "model.h"

#include <luisa/tile/error.h>

#include <gtest/gtest.h>

namespace luisa::tile::test {

namespace {

constexpr ScalarType integers[] = {INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64};

uint64_t i(ScalarType type, int64_t x) { return arith::normalize(type, static_cast<uint64_t>(x)); }
int64_t s(ScalarType type, uint64_t bits) { return arith::to_int64(type, bits); }

TEST(IntegerArith, Division) {// I2, I3
    for (auto t : {INT8, INT16, INT32, INT64}) {
        SCOPED_TRACE(to_string(t));
        EXPECT_EQ(s(t, arith::div(t, i(t, -7), 2)), -3);
        EXPECT_EQ(s(t, arith::rem(t, i(t, -7), 2)), -1);
        EXPECT_EQ(s(t, arith::floor_div(t, i(t, -7), 2)), -4);
        EXPECT_EQ(s(t, arith::floor_mod(t, i(t, -7), 2)), 1);
        EXPECT_EQ(s(t, arith::floor_mod(t, 7, i(t, -2))), -1);
        EXPECT_EQ(s(t, arith::ceil_div(t, i(t, -36), 5)), -7);
        EXPECT_EQ(s(t, arith::ceil_div(t, 36, 5)), 8);
        auto minimum = arith::lowest(t);
        EXPECT_EQ(arith::div(t, minimum, i(t, -1)), minimum);
        EXPECT_EQ(arith::floor_div(t, minimum, i(t, -1)), minimum);
        EXPECT_EQ(arith::ceil_div(t, minimum, i(t, -1)), minimum);
        EXPECT_EQ(arith::rem(t, minimum, i(t, -1)), 0u);
        EXPECT_EQ(arith::floor_mod(t, minimum, i(t, -1)), 0u);
        for (auto x = -64; x <= -57; x++) {
            EXPECT_EQ(s(t, arith::div(t, i(t, x), 32)), x == -64 ? -2 : -1);
        }
    }
    for (auto t : integers) {
        SCOPED_TRACE(to_string(t));
        for (auto x : {arith::lowest(t), arith::highest(t), uint64_t{0}, uint64_t{7}}) {
            EXPECT_EQ(arith::div(t, x, 0), 0u);
            EXPECT_EQ(arith::rem(t, x, 0), 0u);
            EXPECT_EQ(arith::floor_div(t, x, 0), 0u);
            EXPECT_EQ(arith::floor_mod(t, x, 0), 0u);
            EXPECT_EQ(arith::ceil_div(t, x, 0), 0u);
        }
    }
    EXPECT_EQ(arith::ceil_div(UINT64, ~uint64_t{0}, 2), uint64_t{1} << 63);
}

TEST(IntegerArith, Wrapping) {// I4
    EXPECT_EQ(arith::shl(INT32, 1, 31), 0x80000000u);
    EXPECT_EQ(arith::add(INT32, 0x7fffffff, 1), 0x80000000u);
    EXPECT_EQ(arith::sub(UINT8, 0, 1), 0xffu);
    EXPECT_EQ(arith::mul(INT8, 100, 3), 44u);
    EXPECT_EQ(arith::mul(INT64, uint64_t{1} << 62, 4), 0u);
    EXPECT_EQ(arith::add(UINT64, uint64_t{1} << 63, 5), (uint64_t{1} << 63) + 5);
    EXPECT_EQ(arith::neg(INT32, 0x80000000), 0x80000000u);
    EXPECT_EQ(arith::abs(INT32, 0x80000000), 0x80000000u);
    EXPECT_EQ(arith::abs(INT8, i(INT8, -5)), 5u);
    EXPECT_EQ(arith::abs(UINT8, 0xfb), 0xfbu);
    EXPECT_EQ(arith::neg(UINT16, 1), 0xffffu);
}

TEST(IntegerArith, Shifts) {// I5
    for (auto t : integers) {
        SCOPED_TRACE(to_string(t));
        auto width = uint64_t{info(t).bits};
        auto negative = arith::normalize(t, ~uint64_t{0});
        auto fill = is_signed(t) ? negative : 0;
        for (auto count : {width, width + 1, width + 63, negative}) {
            EXPECT_EQ(arith::shl(t, 5, count), 0u);
            EXPECT_EQ(arith::shr(t, 5, count), 0u);
            EXPECT_EQ(arith::shr(t, negative, count), fill);
        }
        EXPECT_EQ(arith::shl(t, 1, width - 1), uint64_t{1} << (width - 1));
        EXPECT_EQ(arith::shr(t, negative, width - 1), is_signed(t) ? negative : 1);
        EXPECT_EQ(arith::shr(t, arith::highest(t), 0), arith::highest(t));
    }
    EXPECT_EQ(s(INT32, arith::shr(INT32, i(INT32, -8), 1)), -4);
}

// All pairs of 8-bit operands against plain 64-bit integers.
TEST(IntegerArith, EveryPairOfBytes) {
    for (auto t : {INT8, UINT8}) {
        SCOPED_TRACE(to_string(t));
        auto wrong = 0;
        for (auto pair = 0; pair < 65536; pair++) {
            auto a = static_cast<uint64_t>(pair >> 8);
            auto b = static_cast<uint64_t>(pair & 255);
            auto x = s(t, a);
            auto y = s(t, b);
            auto same = [&](uint64_t got, int64_t want) { wrong += got != i(t, want); };
            same(arith::add(t, a, b), x + y);
            same(arith::sub(t, a, b), x - y);
            same(arith::mul(t, a, b), x * y);
            if (y != 0) {
                auto real = static_cast<double>(x) / static_cast<double>(y);
                same(arith::div(t, a, b), x / y);
                same(arith::rem(t, a, b), x % y);
                same(arith::floor_div(t, a, b), static_cast<int64_t>(std::floor(real)));
                same(arith::floor_mod(t, a, b), x - y * static_cast<int64_t>(std::floor(real)));
                same(arith::ceil_div(t, a, b), static_cast<int64_t>(std::ceil(real)));
            }
            same(arith::minimum(t, a, b), std::min(x, y));
            same(arith::maximum(t, a, b), std::max(x, y));
            same(arith::fmin(t, a, b), std::min(x, y));
            same(arith::fmax(t, a, b), std::max(x, y));
            same(arith::bit_and(t, a, b), x & y);
            same(arith::bit_or(t, a, b), x | y);
            same(arith::bit_xor(t, a, b), x ^ y);
            same(arith::bit_not(t, a), ~x);
            same(arith::shl(t, a, b), b < 8 ? x * (1 << b) : 0);
            same(arith::shr(t, a, b), b < 8 ? x >> b : x < 0 ? -1 : 0);
            wrong += arith::lt(t, a, b) != (x < y) || arith::le(t, a, b) != (x <= y) ||
                     arith::gt(t, a, b) != (x > y) || arith::ge(t, a, b) != (x >= y) ||
                     arith::eq(t, a, b) != (x == y) || arith::ne(t, a, b) != (x != y);
        }
        EXPECT_EQ(wrong, 0);
    }
}

TEST(IntegerArith, WideCompare) {
    EXPECT_TRUE(arith::lt(UINT64, 1, uint64_t{1} << 63));
    EXPECT_TRUE(arith::gt(INT64, 1, uint64_t{1} << 63));
    EXPECT_EQ(arith::maximum(UINT64, 1, uint64_t{1} << 63), uint64_t{1} << 63);
    EXPECT_TRUE(arith::lt(INT32, 0xffffffff, 0));
}

TEST(IntegerArith, Bool) {
    EXPECT_EQ(arith::bit_not(BOOL, 0), 1u);
    EXPECT_EQ(arith::bit_not(BOOL, 1), 0u);
    EXPECT_EQ(arith::bit_and(BOOL, 1, 2), 1u);// any code but zero is true
    EXPECT_EQ(arith::bit_xor(BOOL, 1, 1), 0u);
    EXPECT_EQ(arith::maximum(BOOL, 0, 1), 1u);
    EXPECT_EQ(arith::minimum(BOOL, 0, 1), 0u);
    EXPECT_EQ(arith::lowest(BOOL), 0u);
    EXPECT_EQ(arith::highest(BOOL), 1u);
    EXPECT_TRUE(arith::lt(BOOL, 0, 1));
    EXPECT_EQ(arith::add(BOOL, 1, 1), 0u);
}

TEST(IntegerArith, FloatsAreRefused) {
    EXPECT_THROW((void)arith::rem(FLOAT32, 0, 0), InternalError);
    EXPECT_THROW((void)arith::floor_div(FLOAT32, 0, 0), InternalError);
    EXPECT_THROW((void)arith::bit_and(FLOAT16, 0, 0), InternalError);
    EXPECT_THROW((void)arith::shl(FLOAT64, 0, 0), InternalError);
    EXPECT_THROW((void)arith::sqrt(INT32, 4), InternalError);
    EXPECT_THROW((void)arith::add(FLOAT8_E4M3FN, 0, 0), InternalError);
}

}// namespace

}// namespace luisa::tile::test
