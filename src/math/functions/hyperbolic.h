// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "math/functions/exponential.h"
#include "math/functions/logarithm.h"

namespace luisa::tile::math {

/// tanh(a) = (exp(2a) - 1) / (exp(2a) + 1) from exp(2r) - 1 = 2r + bend and 2a = n ln 2 + 2r;
/// numerator and denominator carry their rounding errors.
template<class F> F tanh_of(F r, F bend, F n) {
    F twice = r + r;
    F q = twice + bend;
    F q_low = bend - (q - twice);
    // m + m_low = 2^n (1 + q) - 1
    F power = scale(F(1.0f), n);
    F base = power - F(1.0f);
    F part = power * q;
    F m = base + part;
    F m_low = fma(power, q_low, part - (m - base));
    F d = m + F(2.0f);
    F d_low = at_most(m, F(2.0f)) - (d - at_least(m, F(2.0f)));
    F inverse = F(1.0f) / d;
    F y = m * inverse;
    F rest = fma(-y, d_low, fma(-y, d, m));
    rest = fma(m_low, F(1.0f) - y, rest);
    return fma(rest, inverse, y);
}

struct TanhF32 {
    template<class L> static typename L::F32 apply(typename L::F32 x) {
        using F = typename L::F32;
        F a = at_most(abs(x), F(10.0f));
        F n = rint_small_f32(a * F(2.88539008f));
        F r = fma(n, F(-ln2_high_f32 / 2), a);
        r = fma(n, F(-ln2_low_f32 / 2), r);
        F p = horner(r, F(2.52714715898036956787109375e-2f), 8.9175663888454437255859375e-2f,
                     0.2666741311550140380859375f, 0.666663646697998046875f,
                     1.3333332538604736328125f, 2.0f);
        return copy_sign<L>(tanh_of(r, p * (r * r), n), x);
    }
};

struct TanhF64 {
    template<class L> static typename L::F64 apply(typename L::F64 x) {
        using F = typename L::F64;
        F a = at_most(abs(x), F(20.0));
        F n = rint_small_f64(a * F(0x1.71547652b82fep+1));
        F exact = fma(n, F(-0x1.62e42fefap-2), a);
        F r = fma(n, F(-0x1.cf79abc9e3b3ap-41), exact);
        F r_low = fma(n, F(-0x1.cf79abc9e3b3ap-41), exact - r);
        F p = horner(r, F(1.3830296220486991e-06), 8.568622595713057e-06, 5.1300486217993575e-05,
                     0.00028218633459019303, 0.001410934965410118, 0.006349206359191434,
                     0.025396825393154014, 0.08888888888881569, 0.2666666666666945,
                     0.6666666666666669, 1.3333333333333333, 2.0);
        return copy_sign<L>(tanh_of(r, fma(p, r * r, r_low + r_low), n), x);
    }
};

/// (high + low) / (1 + e) for e <= 1, with a residual step.
template<class F> F divide_by_one_plus(F high, F low, F e) {
    F d = F(1.0f) + e;
    F d_low = e - (d - F(1.0f));
    F inverse = F(1.0f) / d;
    F y = high * inverse;
    F rest = fma(-y, d_low, fma(-y, d, high) + low);
    return fma(rest, inverse, y);
}

/// exp(-|x|) = 2^exponent (high + low) with about 26 bits.
template<class F> struct Decay { F high, low, exponent; };

/// From q = exp(r) - 1 and the exponent.
template<class F> Decay<F> decay_of(F q, F n) {
    F high = F(1.0f) + q;
    return {high, q - (high - F(1.0f)), n};
}

template<class L> Decay<typename L::F32> decay(typename L::F32 x, float limit) {
    auto [r, n] = reduce_exp_f32<L>(-at_most(abs(x), typename L::F32(limit)));
    return decay_of(expm1_f32(r), n);
}
template<class L> Decay<typename L::F64> decay(typename L::F64 x, double limit) {
    auto [r, n] = reduce_exp<L>(-at_most(abs(x), typename L::F64(limit)));
    return decay_of(r + exp_bend_long(r), n);
}

/// exp(v) for v in binary64, -1000 <= v <= 0: the reduction keeps all bits of v, the rest is f32.
template<class L> Decay<typename L::F32> decay_wide(typename L::F64 v) {
    auto [r, n] = reduce_exp<L>(v);
    return decay_of(expm1_f32(narrow(r)), narrow(n));
}

/// exp(-a^2 / 2) for 0 <= a <= 14.6. The square carries its error; the difference of its half and n times the high
/// part of ln 2 is exact, so that one sum alone rounds.
template<class L> Decay<typename L::F32> decay_of_square(typename L::F32 a) {
    using F = typename L::F32;
    F square = a * a, square_low = fma(a, a, -square);
    F n = rint_small_f32(square * F(-0.5f * log2_e_f32));
    F r = fma(n, F(-ln2_high_f32), square * F(-0.5f));
    F rest = fma(n, F(-ln2_low_f32), square_low * F(-0.5f));
    return decay_of(expm1_f32(r + rest), n);
}

/// 1 / (1 + e) or e / (1 + e) with e = exp(-|x|) <= 1, so no digit is lost in the lower tail; the
/// power of two of e is applied last, hence subnormal results round only once more.
template<class F> F sigmoid_of(F x, Decay<F> e) {
    auto negative = x < F(0.0f);
    F numerator = select(negative, e.high, F(1.0f));
    F y = divide_by_one_plus(numerator, select(negative, e.low, F(0.0f)),
                             scale(e.high, e.exponent));
    return scale(y, select(negative, e.exponent, F(0.0f)));
}

struct SigmoidF32 {
    template<class L> static typename L::F32 apply(typename L::F32 x) {
        return sigmoid_of(x, decay<L>(x, 110.0f));
    }
};

struct SigmoidF64 {
    template<class L> static typename L::F64 apply(typename L::F64 x) {
        return sigmoid_of(x, decay<L>(x, 760.0));
    }
};

/// x / (1 + exp(-u)) from x bounded below, e = exp(-|u|), and u of the sign of x.
template<class F> F weighted_sigmoid(F x, Decay<F> e) {
    auto negative = x < F(0.0f);
    F factor = select(negative, e.high, F(1.0f));
    F product = x * factor;
    F product_low = fma(x, select(negative, e.low, F(0.0f)), fma(x, factor, -product));
    F y = divide_by_one_plus(product, product_low, scale(e.high, e.exponent));
    return scale(y, select(negative, e.exponent, F(0.0f)));
}

struct SiluF32 {
    template<class L> static typename L::F32 apply(typename L::F32 x) {
        using F = typename L::F32;
        F y = weighted_sigmoid(at_least(x, F(-120.0f)), decay<L>(x, 120.0f));
        // The residual step is not for inf, and would lose the sign of -0.
        return select((x > F(120.0f)) | (x == F(0.0f)), x, y);
    }
};

struct SiluF64 {
    template<class L> static typename L::F64 apply(typename L::F64 x) {
        using F = typename L::F64;
        F y = weighted_sigmoid(at_least(x, F(-760.0)), decay<L>(x, 760.0));
        return select((x > F(760.0)) | (x == F(0.0)), x, y);
    }
};

/// x / (1 + exp(-2u)), u = sqrt(2/pi) (x + 0.044715 x^3)
struct GeluTanhF32 {
    template<class L> static typename L::F32 apply(typename L::F32 x) {
        using F = typename L::F32;
        using D = typename L::F64;
        D a = at_most(abs(widen(x)), D(16.0));
        D v = a * fma(a * a, D(-0.071354816272600248), D(-1.5957691216057308));
        F y = weighted_sigmoid(at_least(x, F(-16.0f)), decay_wide<L>(v));
        return select((x > F(16.0f)) | (x == F(0.0f)), x, y);
    }
};

/// max(x, 0) + log(1 + exp(-|x|))
struct SoftplusF32 {
    template<class L> static typename L::F32 apply(typename L::F32 x) {
        using F = typename L::F64;
        F wide = widen(x);
        F e = exp_short<L>(-at_most(abs(wide), F(110.0)));
        auto y = narrow(select(wide > F(0.0), wide, F(0.0)) + log1p_any<L>(e));
        return select(x == x, y, x + x);
    }
};

}// namespace luisa::tile::math
