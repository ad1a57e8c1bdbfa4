// SPDX-License-Identifier: Apache-2.0
#include "machine.h"

#include "clock.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <cmath>
#include <memory>
#include <thread>
#include <vector>

namespace bench {

namespace {

/// Runs `body` on every thread at once and returns the sum of the rates that they saw: each times
/// itself, so that starting threads costs nothing.
template<class F> double total_rate(int threads, const F &body) {
    std::vector<double> rates(static_cast<size_t>(threads));
    std::vector<std::thread> others;
    std::barrier start{threads};
    auto work = [&](int i) {
        start.arrive_and_wait();
        rates[static_cast<size_t>(i)] = body();
    };
    for (int i = 1; i < threads; ++i) {
        others.emplace_back(work, i);
    }
    work(0);
    for (auto &t : others) {
        t.join();
    }
    double sum = 0;
    for (auto r : rates) {
        sum += r;
    }
    return sum;
}

double best_fma_rate() {
    double best = 0;
    for (int i = 0; i < 8; ++i) {
        auto start = now();
        auto flops = kernels::fma_loop();
        best = std::max(best, flops / (now() - start));
    }
    return best;
}

double best_triad_rate(double bytes) {
    auto count = std::max<size_t>(64, static_cast<size_t>(bytes / 12));
    std::vector<float> out(count), x(count, 1.0f), y(count, 2.0f);
    auto moved = 12.0 * static_cast<double>(count);
    auto repeats = std::max(1, static_cast<int>(std::min(1e6, 4e6 / moved)));
    double best = 0;
    auto begin = now();
    for (int i = 0; i < 5 || (i < 200 && now() - begin < 0.02); ++i) {
        auto start = now();
        for (int r = 0; r < repeats; ++r) {
            kernels::triad(out.data(), x.data(), y.data(), count);
            asm volatile("" ::: "memory");
        }
        best = std::max(best, moved * repeats / (now() - start));
    }
    return best;
}

}// namespace

size_t l2_bytes() {
#ifdef _SC_LEVEL2_CACHE_SIZE
    auto bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return bytes > 0 ? static_cast<size_t>(bytes) : 0;
#else
    return 0;
#endif
}

Machine::Machine(int threads) : _threads{threads} {
    auto wall = now(ClockKind::WALL), cpu = now(ClockKind::CPU);
    _fma_rate = total_rate(threads, best_fma_rate);
    wall = now(ClockKind::WALL) - wall;
    cpu = now(ClockKind::CPU) - cpu;
    _share = cpu / (wall * threads);
}

double Machine::fma_rate_now() const {
    return total_rate(_threads, [] {
        auto start = now();
        auto flops = kernels::fma_loop();
        return flops / (now() - start);
    });
}

double Machine::bandwidth(double bytes) {
    // Beyond 2^28 bytes nothing is cached that a kernel reads once; below 2^14 a loop is too short.
    auto log = std::clamp(static_cast<int>(std::lround(std::log2(std::max(1.0, bytes)))), 14, 28);
    auto found = _bandwidth.find(log);
    if (found == _bandwidth.end()) {
        auto each = std::ldexp(1.0, log) / _threads;
        found = _bandwidth
                    .emplace(log, total_rate(_threads, [each] { return best_triad_rate(each); }))
                    .first;
    }
    return found->second;
}

Limit Machine::limit(const Work &work) {
    Limit slowest{"latency", _latency};
    auto consider = [&](const char *name, double seconds) {
        if (seconds > slowest.seconds) {
            slowest = {name, seconds};
        }
    };
    consider("fma", work.flops / _fma_rate);
    auto near = work.bytes <= static_cast<double>(l2_bytes()) * _threads;
    consider(near ? "l2" : "memory", work.bytes / bandwidth(work.bytes));
    return slowest;
}

std::string Machine::describe() {
    auto l2 = static_cast<double>(l2_bytes()) * _threads;
    return fmt::format("{} thread{}: {:.0f} GFLOP/s f32 multiply-add ({}), {:.0f} GB/s in L2, "
                       "{:.0f} GB/s at 32 MiB, {:.1f} GB/s at 256 MiB, {:.1f} us a dispatch",
                       _threads, _threads == 1 ? "" : "s", _fma_rate / 1e9, kernels::vector_name(),
                       bandwidth(l2 / 2) / 1e9, bandwidth(std::ldexp(1.0, 25)) / 1e9,
                       bandwidth(std::ldexp(1.0, 28)) / 1e9, _latency * 1e6);
}

}// namespace bench
