// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "math/functions/common.h"

namespace luisa::tile::math {

/// high + low, not evaluated: about 106 bits in binary64. Sums drop what is below the low part.
template<class F> struct Pair { F high, low; };

/// a + b exactly, for |a| >= |b| or a = 0.
template<class F> Pair<F> sum_of_ordered(F a, F b) {
    F s = a + b;
    return {s, b - (s - a)};
}

/// a + b exactly.
template<class F> Pair<F> sum_of(F a, F b) {
    F s = a + b;
    F t = s - a;
    return {s, (a - (s - t)) + (b - t)};
}

template<class F> Pair<F> product_of(F a, F b) {
    F p = a * b;
    return {p, fma(a, b, -p)};
}

template<class F> Pair<F> operator*(Pair<F> a, Pair<F> b) {
    F p = a.high * b.high;
    return {p, fma(a.high, b.high, -p) + fma(a.high, b.low, a.low * b.high)};
}

/// a + b for |a| >= |b|.
template<class F> Pair<F> add_ordered(Pair<F> a, Pair<F> b) {
    auto s = sum_of_ordered(a.high, b.high);
    return {s.high, s.low + (a.low + b.low)};
}

/// a / b, one division and a residual step; the result is rounded once or nearly so.
template<class F> Pair<F> quotient_of(Pair<F> a, Pair<F> b) {
    F inverse = F(1.0) / b.high;
    F q = a.high * inverse;
    F rest = fma(-q, b.high, a.high) + fma(-q, b.low, a.low);
    return {q, rest * inverse};
}

template<class F> F value_of(Pair<F> a) { return a.high + a.low; }

}// namespace luisa::tile::math
