// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "math/functions/logarithm.h"
#include "math/functions/pairs.h"

namespace luisa::tile::math {

/// log(1 + f) for sqrt(1/2) <= 1 + f < sqrt(2), relative error about 2^-68: 2 artanh(s),
/// s = f / (2 + f), the first terms of the series as pairs.
template<class F> Pair<F> log_mantissa(Pair<F> f) {
    auto d = sum_of_ordered(F(2.0), f.high);
    auto s = quotient_of(f, {d.high, d.low + f.low});
    auto z = s * s;
    F q = horner(z.high, F(0.09058354764663855), 0.08635708142437232, 0.09525618301202705,
                 0.10526284135342444, 0.11764706206942514, 0.1333333333146645, 0.1538461538462076,
                 0.18181818181818177, 0.2222222222222222);
    F t = fma(z.high, q, F(0x1.2492492492492p-2));
    auto zt = product_of(z.high, t);
    auto u = add_ordered(Pair<F>{F(0x1.999999999999ap-2), F(-0x1.999999999999ap-56)},
                         Pair<F>{zt.high, fma(z.low, t, zt.low)});
    auto v = add_ordered(Pair<F>{F(0x1.5555555555555p-1), F(0x1.5555555555555p-55)}, z * u);
    return add_ordered(Pair<F>{s.high + s.high, s.low + s.low}, (s * z) * v);
}

/// x = 2^exponent (1 + f) for any 0 < x < inf.
template<class L> Split<typename L::F64> split_any(typename L::F64 x) {
    using F = typename L::F64;
    auto tiny = x < F(0x1p-1022);
    auto [i, f] = split_f64<L>(select(tiny, x * F(0x1p54), x));
    return {i - select(tiny, F(54.0), F(0.0)), f};
}

/// i ln 2 + log(1 + f)
template<class F> Pair<F> log_sum(F i, Pair<F> mantissa) {
    auto s = sum_of_ordered(i * F(0x1.62e42fefap-1), mantissa.high);
    F low = fma(i, F(0x1.cf79abc9e3b3ap-40), mantissa.low);
    return sum_of_ordered(s.high, s.low + low);
}

/// log(x), 0 < x < inf, relative error about 2^-67.
template<class L> Pair<typename L::F64> log_pair(typename L::F64 x) {
    using F = typename L::F64;
    auto [i, f] = split_any<L>(x);
    return log_sum(i, log_mantissa(Pair<F>{f, F(0.0)}));
}

/// log(1 + high + low) for high + low > -1.
template<class L> Pair<typename L::F64> log1p_pair(Pair<typename L::F64> x) {
    using F = typename L::F64;
    using I = typename L::I64;
    auto u = sum_of(F(1.0), x.high);
    auto [i, f] = split_f64<L>(u.high);
    // What the sum dropped of the largest numbers does not count.
    F power = as_float(at_least(I(1023) - to_int(i), I(0)) << I(52));
    return log_sum(i, log_mantissa(sum_of(f, (u.low + x.low) * power)));
}

struct Log2F64 {
    template<class L> static typename L::F64 apply(typename L::F64 x) {
        using F = typename L::F64;
        auto [i, f] = split_any<L>(x);
        auto y = log_mantissa(Pair<F>{f, F(0.0)}) *
                 Pair<F>{F(0x1.71547652b82fep+0), F(0x1.777d0ffda0d24p-56)};
        return log_special<F, double>(x, value_of(add_ordered(Pair<F>{i, F(0.0)}, y)));
    }
};

struct Log10F64 {
    template<class L> static typename L::F64 apply(typename L::F64 x) {
        using F = typename L::F64;
        auto [i, f] = split_any<L>(x);
        auto y = log_mantissa(Pair<F>{f, F(0.0)}) *
                 Pair<F>{F(0x1.bcb7b1526e50ep-2), F(0x1.95355baaafad3p-57)};
        auto whole = Pair<F>{i * F(0x1.34413509p-2), i * F(0x1.ef3fde623e256p-35)};
        return log_special<F, double>(x, value_of(add_ordered(whole, y)));
    }
};

struct Log1pF64 {
    template<class L> static typename L::F64 apply(typename L::F64 x) {
        using F = typename L::F64;
        F y = value_of(log1p_pair<L>({x, F(0.0)}));
        auto regular = (x > F(-1.0)) & (x < F(infinity<double>));
        F other = select(x == F(-1.0), F(-infinity<double>),
                         select(x < F(0.0), F(not_a_number<double>), x + x));
        return select(abs(x) < F(0x1p-54), x, select(regular, y, other));
    }
};

}// namespace luisa::tile::math
