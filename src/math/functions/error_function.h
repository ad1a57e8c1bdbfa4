// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "math/functions/hyperbolic.h"

namespace luisa::tile::math {

/// exp(t^2) erfc(t) for 0 <= t <= 10.3, to about 37 bits. With z = (t - 2) / (t + 2) the function
/// times 1 + 2t is smooth.
template<class F> F scaled_erfc(F t) {
    F a = t + F(2.0), b = fma(t, F(2.0), F(1.0));
    F inverse = F(1.0) / (a * b);
    F z = (t - F(2.0)) * (b * inverse);
    F p = horner(z, F(-7.44678541899988e-06), -2.736386456613022e-05, -3.276547367066698e-06,
                 0.00014369725574933342, 0.00020555409061625958, -0.0004513669380449603,
                 -0.0014561598929219645, 0.0012706871059867584, 0.008722493750751341,
                 -0.008033939771520726, -0.05421998466847154, 0.16405127604041564,
                 -0.1660303981999783, -0.09276382652135004, 1.276978381555778);
    return p * (a * inverse);
}

/// erf(t) for 0 <= t <= 1, to about 39 bits; odd.
template<class F> F erf_small(F t) {
    F p = horner(t * t, F(1.04700943733112923914117375207011307e-6),
                 -1.38632288450634885284022332352371620e-5,
                 1.19493330949359296395094476306297792690e-4,
                 -8.5420487767153636862044185917852701e-4, 5.2237569177515834686897910899006092e-3,
                 -2.68661267442285058015816190390978591e-2, 0.112837912308081739221066186473763,
                 -0.376126388860858917873031259659911, 1.128379167094410939764514978378428);
    return p * t;
}

struct ErfF32 {
    template<class L> static typename L::F32 apply(typename L::F32 x) {
        using F = typename L::F64;
        F wide = widen(x);
        F t = at_most(abs(wide), F(4.0));
        F large = copy_sign<L>(F(1.0) - exp_short<L>(-(t * t)) * scaled_erfc(t), wide);
        return narrow(select(t < F(1.0), erf_small(wide), large));
    }
};

struct ErfcF32 {
    template<class L> static typename L::F32 apply(typename L::F32 x) {
        using F = typename L::F64;
        F wide = widen(x);
        F t = at_most(abs(wide), F(10.3));
        F tail = exp_short<L>(-(t * t)) * scaled_erfc(t);
        return narrow(select(wide < F(0.0), F(2.0) - tail, tail));
    }
};

/// x Phi(x) = max(x, 0) - |x| Phi(-|x|), where the last factor keeps its relative accuracy in the
/// tail: Phi(-a) = exp(-a^2 / 2) P(z) / (1 + 1.5 a), z = (a - 2) / (a + 2). Products and quotient
/// carry their errors.
struct GeluF32 {
    template<class L> static typename L::F32 apply(typename L::F32 x) {
        using F = typename L::F32;
        // The other term of a positive x is nothing beside x from 8 on.
        F a = at_most(abs(x), select(x < F(0.0f), F(14.6f), F(8.0f)));
        auto e = decay_of_square<L>(a);
        F s = a + F(2.0f);
        F d = fma(a, F(1.5f), F(1.0f));
        F d_low = fma(a, F(1.5f), F(1.0f) - d);
        F inverse = F(1.0f) / (s * d);
        // As 2a / (a + 2) - 1: near z = -1 the quotient's error is small.
        F z = fma(a + a, d * inverse, F(-1.0f));
        F p = horner(z, F(-9.14025368e-05f), -0.000125419741f, 0.000470599247f, 0.00126536901f,
                     -0.00010313106f, -0.00532020908f, -0.00698259333f, 0.0178895853f,
                     0.0511195511f, -0.136904821f, 0.00479948148f);
        F high = fma(z, p, F(0.672407985f));
        F low = fma(z, p, F(0.672407985f) - high) + F(1.96111946e-08f);
        F t = a * e.high;
        F t_low = fma(a, e.low, fma(a, e.high, -t));
        F product = t * high;
        F product_low = fma(t, high, -product) + fma(t, low, t_low * high);
        F quotient = s * inverse;
        F y = product * quotient;
        F rest = fma(-y, d_low, fma(-y, d, product) + product_low);
        F tail = scale_down(fma(rest, quotient, y), e.exponent);
        return select(x < F(0.0f), -tail, x - tail);
    }
};

}// namespace luisa::tile::math
