// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

// What the stand-in for NVIDIA's driver tells tests.

struct FakeLaunch {
    unsigned grid = 0, threads = 0, shared = 0;
    uint64_t first_word = 0, report_buffer = 0, scratch = 0;
};

/// What was made and not yet given back.
struct FakeLive {
    size_t blocks = 0, bytes = 0;
    int contexts = 0, streams = 0, events = 0, modules = 0, pinned = 0, pushed = 0;
};
