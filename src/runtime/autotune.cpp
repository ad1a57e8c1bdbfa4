// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/autotune.h>

#include "cache/build.h"
#include "cache/choices.h"
#include "core/clock.h"
#include "frontend/kernel_access.h"
#include "runtime/device.h"
#include "runtime/written.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace luisa::tile::runtime {

namespace {

constexpr auto infinite = std::numeric_limits<double>::infinity();

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    auto middle = values.size() / 2;
    return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// A candidate that compiled and was right.
struct Runner {
    size_t index;
    Shader shader;
    int repeats = 1;
    std::vector<double> samples;///< microseconds a call
};

class Tuner {
public:
    Tuner(const Device &device, const std::vector<TuneCandidate> &candidates,
          const Argument *arguments, int count, const TuneOptions &options, SourceLoc loc)
        : _device{device}, _candidates{candidates},
          _arguments{arguments}, _count{count}, _options{options}, _loc{loc} {
        check();
        _outcome.trials.resize(candidates.size());
    }

    TuneOutcome run() {
        auto key = cache::Key{key_text()};
        auto &impl = *_device.shared_impl();
        auto database = _options.remember && impl.options.cache
                            ? cache::ChoiceDatabase::open(
                                  impl.options.cache_directory,
                                  [&impl](const std::string &text) { impl.warn(text); })
                            : nullptr;
        if (database && recall(database->find(key))) {
            return std::move(_outcome);
        }
        auto runners = compile_all();
        measure(runners);
        choose(runners);
        if (database) {
            cache::ChoiceDatabase::Choice choice{_outcome.index, {}};
            for (const auto &trial : _outcome.trials) {
                choice.microseconds.push_back(trial.microseconds);
            }
            database->keep(key, choice);
        }
        return std::move(_outcome);
    }

private:
    void check() const {
        if (_candidates.empty()) {
            throw ValueError{"autotune: the list of configurations is empty", _loc};
        }
        if (_device.shared_impl()->accelerator) {
            throw UnsupportedError{"autotune: the host does not see the memory of device '" +
                                       _device.name() + "'; it tunes for \"cpu\" only",
                                   _loc};
        }
        auto positive = [this](const char *name, double value) {
            if (!(value > 0)) {
                throw ValueError{
                    fmt::format("TuneOptions::{} is {}, expected a number above 0", name, value),
                    _loc};
            }
        };
        positive("samples", _options.samples);
        positive("sample_ms", _options.sample_ms);
        positive("hopeless", _options.hopeless);
        if (!(_options.tolerance >= 0)) {
            throw ValueError{fmt::format("TuneOptions::tolerance is {}, expected a number >= 0",
                                         _options.tolerance),
                             _loc};
        }
    }

    /// All that the times depend on: the kernels, the device, the build of the compiler.
    [[nodiscard]] std::string key_text() const {
        const auto &impl = *_device.shared_impl();
        auto text = fmt::format("autotune 1\n{}\n{}\n{}\n{}\n", cache::build_id(),
                                _device.description(), impl.target.cpu, impl.target.features);
        for (const auto &candidate : _candidates) {
            text += candidate.kernel ? canonical_text(*candidate.kernel) : candidate.problem;
            text += '\0';
        }
        // Runtime extents and scalars are no part of a kernel's text.
        for (int i = 0; i < _count; ++i) {
            const auto &argument = _arguments[i];
            for (int d = 0; d < argument.rank; ++d) {
                text += fmt::format("{}:{} ", argument.extents[d], argument.strides[d]);
            }
            text += argument.is_view ? "\n" : fmt::format("{}\n", argument.bits);
        }
        return text;
    }

    /// Takes a choice from the database, if its kernel still compiles.
    bool recall(const std::optional<cache::ChoiceDatabase::Choice> &choice) {
        if (!choice || choice->microseconds.size() != _candidates.size() ||
            !_candidates[choice->winner].kernel) {
            return false;
        }
        auto compiled = _device.try_compile(*_candidates[choice->winner].kernel);
        if (!compiled) {
            return false;
        }
        static_cast<void>(check_call(*compiled.shader.impl(), _arguments, _count, _loc));
        for (size_t i = 0; i < _candidates.size(); ++i) {
            _outcome.trials[i].microseconds = choice->microseconds[i];
            _outcome.trials[i].problem = _candidates[i].problem;
        }
        _outcome.index = choice->winner;
        _outcome.shader = compiled.shader;
        _outcome.remembered = true;
        return true;
    }

    std::vector<Runner> compile_all() {
        std::vector<Runner> runners;
        for (size_t i = 0; i < _candidates.size(); ++i) {
            auto &trial = _outcome.trials[i];
            trial.microseconds = infinite;
            trial.problem = _candidates[i].problem;
            if (trial.works()) {
                if (auto shader = compile(i)) {
                    runners.push_back({i, *shader, 1, {}});
                }
            }
            say(fmt::format("autotune {}/{}: {}", i + 1, _candidates.size(),
                            trial.works() ? fmt::format("compiled in {:.0f} ms", trial.compile_ms)
                                          : trial.problem));
        }
        if (runners.empty()) {
            throw UnsupportedError{
                fmt::format("autotune: none of the {} configurations works; the first: {}",
                            _candidates.size(), _outcome.trials[0].problem),
                _loc};
        }
        return runners;
    }

    /// The compiled candidate if it gives the reference's results. Wrong arguments are the caller's error.
    std::optional<Shader> compile(size_t i) {
        auto &trial = _outcome.trials[i];
        auto compiled = _device.try_compile(*_candidates[i].kernel);
        if (!compiled) {
            trial.problem = compiled.error->what();
            return std::nullopt;
        }
        trial.compile_ms = compiled.shader.metadata().compile_ms();
        const auto &shader = *compiled.shader.impl();
        static_cast<void>(check_call(shader, _arguments, _count, _loc));
        WrittenViews written{shader, _arguments};
        if (!_reference && _options.reference == TuneReference::INTERPRETER) {
            auto interpreter = Device::create("interpreter");
            auto oracle = interpreter.compile(*_candidates[i].kernel);
            dispatch(*oracle.impl(), _arguments, _count, _loc);
            _reference.emplace(written.contents());
            written.restore();
        }
        dispatch(shader, _arguments, _count, _loc);
        auto result = written.contents();
        written.restore();
        if (!_reference) {
            _reference.emplace(std::move(result));
        } else if (auto wrong = difference(*_reference, result, _options.tolerance);
                   !wrong.empty()) {
            trial.problem = "wrong result: " + wrong;
            return std::nullopt;
        }
        return compiled.shader;
    }

    double sample(Runner &runner) {
        auto start = now_ms();
        for (int i = 0; i < runner.repeats; ++i) {
            dispatch(*runner.shader.impl(), _arguments, _count, _loc);
        }
        return (now_ms() - start) / runner.repeats;
    }

    /// Candidates take turns; those without hope drop out after the first.
    void measure(std::vector<Runner> &runners) {
        auto best = infinite;
        for (int round = 0; round < _options.samples; ++round) {
            for (auto &runner : runners) {
                WrittenViews written{*runner.shader.impl(), _arguments};
                auto warm = sample(runner);
                if (round == 0) {
                    auto wanted = std::clamp(_options.sample_ms / std::max(warm, 1e-6), 1.0, 1e6);
                    runner.repeats = static_cast<int>(wanted);
                }
                runner.samples.push_back(1e3 * sample(runner));
                best = std::min(best, runner.samples.back());
                written.restore();
            }
            if (round == 0) {
                for (auto &runner : runners) {
                    _outcome.trials[runner.index].microseconds = runner.samples[0];
                }
                std::erase_if(runners, [&](const Runner &runner) {
                    return runner.samples[0] > _options.hopeless * best;
                });
            }
        }
    }

    void choose(const std::vector<Runner> &runners) {
        auto best = infinite;
        for (const auto &runner : runners) {
            auto time = median(runner.samples);
            _outcome.trials[runner.index].microseconds = time;
            if (time < best) {
                best = time;
                _outcome.index = runner.index;
                _outcome.shader = runner.shader;
            }
        }
        say(fmt::format("autotune: configuration {} of {} is the fastest, {:.1f} us a call",
                        _outcome.index + 1, _candidates.size(), best));
    }

    void say(const std::string &line) const {
        if (_options.progress) {
            _options.progress(line);
        } else if (isatty(STDERR_FILENO)) {
            fmt::print(stderr, "{}\n", line);
        }
    }

    const Device &_device;
    const std::vector<TuneCandidate> &_candidates;
    const Argument *_arguments;
    int _count;
    const TuneOptions &_options;
    SourceLoc _loc;
    TuneOutcome _outcome;
    std::optional<std::vector<ViewContents>> _reference;
};

}// namespace

TuneOutcome tune(const Device &device, const std::vector<TuneCandidate> &candidates,
                 const Argument *arguments, int count, const TuneOptions &options, SourceLoc loc) {
    return Tuner{device, candidates, arguments, count, options, loc}.run();
}

}// namespace luisa::tile::runtime
