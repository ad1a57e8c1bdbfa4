// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace luisa::tile::math {

/// One lane computed directly: the text of a function instantiated with `ScalarLanes` evaluates it.
template<class E> struct Scalar {
    E v{};

    Scalar() = default;
    Scalar(E value) : v{value} {}

    using Bits = std::conditional_t<sizeof(E) == 8, uint64_t, uint32_t>;

    /// Integers wrap, hence unsigned arithmetic.
    template<class Operation> static Scalar combine(Scalar a, Scalar b, Operation operation) {
        if constexpr (std::is_integral_v<E>) {
            return {static_cast<E>(operation(static_cast<Bits>(a.v), static_cast<Bits>(b.v)))};
        } else {
            return {operation(a.v, b.v)};
        }
    }
    friend Scalar operator+(Scalar a, Scalar b) {
        return combine(a, b, [](auto x, auto y) { return x + y; });
    }
    friend Scalar operator-(Scalar a, Scalar b) {
        return combine(a, b, [](auto x, auto y) { return x - y; });
    }
    friend Scalar operator*(Scalar a, Scalar b) {
        return combine(a, b, [](auto x, auto y) { return x * y; });
    }
    friend Scalar operator/(Scalar a, Scalar b) { return {a.v / b.v}; }
    friend Scalar operator-(Scalar a) { return {-a.v}; }
    friend Scalar operator&(Scalar a, Scalar b) { return {static_cast<E>(a.v & b.v)}; }
    friend Scalar operator|(Scalar a, Scalar b) { return {static_cast<E>(a.v | b.v)}; }
    friend Scalar operator^(Scalar a, Scalar b) { return {static_cast<E>(a.v ^ b.v)}; }
    friend Scalar operator~(Scalar a) {
        if constexpr (std::is_same_v<E, bool>) {
            return {!a.v};
        } else {
            return {~a.v};
        }
    }
    friend Scalar operator<<(Scalar a, Scalar n) {
        return {static_cast<E>(static_cast<Bits>(a.v) << n.v)};
    }
    friend Scalar operator>>(Scalar a, Scalar n) { return {static_cast<E>(a.v >> n.v)}; }
    friend Scalar shr_logical(Scalar a, Scalar n) {
        return {static_cast<E>(static_cast<Bits>(a.v) >> n.v)};
    }
    friend Scalar<bool> operator<(Scalar a, Scalar b) { return {a.v < b.v}; }
    friend Scalar<bool> operator<=(Scalar a, Scalar b) { return {a.v <= b.v}; }
    friend Scalar<bool> operator>(Scalar a, Scalar b) { return {a.v > b.v}; }
    friend Scalar<bool> operator>=(Scalar a, Scalar b) { return {a.v >= b.v}; }
    friend Scalar<bool> operator==(Scalar a, Scalar b) { return {a.v == b.v}; }
    friend Scalar<bool> operator!=(Scalar a, Scalar b) { return {a.v != b.v}; }
    friend Scalar select(Scalar<bool> c, Scalar a, Scalar b) { return c.v ? a : b; }
    friend Scalar fma(Scalar a, Scalar b, Scalar c) { return {std::fma(a.v, b.v, c.v)}; }
    friend Scalar sqrt(Scalar a) { return {std::sqrt(a.v)}; }
    friend Scalar abs(Scalar a) { return {std::fabs(a.v)}; }
    friend Scalar rint(Scalar a) { return {std::nearbyint(a.v)}; }
    friend Scalar floor(Scalar a) { return {std::floor(a.v)}; }
    friend Scalar scale(Scalar a, Scalar n) {
        E limit = 5000;
        if (std::isnan(n.v)) {
            return n;
        }
        return {std::ldexp(a.v, static_cast<int>(std::fmin(std::fmax(n.v, -limit), limit)))};
    }
    friend Scalar scale_down(Scalar a, Scalar n) { return scale(a, n); }
};

struct ScalarLanes {
    using F32 = Scalar<float>;
    using F64 = Scalar<double>;
    using I32 = Scalar<int32_t>;
    using I64 = Scalar<int64_t>;
    using B = Scalar<bool>;
};

inline Scalar<int32_t> as_int(Scalar<float> a) { return {std::bit_cast<int32_t>(a.v)}; }
inline Scalar<int64_t> as_int(Scalar<double> a) { return {std::bit_cast<int64_t>(a.v)}; }
inline Scalar<float> as_float(Scalar<int32_t> a) { return {std::bit_cast<float>(a.v)}; }
inline Scalar<double> as_float(Scalar<int64_t> a) { return {std::bit_cast<double>(a.v)}; }
/// Out of range gives 0 here; the programs never use such a result.
inline Scalar<int32_t> to_int(Scalar<float> a) {
    return {std::fabs(a.v) < 0x1p31f ? static_cast<int32_t>(a.v) : 0};
}
inline Scalar<int64_t> to_int(Scalar<double> a) {
    return {std::fabs(a.v) < 0x1p63 ? static_cast<int64_t>(a.v) : 0};
}
inline Scalar<float> to_float(Scalar<int32_t> a) { return {static_cast<float>(a.v)}; }
inline Scalar<double> to_float(Scalar<int64_t> a) { return {static_cast<double>(a.v)}; }
inline Scalar<double> widen(Scalar<float> a) { return {static_cast<double>(a.v)}; }
inline Scalar<int64_t> widen(Scalar<int32_t> a) { return {static_cast<int64_t>(a.v)}; }
inline Scalar<float> narrow(Scalar<double> a) { return {static_cast<float>(a.v)}; }
inline Scalar<int32_t> narrow(Scalar<int64_t> a) { return {static_cast<int32_t>(a.v)}; }
inline Scalar<int32_t> look_up(const std::vector<uint32_t> &table, Scalar<int32_t> i) {
    return {static_cast<int32_t>(table[static_cast<uint32_t>(i.v)])};
}

}// namespace luisa::tile::math
