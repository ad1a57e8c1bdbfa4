// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/scalar_type.h>

#include <cstdint>

// What the element operations of the language mean, on raw bits (convention: types/convert.h).
// The one reference for interpreter, constant folding and tests; no back end is consulted.
//
// - Integers wrap; bool behaves as an unsigned integer of one bit.
// - f16 and bf16 widen to f32, do one f32 operation and round once.
// - A NaN result is the format's one quiet NaN; but `neg` and `abs` touch only the sign bit.
// - The floating-point operations assume the default control word (round to nearest, nothing
//   flushed): hold a `DefaultFloatEnvironment` where a caller's may differ.
// - A type outside an operation's list is an internal error.

namespace luisa::tile::arith {

/// All computing types. Integer x / 0 = 0 and MIN / -1 = MIN; integer division truncates.
[[nodiscard]] uint64_t add(ScalarType type, uint64_t a, uint64_t b);
[[nodiscard]] uint64_t sub(ScalarType type, uint64_t a, uint64_t b);
[[nodiscard]] uint64_t mul(ScalarType type, uint64_t a, uint64_t b);
[[nodiscard]] uint64_t div(ScalarType type, uint64_t a, uint64_t b);

/// Integers only. x % 0 = 0 and MIN % -1 = 0; `rem` has the dividend's sign.
[[nodiscard]] uint64_t rem(ScalarType type, uint64_t a, uint64_t b);
/// Quotient toward -inf, its remainder (the divisor's sign), quotient toward +inf; 0 for b = 0.
[[nodiscard]] uint64_t floor_div(ScalarType type, uint64_t a, uint64_t b);
[[nodiscard]] uint64_t floor_mod(ScalarType type, uint64_t a, uint64_t b);
[[nodiscard]] uint64_t ceil_div(ScalarType type, uint64_t a, uint64_t b);

/// All types, 8-bit floats included. |MIN| = MIN; of an unsigned integer, `abs` is itself.
[[nodiscard]] uint64_t neg(ScalarType type, uint64_t a);
[[nodiscard]] uint64_t abs(ScalarType type, uint64_t a);

/// All types. A NaN operand gives NaN; -0 < +0.
[[nodiscard]] uint64_t minimum(ScalarType type, uint64_t a, uint64_t b);
[[nodiscard]] uint64_t maximum(ScalarType type, uint64_t a, uint64_t b);
/// All types. A NaN operand gives the other one, two NaNs give NaN; -0 < +0.
[[nodiscard]] uint64_t fmin(ScalarType type, uint64_t a, uint64_t b);
[[nodiscard]] uint64_t fmax(ScalarType type, uint64_t a, uint64_t b);

/// Integers and bool.
[[nodiscard]] uint64_t bit_and(ScalarType type, uint64_t a, uint64_t b);
[[nodiscard]] uint64_t bit_or(ScalarType type, uint64_t a, uint64_t b);
[[nodiscard]] uint64_t bit_xor(ScalarType type, uint64_t a, uint64_t b);
[[nodiscard]] uint64_t bit_not(ScalarType type, uint64_t a);
/// Integers and bool. The count has the same type and is read as unsigned; from the width on the
/// result is 0, or all copies of the sign for `shr` of a signed type.
[[nodiscard]] uint64_t shl(ScalarType type, uint64_t a, uint64_t count);
[[nodiscard]] uint64_t shr(ScalarType type, uint64_t a, uint64_t count);

/// All types. With a NaN operand only `ne` is true; -0 equals +0.
[[nodiscard]] bool lt(ScalarType type, uint64_t a, uint64_t b);
[[nodiscard]] bool le(ScalarType type, uint64_t a, uint64_t b);
[[nodiscard]] bool gt(ScalarType type, uint64_t a, uint64_t b);
[[nodiscard]] bool ge(ScalarType type, uint64_t a, uint64_t b);
[[nodiscard]] bool eq(ScalarType type, uint64_t a, uint64_t b);
[[nodiscard]] bool ne(ScalarType type, uint64_t a, uint64_t b);

/// Computing floats. a * b + c with one rounding; f16 and bf16 in f32, then rounded again.
[[nodiscard]] uint64_t fma(ScalarType type, uint64_t a, uint64_t b, uint64_t c);
/// Computing floats. Correctly rounded; NaN below -0.
[[nodiscard]] uint64_t sqrt(ScalarType type, uint64_t a);
/// Computing floats. To an integral value: down, up, nearest with ties to even, toward zero.
[[nodiscard]] uint64_t floor(ScalarType type, uint64_t a);
[[nodiscard]] uint64_t ceil(ScalarType type, uint64_t a);
[[nodiscard]] uint64_t rint(ScalarType type, uint64_t a);
[[nodiscard]] uint64_t trunc(ScalarType type, uint64_t a);

/// The identities of `maximum` and `minimum`: -inf and +inf, or the ends of an integer type. e4m3fn
/// has no infinity, so -448 and 448.
[[nodiscard]] uint64_t lowest(ScalarType type);
[[nodiscard]] uint64_t highest(ScalarType type);

}// namespace luisa::tile::arith
