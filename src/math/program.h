// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace luisa::tile::math {

/// The machine operations a math function expands to. Every one has the same bits on every target,
/// so a function has the same bits wherever its program runs. No operation may be contracted or
/// reassociated.
enum class Op : uint8_t {
    ARGUMENT,///< argument number `immediate` of the function
    CONSTANT,///< the bits `immediate`
    // Floats, one rounding each, or wrapping integers.
    ADD,
    SUB,
    MUL,
    // Floats, correctly rounded.
    DIV,
    FMA,
    SQRT,
    // Floats; only the sign bit changes, of a NaN too.
    NEG,
    ABS,
    RINT, ///< float to the nearest integer, ties to even; keeps the sign of zero
    FLOOR,///< float toward minus infinity
    // Ordered float or signed integer compare; all but NE are false on NaN.
    LT,
    LE,
    GT,
    GE,
    EQ,
    NE,
    SELECT,///< operands: condition, value if true, value if false
    // BOOL or integers.
    AND,
    OR,
    XOR,
    NOT,
    // Integers; the count is an operand of the same kind, below the width.
    SHL,
    SHR_LOGICAL,
    SHR_ARITHMETIC,
    BITCAST,   ///< F32 <-> I32, F64 <-> I64
    TO_INT,    ///< float -> integer of the same width; any value if out of range (it is discarded)
    TO_FLOAT,  ///< signed integer -> float of the same width, one rounding
    WIDEN,     ///< F32 -> F64 exactly, I32 -> I64 with the sign
    NARROW,    ///< F64 -> F32 with one rounding, I64 -> I32 keeping the low bits
    SCALE,     ///< a * 2^n, both floats, n integral or NaN; see below
    SCALE_DOWN,///< the same for 0 <= a < 2^64, -200 <= n <= 0, of F32; many results are subnormal
    TABLE,     ///< I32 -> I32: entry operand 0 of `tables[immediate]`; the index is always in range
};
// SCALE rounds once, subnormal results included; this is x86 vscalef. Any n is allowed, infinite too:
// the result then is a zero or an infinity of a's sign, but a zero a with n = +inf and an infinite a
// with n = -inf do not occur; NaN in either operand gives NaN. In the programs |n| <= 1100 in F32 and
// 4500 in F64; 2^-64 < |a| < 2^64, or n = 0, or a is 0, inf or NaN; where n is NaN, the function's
// result is NaN whatever SCALE gives. Hence a target without vscalef may compute
//     i = TO_INT(n) clamped to +-252 (F64: +-2044), h = i >> 1 (arithmetic),
//     (a * pow2(h)) * pow2(i - h), pow2(k) = BITCAST((k + bias) << mantissa_bits):
// the first product is exact, the second rounds once.

enum class Kind : uint8_t { F32, F64, I32, I64, BOOL };

/// One operation. Operands are the numbers of earlier instructions; unused ones are 0.
struct Instruction {
    Op op{};
    Kind kind{};///< of the result
    uint16_t operands[3]{};
    uint64_t immediate{};
};

/// A function as a straight line of operations in SSA form: no branches, no memory but the constant
/// tables.
struct Program {
    std::vector<Instruction> instructions;
    uint16_t result{};
    std::vector<std::vector<uint32_t>> tables;
};

/// How many of its operands `op` reads.
[[nodiscard]] int operand_count(Op op) noexcept;
[[nodiscard]] const char *to_string(Op op) noexcept;
[[nodiscard]] const char *to_string(Kind kind) noexcept;
/// The program as text, one instruction a line.
[[nodiscard]] std::string to_string(const Program &program);

/// Runs `program` on the argument bits (floats in the low bits) and returns the result bits. This
/// is the definition that the expansions of all targets are compared with; it is slow.
[[nodiscard]] uint64_t run(const Program &program, const uint64_t *arguments);

}// namespace luisa::tile::math
