// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include "gpu_runner.h"
#include "record.h"
#include "suite.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <csignal>
#include <regex>

namespace bench {

namespace {

volatile std::sig_atomic_t interrupted = 0;

/// The first Ctrl-C ends the run after the case that is under way; the second ends it at once.
void on_interrupt(int) {
    interrupted = 1;
    static const char message[] = "\ninterrupted: stopping after this case\n";
    (void)!write(STDERR_FILENO, message, sizeof message - 1);
    std::signal(SIGINT, SIG_DFL);
}

struct OpenPeer {
    std::string name;
    std::unique_ptr<Peer> peer;
};

/// The peers that are installed; for each other one a line that says how to get it.
std::vector<OpenPeer> open_peers(const std::vector<std::string> &wanted) {
    std::vector<OpenPeer> open;
    for (const auto &info : all_peers()) {
        if (std::find(wanted.begin(), wanted.end(), info.name) == wanted.end()) {
            continue;
        }
        try {
            open.push_back({info.name, info.open()});
            fmt::print("peer {} {}\n", info.name, open.back().peer->version());
        } catch (const PeerMissing &missing) {
            fmt::print("peer {} is missing: {}\n", info.name, missing.what());
        }
    }
    return open;
}

lt::Device make_device(const std::string &name, int threads) {
    lt::DeviceOptions options;
    options.threads = threads;
    options.cache = false;// the times of compiling are measured too
    return lt::Device::create(name, options);
}

/// Seconds of a dispatch whose kernel stores one number in each thread's share.
double dispatch_latency(const lt::Device &device, int threads, const MeasureOptions &measure) {
    auto nothing = lt::tile_kernel([](lt::TensorView<float, 1> out) {
        for (auto &nest : lt::parallel(lt::shape(out.extent(0)))) {
            out(lt::coord(nest.index()), lt::shape(1)).store(lt::zeros<float>(lt::shape(1)));
        }
    });
    auto out = lt::make_tensor<float>(device, threads);
    return measure_alone(make_subject(device, nothing, out).ours, measure);
}

struct SelectedSuite {
    std::string name;
    std::vector<Case> cases;
};

/// The cases that the options leave, by suite in the order asked for. ValueError when there are none.
std::vector<SelectedSuite> select(const Options &options) {
    const std::regex pattern{options.cases};
    std::vector<SelectedSuite> all;
    size_t count = 0;
    for (const auto &name : options.suites) {
        auto suite = std::find_if(all_suites().begin(), all_suites().end(),
                                  [&](const Suite &s) { return s.name == name; });
        auto cases = suite->cases();
        std::erase_if(cases, [&](const Case &c) {
            auto has_type = options.dtypes.empty() ||
                            std::find(options.dtypes.begin(), options.dtypes.end(), c.dtype) !=
                                options.dtypes.end();
            return !has_type || !std::regex_search(c.name, pattern);
        });
        count += cases.size();
        all.push_back({name, std::move(cases)});
    }
    if (count == 0) {
        throw lt::ValueError{fmt::format("--case '{}' leaves no case of {}; names are such as "
                                         "1024x1024x1024 or 257x1538-softmax",
                                         options.cases, fmt::join(options.suites, ", "))};
    }
    return all;
}

class Runner {
public:
    explicit Runner(const Options &options)
        : _options{options}, _work{select(options)}, _report{options.json}, _peers{open_peers(
                                                                                options.peers)},
          _compares_base{std::find(options.peers.begin(), options.peers.end(), base_peer) !=
                         options.peers.end()} {}

    int run() {
        for (auto threads : _options.threads) {
            start(threads);
            for (const auto &[suite, cases] : _work) {
                run_suite(suite, cases, threads);
            }
        }
        _report.print_summary();
        return interrupted ? 2 : _report.failed() ? 1 : 0;
    }

private:
    void start(int threads) {
        if (interrupted) {
            return;
        }
        _measure.pairs = _options.quick ? 3 : 11;
        _measure.sample_seconds = _options.quick ? 2e-4 : 2e-3;
        // Worker threads of several libraries keep spinning for some milliseconds after a call.
        _measure.pause_seconds = threads == 1 ? 0 : _options.quick ? 5e-3 : 4e-2;
        _device = make_device(_options.device, threads);
        _machine = std::make_unique<Machine>(threads);
        _machine->set_latency(dispatch_latency(_device, threads, _measure));
        for (auto &p : _peers) {
            p.peer->set_threads(threads);
        }
        fmt::print("{}\n{}\n", _device.description(), _machine->describe());
        if (_machine->share() < 0.9 && !_options.cpu_clock) {
            fmt::print(
                "The machine is busy: we got {:.0f}% of the processor time that we asked for. "
                "Do not trust these times.\n",
                100 * _machine->share());
        }
    }

    void run_suite(const std::string &suite, const std::vector<Case> &cases, int threads) {
        for (const auto &c : cases) {
            if (interrupted) {
                return;
            }
            try {
                run_case(suite, c, threads);
            } catch (const std::exception &error) {
                _report.fail(suite, c.name, threads, error.what());
            }
        }
    }

    /// Runs `call` once and returns the error of what it wrote, which must be within the case's.
    static double checked(const TimedCall &call, const Subject &subject, const Case &c,
                          const std::string &who) {
        subject.poison();
        call(1);
        auto error = subject.error();
        if (error > c.tolerance) {
            throw std::runtime_error{fmt::format("{} gives a wrong result: error {:.2g}, at most "
                                                 "{:.2g} expected",
                                                 who, error, c.tolerance)};
        }
        return error;
    }

    void run_case(const std::string &suite, const Case &c, int threads) {
        auto subject = c.prepare(_device);
        Record record;
        record.suite = suite;
        record.name = c.name;
        record.dtype = c.dtype;
        record.device = _options.device;
        record.threads = threads;
        record.mode = _options.cpu_clock ? "cpu-time" : "";
        record.compile_ms = subject.compile_ms;
        record.plan = fmt::format("{:016x}", XXH3_64bits(subject.plan.data(), subject.plan.size()));
        record.max_error = checked(subject.ours, subject, c, "our kernel");
        auto limit = _machine->limit(c.work);
        record.limit = limit.name;
        bool alternates = record.limit == "fma";
        auto add = [&](double seconds) {
            record.ours_us = seconds * 1e6;
            if (!alternates) {
                record.limit_fraction = limit.seconds / seconds;
            }
            _report.add(record);
        };
        auto alone = alternates ? measure_against_peak(subject, c.work, record) : 0;
        bool compared = false;
        auto compare = [&](const TimedCall &call, const std::string &name,
                           const std::string &version) {
            auto result = measure_pairs(subject.ours, call, _measure);
            record.peer = name;
            record.peer_version = version;
            record.peer_us = result.peer * 1e6;
            record.ratio = result.ratio;
            add(result.ours);
            compared = true;
        };
        for (auto &p : _peers) {
            auto call = subject.peer(*p.peer);
            if (call && !interrupted) {
                (void)checked(call, subject, c, p.name);
                compare(call, p.name, p.peer->version());
            }
        }
        if (_compares_base && subject.base && !interrupted) {
            compare(subject.base(), base_peer, "");
        }
        if (!compared) {
            add(alternates ? alone : measure_alone(subject.ours, _measure));
        }
    }

    /// Ours and multiply-adds in registers right behind it: their ratio is the fraction of the limit. Returns the
    /// median seconds of ours.
    double measure_against_peak(const Subject &subject, const Work &work, Record &record) {
        auto result = measure_beside(
            subject.ours, [&] { return work.flops / _machine->fma_rate_now(); }, _measure);
        record.limit_fraction = result.ratio;
        return result.ours;
    }

    Options _options;
    std::vector<SelectedSuite> _work;
    Report _report;
    std::vector<OpenPeer> _peers;
    bool _compares_base = false;
    MeasureOptions _measure;
    lt::Device _device;
    std::unique_ptr<Machine> _machine;
};

}// namespace

int run(const Options &options) {
    if (options.device != "cpu") {
        return GpuRunner{options}.run();
    }
    use_clock(options.cpu_clock ? ClockKind::CPU : ClockKind::WALL);
    Runner runner{options};
    std::signal(SIGINT, on_interrupt);
    return runner.run();
}

}// namespace bench
