// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "math/functions/common.h"

namespace luisa::tile::math {

inline constexpr float log2_e_f32 = 1.44269504f;
inline constexpr float ln2_high_f32 = 0x1.62e4p-1f;///< 14 bits, so n * high is exact
inline constexpr float ln2_low_f32 = 1.42860677e-6f;

/// mantissa * 2^exponent, or a reduced argument and its exponent.
template<class F> struct Scaled { F mantissa, exponent; };

/// r = x - n ln 2 and n.
template<class L> Scaled<typename L::F32> reduce_exp_f32(typename L::F32 x) {
    using F = typename L::F32;
    F n = rint_small_f32(x * F(log2_e_f32));
    F r = fma(n, F(-ln2_high_f32), x);
    return {fma(n, F(-ln2_low_f32), r), n};
}

/// exp(r) - 1 for |r| <= ln(2) / 2, relative error 0.23 * 2^-24.
template<class F> F expm1_f32(F r) {
    F p = horner(r, F(1.38645595870912075042724609375e-3f), 8.366541005671024322509765625e-3f,
                 4.16675023734569549560546875e-2f, 0.16666543483734130859375f,
                 0.4999999701976776123046875f);
    return fma(p, r * r, r);
}

struct ExpF32 {
    template<class L> static typename L::F32 apply(typename L::F32 x) {
        using F = typename L::F32;
        // Beyond -105 and 89 the result is 0 and inf already. An x86 core takes an assist of 200 cycles for
        // a power that a subnormal is near, and none below 2^-600: masks of -inf are as fast as numbers.
        F bounded = at_most(at_least(x, F(-700.0f)), F(89.0f));
        auto [r, n] = reduce_exp_f32<L>(bounded);
        F p = horner(r, F(1.37821980752050876617431640625e-3f), 8.368677459657192230224609375e-3f,
                     4.166896641254425048828125e-2f, 0.16666521131992340087890625f,
                     0.4999999105930328369140625f, 1.0f, 1.0f);
        return scale(p, n);
    }
};

struct Exp2F32 {
    template<class L> static typename L::F32 apply(typename L::F32 x) {
        using F = typename L::F32;
        F bounded = at_most(at_least(x, F(-1000.0f)), F(129.0f));// far below, as in ExpF32
        F n = rint_small_f32(bounded);
        F r = bounded - n;
        F p = horner(r, F(1.52412845636717975139617919921875e-4f),
                     1.339130220003426074981689453125e-3f, 9.61883366107940673828125e-3f,
                     5.55035881698131561279296875e-2f, 0.240226447582244873046875f,
                     0.693147182464599609375f, 1.0f);
        return scale(p, n);
    }
};

// Binary64 pieces; the short ones serve f32 results.

/// The reduced argument r = x - n ln 2 and n.
template<class L> Scaled<typename L::F64> reduce_exp(typename L::F64 x) {
    using F = typename L::F64;
    F n = rint_small_f64(x * F(0x1.71547652b82fep+0));
    F r = fma(n, F(-0x1.62e42fefap-1), x);
    return {fma(n, F(-0x1.cf79abc9e3b3ap-40), r), n};
}

/// exp(r) - 1 for |r| <= ln(2) / 2, relative error 2^-37.
template<class F> F expm1_short(F r) {
    F p = horner(r, F(2.479637813306152557932433844190001e-5),
                 1.990490915439131812490064499243658e-4, 1.388898528076092575220257251610692e-3,
                 8.33328905417745659234274313575952e-3, 4.166666595285255236813526380501571e-2,
                 0.166666667541333801683123283510213, 0.500000000010531386663938697458112);
    return fma(p, r * r, r);
}

/// exp(x) to about 36 bits; |x| <= 1000.
template<class L> Scaled<typename L::F64> exp_scaled_short(typename L::F64 x) {
    using F = typename L::F64;
    auto [r, n] = reduce_exp<L>(x);
    return {expm1_short(r) + F(1.0), n};
}

template<class L> typename L::F64 exp_short(typename L::F64 x) {
    auto [p, n] = exp_scaled_short<L>(x);
    return scale(p, n);
}

/// exp(r) - 1 - r for |r| <= ln(2) / 2, to 2^-61 of exp(r) - 1.
template<class F> F exp_bend_long(F r) {
    F p = horner(r, F(2.0889456908113008e-09), 2.5109150869232342e-08, 2.7557352977112325e-07,
                 2.755724385885904e-06, 2.4801587237483215e-05, 0.00019841269886509494,
                 0.0013888888888923812, 0.008333333333321457, 0.04166666666666661,
                 0.16666666666666677, 0.5);
    return p * (r * r);
}

struct ExpF64 {
    template<class L> static typename L::F64 apply(typename L::F64 x) {
        using F = typename L::F64;
        F bounded = at_most(at_least(x, F(-3000.0)), F(710.0));// far below, as in ExpF32
        auto [r, n] = reduce_exp<L>(bounded);
        F high = F(1.0) + r;
        F low = r - (high - F(1.0));
        return scale(high + (low + exp_bend_long(r)), n);
    }
};

struct Exp2F64 {
    template<class L> static typename L::F64 apply(typename L::F64 x) {
        using F = typename L::F64;
        F bounded = at_most(at_least(x, F(-4400.0)), F(1025.0));// far below, as in ExpF32
        F n = rint_small_f64(bounded);
        F r = bounded - n;
        F p = horner(r, F(2.7187549222365916e-11), 4.465539461625609e-10, 7.05379933383778e-09,
                     1.017798579081515e-07, 1.3215489907991457e-06, 1.5252734035994523e-05,
                     0.00015403530389348797, 0.0013333558146165767, 0.00961812910763081,
                     0.05550410866482293, 0.24022650695910067, 0.6931471805599453, 1.0);
        return scale(p, n);
    }
};

/// exp(x) - 1 in binary64 lanes to about 36 bits.
struct Expm1F32 {
    template<class L> static typename L::F32 apply(typename L::F32 x) {
        using F = typename L::F64;
        F bounded = at_most(at_least(widen(x), F(-40.0)), F(130.0));
        auto [r, n] = reduce_exp<L>(bounded);
        F power = scale(F(1.0), n);
        // A -0 must stay -0, which the sum would lose.
        typename L::F32 y = narrow(fma(power, expm1_short(r), power - F(1.0)));
        return select(x == typename L::F32(0.0f), x, y);
    }
};

}// namespace luisa::tile::math
