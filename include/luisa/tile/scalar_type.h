// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace luisa::tile {

/// The element formats of views and tiles.
enum class ScalarType : uint8_t {
    BOOL,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    FLOAT16,
    BFLOAT16,
    FLOAT32,
    FLOAT64,
    FLOAT8_E4M3FN,
    FLOAT8_E5M2,
};
inline constexpr size_t scalar_type_count = 15;

/// What a format is: one row of the table behind the functions below.
struct ScalarTypeInfo {
    const char *name;///< as printed in TileIR: "f32", "bf16", "e4m3fn", "bool"
    uint8_t bits;    ///< storage width; bool is stored in 8
    bool is_float, is_signed, is_integer;
    bool computes;///< has arithmetic; false for the 8-bit floats
};

/// What is known of an element type: its names, width and kind.
[[nodiscard]] const ScalarTypeInfo &info(ScalarType type) noexcept;
/// The type's name in IR and messages, such as `f32`.
[[nodiscard]] inline const char *to_string(ScalarType t) noexcept { return info(t).name; }
/// Bytes of one element in memory.
[[nodiscard]] inline size_t size_of(ScalarType t) noexcept { return info(t).bits / 8u; }
/// Whether it is a floating-point type of any width.
[[nodiscard]] inline bool is_float(ScalarType t) noexcept { return info(t).is_float; }
/// Whether it is an integer type; bool is none.
[[nodiscard]] inline bool is_integer(ScalarType t) noexcept { return info(t).is_integer; }
/// Whether it has negative values.
[[nodiscard]] inline bool is_signed(ScalarType t) noexcept { return info(t).is_signed; }
/// The type called `name` in TileIR. Returns false if there is none.
[[nodiscard]] bool parse_scalar_type(std::string_view name, ScalarType &out) noexcept;

}// namespace luisa::tile
