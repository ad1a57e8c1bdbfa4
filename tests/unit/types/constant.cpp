// SPDX-License-Identifier: Apache-2.0
#include "types/constant.h"

#include "types/arith.h"
#include "types/convert.h"

#include "model.h"

#include <gtest/gtest.h>

namespace luisa::tile::test {

namespace {

constexpr auto largest_int64 = std::numeric_limits<int64_t>::max();
constexpr auto smallest_int64 = std::numeric_limits<int64_t>::min();

bool round_trips(ScalarType type, uint64_t bits) {
    uint64_t back = ~bits;
    return parse_constant(print_constant(type, bits), type, back) && back == bits;
}

TEST(Constant, Text) {
    EXPECT_EQ(print_constant(BOOL, 1), "true");
    EXPECT_EQ(print_constant(BOOL, 0), "false");
    EXPECT_EQ(print_constant(INT8, 0xff), "-1");
    EXPECT_EQ(print_constant(UINT64, ~uint64_t{0}), "18446744073709551615");
    EXPECT_EQ(print_constant(INT64, uint64_t{1} << 63), "-9223372036854775808");
    EXPECT_EQ(print_constant(FLOAT32, bits_of(1.0f)), "1.0");
    EXPECT_EQ(print_constant(FLOAT32, 0x80000000), "-0.0");
    EXPECT_EQ(print_constant(FLOAT32, bits_of(0.1f)), "0.1");
    EXPECT_EQ(print_constant(FLOAT32, bits_of(1e20f)), "1e+20");
    EXPECT_EQ(print_constant(FLOAT64, bits_of(0.1)), "0.1");
    EXPECT_EQ(print_constant(FLOAT32, 0x7f800000), "inf");
    EXPECT_EQ(print_constant(FLOAT32, 0xff800000), "-inf");
    EXPECT_EQ(print_constant(FLOAT32, 0x7fc00000), "nan");
    EXPECT_EQ(print_constant(FLOAT32, 0x7fc00001), "0x7fc00001");
    EXPECT_EQ(print_constant(FLOAT16, 0x7fff), "nan");
    EXPECT_EQ(print_constant(FLOAT16, 0x7e00), "0x7e00");
    EXPECT_EQ(print_constant(FLOAT16, arith::from_double(FLOAT16, 0.1)), "0.1");
    EXPECT_EQ(print_constant(BFLOAT16, 0x3f80), "1.0");
    EXPECT_EQ(print_constant(FLOAT8_E4M3FN, 0x7e), "448.0");
    EXPECT_EQ(print_constant(FLOAT16, 0x7bff), "65504.0");
    EXPECT_EQ(print_constant(BFLOAT16, 0x7f7f), "3.39e+38");
    EXPECT_EQ(print_constant(FLOAT8_E4M3FN, 0xff), "0xff");
}

TEST(Constant, EveryNarrowCodeRoundTrips) {
    for (auto type : all_types) {
        if (info(type).bits <= 16 && type != BOOL) {
            SCOPED_TRACE(to_string(type));
            auto wrong = 0;
            for (auto code = uint64_t{0}; code < uint64_t{1} << info(type).bits; code++) {
                wrong += !round_trips(type, code);
            }
            EXPECT_EQ(wrong, 0);
        }
    }
}

TEST(Constant, RandomWideCodesRoundTrip) {
    Random random{8};
    auto wrong = 0;
    for (auto i = 0; i < 100'000; i++) {
        auto bits = random();
        for (auto type : {INT32, UINT32, FLOAT32}) {
            wrong += !round_trips(type, bits & 0xffffffff);
        }
        for (auto type : {INT64, UINT64, FLOAT64}) {
            wrong += !round_trips(type, bits);
        }
        wrong += !round_trips(FLOAT32, bits & 0x807fffff);// subnormal
        wrong += !round_trips(FLOAT64, bits & 0x800fffffffffffff);
        wrong += !round_trips(FLOAT32, (bits & 0x807fffff) | 0x7f800000);// NaN
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_TRUE(round_trips(BOOL, 0));
    EXPECT_TRUE(round_trips(BOOL, 1));
}

TEST(Constant, ParseRejects) {
    struct Case {
        const char *text;
        ScalarType type;
    };
    for (auto c : {Case{"", INT32},
                   Case{"-", INT32},
                   Case{"1.0", INT32},
                   Case{"128", INT8},
                   Case{"-129", INT8},
                   Case{"-1", UINT8},
                   Case{"256", UINT8},
                   Case{"0x1", INT32},
                   Case{"18446744073709551616", UINT64},
                   Case{" 1", INT32},
                   Case{"1 ", FLOAT32},
                   Case{"1", BOOL},
                   Case{"TRUE", BOOL},
                   Case{"", FLOAT32},
                   Case{"-", FLOAT32},
                   Case{"infinity", FLOAT32},
                   Case{"NaN", FLOAT32},
                   Case{"nan(1)", FLOAT32},
                   Case{"-nan", FLOAT32},
                   Case{".5", FLOAT32},
                   Case{"+1", FLOAT32},
                   Case{"1e39", FLOAT32},
                   Case{"1e39", BFLOAT16},
                   Case{"65520", FLOAT16},
                   Case{"465", FLOAT8_E4M3FN},
                   Case{"inf", FLOAT8_E4M3FN},
                   Case{"1e999", FLOAT64},
                   Case{"0x1ffff", FLOAT16},
                   Case{"0x", FLOAT16},
                   Case{"0x-1", FLOAT16},
                   Case{"1.0f", FLOAT32},
                   Case{"--1", FLOAT32}}) {
        uint64_t bits = 42;
        EXPECT_FALSE(parse_constant(c.text, c.type, bits)) << c.text << " " << to_string(c.type);
        EXPECT_EQ(bits, 42u);
    }
}

TEST(Constant, ParseAcceptsMoreThanIsPrinted) {
    auto parse = [](const char *text, ScalarType type) {
        uint64_t bits = 0;
        EXPECT_TRUE(parse_constant(text, type, bits)) << text;
        return bits;
    };
    EXPECT_EQ(parse("1", FLOAT32), 0x3f800000u);
    EXPECT_EQ(parse("1e0", FLOAT16), 0x3c00u);
    EXPECT_EQ(parse("-2.50", BFLOAT16), 0xc020u);
    EXPECT_EQ(parse("0x3f800000", FLOAT32), 0x3f800000u);
    EXPECT_EQ(parse("464", FLOAT8_E4M3FN), 0x7eu);
    EXPECT_EQ(parse("-inf", FLOAT8_E5M2), 0xfcu);
    // Just above a float tie that double cannot tell from it.
    EXPECT_EQ(parse("1.00000005960464477539062500001", FLOAT32), 0x3f800001u);
}

TEST(Constant, IntegersMustFit) {
    EXPECT_TRUE(fits(INT8, int64_t{127}));
    EXPECT_TRUE(fits(INT8, int64_t{-128}));
    EXPECT_FALSE(fits(INT8, int64_t{128}));
    EXPECT_FALSE(fits(INT8, int64_t{-129}));
    EXPECT_FALSE(fits(UINT8, int64_t{-1}));
    EXPECT_FALSE(fits(UINT64, int64_t{-1}));
    EXPECT_TRUE(fits(INT64, smallest_int64));
    EXPECT_TRUE(fits(UINT64, ~uint64_t{0}));
    EXPECT_FALSE(fits(INT64, uint64_t{1} << 63));
    EXPECT_TRUE(fits(INT64, static_cast<uint64_t>(largest_int64)));
    EXPECT_TRUE(fits(BOOL, int64_t{1}));
    EXPECT_FALSE(fits(BOOL, int64_t{2}));
    EXPECT_FALSE(fits(BOOL, int64_t{-1}));
    EXPECT_TRUE(fits(INT32, 3.0));
    EXPECT_FALSE(fits(INT32, 3.5));
    EXPECT_FALSE(fits(INT32, 0x1p31));
    EXPECT_FALSE(fits(INT64, 0x1p63));
    EXPECT_TRUE(fits(INT64, -0x1p63));
    EXPECT_TRUE(fits(UINT64, 0x1p63));
    EXPECT_FALSE(fits(UINT64, 0x1p64));
    EXPECT_FALSE(fits(INT32, HUGE_VAL));
    EXPECT_FALSE(fits(INT32, std::nan("")));
    EXPECT_FALSE(fits(INT32, 5e-324));
}

TEST(Constant, FloatsMustStayFinite) {
    EXPECT_TRUE(fits(FLOAT32, 0.1));
    EXPECT_FALSE(fits(FLOAT32, 1e39));
    EXPECT_FALSE(fits(BFLOAT16, 1e39));
    EXPECT_TRUE(fits(BFLOAT16, 3.3895e38));
    EXPECT_TRUE(fits(FLOAT16, 65519.0));
    EXPECT_FALSE(fits(FLOAT16, 65520.0));
    EXPECT_FALSE(fits(FLOAT16, int64_t{-65520}));
    EXPECT_FALSE(fits(FLOAT16, uint64_t{70000}));
    EXPECT_TRUE(fits(FLOAT8_E4M3FN, 464.0));
    EXPECT_FALSE(fits(FLOAT8_E4M3FN, 465.0));
    EXPECT_TRUE(fits(FLOAT32, HUGE_VAL));
    EXPECT_TRUE(fits(FLOAT8_E5M2, -HUGE_VAL));
    EXPECT_FALSE(fits(FLOAT8_E4M3FN, -HUGE_VAL));
    EXPECT_TRUE(fits(FLOAT8_E4M3FN, std::nan("")));
}

TEST(Constant, EncodeLiteral) {
    EXPECT_EQ(encode_literal(INT8, int64_t{-1}), 0xffu);
    EXPECT_EQ(encode_literal(UINT64, uint64_t{1} << 63), uint64_t{1} << 63);
    EXPECT_EQ(encode_literal(INT32, 3.0), 3u);
    EXPECT_EQ(encode_literal(UINT64, 0x1p63), uint64_t{1} << 63);
    EXPECT_EQ(encode_literal(FLOAT32, 0.1), bits_of(0.1f));
    EXPECT_EQ(encode_literal(FLOAT16, int64_t{-2}), 0xc000u);
    EXPECT_EQ(encode_literal(BFLOAT16, int64_t{16842753}), 0x4b81u);
    EXPECT_EQ(encode_literal(FLOAT8_E4M3FN, 464.0), 0x7eu);
    EXPECT_EQ(encode_literal(FLOAT32, -HUGE_VAL), 0xff800000u);
    EXPECT_EQ(encode_literal(BOOL, uint64_t{1}), 1u);
}

template<typename T> std::string message_of(ScalarType type, T x) {
    try {
        (void)encode_literal(type, x, SourceLoc{"gemm.cpp", 12});
    } catch (const ValueError &error) {
        EXPECT_EQ(error.location().line, 12u);
        return error.message();
    }
    return "no error";
}

TEST(Constant, LiteralErrors) {
    EXPECT_EQ(message_of(INT8, int64_t{300}),
              "literal 300 does not fit the type i8, which holds [-128, 127]; use a literal in "
              "that range, or cast the other operand to a type that holds it");
    EXPECT_EQ(message_of(UINT16, int64_t{-1}),
              "literal -1 does not fit the type u16, which holds [0, 65535]; use a literal in that "
              "range, or cast the other operand to a type that holds it");
    EXPECT_EQ(message_of(INT32, 1.5),
              "literal 1.5 is not an integer, but the literal takes the type i32, which holds "
              "[-2147483648, 2147483647]; use a literal in that range, or cast the other operand "
              "to a type that holds it");
    EXPECT_EQ(message_of(BFLOAT16, 1e39),
              "literal 1e+39 is too large for bf16, whose largest finite value is 3.3895314e+38; "
              "write a smaller literal, or infinity if that is meant");
    EXPECT_EQ(message_of(FLOAT16, int64_t{-70000}),
              "literal -70000 is too large for f16, whose largest finite value is 65504.0; write a "
              "smaller literal, or infinity if that is meant");
    EXPECT_EQ(message_of(FLOAT8_E4M3FN, -HUGE_VAL),
              "literal -inf: e4m3fn has no infinity; its largest finite value is 448.0; use -448.0 "
              "or NaN");
    EXPECT_EQ(message_of(FLOAT8_E4M3FN, 1000.0),
              "literal 1000.0 is too large for e4m3fn, whose largest finite value is 448.0; write "
              "a smaller literal");
    EXPECT_EQ(message_of(INT64, HUGE_VAL).substr(0, 37), "literal inf does not fit the type i64");
}

}// namespace

}// namespace luisa::tile::test
