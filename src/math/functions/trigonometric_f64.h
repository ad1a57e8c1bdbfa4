// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>

#include "math/functions/pairs.h"
#include "math/functions/trigonometric.h"

namespace luisa::tile::math {

/// The bits of 2/pi after the binary point, 32 in a word from the high end, after two words of zeros.
[[nodiscard]] const std::vector<uint32_t> &two_over_pi();

/// The 64 highest of 192 bits and the 64 after them.
template<class I> struct Wide { I high, low; };

/// |x| * 2/pi modulo 4 in units of 2^-62 (high) and 2^-126 (low) for |x| >= 1/2: the integer
/// significand times the 192 bits of 2/pi whose product is not a multiple of 4.
template<class L> Wide<typename L::I64> turns_of(typename L::F64 x) {
    using I = typename L::I64;
    const I word_mask(0xffffffff);
    I bits = as_int(abs(x));
    I significand = (bits & I(0xfffffffffffff)) | I(0x10000000000000);
    // x = significand * 2^(exponent - 52); the window starts at bit exponent - 53 after the point.
    I first = at_least((bits >> I(52)) - I(1023), I(-2)) + I(64 - 54);
    first = at_most(first, I(64 - 54 + 1023));
    auto word = narrow(first >> I(5));
    I shift = I(32) - (first & I(31));
    using Word = decltype(word);
    std::array<I, 7> words{I(0), I(0), I(0), I(0), I(0), I(0), I(0)};
    for (int32_t k = 0; k < 7; k++) {
        words[static_cast<std::size_t>(k)] = widen(look_up(two_over_pi(), word + Word(k))) &
                                             word_mask;
    }
    // Limb 0 is the lowest.
    std::array<I, 6> limbs{I(0), I(0), I(0), I(0), I(0), I(0)};
    for (std::size_t k = 0; k < 6; k++) {
        I both = (words[k] << I(32)) | words[k + 1];
        limbs[5 - k] = shr_logical(both, shift) & word_mask;
    }
    I m0 = significand & word_mask, m1 = significand >> I(32);
    I carry = shr_logical(m0 * limbs[0], I(32));
    std::array<I, 6> product = limbs;
    I before(0);// the high half of m1 times the limb before
    for (std::size_t c = 1; c < 6; c++) {
        I p = m0 * limbs[c], r = m1 * limbs[c - 1];
        I sum = carry + before + (p & word_mask) + (r & word_mask);
        product[c] = sum & word_mask;
        carry = shr_logical(sum, I(32)) + shr_logical(p, I(32));
        before = shr_logical(r, I(32));
    }
    return {(product[5] << I(32)) | product[4], (product[3] << I(32)) | product[2]};
}

/// An angle x = whole quarter turns + rest, |rest| <= pi/4.
template<class L> struct QuarterAngle {
    typename L::I64 whole;
    Pair<typename L::F64> rest;
};

template<class L> QuarterAngle<L> reduce_angle_f64(typename L::F64 x) {
    using F = typename L::F64;
    using I = typename L::I64;
    auto turns = turns_of<L>(x);
    I whole = shr_logical(turns.high + I(INT64_C(1) << 61), I(62));
    // The fraction in units of 2^-64 as a signed integer, then in three parts that are exact.
    I fraction = (turns.high << I(2)) | shr_logical(turns.low, I(62));
    I rest = turns.low << I(2);
    F a = to_float(fraction >> I(11)) * F(0x1p-53);
    F b = to_float(((fraction & I(0x7ff)) << I(42)) | shr_logical(rest, I(22))) * F(0x1p-106);
    F c = to_float(rest & I(0x3fffff)) * F(0x1p-128);
    auto f = sum_of(a, b);
    auto angle = Pair<F>{f.high, f.low + c} *
                 Pair<F>{F(0x1.921fb54442d18p+0), F(0x1.1a62633145c07p-54)};
    auto negative = x < F(0.0);
    angle = {select(negative, -angle.high, angle.high), select(negative, -angle.low, angle.low)};
    auto small = abs(x) < F(0.78);
    auto bad = ~(abs(x) < F(infinity<double>));
    F high = select(small, x, angle.high);
    return {select(small, I(0), select(negative, I(0) - whole, whole)),
            {select(bad, F(not_a_number<double>), high), select(small, F(0.0), angle.low)}};
}

/// sin(r), |r| <= pi/4.
template<class F> Pair<F> sine_pair(Pair<F> r) {
    F z = r.high * r.high;
    F p = horner(z, F(-7.586636882727422e-13), 1.6058530596643994e-10, -2.5052106225994385e-08,
                 2.755731921932058e-06, -0.0001984126984126504, 0.008333333333333331,
                 -0.16666666666666666);
    F bend = fma(p, z * r.high, r.low * fma(z, F(-0.5), F(1.0)));
    return sum_of_ordered(r.high, bend);
}

/// cos(r), |r| <= pi/4.
template<class F> Pair<F> cosine_pair(Pair<F> r) {
    auto z = product_of(r.high, r.high);
    F p = horner(z.high, F(4.74583835819591e-14), -1.1470460318119097e-11, 2.0876755787484188e-09,
                 -2.755731922139246e-07, 2.4801587301584632e-05, -0.0013888888888888887,
                 0.041666666666666664);
    auto s = sum_of_ordered(F(1.0), z.high * F(-0.5));
    F low = fma(z.low, F(-0.5), fma(-r.high, r.low, s.low));
    return sum_of_ordered(s.high, fma(z.high * z.high, p, low));
}

/// The sine of the angle `turn` quarter turns further on.
template<class L> typename L::F64 sine_of_f64(const QuarterAngle<L> &angle, int64_t turn) {
    using F = typename L::F64;
    using I = typename L::I64;
    I quadrant = angle.whole + I(turn);
    F y = select((quadrant & I(1)) != I(0), value_of(cosine_pair(angle.rest)),
                 value_of(sine_pair(angle.rest)));
    return as_float(as_int(y) ^ ((quadrant & I(2)) << I(62)));
}

struct SinF64 {
    template<class L> static typename L::F64 apply(typename L::F64 x) {
        auto y = sine_of_f64<L>(reduce_angle_f64<L>(x), 0);
        return select(abs(x) < typename L::F64(0x1p-27), x, y);
    }
};

struct CosF64 {
    template<class L> static typename L::F64 apply(typename L::F64 x) {
        return sine_of_f64<L>(reduce_angle_f64<L>(x), 1);
    }
};

struct TanF64 {
    template<class L> static typename L::F64 apply(typename L::F64 x) {
        using F = typename L::F64;
        using I = typename L::I64;
        auto angle = reduce_angle_f64<L>(x);
        auto odd = (angle.whole & I(1)) != I(0);
        auto s = sine_pair(angle.rest), c = cosine_pair(angle.rest);
        auto pick = [&](F a, F b) { return select(odd, a, b); };
        F y = value_of(quotient_of(Pair<F>{pick(-c.high, s.high), pick(-c.low, s.low)},
                                   Pair<F>{pick(s.high, c.high), pick(s.low, c.low)}));
        return select(abs(x) < F(0x1p-27), x, y);
    }
};

}// namespace luisa::tile::math
