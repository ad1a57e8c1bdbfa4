// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "emit.h"

#include <luisa/tile.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

// What the examples share: random inputs, timing, and one line of results a case.

namespace example {

using namespace luisa::tile;

inline bool quick(int argc, char **argv) {
    return std::any_of(argv, argv + argc, [](const char *a) { return !std::strcmp(a, "--quick"); });
}

/// What stands behind `name` on the command line, or else `otherwise`.
inline std::string option(int argc, char **argv, const char *name, const char *otherwise) {
    for (int i = 1; i + 1 < argc; ++i) {
        if (!std::strcmp(argv[i], name)) {
            return argv[i + 1];
        }
    }
    return otherwise;
}

/// Where an example runs: `--device cpu` (the default), cuda-emulator, cuda or cuda:N. Its tensors are memory of the
/// host; a kernel on a GPU gets copies of them.
class Place {
public:
    Place(int argc, char **argv)
        : _name{option(argc, argv, "--device", "cpu")}, _device{Device::create(_name)},
          _host{apart() ? Device::create("cpu") : _device}, _stream{_device} {}

    [[nodiscard]] const Device &device() const { return _device; }
    /// Of tensors that this program reads and writes.
    [[nodiscard]] const Device &host() const { return _host; }
    [[nodiscard]] Stream &stream() { return _stream; }
    /// Whether a case of so many steps is left out: the emulator is for finding mistakes, not for speed.
    [[nodiscard]] bool skips(int64_t steps) const {
        return _name == "cuda-emulator" && steps > 20'000'000;
    }

    /// The tensor, or its copy on the device.
    template<class T, int R> Tensor<T, R> operator()(const Tensor<T, R> &tensor) {
        if (!apart()) {
            return tensor;
        }
        auto &copy = _copies[tensor.data()];
        if (!copy.on_device) {
            auto made = std::make_shared<Tensor<T, R>>(like(tensor));
            auto elements = std::span<T>{tensor.data(), static_cast<size_t>(tensor.size())};
            copy.on_device = made;
            copy.fetch = [this, made, elements] { _stream << made->copy_to(elements); };
            _stream << made->copy_from(elements);
        }
        return *static_cast<Tensor<T, R> *>(copy.on_device.get());
    }
    /// Waits for what was submitted, copies everything back, and forgets the copies.
    void fetch() {
        for (auto &[data, copy] : _copies) {
            copy.fetch();
        }
        _stream << synchronize();
        _copies.clear();
    }

private:
    struct Copy {
        std::shared_ptr<void> on_device;
        std::function<void()> fetch;
    };
    [[nodiscard]] bool apart() const {
        return _name.rfind("cuda", 0) == 0 && _name != "cuda-emulator";
    }
    template<class T, int R> Tensor<T, R> like(const Tensor<T, R> &tensor) const {
        return [&]<size_t... axes>(std::index_sequence<axes...>) {
            return make_tensor<T>(_device, tensor.extent(static_cast<int>(axes))...);
        }
        (std::make_index_sequence<static_cast<size_t>(R)>{});
    }

    std::string _name;
    Device _device, _host;
    Stream _stream;
    std::map<const void *, Copy> _copies;
};

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
