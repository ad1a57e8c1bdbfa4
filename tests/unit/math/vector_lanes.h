// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace luisa::tile::math {

inline constexpr int vector_width = 8;

/// V, and W to calculate in: integers wrap around.
template<class E> struct VectorType;
template<> struct VectorType<float> {
    typedef float V __attribute__((vector_size(32)));
    typedef float W __attribute__((vector_size(32)));
};
template<> struct VectorType<double> {
    typedef double V __attribute__((vector_size(64)));
    typedef double W __attribute__((vector_size(64)));
};
template<> struct VectorType<int32_t> {
    typedef int32_t V __attribute__((vector_size(32)));
    typedef uint32_t W __attribute__((vector_size(32)));
};
template<> struct VectorType<int64_t> {
    typedef int64_t V __attribute__((vector_size(64)));
    typedef uint64_t W __attribute__((vector_size(64)));
};

/// Eight lanes of E in a compiler vector: the third instance of the function texts, fast enough for
/// sweeps.
template<class E> struct Vector {
    using V = typename VectorType<E>::V;
    using W = typename VectorType<E>::W;
    V v;

    Vector() = default;
    Vector(V value) : v{value} {}
    Vector(E value) : v{value - V{}} {}
};

/// A mask of 0 / -1 in 32 bits, whatever the width of what was compared.
struct VectorBool {
    Vector<int32_t>::V v;
    friend VectorBool operator&(VectorBool a, VectorBool b) { return {a.v & b.v}; }
    friend VectorBool operator|(VectorBool a, VectorBool b) { return {a.v | b.v}; }
    friend VectorBool operator^(VectorBool a, VectorBool b) { return {a.v ^ b.v}; }
    friend VectorBool operator~(VectorBool a) { return {~a.v}; }
};

template<class M> VectorBool narrow_mask(M mask) {
    return {__builtin_convertvector(mask, Vector<int32_t>::V)};
}

template<class E, class F> Vector<E> each(Vector<E> a, Vector<E> b, Vector<E> c, F f) {
    Vector<E> r;
    for (int i = 0; i < vector_width; i++) {
        r.v[i] = f(a.v[i], b.v[i], c.v[i]);
    }
    return r;
}

template<class E> Vector<E> operator+(Vector<E> a, Vector<E> b) {
    using W = typename Vector<E>::W;
    return {(typename Vector<E>::V)((W)a.v + (W)b.v)};
}
template<class E> Vector<E> operator-(Vector<E> a, Vector<E> b) {
    using W = typename Vector<E>::W;
    return {(typename Vector<E>::V)((W)a.v - (W)b.v)};
}
template<class E> Vector<E> operator*(Vector<E> a, Vector<E> b) {
    using W = typename Vector<E>::W;
    return {(typename Vector<E>::V)((W)a.v * (W)b.v)};
}
template<class E> Vector<E> operator/(Vector<E> a, Vector<E> b) { return {a.v / b.v}; }
template<class E> Vector<E> operator-(Vector<E> a) {
    return {(typename Vector<E>::V)(-(typename Vector<E>::W)a.v)};
}
template<class E> Vector<E> operator&(Vector<E> a, Vector<E> b) { return {a.v & b.v}; }
template<class E> Vector<E> operator|(Vector<E> a, Vector<E> b) { return {a.v | b.v}; }
template<class E> Vector<E> operator^(Vector<E> a, Vector<E> b) { return {a.v ^ b.v}; }
template<class E> Vector<E> operator<<(Vector<E> a, Vector<E> n) { return {a.v << n.v}; }
template<class E> Vector<E> operator>>(Vector<E> a, Vector<E> n) { return {a.v >> n.v}; }
template<class E> VectorBool operator<(Vector<E> a, Vector<E> b) { return narrow_mask(a.v < b.v); }
template<class E> VectorBool operator<=(Vector<E> a, Vector<E> b) {
    return narrow_mask(a.v <= b.v);
}
template<class E> VectorBool operator>(Vector<E> a, Vector<E> b) { return narrow_mask(a.v > b.v); }
template<class E> VectorBool operator>=(Vector<E> a, Vector<E> b) {
    return narrow_mask(a.v >= b.v);
}
template<class E> VectorBool operator==(Vector<E> a, Vector<E> b) {
    return narrow_mask(a.v == b.v);
}
template<class E> VectorBool operator!=(Vector<E> a, Vector<E> b) {
    return narrow_mask(a.v != b.v);
}
template<class E> Vector<E> select(VectorBool c, Vector<E> a, Vector<E> b) {
    using Mask = std::conditional_t<sizeof(E) == 8, Vector<int64_t>::V, Vector<int32_t>::V>;
    return {__builtin_convertvector(c.v, Mask) ? a.v : b.v};
}
inline Vector<int32_t> as_int(Vector<float> a) { return {(Vector<int32_t>::V)a.v}; }
inline Vector<int64_t> as_int(Vector<double> a) { return {(Vector<int64_t>::V)a.v}; }
inline Vector<float> as_float(Vector<int32_t> a) { return {(Vector<float>::V)a.v}; }
inline Vector<double> as_float(Vector<int64_t> a) { return {(Vector<double>::V)a.v}; }
inline Vector<float> abs(Vector<float> a) {
    return as_float(Vector<int32_t>{as_int(a).v & INT32_MAX});
}
inline Vector<double> abs(Vector<double> a) {
    return as_float(Vector<int64_t>{as_int(a).v & INT64_MAX});
}
inline Vector<float> to_float(Vector<int32_t> a) {
    return {__builtin_convertvector(a.v, Vector<float>::V)};
}
inline Vector<double> to_float(Vector<int64_t> a) {
    return {__builtin_convertvector(a.v, Vector<double>::V)};
}
inline Vector<int32_t> to_int(Vector<float> a) {
    return {__builtin_convertvector(a.v, Vector<int32_t>::V)};
}
inline Vector<int64_t> to_int(Vector<double> a) {
    return {__builtin_convertvector(a.v, Vector<int64_t>::V)};
}
inline Vector<double> widen(Vector<float> a) {
    return {__builtin_convertvector(a.v, Vector<double>::V)};
}
inline Vector<int64_t> widen(Vector<int32_t> a) {
    return {__builtin_convertvector(a.v, Vector<int64_t>::V)};
}
inline Vector<float> narrow(Vector<double> a) {
    return {__builtin_convertvector(a.v, Vector<float>::V)};
}
inline Vector<int32_t> narrow(Vector<int64_t> a) {
    return {__builtin_convertvector(a.v, Vector<int32_t>::V)};
}
inline Vector<int32_t> look_up(const std::vector<uint32_t> &table, Vector<int32_t> i) {
    return each(i, i, i, [&](int32_t k, int32_t, int32_t) {
        return static_cast<int32_t>(table[static_cast<uint32_t>(k)]);
    });
}

#ifdef __AVX512F__
inline Vector<float> fma(Vector<float> a, Vector<float> b, Vector<float> c) {
    return {(Vector<float>::V)_mm256_fmadd_ps((__m256)a.v, (__m256)b.v, (__m256)c.v)};
}
inline Vector<double> fma(Vector<double> a, Vector<double> b, Vector<double> c) {
    return {(Vector<double>::V)_mm512_fmadd_pd((__m512d)a.v, (__m512d)b.v, (__m512d)c.v)};
}
inline Vector<float> sqrt(Vector<float> a) {
    return {(Vector<float>::V)_mm256_sqrt_ps((__m256)a.v)};
}
inline Vector<double> sqrt(Vector<double> a) {
    return {(Vector<double>::V)_mm512_sqrt_pd((__m512d)a.v)};
}
inline Vector<float> rint(Vector<float> a) {
    return {(Vector<float>::V)_mm256_roundscale_ps((__m256)a.v, 8)};
}
inline Vector<double> rint(Vector<double> a) {
    return {(Vector<double>::V)_mm512_roundscale_pd((__m512d)a.v, 8)};
}
inline Vector<float> floor(Vector<float> a) {
    return {(Vector<float>::V)_mm256_roundscale_ps((__m256)a.v, 9)};
}
inline Vector<double> floor(Vector<double> a) {
    return {(Vector<double>::V)_mm512_roundscale_pd((__m512d)a.v, 9)};
}
inline Vector<float> scale(Vector<float> a, Vector<float> n) {
    return {(Vector<float>::V)_mm256_scalef_ps((__m256)a.v, (__m256)n.v)};
}
inline Vector<double> scale(Vector<double> a, Vector<double> n) {
    return {(Vector<double>::V)_mm512_scalef_pd((__m512d)a.v, (__m512d)n.v)};
}
#else
template<class E> Vector<E> fma(Vector<E> a, Vector<E> b, Vector<E> c) {
    return each(a, b, c, [](E x, E y, E z) { return std::fma(x, y, z); });
}
template<class E> Vector<E> sqrt(Vector<E> a) {
    return each(a, a, a, [](E x, E, E) { return std::sqrt(x); });
}
template<class E> Vector<E> rint(Vector<E> a) {
    return each(a, a, a, [](E x, E, E) { return std::nearbyint(x); });
}
template<class E> Vector<E> floor(Vector<E> a) {
    return each(a, a, a, [](E x, E, E) { return std::floor(x); });
}
template<class E> Vector<E> scale(Vector<E> a, Vector<E> n) {
    return each(a, n, n, [](E x, E k, E) {
        return std::isnan(k)
                   ? k
                   : std::ldexp(x, static_cast<int>(std::fmin(std::fmax(k, E(-5000)), E(5000))));
    });
}
#endif
inline Vector<float> scale_down(Vector<float> a, Vector<float> n) { return scale(a, n); }

struct VectorLanes {
    using F32 = Vector<float>;
    using F64 = Vector<double>;
    using I32 = Vector<int32_t>;
    using I64 = Vector<int64_t>;
    using B = VectorBool;
};

}// namespace luisa::tile::math
