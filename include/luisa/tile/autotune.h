// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/jit.h>

#include <tuple>
#include <type_traits>

// Chooses among configurations of a kernel by measuring each on the user's own arguments.

namespace luisa::tile {

/// What the results of every configuration are compared with.
enum class TuneReference : uint8_t {
    FIRST,      ///< those of the first configuration that runs
    INTERPRETER,///< those of the interpreter: slow, for small arguments
};

/// What one configuration did.
struct TuneTrial {
    double microseconds = 0;///< median of a call; infinite for one that is out
    double compile_ms = 0;
    std::string
        problem;///< why it is out: the error of its capture or compilation, or a wrong result
    /// Whether it may be chosen.
    [[nodiscard]] bool works() const noexcept { return problem.empty(); }
};

/// How to tune.
struct TuneOptions {
    int samples =
        7;///< of each configuration; they take turns, so that a change of clocks meets all
    double sample_ms = 2;///< a sample repeats the call for about this long
    /// A configuration slower than this many times the best is dropped after its first sample.
    double hopeless = 3;
    /// The largest difference between two results, relative to the largest finite number of the reference;
    /// integers must be equal.
    double tolerance = 1e-4;
    TuneReference reference = TuneReference::FIRST;
    /// Whether the choice is looked up, and kept, in the database beside the compiled kernels.
    bool remember = true;
    /// Gets a line when a configuration was compiled and checked, and one at the end; empty: the standard error
    /// stream, if that is a terminal.
    std::function<void(const std::string &)> progress{};
};

namespace runtime {

/// A configuration's kernel, or what was thrown instead.
struct TuneCandidate {
    std::optional<Kernel> kernel;
    std::string problem;
};

struct TuneOutcome {
    size_t index = 0;
    Shader shader;
    std::vector<TuneTrial> trials;
    bool remembered = false;
};

/// Measures the candidates on the arguments, whose contents are as before when it returns or throws. Throws what
/// `dispatch` throws for wrong arguments, and UnsupportedError when no candidate works.
[[nodiscard]] TuneOutcome tune(const Device &device, const std::vector<TuneCandidate> &candidates,
                               const Argument *arguments, int count, const TuneOptions &options,
                               SourceLoc loc);

/// The kernel of a definition for these arguments; a kernel is itself.
template<class Made, class... A>
Kernel kernel_for(const Made &made, const std::tuple<A...> &arguments) {
    if constexpr (std::is_same_v<Made, Kernel>) {
        return made;
    } else {
        std::array<TensorMeta, Made::tensors> metas;
        size_t next = 0;
        auto add = [&]<class X>(const X &x) {
            if constexpr (is_tensor<X>::value) {
                metas[next++] = x.meta();
            }
        };
        std::apply([&](const auto &...x) { (add(x), ...); }, arguments);
        return made.capture_from(metas.data());
    }
}

}// namespace runtime

/// The configuration that is fastest, with its compiled kernel.
template<class Config> struct Tuned {
    Config config;
    size_t index = 0;             ///< of it in the list
    Shader shader;                ///< of it: `stream << tuned.shader(x, y).dispatch()`
    std::vector<TuneTrial> trials;///< one a configuration, in order
    bool remembered =
        false;///< the choice came from the database; only `microseconds` of the trials is known
};

/// Makes a kernel of each configuration, checks it and times it on the arguments, and returns the fastest. The contents of
/// the arguments are as before afterwards.
///
///     struct Tiles { int m, n, k; };
///     auto best = autotune(device, std::vector<Tiles>{{128, 128, 32}, {96, 160, 32}, {64, 64, 64}},
///                          [](Tiles t) { return gemm(t.m, t.n, t.k); }, std::tie(a, b, c));
///     stream << best.shader(a, b, c).dispatch();
///
/// `make_kernel(config)` returns a kernel definition or a captured kernel; what it, the compiler or a wrong result says
/// against a configuration stands in its trial. The choice is remembered by the texts of the kernels, the device and
/// the build of the compiler, so a later process measures nothing. Throws ValueError for an empty list or options out of
/// range, UnsupportedError when nothing works, and what a dispatch throws for wrong arguments.
template<class Config, class Make, class... A>
[[nodiscard]] Tuned<Config> autotune(const Device &device, const std::vector<Config> &configs,
                                     const Make &make_kernel, const std::tuple<A...> &arguments,
                                     const TuneOptions &options = {},
                                     SourceLoc loc = SourceLoc::current()) {
    std::vector<runtime::TuneCandidate> candidates;
    for (const auto &config : configs) {
        runtime::TuneCandidate candidate;
        try {
            candidate.kernel = runtime::kernel_for(make_kernel(config), arguments);
        } catch (const Error &error) {
            candidate.problem = error.what();
        }
        candidates.push_back(std::move(candidate));
    }
    auto bound = std::apply(
        [](const auto &...x) {
            return std::array<runtime::Argument, sizeof...(A)>{runtime::argument_from(x)...};
        },
        arguments);
    auto outcome = runtime::tune(device, candidates, bound.data(), static_cast<int>(sizeof...(A)),
                                 options, loc);
    return {configs[outcome.index], outcome.index, std::move(outcome.shader),
            std::move(outcome.trials), outcome.remembered};
}

}// namespace luisa::tile
