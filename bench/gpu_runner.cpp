// SPDX-License-Identifier: Apache-2.0
#include "gpu_runner.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <regex>
#include <thread>

namespace bench {

namespace {

// Reading it leaves nothing of the cases' data in any cache that GPUs have.
constexpr int64_t flush_rows = 8192, flush_columns = 4096;
// So often that it takes longer than a host needs to submit the call: peers do that from Python, after an idle gap in a
// tenth of a millisecond.
constexpr int flush_passes = 8;
constexpr std::chrono::milliseconds idle_gap{5};
constexpr int burst_rounds = 15, quick_rounds = 3;
constexpr double sustained_us = 1e5;
constexpr int least_calls = 10, most_calls = 200;
constexpr double most_emulated_bytes = 3.5e6, most_emulated_flops = 1 << 23;

lt::Device open(const Options &options) {
    lt::DeviceOptions how;
    how.cache = false;// the times of compiling are measured too
    return lt::Device::create(options.device, how);
}

/// Reads a buffer of its own, so that what it leaves in the cache need not be written back while a case runs.
std::function<void(lt::Stream &)> make_flush(const lt::Device &device) {
    auto source = lt::tile_kernel([](lt::TensorView<const float, 2> X, lt::TensorView<float, 1> Y) {
        auto c = lt::axis("column", X.extent(1));
        for (auto &nest : lt::parallel(lt::shape(X.extent(0)))) {
            auto row = nest.index();
            auto x = X[lt::coord(row, 0), lt::shape(1, c)];
            Y(lt::coord(row), lt::shape(1)).store(lt::reduce(x, c, lt::maximum));
        }
    });
    auto x = lt::make_tensor<float>(device, flush_rows, flush_columns);
    auto y = lt::make_tensor<float>(device, flush_rows);
    return make_subject(device, source, x, y).launch;
}

/// Runs the case once on poisoned output; its error, which must be within the case's tolerance.
double checked(const Subject &subject, const Case &c, lt::Stream &stream) {
    subject.poison();
    subject.launch(stream);
    stream << lt::synchronize();
    auto error = subject.error();
    if (!(error <= c.tolerance)) {
        throw std::runtime_error{
            fmt::format("our kernel gives a wrong result: error {:.2g}, at most {:.2g} expected",
                        error, c.tolerance)};
    }
    return error;
}

}// namespace

GpuRunner::GpuRunner(const Options &options)
    : _options{options}, _emulated{options.device == "cuda-emulator"}, _device{open(options)},
      _stream{_device}, _report{options.json} {}

int GpuRunner::run() {
    fmt::print("{}\n", _device.description());
    prepare_all();
    if (_emulated) {
        for (const auto &ready : _ready) {
            add(ready, "check", {});
        }
    } else {
        _flush = make_flush(_device);
        measure_burst();
        measure_sustained();
    }
    return _report.failed() ? 1 : 0;
}

void GpuRunner::prepare_all() {
    const std::regex pattern{_options.cases};
    const auto &types = _options.dtypes;
    size_t found = 0, large = 0;
    for (const auto &name : _options.suites) {
        auto suite = std::find_if(all_suites().begin(), all_suites().end(),
                                  [&](const Suite &s) { return s.name == name; });
        for (const auto &c : suite->gpu_cases()) {
            bool asked = types.empty() ||
                         std::find(types.begin(), types.end(), c.dtype) != types.end();
            if (!asked || !std::regex_search(c.name, pattern)) {
                continue;
            }
            ++found;
            if (_emulated &&
                (c.work.bytes > most_emulated_bytes || c.work.flops > most_emulated_flops)) {
                ++large;
                continue;
            }
            try {
                prepare(name, c);
            } catch (const std::exception &error) {
                _report.fail(name, c.name, 1, error.what());
            }
        }
    }
    if (found == 0) {
        throw lt::ValueError{fmt::format(
            "--case '{}' leaves no case; names are such as 4096x4096-softmax", _options.cases)};
    }
    if (large > 0) {
        fmt::print("{} cases are too large for the emulator\n", large);
    }
}

void GpuRunner::prepare(const std::string &suite, const Case &c) {
    auto subject = c.prepare(_device);
    Ready ready;
    auto &record = ready.record;
    record.suite = suite;
    record.name = c.name;
    record.dtype = c.dtype;
    record.device = _options.device;
    record.compile_ms = subject.compile_ms;
    record.plan = fmt::format("{:016x}", XXH3_64bits(subject.plan.data(), subject.plan.size()));
    record.limit = c.work.flops > 0 ? "fma" : "memory";
    record.max_error = checked(subject, c, _stream);
    ready.launch = std::move(subject.launch);
    // What checked it holds the reference and the host's copies.
    _ready.push_back(std::move(ready));
}

void GpuRunner::submit(const Ready &ready, const lt::Event &start, const lt::Event &end) {
    // While the device is busy with it, everything behind is submitted: no gap of the host is measured.
    for (int pass = 0; pass < flush_passes; ++pass) {
        _flush(_stream);
    }
    _stream << start;
    ready.launch(_stream);
    _stream << end;
}

void GpuRunner::measure_burst() {
    std::vector<size_t> order(_ready.size());
    std::iota(order.begin(), order.end(), size_t{0});
    auto rounds = _options.quick ? quick_rounds : burst_rounds;
    for (int round = -1; round < rounds; ++round) {
        std::shuffle(order.begin(), order.end(), _random);
        for (auto i : order) {
            std::this_thread::sleep_for(idle_gap);
            lt::Event start, end;
            submit(_ready[i], start, end);
            _stream << lt::synchronize();
            // The first round warms up.
            if (round >= 0) {
                _ready[i].burst.push_back(1e3 * end.milliseconds_since(start));
            }
        }
    }
    for (const auto &ready : _ready) {
        add(ready, "burst", ready.burst);
    }
}

void GpuRunner::measure_sustained() {
    for (const auto &ready : _ready) {
        auto wanted = sustained_us / std::max(median(ready.burst), 1.0);
        auto calls = _options.quick ? quick_rounds
                                    : std::clamp(static_cast<int>(wanted), least_calls, most_calls);
        std::vector<lt::Event> starts(static_cast<size_t>(calls)), ends(starts.size());
        for (size_t i = 0; i < starts.size(); ++i) {
            submit(ready, starts[i], ends[i]);
        }
        _stream << lt::synchronize();
        std::vector<double> times;
        for (size_t i = 0; i < starts.size(); ++i) {
            times.push_back(1e3 * ends[i].milliseconds_since(starts[i]));
        }
        add(ready, "sustained", std::move(times));
    }
}

void GpuRunner::add(const Ready &ready, const char *mode, std::vector<double> microseconds) {
    auto record = ready.record;
    record.mode = mode;
    if (!microseconds.empty()) {
        record.ours_us = median(std::move(microseconds));
    }
    _report.add(record);
}

}// namespace bench
