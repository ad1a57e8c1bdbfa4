// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bench {

enum class ClockKind {
    WALL,///< what a user waits
    CPU, ///< processor time of the process: for one thread on a machine that does other work too
};

/// The clock that every measurement reads; set once, before the first.
void use_clock(ClockKind kind);
[[nodiscard]] ClockKind clock_in_use();
/// Seconds since some fixed moment, on the clock in use.
[[nodiscard]] double now();
/// The same on a certain clock.
[[nodiscard]] double now(ClockKind kind);

}// namespace bench
