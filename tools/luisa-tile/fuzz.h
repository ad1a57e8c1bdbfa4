// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

// luisa-tile fuzz: random programs on both back ends.

namespace tool {

struct FuzzSettings {
    uint64_t seed = 1, count = 1000;
    int64_t one_case = -1;///< only this case
    int jobs = 0, timeout = 20, reduce = 60;
    std::string save, replay, device, cpu;
    bool coverage = false, print = false, every_setting = false;
};

/// Runs what the settings say and prints the report. Returns the exit status.
int run_fuzz(const FuzzSettings &settings);

}// namespace tool
