// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "math/functions/exponential.h"
#include "math/functions/pairs.h"

namespace luisa::tile::math {

/// exp(x) = 2^exponent (high + low) to about 57 bits, high near 1.
template<class F> struct ScaledPair {
    Pair<F> mantissa;
    F exponent;
};

/// exp(high + low) for |high| <= 760.
template<class L> ScaledPair<typename L::F64> exp_pair(Pair<typename L::F64> x) {
    using F = typename L::F64;
    F n = rint(x.high * F(0x1.71547652b82fep+0));
    F exact = fma(n, F(-0x1.62e42fefap-1), x.high);
    F near = fma(n, F(-0x1.cf79abc9e3b3ap-40), exact);
    F near_low = fma(n, F(-0x1.cf79abc9e3b3ap-40), exact - near);
    // Where |x| is large, its low part is far from small beside r.
    auto r = sum_of(near, near_low + x.low);
    F high = F(1.0) + r.high;
    // What is left moves the result by r.low exp(r).
    F bend = fma(r.low, r.high, exp_bend_long(r.high));
    F low = (r.high - (high - F(1.0))) + (r.low + bend);
    return {sum_of_ordered(high, low), n};
}

/// exp(x) - 1: 2^n (1 + q) - 1 with its rounding errors; beyond 40 the 1 does not count.
struct Expm1F64 {
    template<class L> static typename L::F64 apply(typename L::F64 x) {
        using F = typename L::F64;
        F bounded = at_most(at_least(x, F(-45.0)), F(711.0));
        auto e = exp_pair<L>({bounded, F(0.0)});
        F power = scale(F(1.0), at_most(e.exponent, F(64.0)));
        auto m = sum_of(e.mantissa.high * power, F(-1.0));
        F small = m.high + fma(e.mantissa.low, power, m.low);
        F large = scale(value_of(e.mantissa), e.exponent);
        F y = select(bounded > F(40.0), large, small);
        // Tiny arguments, -0 among them, are their own image.
        return select(abs(x) < F(0x1p-54), x, y);
    }
};

}// namespace luisa::tile::math
