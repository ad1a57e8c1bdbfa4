// SPDX-License-Identifier: Apache-2.0
#include "types/convert.h"

#include "core/internal_error.h"
#include "types/format.h"

#include <luisa/tile/types.h>

#include <bit>

namespace luisa::tile::arith {

namespace {

using Kind = ExactFloat::Kind;

uint64_t width_mask(unsigned bits) noexcept { return ~uint64_t{0} >> (64 - bits); }

// The exact value of a code of any type.
ExactFloat exact(ScalarType type, uint64_t bits) {
    if (is_float(type)) {
        return decode(float_format(type), bits);
    }
    auto x = normalize(type, bits);
    ExactFloat result;
    if (is_signed(type)) {
        result.negative = (x >> (info(type).bits - 1u)) != 0;
        x = result.negative ? (0 - x) & width_mask(info(type).bits) : x;
    }
    result.significand = x;
    return result;
}

// Toward zero, saturating at the ends of an integer type.
uint64_t saturate_to_integer(const ExactFloat &x, ScalarType to) {
    auto mask = width_mask(info(to).bits);
    auto positive_limit = is_signed(to) ? mask >> 1 : mask;
    auto negative_limit = is_signed(to) ? positive_limit + 1 : 0;
    auto limit = x.negative ? negative_limit : positive_limit;
    if (x.kind == Kind::NOT_A_NUMBER || (x.kind == Kind::FINITE && x.significand == 0)) {
        return 0;
    }
    auto magnitude = limit;
    if (x.kind == Kind::FINITE) {
        if (x.exponent <= 0) {
            magnitude = x.exponent <= -64 ? 0 : x.significand >> -x.exponent;
        } else if (x.exponent <= std::countl_zero(x.significand)) {
            magnitude = x.significand << x.exponent;
        }
        magnitude = magnitude < limit ? magnitude : limit;
    }
    return (x.negative ? 0 - magnitude : magnitude) & mask;
}

uint64_t sign_extend(ScalarType type, uint64_t bits) noexcept {
    auto unused = 64u - info(type).bits;
    return static_cast<uint64_t>(static_cast<int64_t>(bits << unused) >> unused);
}

template<ScalarType type> float widen(uint64_t bits) noexcept {
    return std::bit_cast<float>(static_cast<uint32_t>(
        encode(float_format(ScalarType::FLOAT32), decode(float_format(type), bits))));
}

template<ScalarType type> uint16_t narrow(double x) noexcept {
    return static_cast<uint16_t>(encode(
        float_format(type), decode(float_format(ScalarType::FLOAT64), std::bit_cast<uint64_t>(x))));
}

bool is_fp8(ScalarType type) noexcept { return is_float(type) && !info(type).computes; }

}// namespace

uint64_t normalize(ScalarType type, uint64_t bits) noexcept {
    if (type == ScalarType::BOOL) {
        return (bits & 0xffu) != 0 ? 1 : 0;
    }
    return bits & width_mask(info(type).bits);
}

uint64_t convert(uint64_t bits, ScalarType from, ScalarType to) {
    require(!is_fp8(to), "cast to an 8-bit float has no meaning; quantize names the overflow rule");
    if (from == to) {
        return normalize(from, bits);
    }
    if (to == ScalarType::BOOL) {
        return to_bool(from, bits) ? 1 : 0;
    }
    if (is_float(to)) {
        return encode(float_format(to), exact(from, bits));
    }
    if (is_float(from)) {
        return saturate_to_integer(exact(from, bits), to);
    }
    auto x = normalize(from, bits);
    return normalize(to, is_signed(from) ? sign_extend(from, x) : x);
}

uint64_t quantize(uint64_t bits, ScalarType from, ScalarType to, bool saturate) {
    require(is_fp8(to), "quantize to a type that is no 8-bit float");
    return encode(float_format(to), exact(from, bits),
                  saturate ? OnOverflow::SATURATE : OnOverflow::SPECIAL);
}

uint8_t quantize(ScalarType to, double x, bool saturate) {
    return static_cast<uint8_t>(
        quantize(std::bit_cast<uint64_t>(x), ScalarType::FLOAT64, to, saturate));
}

double to_double(ScalarType type, uint64_t bits) {
    return std::bit_cast<double>(convert(bits, type, ScalarType::FLOAT64));
}

float to_float(ScalarType type, uint64_t bits) {
    return std::bit_cast<float>(static_cast<uint32_t>(convert(bits, type, ScalarType::FLOAT32)));
}

int64_t to_int64(ScalarType type, uint64_t bits) {
    return static_cast<int64_t>(convert(bits, type, ScalarType::INT64));
}

uint64_t to_uint64(ScalarType type, uint64_t bits) {
    return convert(bits, type, ScalarType::UINT64);
}

bool to_bool(ScalarType type, uint64_t bits) {
    auto x = normalize(type, bits);
    return (is_float(type) ? x & ~float_format(type).sign_mask() : x) != 0;
}

uint64_t from_double(ScalarType type, double x) {
    return convert(std::bit_cast<uint64_t>(x), ScalarType::FLOAT64, type);
}

uint64_t from_int64(ScalarType type, int64_t x) {
    return convert(static_cast<uint64_t>(x), ScalarType::INT64, type);
}

uint64_t from_uint64(ScalarType type, uint64_t x) { return convert(x, ScalarType::UINT64, type); }

float half_to_float(uint16_t bits) noexcept { return widen<ScalarType::FLOAT16>(bits); }
float bfloat16_to_float(uint16_t bits) noexcept { return widen<ScalarType::BFLOAT16>(bits); }
float e4m3fn_to_float(uint8_t bits) noexcept { return widen<ScalarType::FLOAT8_E4M3FN>(bits); }
float e5m2_to_float(uint8_t bits) noexcept { return widen<ScalarType::FLOAT8_E5M2>(bits); }
uint16_t half_from_double(double x) noexcept { return narrow<ScalarType::FLOAT16>(x); }
uint16_t bfloat16_from_double(double x) noexcept { return narrow<ScalarType::BFLOAT16>(x); }

bool is_nan(ScalarType type, uint64_t bits) noexcept {
    return is_float(type) &&
           decode(float_format(type), bits).kind == ExactFloat::Kind::NOT_A_NUMBER;
}

bool is_infinite(ScalarType type, uint64_t bits) noexcept {
    return is_float(type) && decode(float_format(type), bits).kind == ExactFloat::Kind::INFINITE;
}

}// namespace luisa::tile::arith

namespace luisa::tile::detail {

namespace {

uint16_t from_integer(ScalarType from, ScalarType to, uint64_t x) {
    return static_cast<uint16_t>(arith::convert(x, from, to));
}

}// namespace

uint16_t half_from_double(double x) noexcept { return arith::half_from_double(x); }
uint16_t half_from_integer(int64_t x) noexcept {
    return from_integer(ScalarType::INT64, ScalarType::FLOAT16, static_cast<uint64_t>(x));
}
uint16_t half_from_integer(uint64_t x) noexcept {
    return from_integer(ScalarType::UINT64, ScalarType::FLOAT16, x);
}
float half_to_float(uint16_t bits) noexcept { return arith::half_to_float(bits); }
uint16_t bfloat16_from_double(double x) noexcept { return arith::bfloat16_from_double(x); }
uint16_t bfloat16_from_integer(int64_t x) noexcept {
    return from_integer(ScalarType::INT64, ScalarType::BFLOAT16, static_cast<uint64_t>(x));
}
uint16_t bfloat16_from_integer(uint64_t x) noexcept {
    return from_integer(ScalarType::UINT64, ScalarType::BFLOAT16, x);
}
float bfloat16_to_float(uint16_t bits) noexcept { return arith::bfloat16_to_float(bits); }
float e4m3fn_to_float(uint8_t bits) noexcept { return arith::e4m3fn_to_float(bits); }
float e5m2_to_float(uint8_t bits) noexcept { return arith::e5m2_to_float(bits); }

}// namespace luisa::tile::detail
