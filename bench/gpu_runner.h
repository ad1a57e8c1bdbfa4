// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "options.h"
#include "record.h"
#include "suite.h"

#include <random>

namespace bench {

/// Suites on a GPU. Each case is checked against f64 and then timed by events of the device in two ways: `burst`, in
/// shuffled order after an idle gap each, and `sustained`, back to back; before each call the second-level cache gets
/// other data. On the emulator cases are only checked, and large ones left out.
class GpuRunner {
public:
    explicit GpuRunner(const Options &options);
    /// The exit status: 0, or 1 when a case failed.
    [[nodiscard]] int run();

private:
    struct Ready {
        Record record;
        std::function<void(lt::Stream &)> launch;
        std::vector<double> burst;///< microseconds
    };
    /// Every case that was asked for; ValueError when there is none.
    void prepare_all();
    void prepare(const std::string &suite, const Case &c);
    void measure_burst();
    void measure_sustained();
    void add(const Ready &ready, const char *mode, std::vector<double> microseconds);
    /// Submits one call between two events, behind work that fills the cache with other data.
    void submit(const Ready &ready, const lt::Event &start, const lt::Event &end);

    const Options &_options;
    const bool _emulated;
    lt::Device _device;
    lt::Stream _stream;
    Report _report;
    std::function<void(lt::Stream &)> _flush;
    std::vector<Ready> _ready;
    std::mt19937 _random{2026};///< of the orders
};

}// namespace bench
