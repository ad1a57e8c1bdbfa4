// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/scalar_type.h>

#include "core/internal_error.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>

// How floating-point formats are laid out, and the exact form that every conversion goes through.
// Integer code only, so that no control word of the caller can change a result. All inline: the
// interpreter goes through it for every element.

namespace luisa::tile {

/// One floating-point format: sign, exponent and fraction from the top bit down.
struct FloatFormat {
    uint8_t exponent_bits, fraction_bits;
    int16_t bias;
    bool has_infinity;
    uint64_t largest_finite;///< code without sign
    uint64_t nan;           ///< code of the NaN that conversions and arithmetic produce

    [[nodiscard]] constexpr uint64_t sign_mask() const noexcept {
        return uint64_t{1} << (exponent_bits + fraction_bits);
    }
    /// The largest code without sign that is no NaN.
    [[nodiscard]] constexpr uint64_t largest_number() const noexcept {
        return largest_finite + (has_infinity ? 1u : 0u);
    }
};

namespace detail {

inline constexpr auto first_float = static_cast<size_t>(ScalarType::FLOAT16);

// In the order of the enumerators from FLOAT16 on.
inline constexpr FloatFormat formats[] = {
    {5, 10, 15, true, 0x7bff, 0x7fff},
    {8, 7, 127, true, 0x7f7f, 0x7fff},
    {8, 23, 127, true, 0x7f7fffff, 0x7fc00000},
    {11, 52, 1023, true, 0x7fefffffffffffff, 0x7ff8000000000000},
    {4, 3, 7, false, 0x7e, 0x7f},
    {5, 2, 15, true, 0x7b, 0x7f},
};
static_assert(first_float + std::size(formats) == scalar_type_count);

// significand * 2^-shift, rounded to the nearest integer, ties to even.
constexpr uint64_t round_shift(uint64_t significand, int shift) noexcept {
    if (shift <= 0) {
        return significand << -shift;
    }
    if (shift > 64) {
        return 0;// below one half, whatever the significand
    }
    auto kept = shift == 64 ? 0 : significand >> shift;
    auto lost = significand << (64 - shift);// aligned to the top bit, which is worth one half
    constexpr auto one_half = uint64_t{1} << 63;
    auto up = lost > one_half || (lost == one_half && (kept & 1u) != 0);
    return kept + (up ? 1u : 0u);
}

}// namespace detail

/// The layout of a floating-point type; an internal error for any other.
[[nodiscard]] inline const FloatFormat &float_format(ScalarType type) {
    require(is_float(type), "float_format: not a floating-point type");
    return detail::formats[static_cast<size_t>(type) - detail::first_float];
}

/// What a code means: (-1)^negative * significand * 2^exponent, or an infinity or a NaN.
struct ExactFloat {
    enum class Kind : uint8_t { FINITE, INFINITE, NOT_A_NUMBER };
    Kind kind = Kind::FINITE;
    bool negative = false;
    uint64_t significand = 0;
    int exponent = 0;
};

/// What encoding does with values beyond the largest finite one, infinities included.
enum class OnOverflow : uint8_t {
    SPECIAL, ///< infinity, or NaN with the value's sign where the format has no infinity
    SATURATE,///< the largest finite value
};

/// The meaning of the low bits of `bits`.
[[nodiscard]] constexpr ExactFloat decode(const FloatFormat &format, uint64_t bits) noexcept {
    auto magnitude = bits & (format.sign_mask() - 1);
    ExactFloat x;
    x.negative = (bits & format.sign_mask()) != 0;
    if (magnitude > format.largest_finite) {
        x.kind = magnitude > format.largest_number() ? ExactFloat::Kind::NOT_A_NUMBER
                                                     : ExactFloat::Kind::INFINITE;
        return x;
    }
    auto hidden = uint64_t{1} << format.fraction_bits;
    auto exponent = static_cast<int>(magnitude >> format.fraction_bits);
    auto fraction = magnitude & (hidden - 1);
    x.significand = exponent == 0 ? fraction : fraction | hidden;
    x.exponent = std::max(exponent, 1) - format.bias - format.fraction_bits;
    return x;
}

/// The code nearest to `x`, ties to even; overflow is decided after rounding.
[[nodiscard]] constexpr uint64_t encode(const FloatFormat &format, const ExactFloat &x,
                                        OnOverflow overflow = OnOverflow::SPECIAL) noexcept {
    if (x.kind == ExactFloat::Kind::NOT_A_NUMBER) {
        return format.nan;
    }
    auto sign = x.negative ? format.sign_mask() : 0;
    auto code = format.largest_finite + 1;
    if (x.kind == ExactFloat::Kind::FINITE) {
        if (x.significand == 0) {
            return sign;
        }
        auto top = 63 - std::countl_zero(x.significand) + x.exponent;
        auto binade = std::max(top, 1 - format.bias);
        if (binade <= format.bias + 1) {// else far too large
            auto shift = binade - format.fraction_bits - x.exponent;
            auto fraction = detail::round_shift(x.significand, shift);
            // Adding, not masking: a carry out of the fraction moves to the next binade, and
            // a subnormal's missing hidden bit leaves the exponent field at zero.
            code = (static_cast<uint64_t>(binade + format.bias - 1) << format.fraction_bits) +
                   fraction;
        }
    }
    if (code > format.largest_finite) {
        if (overflow == OnOverflow::SATURATE) {
            code = format.largest_finite;
        } else {
            code = format.has_infinity ? format.largest_finite + 1 : format.nan;
        }
    }
    return sign | code;
}

}// namespace luisa::tile
