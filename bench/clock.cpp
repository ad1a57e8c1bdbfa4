// SPDX-License-Identifier: Apache-2.0
#include "clock.h"

#include <ctime>

namespace bench {

namespace {

ClockKind chosen = ClockKind::WALL;

}// namespace

void use_clock(ClockKind kind) { chosen = kind; }

ClockKind clock_in_use() { return chosen; }

double now() { return now(chosen); }

double now(ClockKind kind) {
    timespec time{};
    clock_gettime(kind == ClockKind::CPU ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}// namespace bench
