// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/scalar_type.h>

#include <concepts>
#include <cstdint>

// The host's element types: what a buffer of each format looks like in C++. They store and convert;
// arithmetic on them belongs in a kernel (on the host they read as float).

namespace luisa::tile {

namespace detail {
[[nodiscard]] uint16_t half_from_double(double x) noexcept;
[[nodiscard]] uint16_t half_from_integer(int64_t x) noexcept;
[[nodiscard]] uint16_t half_from_integer(uint64_t x) noexcept;
[[nodiscard]] float half_to_float(uint16_t bits) noexcept;
[[nodiscard]] uint16_t bfloat16_from_double(double x) noexcept;
[[nodiscard]] uint16_t bfloat16_from_integer(int64_t x) noexcept;
[[nodiscard]] uint16_t bfloat16_from_integer(uint64_t x) noexcept;
[[nodiscard]] float bfloat16_to_float(uint16_t bits) noexcept;
[[nodiscard]] float e4m3fn_to_float(uint8_t bits) noexcept;
[[nodiscard]] float e5m2_to_float(uint8_t bits) noexcept;
}// namespace detail

/// IEEE binary16: 1 sign, 5 exponent, 10 fraction bits; largest finite value 65504.
class half {
public:
    half() = default;///< +0
    /// The nearest half, ties to even, in one rounding from the exact value. Too large values
    /// become infinite; every NaN becomes 0x7fff.
    explicit half(std::floating_point auto x) noexcept
        : _bits{detail::half_from_double(static_cast<double>(x))} {}
    explicit half(std::signed_integral auto x) noexcept
        : _bits{detail::half_from_integer(static_cast<int64_t>(x))} {}
    explicit half(std::unsigned_integral auto x) noexcept
        : _bits{detail::half_from_integer(static_cast<uint64_t>(x))} {}
    /// The value with exactly these bits, NaNs included.
    [[nodiscard]] static constexpr half from_bits(uint16_t bits) noexcept {
        half x;
        x._bits = bits;
        return x;
    }
    /// The encoding.
    [[nodiscard]] constexpr uint16_t bits() const noexcept { return _bits; }
    /// Exact; a NaN becomes the quiet NaN 0x7fc00000. Host comparisons go through it.
    operator float() const noexcept { return detail::half_to_float(_bits); }

private:
    uint16_t _bits = 0;
};

/// The upper half of a float: 1 sign, 8 exponent, 7 fraction bits; largest finite value 3.39e38.
class bfloat16 {
public:
    bfloat16() = default;///< +0
    /// The nearest bfloat16, ties to even, in one rounding from the exact value, subnormals
    /// included. Too large values become infinite; every NaN becomes 0x7fff.
    explicit bfloat16(std::floating_point auto x) noexcept
        : _bits{detail::bfloat16_from_double(static_cast<double>(x))} {}
    explicit bfloat16(std::signed_integral auto x) noexcept
        : _bits{detail::bfloat16_from_integer(static_cast<int64_t>(x))} {}
    explicit bfloat16(std::unsigned_integral auto x) noexcept
        : _bits{detail::bfloat16_from_integer(static_cast<uint64_t>(x))} {}
    /// The value with exactly these bits, NaNs included.
    [[nodiscard]] static constexpr bfloat16 from_bits(uint16_t bits) noexcept {
        bfloat16 x;
        x._bits = bits;
        return x;
    }
    /// The encoding.
    [[nodiscard]] constexpr uint16_t bits() const noexcept { return _bits; }
    /// Exact; a NaN becomes the quiet NaN 0x7fc00000. Host comparisons go through it.
    operator float() const noexcept { return detail::bfloat16_to_float(_bits); }

private:
    uint16_t _bits = 0;
};

/// 1 sign, 4 exponent (bias 7), 3 fraction bits; no infinity, NaN is 0x7f and 0xff, largest finite
/// value 448. No conversion from float: what overflow does must be said, with `quantize`.
class float8_e4m3fn {
public:
    float8_e4m3fn() = default;///< +0
    /// The value with exactly these bits, NaNs included.
    [[nodiscard]] static constexpr float8_e4m3fn from_bits(uint8_t bits) noexcept {
        float8_e4m3fn x;
        x._bits = bits;
        return x;
    }
    /// The encoding.
    [[nodiscard]] constexpr uint8_t bits() const noexcept { return _bits; }
    /// Exact; a NaN becomes the quiet NaN 0x7fc00000. Host comparisons go through it.
    operator float() const noexcept { return detail::e4m3fn_to_float(_bits); }

private:
    uint8_t _bits = 0;
};

/// 1 sign, 5 exponent (bias 15), 2 fraction bits; infinity is 0x7c, NaN 0x7d to 0x7f, largest
/// finite value 57344. No conversion from float, for the reason given at `float8_e4m3fn`.
class float8_e5m2 {
public:
    float8_e5m2() = default;///< +0
    /// The value with exactly these bits, NaNs included.
    [[nodiscard]] static constexpr float8_e5m2 from_bits(uint8_t bits) noexcept {
        float8_e5m2 x;
        x._bits = bits;
        return x;
    }
    /// The encoding.
    [[nodiscard]] constexpr uint8_t bits() const noexcept { return _bits; }
    /// Exact; a NaN becomes the quiet NaN 0x7fc00000. Host comparisons go through it.
    operator float() const noexcept { return detail::e5m2_to_float(_bits); }

private:
    uint8_t _bits = 0;
};

using f16 = half;
using bf16 = bfloat16;
using f32 = float;
using f64 = double;

static_assert(sizeof(half) == 2 && sizeof(bfloat16) == 2 && sizeof(float8_e4m3fn) == 1 &&
              sizeof(float8_e5m2) == 1 && sizeof(bool) == 1);

namespace detail {
template<typename T> struct ScalarTypeOf {};
template<ScalarType t> struct ScalarTypeConstant { static constexpr ScalarType value = t; };
template<> struct ScalarTypeOf<bool> : ScalarTypeConstant<ScalarType::BOOL> {};
template<> struct ScalarTypeOf<int8_t> : ScalarTypeConstant<ScalarType::INT8> {};
template<> struct ScalarTypeOf<int16_t> : ScalarTypeConstant<ScalarType::INT16> {};
template<> struct ScalarTypeOf<int32_t> : ScalarTypeConstant<ScalarType::INT32> {};
template<> struct ScalarTypeOf<int64_t> : ScalarTypeConstant<ScalarType::INT64> {};
template<> struct ScalarTypeOf<uint8_t> : ScalarTypeConstant<ScalarType::UINT8> {};
template<> struct ScalarTypeOf<uint16_t> : ScalarTypeConstant<ScalarType::UINT16> {};
template<> struct ScalarTypeOf<uint32_t> : ScalarTypeConstant<ScalarType::UINT32> {};
template<> struct ScalarTypeOf<uint64_t> : ScalarTypeConstant<ScalarType::UINT64> {};
template<> struct ScalarTypeOf<half> : ScalarTypeConstant<ScalarType::FLOAT16> {};
template<> struct ScalarTypeOf<bfloat16> : ScalarTypeConstant<ScalarType::BFLOAT16> {};
template<> struct ScalarTypeOf<float> : ScalarTypeConstant<ScalarType::FLOAT32> {};
template<> struct ScalarTypeOf<double> : ScalarTypeConstant<ScalarType::FLOAT64> {};
template<> struct ScalarTypeOf<float8_e4m3fn> : ScalarTypeConstant<ScalarType::FLOAT8_E4M3FN> {};
template<> struct ScalarTypeOf<float8_e5m2> : ScalarTypeConstant<ScalarType::FLOAT8_E5M2> {};
}// namespace detail

/// A C++ type that a view or tile can have as element, without const or reference.
template<typename T>
concept Element = requires {
    detail::ScalarTypeOf<T>::value;
};

/// The format of an element type.
template<Element T> inline constexpr ScalarType scalar_type_of = detail::ScalarTypeOf<T>::value;

/// True for the element types that are floating-point formats, 8-bit ones included.
template<typename T> inline constexpr bool is_floating_element = false;
template<> inline constexpr bool is_floating_element<half> = true;
template<> inline constexpr bool is_floating_element<bfloat16> = true;
template<> inline constexpr bool is_floating_element<float> = true;
template<> inline constexpr bool is_floating_element<double> = true;
template<> inline constexpr bool is_floating_element<float8_e4m3fn> = true;
template<> inline constexpr bool is_floating_element<float8_e5m2> = true;

}// namespace luisa::tile

namespace luisa {
using tile::half;
}// namespace luisa
