// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/types.h>

#include <concepts>
#include <cstdint>

// The formats of four bits. Two elements share a byte of memory, so no view has them as its element: a
// `PackedView` says where each one lies. Loaded, they are tiles of a carrier that has all their values.

namespace luisa::tile {

/// −8 … 7 in two's complement.
class int4 {
public:
    int4() = default;///< 0
    /// The value with the low four of these bits.
    [[nodiscard]] static constexpr int4 from_bits(uint8_t bits) noexcept {
        int4 x;
        x._bits = bits & 15u;
        return x;
    }
    /// The encoding, below 16.
    [[nodiscard]] constexpr uint8_t bits() const noexcept { return _bits; }
    constexpr operator int() const noexcept { return _bits < 8 ? _bits : _bits - 16; }

private:
    uint8_t _bits = 0;
};

/// 0 … 15.
class uint4 {
public:
    uint4() = default;///< 0
    /// The value with the low four of these bits.
    [[nodiscard]] static constexpr uint4 from_bits(uint8_t bits) noexcept {
        uint4 x;
        x._bits = bits & 15u;
        return x;
    }
    /// The encoding, below 16.
    [[nodiscard]] constexpr uint8_t bits() const noexcept { return _bits; }
    constexpr operator int() const noexcept { return _bits; }

private:
    uint8_t _bits = 0;
};

/// 1 sign, 2 exponent (bias 1), 1 fraction bit: ±0, 0.5, 1, 1.5, 2, 3, 4, 6. No infinity, no NaN. No conversion
/// from float: what overflow does must be said, with `quantize`.
class float4_e2m1 {
public:
    float4_e2m1() = default;///< +0
    /// The value with the low four of these bits.
    [[nodiscard]] static constexpr float4_e2m1 from_bits(uint8_t bits) noexcept {
        float4_e2m1 x;
        x._bits = bits & 15u;
        return x;
    }
    /// The encoding, below 16.
    [[nodiscard]] constexpr uint8_t bits() const noexcept { return _bits; }
    /// Exact.
    constexpr operator float() const noexcept {
        constexpr float magnitudes[] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};
        auto x = magnitudes[_bits & 7u];
        return (_bits & 8u) != 0 ? -x : x;
    }

private:
    uint8_t _bits = 0;
};

/// What is known of a packed format: its name and the element type of tiles that hold its values.
template<class T> struct packed_traits {};
template<> struct packed_traits<int4> {
    using carrier = int8_t;
    static constexpr const char *name = "int4";
    static constexpr int least = -8, greatest = 7;
};
template<> struct packed_traits<uint4> {
    using carrier = uint8_t;
    static constexpr const char *name = "uint4";
    static constexpr int least = 0, greatest = 15;
};
/// Every e2m1 value is one of e4m3fn, which moves, compares, converts and multiplies in `mma`, and has no
/// arithmetic, as e2m1 has none.
template<> struct packed_traits<float4_e2m1> {
    using carrier = float8_e4m3fn;
    static constexpr const char *name = "e2m1";
};

template<class T>
concept PackedElement = requires {
    typename packed_traits<T>::carrier;
};

}// namespace luisa::tile
