// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace luisa::tile {

/// The identity of a dimension. Two values are related along a dimension exactly when they carry
/// the same identity; labels and extents never decide. Ids below `positional_limit` belong to
/// positional dimensions: the integer entries of a `shape(…)`, whose identity is their position.
struct Dim {
    static constexpr uint32_t positional_limit = 64;

    uint32_t id = 0;
    const char *label = "";///< printed in diagnostics only; a literal or an interned name

    /// The identity of entry `position` of a `shape(…)` of integers; `position` < 64.
    static constexpr Dim positional(uint32_t position) noexcept { return {position, ""}; }
    /// Whether an integer in a `shape(…)` made the dimension: it then is its position there.
    [[nodiscard]] constexpr bool is_positional() const noexcept { return id < positional_limit; }
    friend constexpr bool operator==(Dim a, Dim b) noexcept { return a.id == b.id; }
};

/// A new dimension identity. The label is copied. Callable from any thread, inside or outside a
/// capture.
[[nodiscard]] Dim dim(const char *label = "");

}// namespace luisa::tile
