// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/scalar_type.h>

#include <cstdint>

// The bit-exact conversions of the language: what `cast` and `quantize` mean, for interpreter,
// constant folding and tests. A value of any type is its bits in the low end of a uint64_t;
// arguments may carry anything above the type's width, results are zero there. bool is 0 or 1.
// NaN results are the format's one NaN: f32 7fc00000, f64 7ff8…0, f16 and bf16 7fff, fp8 7f.
//
// All of it is integer code: the caller's rounding mode and flush-to-zero flags do not matter.

namespace luisa::tile::arith {

/// `bits` without what lies above the type's width; for bool, whether the low byte is not zero.
[[nodiscard]] uint64_t normalize(ScalarType type, uint64_t bits) noexcept;

/// The language's `cast`. Float to integer: toward zero, saturating, NaN to 0. To a float: one
/// rounding to nearest even from the exact value. Integer to integer wraps. To bool: x != 0.
/// The same type on both sides keeps the bits. An 8-bit float as `to` is an internal error.
[[nodiscard]] uint64_t convert(uint64_t bits, ScalarType from, ScalarType to);

/// The language's `quantize` to an 8-bit float: one rounding to nearest even from the exact value
/// of any type. Overflow, decided after rounding, and infinity give the largest finite value if
/// `saturate`, else infinity (e5m2) or NaN with the sign kept (e4m3fn). NaN gives 0x7f.
[[nodiscard]] uint64_t quantize(uint64_t bits, ScalarType from, ScalarType to, bool saturate);
[[nodiscard]] uint8_t quantize(ScalarType to, double x, bool saturate);

/// The value as a double: exact for every float, bool and integer up to 32 bits, else rounded.
[[nodiscard]] double to_double(ScalarType type, uint64_t bits);
/// The value as a float, rounded once.
[[nodiscard]] float to_float(ScalarType type, uint64_t bits);
/// The value as an integer: sign or zero extended; floats as `cast` does it.
[[nodiscard]] int64_t to_int64(ScalarType type, uint64_t bits);
[[nodiscard]] uint64_t to_uint64(ScalarType type, uint64_t bits);
/// Whether the value is not zero; true for NaN.
[[nodiscard]] bool to_bool(ScalarType type, uint64_t bits);

/// `cast` of a host value to a computing type.
[[nodiscard]] uint64_t from_double(ScalarType type, double x);
[[nodiscard]] uint64_t from_int64(ScalarType type, int64_t x);
[[nodiscard]] uint64_t from_uint64(ScalarType type, uint64_t x);

[[nodiscard]] float half_to_float(uint16_t bits) noexcept;
[[nodiscard]] float bfloat16_to_float(uint16_t bits) noexcept;
[[nodiscard]] float e4m3fn_to_float(uint8_t bits) noexcept;
[[nodiscard]] float e5m2_to_float(uint8_t bits) noexcept;
/// A float widens to double without loss, so these serve both.
[[nodiscard]] uint16_t half_from_double(double x) noexcept;
[[nodiscard]] uint16_t bfloat16_from_double(double x) noexcept;

/// True for the NaN codes of a float type, false for every other type.
[[nodiscard]] bool is_nan(ScalarType type, uint64_t bits) noexcept;
/// True for the infinities of a float type, false for every other type.
[[nodiscard]] bool is_infinite(ScalarType type, uint64_t bits) noexcept;

}// namespace luisa::tile::arith
