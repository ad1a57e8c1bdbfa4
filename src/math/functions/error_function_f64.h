// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "math/functions/exponential_f64.h"
#include "math/functions/logarithm_f64.h"

namespace luisa::tile::math {

/// exp(t^2) erfc(t) (1 + 2t) for 0 <= t <= 28 as a function of z = (t - 2.75) / (t + 2.75).
template<class F> Pair<F> erfc_factor(F z) {
    F q = horner(z, F(-1.175686522068699e-11), -6.639040628126116e-11, -7.214660872353847e-11,
                 3.302068135030211e-10, 9.87452367719e-10, -8.18028962657735e-11,
                 -4.520285941844562e-09, -6.069995180304818e-09, 1.0427503264683924e-08,
                 3.956879246388921e-08, 7.368635136366343e-09, -1.6323209615303645e-07,
                 -2.2502834301107066e-07, 5.043947855236636e-07, 1.5664924457083541e-06,
                 -1.0817969997972812e-06, -8.738142109044842e-06, 3.8650556621599567e-07,
                 4.797422682417658e-05, 8.595097776649246e-06, -0.0002890525697736728,
                 4.015258233655777e-05, 0.0019344815910762618, -0.002622280500727872,
                 -0.01050072072154158, 0.052319579787321754, -0.114493132285209,
                 0.14490634075189418, -0.07130621000898986, -0.13046248372294011);
    F c(0x1.4240f454f505ep+0);
    F high = fma(z, q, c);
    return {high, fma(z, q, c - high) + F(0x1.57d03feeee3b5p-54)};
}

/// erf(t) / t for |t| <= 1.
template<class F> Pair<F> erf_ratio(F t) {
    F z = t * t;
    F q = horner(z, F(-1.7988652201568556e-14), 4.1558617346985e-13, -6.652074187653724e-12,
                 9.415072142618438e-11, -1.228985574658058e-09, 1.4807147150532912e-08,
                 -1.6365842538011514e-07, 1.6462114292902008e-06, -1.4925650356656707e-05,
                 0.0001205533298176089, -0.0008548327023450544, 0.005223977625442186,
                 -0.026866170645131252, 0.11283791670955126, -0.37612638903183754);
    F c(0x1.20dd750429b6dp+0);
    F high = fma(z, q, c);
    return {high, fma(z, q, c - high) + F(0x1.1ae3a914fed80p-56)};
}

/// erfc(t) = 2^exponent * mantissa for t = t.high + t.low >= 0 whose square is given: below 1/2 by
/// erf, above as exp(-t^2) times a slow factor.
template<class L>
ScaledPair<typename L::F64> erfc_tail(Pair<typename L::F64> t, Pair<typename L::F64> square) {
    using F = typename L::F64;
    auto above = add_ordered(sum_of(t.high, F(2.75)), Pair<F>{t.low, F(0.0)});
    auto below = add_ordered(sum_of(t.high, F(-2.75)), Pair<F>{t.low, F(0.0)});
    F z = value_of(quotient_of(below, above));
    auto line = sum_of(t.high + t.high, F(1.0));
    line.low = fma(t.low, F(2.0), line.low);
    auto e = exp_pair<L>({-square.high, -square.low});
    auto far = quotient_of(e.mantissa * erfc_factor(z), line);
    auto erf = t * erf_ratio(t.high);
    auto near = add_ordered(Pair<F>{F(1.0), F(0.0)}, Pair<F>{-erf.high, -erf.low});
    auto is_near = t.high < F(0.5);
    return {{select(is_near, near.high, far.high), select(is_near, near.low, far.low)},
            select(is_near, F(0.0), e.exponent)};
}

struct ErfF64 {
    template<class L> static typename L::F64 apply(typename L::F64 x) {
        using F = typename L::F64;
        F t = at_most(abs(x), F(6.5));
        auto tail = erfc_tail<L>({t, F(0.0)}, product_of(t, t));
        F large = F(1.0) - scale(value_of(tail.mantissa), tail.exponent);
        auto ratio = erf_ratio(x);
        F small = fma(x, ratio.high, x * ratio.low);
        F y = select(t < F(1.0), small, copy_sign<L>(large, x));
        return select(x == F(0.0), x, y);
    }
};

struct ErfcF64 {
    template<class L> static typename L::F64 apply(typename L::F64 x) {
        using F = typename L::F64;
        F t = at_most(abs(x), F(27.5));
        auto tail = erfc_tail<L>({t, F(0.0)}, product_of(t, t));
        F y = scale(value_of(tail.mantissa), tail.exponent);
        return select(x < F(0.0), F(2.0) - y, y);
    }
};

/// x Phi(x) = max(x, 0) - |x| erfc(|x| / sqrt(2)) / 2
struct GeluF64 {
    template<class L> static typename L::F64 apply(typename L::F64 x) {
        using F = typename L::F64;
        F a = at_most(abs(x), F(39.0));
        F root(0x1.6a09e667f3bcdp-1);
        auto t = product_of(a, root);
        t.low = fma(a, F(-0x1.bdd3413b26456p-55), t.low);
        auto square = product_of(a, a);
        auto tail = erfc_tail<L>(t, {square.high * F(0.5), square.low * F(0.5)});
        auto part = tail.mantissa * Pair<F>{a * F(0.5), F(0.0)};
        F negative = -scale(value_of(part), tail.exponent);
        // The difference of x and the tail, which is below 0.17 and loses nothing.
        F power = scale(F(1.0), at_least(tail.exponent, F(-200.0)));
        auto s = sum_of(x, -(part.high * power));
        F positive = s.high + fma(-part.low, power, s.low);
        F y = select(x < F(0.0), negative, select(x > F(39.0), x, positive));
        return select(x == F(0.0), x, y);
    }
};

/// x / (1 + exp(-2u)), u = sqrt(2/pi) (x + 0.044715 x^3), the exponent as a pair.
struct GeluTanhF64 {
    template<class L> static typename L::F64 apply(typename L::F64 x) {
        using F = typename L::F64;
        F a = at_most(abs(x), F(22.5));
        auto square = product_of(a, a);
        auto factor = square * Pair<F>{F(0x1.2444f2a4d8b4bp-4), F(-0x1.6c843a29d1c70p-61)};
        auto c = Pair<F>{F(0x1.9884533d43651p+0), F(-0x1.cbc0d30ebfd15p-54)};
        auto s = sum_of(c.high, factor.high);
        auto v = Pair<F>{s.high, s.low + (c.low + factor.low)} * Pair<F>{a, F(0.0)};
        auto e = exp_pair<L>({-v.high, -v.low});
        F bounded = at_least(x, F(-22.5));
        F y = weighted_sigmoid(bounded, Decay<F>{e.mantissa.high, e.mantissa.low, e.exponent});
        return select((x > F(22.5)) | (x == F(0.0)), x, y);
    }
};

/// max(x, 0) + log(1 + exp(-|x|)); far below zero exp(x).
struct SoftplusF64 {
    template<class L> static typename L::F64 apply(typename L::F64 x) {
        using F = typename L::F64;
        F a = at_most(abs(x), F(760.0));
        auto e = exp_pair<L>({-a, F(0.0)});
        F power = scale(F(1.0), at_least(e.exponent, F(-64.0)));
        auto grown = log1p_pair<L>({e.mantissa.high * power, e.mantissa.low * power});
        auto s = sum_of(at_least(x, F(0.0)), grown.high);
        F near = s.high + (s.low + grown.low);
        F y = select(x < F(-40.0), scale(value_of(e.mantissa), e.exponent),
                     select(x > F(40.0), x, near));
        return select(x == x, y, x + x);
    }
};

}// namespace luisa::tile::math
