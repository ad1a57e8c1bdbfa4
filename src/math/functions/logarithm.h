// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "math/functions/common.h"

namespace luisa::tile::math {

/// The values a logarithm has outside 0 < x < inf: -inf at zero, +inf at inf, NaN below zero and
/// for NaN.
template<class F, class E> F log_special(F x, F y) {
    F zero(E(0));
    auto regular = (x > zero) & (x < F(infinity<E>));
    F other = select(x == zero, F(-infinity<E>), select(x < zero, F(not_a_number<E>), x + x));
    return select(regular, y, other);
}

struct LogF32 {
    template<class L> static typename L::F32 apply(typename L::F32 x) {
        using F = typename L::F32;
        using I = typename L::I32;
        auto tiny = x < F(0x1p-126f);
        F normal = select(tiny, x * F(0x1p23f), x);
        // x = 2^i (1 + f), 2/3 <= 1 + f < 4/3
        I exponent = (as_int(normal) - I(0x3f2aaaab)) & I(-0x800000);
        F f = as_float(as_int(normal) - exponent) - F(1.0f);
        F i = fma(to_float(exponent), F(0x1p-23f), select(tiny, F(-23.0f), F(0.0f)));
        F p = horner(f, F(-0.128493785858154296875f), 0.14018674194812774658203125f,
                     -0.12195049226284027099609375f, 0.13998545706272125244140625f,
                     -0.166796147823333740234375f, 0.20010893046855926513671875f,
                     -0.24999819695949554443359375f, 0.333332061767578125f, -0.5f);
        // i ln 2 + f + f^2 p, the rounding error of the first sum carried along
        F whole = i * F(0x1.62e4p-1f);
        F high = whole + f;
        F low = fma(i, F(1.42860677e-6f), (whole - high) + f);
        F y = high + fma(p, f * f, low);
        return log_special<F, float>(x, y);
    }
};

/// x = 2^exponent (1 + f) for normal x > 0 with sqrt(1/2) <= 1 + f < sqrt(2); f is exact.
template<class F> struct Split { F exponent, f; };

template<class L> Split<typename L::F64> split_f64(typename L::F64 x) {
    using F = typename L::F64;
    using I = typename L::I64;
    I exponent = (as_int(x) - I(0x3fe6a09e00000000)) & I(INT64_MIN >> 11);
    F f = as_float(as_int(x) - exponent) - F(1.0);
    return {to_float(exponent >> I(52)), f};
}

/// log(1 + f) for the f of `split_f64`, to about 42 bits.
template<class F> F log1p_short(F f) {
    F s = f / (f + F(2.0));
    F z = s * s;
    F p = horner(z, F(0.195839275623290037797730178681376856),
                 0.22176206850355861810442092973971739411, 0.28572108658734440833626422318047844,
                 0.399999956271859247181055252440273762, 0.66666666675783348150474694193690083921);
    return fma(p * z, s, s + s);
}

/// log(x) for normal x > 0 in binary64 lanes, to about 42 bits.
template<class L> typename L::F64 log_short(typename L::F64 x) {
    using F = typename L::F64;
    auto [i, f] = split_f64<L>(x);
    return fma(i, F(0x1.62e42fefa39efp-1), log1p_short(f));
}

/// log(1 + f) = f - (f^2/2 - s (f^2/2 + z P(z))), s = f / (2 + f), z = s^2; f and i ln 2 are summed
/// with their error.
struct LogF64 {
    template<class L> static typename L::F64 apply(typename L::F64 x) {
        using F = typename L::F64;
        auto tiny = x < F(0x1p-1022);
        auto [i, f] = split_f64<L>(select(tiny, x * F(0x1p54), x));
        i = i - select(tiny, F(54.0), F(0.0));
        F s = f / (f + F(2.0));
        F z = s * s;
        F p = horner(z, F(0.13234198537667993), 0.13252218820546088, 0.15386985379975193,
                     0.18181778442362248, 0.22222222605805386, 0.28571428569418894,
                     0.40000000000004904, 0.6666666666666666);
        F half_square = f * f * F(0.5);
        F bend = half_square - s * fma(p, z, half_square);
        F whole = i * F(0x1.62e42fefap-1);
        F high = whole + f;
        F low = fma(i, F(0x1.cf79abc9e3b3ap-40), (whole - high) + f);
        return log_special<F, double>(x, high + (low - bend));
    }
};

struct Log2F32 {
    template<class L> static typename L::F32 apply(typename L::F32 x) {
        using F = typename L::F64;
        auto [i, f] = split_f64<L>(widen(x));
        F y = fma(log1p_short(f), F(0x1.71547652b82fep+0), i);
        return log_special<typename L::F32, float>(x, narrow(y));
    }
};

struct Log10F32 {
    template<class L> static typename L::F32 apply(typename L::F32 x) {
        using F = typename L::F64;
        auto [i, f] = split_f64<L>(widen(x));
        F y = fma(i, F(0x1.34413509f79ffp-2), log1p_short(f) * F(0x1.bcb7b1526e50ep-2));
        return log_special<typename L::F32, float>(x, narrow(y));
    }
};

/// log(1 + x) for x > -1 in binary64 lanes, x a widened f32 or another value whose 1 + x loses no
/// more than one rounding.
template<class L> typename L::F64 log1p_any(typename L::F64 x) {
    using F = typename L::F64;
    auto [i, f] = split_f64<L>(x + F(1.0));
    // Near zero the rounding of 1 + x would show.
    f = select(i == F(0.0), x, f);
    return fma(i, F(0x1.62e42fefa39efp-1), log1p_short(f));
}

struct Log1pF32 {
    template<class L> static typename L::F32 apply(typename L::F32 x) {
        using F = typename L::F32;
        F y = narrow(log1p_any<L>(widen(x)));
        auto regular = (x > F(-1.0f)) & (x < F(infinity<float>));
        F other = select(x == F(-1.0f), F(-infinity<float>),
                         select(x < F(0.0f), F(not_a_number<float>), x + x));
        // +-0 and subnormal numbers are their own logarithm.
        return select(abs(x) < F(0x1p-126f), x, select(regular, y, other));
    }
};

}// namespace luisa::tile::math
