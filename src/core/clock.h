// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>

namespace luisa::tile {

/// Milliseconds on a clock that never goes back; only differences mean something.
[[nodiscard]] inline double now_ms() {
    return std::chrono::duration<double, std::milli>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

}// namespace luisa::tile
