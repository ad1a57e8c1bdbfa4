// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace bench {

/// What one call of a case has to do.
struct Work {
    double flops = 0;///< multiply and add count as two; 0 where arithmetic is not the point
    double bytes = 0;///< each input read once, each output written once
};

/// The time that a call cannot beat on this machine, and what sets it.
struct Limit {
    const char *name = "latency";///< fma, memory, l2 or latency
    double seconds = 0;
};

/// What the machine can do with a number of threads, measured here and now.
class Machine {
public:
    explicit Machine(int threads);
    [[nodiscard]] int threads() const noexcept { return _threads; }
    /// f32 multiply-adds in registers, FLOP/s over all threads.
    [[nodiscard]] double fma_rate() const noexcept { return _fma_rate; }
    /// The same within the next millisecond, at the clock that the processor has now: it falls while a kernel uses
    /// all of a core and takes some milliseconds of multiply-adds in registers to recover.
    [[nodiscard]] double fma_rate_now() const;
    /// How much of the time the threads ran while that was measured: below one when the machine does other
    /// work too, and then no time is to be trusted.
    [[nodiscard]] double share() const noexcept { return _share; }
    /// Bytes a second of a streaming `a = b + s * c` over about that much memory; the best of several
    /// runs, kept for each power of two.
    [[nodiscard]] double bandwidth(double bytes);
    /// The cost of a dispatch that does nothing, measured by the caller.
    void set_latency(double seconds) noexcept { _latency = seconds; }
    [[nodiscard]] double latency() const noexcept { return _latency; }
    /// The slowest of arithmetic, memory traffic and the dispatch alone.
    [[nodiscard]] Limit limit(const Work &work);
    /// One line for people.
    [[nodiscard]] std::string describe();

private:
    int _threads;
    double _fma_rate = 0, _share = 1, _latency = 0;
    std::map<int, double> _bandwidth;///< by log2 of bytes
};

/// Bytes of the second-level cache of one core; 0 where the system does not say.
[[nodiscard]] size_t l2_bytes();

namespace kernels {
/// Does some 2^28 f32 multiply-adds in the widest vectors there are; returns how many FLOP.
double fma_loop();
/// out = x + 3 * y over `count` floats.
void triad(float *out, const float *x, const float *y, size_t count);
/// "AVX-512", "AVX2" or "generic".
const char *vector_name();
}// namespace kernels

}// namespace bench
