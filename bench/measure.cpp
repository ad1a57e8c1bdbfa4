// SPDX-License-Identifier: Apache-2.0
#include "measure.h"

#include "clock.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

namespace bench {

namespace {

constexpr int most_repeats = 1 << 20;

/// How often a call is repeated to take the wanted time, found by doubling.
int calibrate(const TimedCall &call, double seconds) {
    call(1);
    for (int repeats = 1;;) {
        auto taken = call(repeats);
        if (taken >= seconds / 2 || repeats >= most_repeats) {
            auto wanted = std::ceil(seconds / taken * repeats);
            return std::clamp(static_cast<int>(std::min(wanted, 1e6)), 1, most_repeats);
        }
        repeats *= 2;
    }
}

double sample(const TimedCall &call, int repeats, const MeasureOptions &options) {
    if (options.pause_seconds > 0) {
        std::this_thread::sleep_for(std::chrono::duration<double>(options.pause_seconds));
    }
    // Brings data back into caches and wakes sleeping workers.
    call(1);
    return call(repeats) / repeats;
}

}// namespace

TimedCall timed(std::function<void()> body) {
    return [body = std::move(body)](int repeats) {
        auto start = now();
        for (int i = 0; i < repeats; ++i) {
            body();
        }
        return now() - start;
    };
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    auto middle = values.size() / 2;
    return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

PairResult measure_pairs(const TimedCall &ours, const TimedCall &peer,
                         const MeasureOptions &options) {
    auto our_repeats = calibrate(ours, options.sample_seconds);
    auto peer_repeats = calibrate(peer, options.sample_seconds);
    std::vector<double> our_times, peer_times, ratios;
    for (int i = 0; i < options.pairs; ++i) {
        our_times.push_back(sample(ours, our_repeats, options));
        peer_times.push_back(sample(peer, peer_repeats, options));
        ratios.push_back(peer_times.back() / our_times.back());
    }
    return {median(our_times), median(peer_times), median(ratios)};
}

PairResult measure_beside(const TimedCall &ours, const std::function<double()> &limit,
                          const MeasureOptions &options) {
    auto repeats = calibrate(ours, options.sample_seconds);
    std::vector<double> times, limits, ratios;
    for (int i = 0; i < options.pairs; ++i) {
        times.push_back(sample(ours, repeats, options));
        limits.push_back(limit());
        ratios.push_back(limits.back() / times.back());
    }
    return {median(times), median(limits), median(ratios)};
}

double measure_alone(const TimedCall &ours, const MeasureOptions &options) {
    auto repeats = calibrate(ours, options.sample_seconds);
    std::vector<double> times;
    for (int i = 0; i < options.pairs; ++i) {
        times.push_back(sample(ours, repeats, options));
    }
    return median(times);
}

}// namespace bench
