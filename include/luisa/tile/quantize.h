// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/ops/compute.h>
#include <luisa/tile/packed_types.h>

#include <string>

// Rounding to the narrow formats with the rounding and the overflow rule named. Compositions of the language:
// the value is first rounded to the format's grid, exactly, and then converted without error, so every device
// gives the same bits.

namespace luisa::tile {

/// How `quantize` rounds what lies between two values of the format.
enum class Rounding : uint8_t { NEAREST_EVEN, TOWARD_ZERO };
/// What `quantize` makes of what is, rounded, beyond the largest value of the format.
enum class Overflow : uint8_t {
    SATURATE,///< the largest or least value
    SPECIAL, ///< infinity (e5m2) or NaN (e4m3fn); other formats have neither
    WRAP,    ///< integers only: the value modulo 2^bits, for magnitudes below 2^63
};

/// Rounds away from zero with a probability that is the distance from the value nearer to zero, in units of the
/// distance between both: where the 24 high bits of the element of `random`, as a fraction, lie below it.
template<class R> struct StochasticRounding { const R &random; };

namespace rounding {
inline constexpr Rounding nearest_even = Rounding::NEAREST_EVEN;
inline constexpr Rounding toward_zero = Rounding::TOWARD_ZERO;
/// Random bits are an ordinary value: the same bits give the same result on every device. Its dimensions are
/// some or all of the value's. It must live until the call that it is passed to returns.
template<StagedValue R> [[nodiscard]] StochasticRounding<R> stochastic(const R &random) {
    static_assert(std::same_as<element_t<R>, uint32_t>, "stochastic rounding takes uint32 bits");
    return {random};
}
}// namespace rounding
namespace overflow {
inline constexpr Overflow saturate = Overflow::SATURATE;
inline constexpr Overflow special = Overflow::SPECIAL;
inline constexpr Overflow wrap = Overflow::WRAP;
}// namespace overflow

namespace grid {

/// What is known of a format that `quantize` rounds to: fraction bits and the exponent of the least normal
/// value; integers have the unit 1 everywhere.
template<class U> struct Grid {
    static_assert(std::is_integral_v<U> && !std::same_as<U, bool>,
                  "quantize<T>: T is float8_e4m3fn, float8_e5m2, float4_e2m1, an integer, int4 or "
                  "uint4");
    static constexpr bool integer = true;
};
template<> struct Grid<int4> { static constexpr bool integer = true; };
template<> struct Grid<uint4> { static constexpr bool integer = true; };
template<> struct Grid<float8_e4m3fn> {
    static constexpr bool integer = false;
    static constexpr int fraction = 3, least_normal = -6;
};
template<> struct Grid<float8_e5m2> {
    static constexpr bool integer = false;
    static constexpr int fraction = 2, least_normal = -14;
};
template<> struct Grid<float4_e2m1> {
    static constexpr bool integer = false;
    static constexpr int fraction = 1, least_normal = 0;
};

constexpr double power_of_two(int n) {
    return n < 0 ? 0.5 * power_of_two(n + 1) : n > 0 ? 2 * power_of_two(n - 1) : 1;
}

template<class C> struct FloatBits;
template<> struct FloatBits<float> {
    using Word = uint32_t;
    static constexpr Word sign = 0x80000000u, exponent = 0x7f800000u;
};
template<> struct FloatBits<double> {
    using Word = uint64_t;
    static constexpr Word sign = 0x8000000000000000u, exponent = 0x7ff0000000000000u;
};

template<class X> X rounded_magnitude(const X &x, Rounding how, SourceLoc loc) {
    return how == Rounding::NEAREST_EVEN ? rint(x, loc) : trunc(x, loc);
}
template<class X, class R>
X rounded_magnitude(const X &x, const StochasticRounding<R> &how, SourceLoc loc) {
    using C = element_t<X>;
    auto whole = trunc(x, loc);
    auto chance = (x - whole) * static_cast<C>(0x1p24);
    auto drawn = cast<C>(how.random >> 8u, loc);
    return whole + cast<C>(drawn < chance, loc);
}

/// |x| on the format's grid, extended beyond its largest value. Every step but the rounding is exact: the unit
/// is a power of two.
template<class U, class X, class W, class How>
X magnitude_on_grid(const X &magnitude, const W &exponent, const How &how, SourceLoc loc) {
    using C = element_t<X>;
    if constexpr (Grid<U>::integer) {
        return rounded_magnitude(magnitude, how, loc);
    } else {
        constexpr auto least = static_cast<C>(power_of_two(Grid<U>::least_normal));
        auto unit = maximum(bitcast<C>(exponent, loc), least) *
                    static_cast<C>(power_of_two(-Grid<U>::fraction));
        return rounded_magnitude(X{magnitude / unit}, how, loc) * unit;
    }
}
/// x on the grid; infinity and NaN stay.
template<class U, class X, class How> X to_grid(const X &x, const How &how, SourceLoc loc) {
    using C = element_t<X>;
    using B = FloatBits<C>;
    using W = typename B::Word;
    auto bits = bitcast<W>(x, loc);
    auto magnitude = bitcast<C>(bits & static_cast<W>(~B::sign), loc);
    auto exponent = bits & B::exponent;
    auto rounded = magnitude_on_grid<U>(magnitude, exponent, how, loc);
    auto with_sign = bitcast<C>(bitcast<W>(rounded, loc) | (bits & B::sign), loc);
    return ite(exponent != B::exponent, with_sign, x);
}

[[noreturn]] inline void no_such_overflow(const char *type, const char *rule, const char *instead,
                                          SourceLoc loc) {
    core::fail(ErrorKind::TYPE, std::string{"quantize: "} + type + " " + rule + "; " + instead, loc,
               {});
}

/// The name of a format in messages.
template<class U> const char *format_name() {
    if constexpr (PackedElement<U>) {
        return packed_traits<U>::name;
    } else {
        return to_string(scalar_type_of<U>);
    }
}

/// A value on the grid of an integer format, in its carrier.
template<class U, class X> auto grid_to_integer(const X &y, Overflow rule, SourceLoc loc) {
    using C = element_t<X>;
    if constexpr (PackedElement<U>) {
        using P = packed_traits<U>;
        using V = typename P::carrier;
        using Y = typename staged_traits<X>::template like<V>;
        if (rule == Overflow::SATURATE) {
            return Y{cast<V>(
                maximum(minimum(y, static_cast<C>(P::greatest)), static_cast<C>(P::least)), loc)};
        }
        auto low = cast<uint8_t>(cast<int64_t>(y, loc), loc) << 4u;
        return Y{bitcast<V>(low, loc) >> 4u};
    } else {
        using Y = typename staged_traits<X>::template like<U>;
        return rule == Overflow::SATURATE ? Y{cast<U>(y, loc)}
                                          : Y{cast<U>(cast<int64_t>(y, loc), loc)};
    }
}
/// A value on the grid of a floating-point format, in its carrier.
template<class U, class X> auto grid_to_float(const X &y, Overflow rule, SourceLoc loc) {
    if constexpr (PackedElement<U>) {
        auto bounded = maximum(minimum(y, 6.0f), -6.0f);
        return quantize<float8_e4m3fn>(ite(y == y, bounded, 6.0f), true, loc);
    } else {
        return quantize<U>(y, rule == Overflow::SATURATE, loc);
    }
}
/// A format that lacks what the overflow rule asks for: TypeError.
template<class U> void check_overflow(Overflow rule, SourceLoc loc) {
    if (Grid<U>::integer && rule == Overflow::SPECIAL) {
        no_such_overflow(format_name<U>(), "has no infinity and no NaN",
                         "overflow::saturate, or overflow::wrap for the low bits", loc);
    }
    if (!Grid<U>::integer && rule == Overflow::WRAP) {
        no_such_overflow(format_name<U>(), "does not wrap",
                         PackedElement<U> ? "overflow::saturate"
                                          : "overflow::saturate or overflow::special",
                         loc);
    }
    if (PackedElement<U> && rule == Overflow::SPECIAL) {
        no_such_overflow(format_name<U>(), "has no infinity and no NaN", "overflow::saturate", loc);
    }
}

template<class How> constexpr bool is_rounding = std::same_as<How, Rounding>;
template<class R> constexpr bool is_rounding<StochasticRounding<R>> = true;

}// namespace grid

/// Rounds a floating-point value to a format, with both rules named: `quantize<float8_e5m2>(x,
/// rounding::toward_zero, overflow::saturate)`. One rounding from the value itself, whatever its type. To 8-bit
/// floats, integers, int4 and uint4 (values in int8 and uint8), and e2m1 (values in e4m3fn). Overflow is decided
/// after rounding; infinity counts as overflow. NaN stays one in an 8-bit float, gives 6 in e2m1 and 0 in an
/// integer. A rule that the format has not: TypeError.
template<class U, StagedValue X, class How>
    requires grid::is_rounding<How>
[[nodiscard]] auto quantize(const X &x, const How &how, Overflow rule,
                            SourceLoc loc = SourceLoc::current()) {
    using T = element_t<X>;
    static_assert(is_floating_element<T>, "quantize takes floats; cast<float> integers first");
    grid::check_overflow<U>(rule, loc);
    using C = std::conditional_t<std::same_as<T, double>, double, float>;
    auto wide = cast<C>(x, loc);
    auto y = grid::to_grid<U>(wide, how, loc);
    if constexpr (grid::Grid<U>::integer) {
        return grid::grid_to_integer<U>(y, rule, loc);
    } else {
        return grid::grid_to_float<U>(cast<float>(y, loc), rule, loc);
    }
}

/// cast<F>(q) · scale: values of a quantized tile. `scale` is an ordinary value, of some or all of q's
/// dimensions.
template<class F = float, StagedValue Q, StagedValue S>
[[nodiscard]] auto dequantize(const Q &q, const S &scale, SourceLoc loc = SourceLoc::current()) {
    return cast<F>(q, loc) * cast<F>(scale, loc);
}
/// (cast<F>(q) − cast<F>(zero)) · scale. The difference is one rounding, none for 8-bit integers in f32.
template<class F = float, StagedValue Q, StagedValue S, StagedValue Z>
[[nodiscard]] auto dequantize(const Q &q, const S &scale, const Z &zero,
                              SourceLoc loc = SourceLoc::current()) {
    return (cast<F>(q, loc) - cast<F>(zero, loc)) * cast<F>(scale, loc);
}

}// namespace luisa::tile
