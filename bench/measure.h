// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace bench {

/// Runs something `repeats` times and returns the seconds that took. Empty: cannot be done.
using TimedCall = std::function<double(int repeats)>;

/// Times `body` on the clock in use.
[[nodiscard]] TimedCall timed(std::function<void()> body);

struct MeasureOptions {
    int pairs = 9;
    double sample_seconds = 2e-3;///< a sample repeats its call until it takes about this long
    double pause_seconds = 0;    ///< before each sample, for workers of the other side to sleep
};

struct PairResult {
    double ours = 0, peer = 0;///< medians, seconds a call
    double ratio = 0;         ///< median of peer ÷ ours over the pairs
};

/// Alternates ours and the peer. A sample runs once untimed, then is timed.
[[nodiscard]] PairResult measure_pairs(const TimedCall &ours, const TimedCall &peer,
                                       const MeasureOptions &options);
/// Median seconds a call of one side alone.
[[nodiscard]] double measure_alone(const TimedCall &ours, const MeasureOptions &options);

/// Ours, each sample followed at once by a short run of `limit`, which returns the seconds that the same work takes at
/// the limit: at the clock that ours runs at, since clocks follow the load within milliseconds.
[[nodiscard]] PairResult measure_beside(const TimedCall &ours, const std::function<double()> &limit,
                                        const MeasureOptions &options);

[[nodiscard]] double median(std::vector<double> values);

}// namespace bench
