// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/types.h>

#include "model.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <type_traits>

namespace luisa::tile::test {

namespace {

static_assert(std::is_same_v<luisa::half, luisa::tile::half>);
static_assert(std::is_trivially_copyable_v<half> && std::is_trivially_copyable_v<float8_e5m2>);
static_assert(!std::is_convertible_v<float, half> && std::is_constructible_v<half, float>);
static_assert(!std::is_convertible_v<float, bf16> && std::is_constructible_v<bf16, float>);
static_assert(!std::is_constructible_v<float8_e4m3fn, float>);
static_assert(!std::is_constructible_v<float8_e5m2, float>);
static_assert(!std::is_constructible_v<float8_e5m2, double>);
static_assert(!std::is_constructible_v<float8_e5m2, int>);

static_assert(scalar_type_of<bool> == BOOL && scalar_type_of<int8_t> == INT8);
static_assert(scalar_type_of<int> == INT32 && scalar_type_of<uint64_t> == UINT64);
static_assert(scalar_type_of<half> == FLOAT16 && scalar_type_of<bfloat16> == BFLOAT16);
static_assert(scalar_type_of<float> == FLOAT32 && scalar_type_of<f64> == FLOAT64);
static_assert(scalar_type_of<float8_e4m3fn> == FLOAT8_E4M3FN);
static_assert(scalar_type_of<float8_e5m2> == FLOAT8_E5M2);
static_assert(Element<bool> && Element<uint16_t> && Element<double>);
static_assert(!Element<char> && !Element<long double> && !Element<void *> && !Element<const int>);
static_assert(!Element<int &> && !Element<std::string>);
static_assert(is_floating_element<half> && is_floating_element<float8_e4m3fn>);
static_assert(!is_floating_element<int> && !is_floating_element<bool>);
static_assert(half::from_bits(0x3c00).bits() == 0x3c00);

TEST(Types, HalfConverts) {
    EXPECT_EQ(half{}.bits(), 0u);
    EXPECT_EQ(half{1.0f}.bits(), 0x3c00u);
    EXPECT_EQ(half{65520 - 0x1p-20}.bits(), 0x7bffu);// a double rounds once
    EXPECT_EQ(half{-2}.bits(), 0xc000u);
    EXPECT_EQ(half{65520u}.bits(), 0x7c00u);
    EXPECT_EQ(half{-std::numeric_limits<float>::quiet_NaN()}.bits(), 0x7fffu);
    EXPECT_EQ(static_cast<float>(half::from_bits(0x0001)), 0x1p-24f);
    EXPECT_EQ(static_cast<double>(half{0.5}), 0.5);
    EXPECT_EQ(half::from_bits(0x7d55).bits(), 0x7d55u);// a signalling NaN is kept
}

TEST(Types, Bfloat16Converts) {
    EXPECT_EQ(bf16{1.0f}.bits(), 0x3f80u);
    EXPECT_EQ(bf16{float_of(0x007fffff)}.bits(), 0x0080u);// not flushed
    EXPECT_EQ(bf16{16842753}.bits(), 0x4b81u);
    EXPECT_EQ(bf16{uint64_t{1} << 63}.bits(), 0x5f00u);
    EXPECT_EQ(static_cast<float>(bf16::from_bits(0x0001)), 0x1p-133f);
}

TEST(Types, ComparisonGoesThroughFloat) {
    EXPECT_TRUE(half{1.0f} < half{2.0f});
    EXPECT_TRUE(half::from_bits(0x8000) == half{});
    EXPECT_TRUE(half::from_bits(0x7fff) != half::from_bits(0x7fff));
    EXPECT_TRUE(bf16{-1} < bf16{0});
    EXPECT_TRUE(float8_e4m3fn::from_bits(0x7e) == 448.0f);
    EXPECT_TRUE(float8_e5m2::from_bits(0x7b) < float8_e5m2::from_bits(0x7c));
    EXPECT_TRUE(float8_e4m3fn::from_bits(0xff) != float8_e4m3fn::from_bits(0xff));
}

TEST(Types, TableIsConsistent) {
    std::set<std::string> names;
    for (auto type : all_types) {
        SCOPED_TRACE(to_string(type));
        auto parsed = type == BOOL ? INT8 : BOOL;
        EXPECT_TRUE(parse_scalar_type(to_string(type), parsed));
        EXPECT_EQ(parsed, type);
        EXPECT_TRUE(names.insert(to_string(type)).second);
        EXPECT_FALSE(is_float(type) && is_integer(type));
        EXPECT_EQ(size_of(type) * 8, info(type).bits);
    }
    EXPECT_EQ(names.size(), scalar_type_count);
    EXPECT_EQ(size_of(BOOL), 1u);
    EXPECT_EQ(size_of(FLOAT8_E4M3FN), 1u);
    EXPECT_EQ(size_of(BFLOAT16), 2u);
    EXPECT_FALSE(info(FLOAT8_E5M2).computes);
    EXPECT_FALSE(is_integer(BOOL));
    auto unchanged = FLOAT32;
    EXPECT_FALSE(parse_scalar_type("float", unchanged));
    EXPECT_FALSE(parse_scalar_type("", unchanged));
    EXPECT_EQ(unchanged, FLOAT32);
}

}// namespace

}// namespace luisa::tile::test
