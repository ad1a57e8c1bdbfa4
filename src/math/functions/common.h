// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <limits>

namespace luisa::tile::math {

// The functions are templates over a family of lane types L (F32, F64, I32, I64, B): RecorderLanes
// yields the program, ScalarLanes the value, the sweep's vector lanes eight values. Coefficients
// are minimax fits of our own.

/// Polynomial with the coefficients from the highest degree down.
template<class T, class... C> T horner(T x, T first, C... rest) {
    ((first = fma(first, x, T(rest))), ...);
    return first;
}

/// max(x, low) and min(x, high) that pass a NaN in x.
template<class T> T at_least(T x, T low) { return select(x < low, low, x); }
template<class T> T at_most(T x, T high) { return select(x > high, high, x); }

/// The integer nearest to x, for |x| < 2^22 (in binary64 2^51): the sum with a number whose last place counts ones is
/// rounded to one. GPUs add eight times as fast as they round. A negative x may give 0 where `rint` gives -0.
template<class F> F rint_small_f32(F x) { return (x + F(0x1.8p23f)) - F(0x1.8p23f); }
template<class F> F rint_small_f64(F x) { return (x + F(0x1.8p52)) - F(0x1.8p52); }

template<class L> typename L::F32 copy_sign(typename L::F32 magnitude, typename L::F32 sign) {
    using I = typename L::I32;
    return as_float(as_int(magnitude) | (as_int(sign) & I(INT32_MIN)));
}
template<class L> typename L::F64 copy_sign(typename L::F64 magnitude, typename L::F64 sign) {
    using I = typename L::I64;
    return as_float(as_int(magnitude) | (as_int(sign) & I(INT64_MIN)));
}

template<class E> inline constexpr E infinity = std::numeric_limits<E>::infinity();
template<class E> inline constexpr E not_a_number = std::numeric_limits<E>::quiet_NaN();

}// namespace luisa::tile::math
