// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/error.h>

namespace luisa::tile {

/// Reports a broken invariant of the compiler itself, with the compiler's own file and line.
[[noreturn]] void internal_error(std::string message, SourceLoc loc = SourceLoc::current());

/// Checks an invariant in every build; use it where a violation would give wrong numbers.
inline void require(bool condition, const char *message, SourceLoc loc = SourceLoc::current()) {
    if (!condition) [[unlikely]] {
        internal_error(message, loc);
    }
}

}// namespace luisa::tile
