// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace luisa::tile::math {

/// The machine operations a math function expands to. Every one has the same bits on every target, so a
/// function has the same bits wherever its program runs. No operation may be contracted or reassociated.
enum class Op : uint8_t {
    ARGUMENT,        ///< argument number `immediate` of the function
    CONSTANT,        ///< the bits `immediate`
    ADD, SUB, MUL,   ///< floats (one rounding each) or wrapping integers
    DIV, FMA, SQRT,  ///< floats, correctly rounded
    NEG, ABS,        ///< floats: sign bit only (NaN included)
    RINT,            ///< to the nearest integer, ties to even; keeps the sign of zero
    FLOOR,           ///< toward minus infinity
    LT, LE, GT, GE, EQ,///< ordered float or signed integer compare; false on NaN
    NE,              ///< true on NaN
    SELECT,          ///< operands: condition, value if true, value if false
    AND, OR, XOR, NOT,///< BOOL or integers
    SHL, SHR_LOGICAL, SHR_ARITHMETIC,///< integers; the count is an operand of the same kind, below the width
    BITCAST,         ///< F32 <-> I32, F64 <-> I64
    TO_INT,          ///< float -> integer of the same width. Out of range or NaN: any value (its users discard it)
    TO_FLOAT,        ///< signed integer -> float of the same width, one rounding
    WIDEN,           ///< F32 -> F64 exactly, I32 -> I64 with the sign
    NARROW,          ///< F64 -> F32 with one rounding, I64 -> I32 keeping the low bits
    SCALE,           ///< a * 2^n, both floats, n integral or NaN; see below
    TABLE,           ///< I32 -> I32: entry operand 0 of `tables[immediate]`; the index is always in range
};
// SCALE rounds once, subnormal results included; this is x86 vscalef. Any n is allowed, infinite too: the result then
// is a zero or an infinity of a's sign, but a zero a with n = +inf and an infinite a with n = -inf do not occur; NaN in
// either operand gives NaN. The programs keep 2^-64 < |a| < 2^64 (or a = 0, inf, NaN) and |n| <= 320 in F32
// (|n| <= 2200 in F64), hence a target without vscalef may compute, with i = TO_INT(n), h = i >> 1 (arithmetic):
// (a * pow2(h)) * pow2(i - h), where pow2(k) is BITCAST((k + bias) << mantissa_bits): the first product is exact, only
// the second rounds. (With |n| > 252 in F32, 2044 in F64, clamp n first; the result is 0 or inf anyway.)

enum class Kind : uint8_t { F32, F64, I32, I64, BOOL };

/// One operation. Operands are the numbers of earlier instructions; unused ones are 0.
struct Instruction {
    Op op{};
    Kind kind{};///< of the result
    uint16_t operands[3]{};
    uint64_t immediate{};
};

/// A function as a straight line of operations in SSA form: no branches, no memory but the constant tables.
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

/// Runs `program` on the argument bits (floats in the low bits) and returns the result bits. This is the definition that
/// the expansions of all targets are compared with; it is slow.
[[nodiscard]] uint64_t run(const Program &program, const uint64_t *arguments);

}// namespace luisa::tile::math
