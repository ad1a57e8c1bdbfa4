// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "emit.h"

#include <luisa/tile.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <vector>

// What the examples share: random inputs, timing, and one line of results a case.

namespace example {

using namespace luisa::tile;

inline bool quick(int argc, char **argv) {
    return std::any_of(argv, argv + argc, [](const char *a) { return !std::strcmp(a, "--quick"); });
}

/// Random values in [-1, 1), the same in every run.
template<int R> void fill(const Tensor<float, R> &t, uint32_t seed) {
    std::mt19937 engine{seed};
    std::uniform_real_distribution<float> uniform{-1, 1};
    for (int64_t i = 0; i < t.size(); ++i) {
        t.data()[i] = uniform(engine);
    }
}

/// Prints results and remembers whether every number was right.
class Report {
public:
    explicit Report(const Device &device) {
        std::printf("%s\n%-34s %11s %11s %13s %11s\n", device.description().c_str(), "case",
                    "compile ms", "time us", "rate", "max error");
    }
    /// `work` in floating-point operations (unit "GFLOP/s") or bytes ("GB/s"); `limit` is the largest
    /// error that counts as right.
    void row(const std::string &name, const Shader &shader, double seconds, double work,
             const char *unit, double error, double limit) {
        bool right = error <= limit;
        _right &= right;
        std::printf("%-34s %11.1f %11.1f %7.1f %-6s %11.2e%s\n", name.c_str(),
                    shader.metadata().compile_ms(), seconds * 1e6, work / seconds / 1e9, unit,
                    error, right ? "" : "  WRONG");
    }
    [[nodiscard]] int status() const { return _right ? 0 : 1; }

private:
    bool _right = true;
};

/// Seconds of one run: the best of several, after one that warms up.
template<class F> double best_seconds(const F &run, bool quick) {
    run();
    double best = 1e30, spent = 0;
    for (int i = 0; i < (quick ? 2 : 50) && (i < 3 || spent < 0.5); ++i) {
        auto start = std::chrono::steady_clock::now();
        run();
        auto seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        best = std::min(best, seconds);
        spent += seconds;
    }
    return best;
}

}// namespace example
