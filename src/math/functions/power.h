// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "math/functions/exponential.h"
#include "math/functions/logarithm.h"

namespace luisa::tile::math {

/// 1 / sqrt(x), then one Newton step whose residual 1 - x y^2 is formed without rounding error.
template<class F> F rsqrt_of(F x) {
    F y = F(1.0f) / sqrt(x);
    F h = x * y;
    F h_low = fma(x, y, -h);
    F rest = fma(-h_low, y, fma(-h, y, F(1.0f)));
    F better = fma(y * F(0.5f), rest, y);
    // The residual is NaN at 0 and inf, where y is right already.
    return select(rest == rest, better, y);
}

struct RsqrtF32 {
    template<class L> static typename L::F32 apply(typename L::F32 x) { return rsqrt_of(x); }
};

struct RsqrtF64 {
    template<class L> static typename L::F64 apply(typename L::F64 x) { return rsqrt_of(x); }
};

/// |x|^y without the special cases: exp2(y log2 |x|) in binary64 lanes. NaN where the product is 0
/// * inf.
template<class L> typename L::F64 pow_magnitude(typename L::F32 x, typename L::F32 y) {
    using F = typename L::F64;
    F a = abs(widen(x));
    auto [i, f] = split_f64<L>(a);
    F log2 = fma(log1p_short(f), F(0x1.71547652b82fep+0), i);
    log2 = select(a == F(0.0), F(-infinity<double>), select(a == F(infinity<double>), a, log2));
    F product = at_most(at_least(widen(y) * log2, F(-200.0)), F(200.0));
    F n = rint(product);
    F r = (product - n) * F(0x1.62e42fefa39efp-1);
    return scale(expm1_short(r) + F(1.0), n);
}

/// x^y from |x|^y. T is what a lane of F holds, `sign_bit` its sign in the integer lanes I.
template<class T, class F, class I> F signed_power(F magnitude, F x, F y, I sign_bit) {
    auto infinite = abs(y) == F(infinity<T>);
    F half = y * F(T(0.5));
    auto integral = rint(y) == y;
    auto odd = integral & (floor(half) != half);
    I sign = select(odd, as_int(x) & sign_bit, I(0));
    F z = as_float(as_int(magnitude) | sign);
    // Below zero only integers have a power; -inf takes them all.
    auto undefined = (x < F(T(0))) & (x > F(-infinity<T>)) & ~integral;
    auto nan = (x != x) | (y != y) | undefined;
    z = select(nan, F(not_a_number<T>), z);
    auto one = (y == F(T(0))) | (x == F(T(1))) | ((x == F(T(-1))) & infinite);
    return select(one, F(T(1)), z);
}

struct PowF32 {
    template<class L> static typename L::F32 apply(typename L::F32 x, typename L::F32 y) {
        using I = typename L::I32;
        return signed_power<float>(narrow(pow_magnitude<L>(x, y)), x, y, I(INT32_MIN));
    }
};

/// The cube root of 1/2 <= m < 4 in binary64 lanes: a polynomial, then one Halley step.
template<class F> F cbrt_of_mantissa(F m) {
    F r = horner(m, F(-9.63448381129148220279702186735448777e-4),
                 1.46508000588319291929151333420122683e-2, -9.1434775813135568678369224926427705e-2,
                 0.30602967934141267480896431152359582, -0.61771910130399254601485381499514915,
                 0.94868015350600043422701901363325305, 0.44102630573254064660915219064918346703);
    F cube = r * r * r;
    return r * ((cube + (m + m)) / (cube + cube + m));
}

/// |x| = 8^n m, in binary64 lanes.
struct CbrtF32 {
    template<class L> static typename L::F32 apply(typename L::F32 x) {
        using F = typename L::F64;
        using I = typename L::I64;
        I bits = as_int(abs(widen(x)));
        I exponent = (bits >> I(52)) - I(1023);
        I n = to_int(rint(to_float(exponent) * F(1.0 / 3.0)));
        F m = as_float(bits - ((n * I(3)) << I(52)));
        F r = cbrt_of_mantissa(m);
        auto y = copy_sign<L>(narrow(as_float(as_int(r) + (n << I(52)))), x);
        using S = typename L::F32;
        auto regular = (abs(x) < S(infinity<float>)) & (x != S(0.0f));
        return select(regular, y, x + x);
    }
};

}// namespace luisa::tile::math
