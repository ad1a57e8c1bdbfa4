// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace luisa::tile::ir {

enum class Opcode : uint8_t {
#define OP(ENUM, NAME, FAMILY, ARITY, TYPES, PAYLOAD) ENUM,
#include "ir/ops.def"
#undef OP
};

inline constexpr size_t opcode_count = 0
#define OP(ENUM, NAME, FAMILY, ARITY, TYPES, PAYLOAD) +1
#include "ir/ops.def"
#undef OP
    ;

enum class Family : uint8_t {
    REGION,
    CONTROL,
    ELEMENTWISE,
    MATH,
    SHAPE,
    CONTRACTION,
    EFFECT,
    MACHINE_REGION,
    MACHINE
};

/// The rule between the element types of operands and result.
enum class TypeRule : uint8_t {
    OWN,          ///< the operation's own rule
    SAME_NUMBER,  ///< operands and result agree; integers, f16, bf16, f32, f64
    SAME_ORDERED, ///< agree; every type but bool
    SAME_SIGNABLE,///< agree; every type but bool (8-bit floats included)
    SAME_INTEGER, ///< agree; integers
    SAME_FLOAT,   ///< agree; f16, bf16, f32, f64
    SAME_BITS,    ///< agree; bool and integers
    COMPARE,      ///< operands agree; result bool
    SELECT,       ///< bool, then two that agree with the result
    FREE,         ///< result chosen by the operation
};

inline constexpr int8_t variadic = -1;

struct OpInfo {
    const char *name;
    Family family;
    int8_t arity;
    TypeRule types;
    uint8_t payload;///< index in the Payload variant
};

[[nodiscard]] const OpInfo &info(Opcode op) noexcept;
[[nodiscard]] inline const char *to_string(Opcode op) noexcept { return info(op).name; }
/// The opcode called `name`. Returns false if there is none.
[[nodiscard]] bool parse_opcode(std::string_view name, Opcode &out) noexcept;

/// Lifted over dimension identities: one element of the result comes from one of each operand.
[[nodiscard]] inline bool is_elementwise(Opcode op) noexcept {
    return info(op).family == Family::ELEMENTWISE || info(op).family == Family::MATH;
}
/// `parallel`, `serial`, `pipeline` or `reduce`.
[[nodiscard]] inline bool is_nest(Opcode op) noexcept { return op <= Opcode::REDUCE; }
/// What stands before region `i` of an operation in the text.
[[nodiscard]] inline std::string_view region_name(Opcode op, size_t i) noexcept {
    static constexpr std::string_view of_reduce[] = {"", "identity", "merge"};
    return i == 0 ? "" : op == Opcode::REDUCE && i < 3 ? of_reduce[i] : "else";
}
/// How many of the `count` regions of an operation yield its results: those of a contract do not.
[[nodiscard]] inline size_t body_count(Opcode op, size_t count) noexcept {
    return op == Opcode::REDUCE && count ? 1 : count;
}

}// namespace luisa::tile::ir
