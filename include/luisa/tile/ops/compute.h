// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/exchange.h>

#include <limits>
#include <string>

// What the library functions share. They are compositions of the language: each captures to its expansion, and
// the planner fuses it like code written by hand.

namespace luisa::tile::core {
/// Poisons the capture and throws.
[[noreturn]] void fail(ErrorKind kind, std::string message, SourceLoc loc,
                       std::vector<Error::Note> notes);
}// namespace luisa::tile::core

namespace luisa::tile::ops {

/// The type in which a library function computes: f32 for half and bf16, else T itself.
template<class T>
using Compute = std::conditional_t<is_floating_element<T> && (sizeof(T) < 4), float, T>;

/// x in its compute type.
template<class T>
[[nodiscard]] Tile<Compute<T>> widen(const Tile<T> &x, SourceLoc loc = SourceLoc::current()) {
    if constexpr (std::same_as<T, Compute<T>>) {
        return {x.value(loc), loc};
    } else {
        return cast<Compute<T>>(x, loc);
    }
}
/// A computed value as T: one rounding, none where T computes.
template<class T>
[[nodiscard]] Tile<T> narrow(const Tile<Compute<T>> &x, SourceLoc loc = SourceLoc::current()) {
    if constexpr (std::same_as<T, Compute<T>>) {
        return {x.value(loc), loc};
    } else {
        return cast<T>(x, loc);
    }
}

/// The number of elements along `dims`; a dimension that x lacks: IndexError in the name of `what`.
template<class T>
[[nodiscard]] int64_t count_along(const char *what, const Tile<T> &x, const std::vector<Dim> &dims,
                                  SourceLoc loc) {
    int64_t count = 1;
    for (auto d : dims) {
        bool found = false;
        for (const auto &own : core::dims_of(x.value(loc))) {
            if (own.dim == d) {
                count *= own.extent;
                found = true;
            }
        }
        if (!found) {
            core::fail(ErrorKind::INDEX,
                       std::string{what} + ": the tile lacks the axis" +
                           (d.is_positional() ? " of position " + std::to_string(d.id)
                                              : " '" + std::string{d.label} + "'") +
                           "; name one of its own, such as x.axis(0)",
                       loc, {});
        }
    }
    return count;
}

}// namespace luisa::tile::ops
