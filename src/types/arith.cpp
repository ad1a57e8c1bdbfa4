// SPDX-License-Identifier: Apache-2.0
#include "types/arith.h"

#include "core/internal_error.h"
#include "types/convert.h"
#include "types/format.h"

#include <bit>
#include <cmath>

namespace luisa::tile::arith {

namespace {

void require_integer(ScalarType type) {
    require(!is_float(type), "integer operation on a floating-point type");
}

// Bits of a value; bool counts as one.
unsigned width(ScalarType type) noexcept { return type == ScalarType::BOOL ? 1u : info(type).bits; }

// The low bits of a wrapped 64-bit result; unlike `normalize`, bool keeps its low bit only.
uint64_t wrap(ScalarType type, uint64_t x) noexcept {
    return x & (~uint64_t{0} >> (64u - width(type)));
}

int64_t signed_value(ScalarType type, uint64_t bits) noexcept {
    auto unused = 64u - width(type);
    return static_cast<int64_t>(bits << unused) >> unused;
}

// floating-point evaluation

template<typename F, typename... Bits> uint64_t evaluate_double(F f, Bits... x) {
    double result = f(std::bit_cast<double>(static_cast<uint64_t>(x))...);
    return std::isnan(result) ? float_format(ScalarType::FLOAT64).nan
                              : std::bit_cast<uint64_t>(result);
}

// One f32 operation, and for the 16-bit formats one rounding after it.
template<typename F, typename... Bits> uint64_t evaluate_float(ScalarType type, F f, Bits... x) {
    float result = f(to_float(type, x)...);
    auto bits = std::isnan(result) ? float_format(ScalarType::FLOAT32).nan
                                   : std::bit_cast<uint32_t>(result);
    return convert(bits, ScalarType::FLOAT32, type);
}

template<typename F, typename... Bits> uint64_t evaluate(ScalarType type, F f, Bits... x) {
    require(is_float(type) && info(type).computes, "float operation on a type without it");
    return type == ScalarType::FLOAT64 ? evaluate_double(f, x...) : evaluate_float(type, f, x...);
}

// Both families at once: `f` is applied to 64-bit integers that wrap, or to floats.
template<typename F> uint64_t ring(ScalarType type, uint64_t a, uint64_t b, F f) {
    if (is_float(type)) {
        return evaluate(type, f, a, b);
    }
    return wrap(type, f(normalize(type, a), normalize(type, b)));
}

// integer division

struct Division {
    uint64_t quotient = 0, remainder = 0;
    bool exact = true;
    bool negative = false;///< the true quotient lies below zero
};

// Truncating, total: the answers for x / 0 and MIN / -1 are the language's.
Division divide(ScalarType type, uint64_t a, uint64_t b) {
    require_integer(type);
    a = normalize(type, a);
    b = normalize(type, b);
    if (b == 0) {
        return {};
    }
    if (!is_signed(type)) {
        return {a / b, a % b, a % b == 0, false};
    }
    auto x = signed_value(type, a);
    auto y = signed_value(type, b);
    if (y == -1) {
        return {wrap(type, 0 - a), 0, true, false};
    }
    auto remainder = x % y;
    return {wrap(type, static_cast<uint64_t>(x / y)), wrap(type, static_cast<uint64_t>(remainder)),
            remainder == 0, (x < 0) != (y < 0)};
}

// order

// Neither operand is a NaN. Integer code, so subnormals never compare as zero.
int compare(ScalarType type, uint64_t a, uint64_t b) {
    a = normalize(type, a);
    b = normalize(type, b);
    auto order = [](auto x, auto y) noexcept { return x < y ? -1 : x > y ? 1 : 0; };
    if (is_float(type)) {
        auto sign = float_format(type).sign_mask();
        auto key = [sign](uint64_t x) noexcept {
            auto magnitude = static_cast<int64_t>(x & (sign - 1));
            return (x & sign) != 0 ? -magnitude : magnitude;
        };
        return order(key(a), key(b));
    }
    return is_signed(type) ? order(signed_value(type, a), signed_value(type, b)) : order(a, b);
}

bool either_nan(ScalarType type, uint64_t a, uint64_t b) noexcept {
    return is_nan(type, a) || is_nan(type, b);
}

bool sign_bit(ScalarType type, uint64_t x) { return (x & float_format(type).sign_mask()) != 0; }

// The smaller of two numbers; of two zeros the negative one.
uint64_t smaller(ScalarType type, uint64_t a, uint64_t b) {
    auto order = compare(type, a, b);
    auto first = order < 0 || (order == 0 && is_float(type) && sign_bit(type, a));
    return normalize(type, first ? a : b);
}

uint64_t larger(ScalarType type, uint64_t a, uint64_t b) {
    auto order = compare(type, a, b);
    auto first = order > 0 || (order == 0 && is_float(type) && !sign_bit(type, a));
    return normalize(type, first ? a : b);
}

template<typename F> uint64_t propagate_nan(ScalarType type, uint64_t a, uint64_t b, F choose) {
    return either_nan(type, a, b) ? float_format(type).nan : choose(type, a, b);
}

template<typename F> uint64_t ignore_nan(ScalarType type, uint64_t a, uint64_t b, F choose) {
    if (is_nan(type, a)) {
        return is_nan(type, b) ? float_format(type).nan : normalize(type, b);
    }
    return is_nan(type, b) ? normalize(type, a) : choose(type, a, b);
}

}// namespace

uint64_t add(ScalarType type, uint64_t a, uint64_t b) {
    return ring(type, a, b, [](auto x, auto y) { return x + y; });
}

uint64_t sub(ScalarType type, uint64_t a, uint64_t b) {
    return ring(type, a, b, [](auto x, auto y) { return x - y; });
}

uint64_t mul(ScalarType type, uint64_t a, uint64_t b) {
    return ring(type, a, b, [](auto x, auto y) { return x * y; });
}

uint64_t div(ScalarType type, uint64_t a, uint64_t b) {
    if (is_float(type)) {
        return evaluate(
            type, [](auto x, auto y) { return x / y; }, a, b);
    }
    return divide(type, a, b).quotient;
}

uint64_t rem(ScalarType type, uint64_t a, uint64_t b) { return divide(type, a, b).remainder; }

uint64_t floor_div(ScalarType type, uint64_t a, uint64_t b) {
    auto d = divide(type, a, b);
    return d.exact || !d.negative ? d.quotient : wrap(type, d.quotient - 1);
}

uint64_t floor_mod(ScalarType type, uint64_t a, uint64_t b) {
    auto d = divide(type, a, b);
    return d.exact || !d.negative ? d.remainder : wrap(type, d.remainder + b);
}

uint64_t ceil_div(ScalarType type, uint64_t a, uint64_t b) {
    auto d = divide(type, a, b);
    return d.exact || d.negative ? d.quotient : wrap(type, d.quotient + 1);
}

uint64_t neg(ScalarType type, uint64_t a) {
    a = normalize(type, a);
    return is_float(type) ? a ^ float_format(type).sign_mask() : wrap(type, 0 - a);
}

uint64_t abs(ScalarType type, uint64_t a) {
    a = normalize(type, a);
    if (is_float(type)) {
        return a & ~float_format(type).sign_mask();
    }
    return is_signed(type) && signed_value(type, a) < 0 ? wrap(type, 0 - a) : a;
}

uint64_t minimum(ScalarType type, uint64_t a, uint64_t b) {
    return propagate_nan(type, a, b, smaller);
}

uint64_t maximum(ScalarType type, uint64_t a, uint64_t b) {
    return propagate_nan(type, a, b, larger);
}

uint64_t fmin(ScalarType type, uint64_t a, uint64_t b) { return ignore_nan(type, a, b, smaller); }
uint64_t fmax(ScalarType type, uint64_t a, uint64_t b) { return ignore_nan(type, a, b, larger); }

uint64_t bit_and(ScalarType type, uint64_t a, uint64_t b) {
    require_integer(type);
    return normalize(type, a) & normalize(type, b);
}

uint64_t bit_or(ScalarType type, uint64_t a, uint64_t b) {
    require_integer(type);
    return normalize(type, a) | normalize(type, b);
}

uint64_t bit_xor(ScalarType type, uint64_t a, uint64_t b) {
    require_integer(type);
    return normalize(type, a) ^ normalize(type, b);
}

uint64_t bit_not(ScalarType type, uint64_t a) {
    require_integer(type);
    return wrap(type, ~normalize(type, a));
}

uint64_t shl(ScalarType type, uint64_t a, uint64_t count) {
    require_integer(type);
    count = normalize(type, count);
    return count >= width(type) ? 0 : wrap(type, normalize(type, a) << count);
}

uint64_t shr(ScalarType type, uint64_t a, uint64_t count) {
    require_integer(type);
    a = normalize(type, a);
    count = normalize(type, count);
    if (is_signed(type)) {
        auto last = uint64_t{width(type)} - 1;// already leaves nothing but the sign
        return wrap(type,
                    static_cast<uint64_t>(signed_value(type, a) >> (count < last ? count : last)));
    }
    return count >= width(type) ? 0 : a >> count;
}

bool lt(ScalarType type, uint64_t a, uint64_t b) {
    return !either_nan(type, a, b) && compare(type, a, b) < 0;
}
bool le(ScalarType type, uint64_t a, uint64_t b) {
    return !either_nan(type, a, b) && compare(type, a, b) <= 0;
}
bool gt(ScalarType type, uint64_t a, uint64_t b) { return lt(type, b, a); }
bool ge(ScalarType type, uint64_t a, uint64_t b) { return le(type, b, a); }
bool eq(ScalarType type, uint64_t a, uint64_t b) {
    return !either_nan(type, a, b) && compare(type, a, b) == 0;
}
bool ne(ScalarType type, uint64_t a, uint64_t b) { return !eq(type, a, b); }

uint64_t fma(ScalarType type, uint64_t a, uint64_t b, uint64_t c) {
    return evaluate(
        type, [](auto x, auto y, auto z) { return std::fma(x, y, z); }, a, b, c);
}

uint64_t sqrt(ScalarType type, uint64_t a) {
    return evaluate(
        type, [](auto x) { return std::sqrt(x); }, a);
}

uint64_t floor(ScalarType type, uint64_t a) {
    return evaluate(
        type, [](auto x) { return std::floor(x); }, a);
}

uint64_t ceil(ScalarType type, uint64_t a) {
    return evaluate(
        type, [](auto x) { return std::ceil(x); }, a);
}

uint64_t rint(ScalarType type, uint64_t a) {
    return evaluate(
        type, [](auto x) { return std::nearbyint(x); }, a);
}

uint64_t trunc(ScalarType type, uint64_t a) {
    return evaluate(
        type, [](auto x) { return std::trunc(x); }, a);
}

uint64_t highest(ScalarType type) {
    if (is_float(type)) {
        return float_format(type).largest_number();
    }
    return wrap(type, ~uint64_t{0}) >> (is_signed(type) ? 1 : 0);
}

uint64_t lowest(ScalarType type) {
    if (is_float(type)) {
        return float_format(type).sign_mask() | float_format(type).largest_number();
    }
    return is_signed(type) ? uint64_t{1} << (width(type) - 1) : 0;
}

}// namespace luisa::tile::arith
