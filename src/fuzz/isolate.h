// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "fuzz/coverage.h"
#include "fuzz/execute.h"

#include <functional>

// Cases run in child processes, so that one that crashes or hangs is named and the rest goes on.

namespace luisa::tile::fuzz {

/// `execute` in a child process; CRASH when a signal ends it, HANG when it needs more than
/// `timeout_s` seconds.
[[nodiscard]] Outcome execute_isolated(const Case &c, int timeout_s);

/// What all programs of a run are for.
struct Target {
    std::string device = "cpu";
    std::string cpu;///< of device "cpu"; empty: what each program's settings say
    void apply(Settings &settings) const;
};

/// The cases `first`, `first + stride`, … below `end` of a run.
struct Batch {
    uint64_t seed = 0, first = 0, end = 0, stride = 1;
    bool every_setting = false;///< each program under all `variants` of its settings
    Target target{};
};

/// What a batch came to.
struct BatchResult {
    struct Failure {
        uint64_t index = 0;
        OutcomeKind kind = OutcomeKind::SAME;
        size_t variant = 0;
    };
    /// A way in which programs are unsupported, and one of them.
    struct Refusal {
        std::string message;///< with `#` for numbers
        uint64_t count = 0, index = 0;
    };
    uint64_t counts[outcome_kind_count] = {};
    Coverage coverage;
    std::vector<Failure> failures;
    std::vector<Refusal> refusals;
};

/// Runs several batches at once, a child process each; a child that crashes or makes no progress
/// for `timeout_s` seconds is replaced by one that goes on behind that case.
[[nodiscard]] std::vector<BatchResult> run_batches(const std::vector<Batch> &batches,
                                                   int timeout_s);

}// namespace luisa::tile::fuzz
