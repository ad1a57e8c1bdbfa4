// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "math/functions/common.h"

namespace luisa::tile::math {

/// Above this the argument is reduced by a table look-up.
inline constexpr float trig_limit_f32 = 131072.0f;

/// For e = 17 .. 127: 2^(e - 23) * 2/pi modulo 4, as three signed integers in units of 2^-27, 2^-56
/// and 2^-85.
struct QuarterTurns {
    std::vector<uint32_t> high, middle, low;
};
[[nodiscard]] const QuarterTurns &quarter_turns();

/// An angle in quarter turns: whole ones, and the rest in [-1/2, 1/2].
template<class F> struct Angle { F whole, rest; };

/// x * 2/pi for |x| <= trig_limit_f32; the first product is exact, as 2/pi is split after 29 bits.
template<class L> Angle<typename L::F64> reduce_small(typename L::F64 x) {
    using F = typename L::F64;
    F high(0x1.45f306ep-1), low(-0x1.b1bbead603d8bp-32);
    F q = rint(x * high);
    F rest = fma(x, low, fma(x, high, -q));
    return {q, rest};
}

/// The same for larger |x| by the exponent's row of the table.
template<class L> Angle<typename L::F64> reduce_large(typename L::F32 x) {
    using F = typename L::F64;
    using I = typename L::I32;
    I bits = as_int(x);
    I row = ((bits >> I(23)) & I(255)) - I(127 + 17);
    row = at_most(at_least(row, I(0)), I(127 - 17));
    // The significand as a signed integer of 24 bits.
    I m = (bits & I(0x7fffff)) | I(0x800000);
    F significand = to_float(widen(select(bits < I(0), I(0) - m, m)));
    const QuarterTurns &table = quarter_turns();
    F high = to_float(widen(look_up(table.high, row))) * F(0x1p-27);
    F middle = to_float(widen(look_up(table.middle, row))) * F(0x1p-56);
    F low = to_float(widen(look_up(table.low, row))) * F(0x1p-85);
    F q = rint(fma(significand, middle, significand * high));
    F rest = fma(significand, middle, fma(significand, high, -q));
    return {q, fma(significand, low, rest)};
}

template<class L, bool Full> Angle<typename L::F64> reduce_angle(typename L::F32 x) {
    auto small = reduce_small<L>(widen(x));
    if constexpr (Full) {
        using F = typename L::F64;
        auto large = reduce_large<L>(x);
        auto is_small = abs(x) <= typename L::F32(trig_limit_f32);
        auto bad = ~(abs(x) < typename L::F32(infinity<float>));
        F rest = select(is_small, small.rest, large.rest);
        return {select(is_small, small.whole, large.whole),
                select(bad, F(not_a_number<double>), rest)};
    } else {
        return small;
    }
}

/// sin(pi/2 f), |f| <= 1/2, to about 37 bits.
template<class F> F sine_quarter(F f) {
    F z = f * f;
    return f * horner(z, F(1.5818609281555441581877674561695812371908687e-4),
                      -4.6812566612716771316526909174626781e-3,
                      7.96925813053905250438357468471601046e-2,
                      -0.64596409607966820409785668744007125496864,
                      1.570796326787604613173243706114590168);
}

/// cos(pi/2 f), |f| <= 1/2, to about 34 bits.
template<class F> F cosine_quarter(F f) {
    F z = f * f;
    return horner(z, F(9.0396112683448562872233906958285842847545e-4),
                  -2.0860263027556998766121054700306558515876e-2,
                  0.25366924086035652630144454633409623056650,
                  -1.2337005432445569130806006796774454415, 1.0);
}

/// The sine of the angle `turn` quarter turns further on.
template<class L> typename L::F32 sine_of(Angle<typename L::F64> angle, int64_t turn) {
    using F = typename L::F64;
    using I = typename L::I64;
    I quadrant = to_int(angle.whole) + I(turn);
    F y = select((quadrant & I(1)) != I(0), cosine_quarter(angle.rest), sine_quarter(angle.rest));
    return narrow(as_float(as_int(y) ^ ((quadrant & I(2)) << I(62))));
}

template<bool Full> struct SinF32 {
    template<class L> static typename L::F32 apply(typename L::F32 x) {
        auto y = sine_of<L>(reduce_angle<L, Full>(x), 0);
        return select(x == typename L::F32(0.0f), x, y);
    }
};

template<bool Full> struct CosF32 {
    template<class L> static typename L::F32 apply(typename L::F32 x) {
        return sine_of<L>(reduce_angle<L, Full>(x), 1);
    }
};

template<bool Full> struct TanF32 {
    template<class L> static typename L::F32 apply(typename L::F32 x) {
        using F = typename L::F64;
        using I = typename L::I64;
        auto angle = reduce_angle<L, Full>(x);
        auto odd = (to_int(angle.whole) & I(1)) != I(0);
        F s = sine_quarter(angle.rest), c = cosine_quarter(angle.rest);
        auto y = narrow(select(odd, -c, s) / select(odd, s, c));
        return select(x == typename L::F32(0.0f), x, y);
    }
};

}// namespace luisa::tile::math
