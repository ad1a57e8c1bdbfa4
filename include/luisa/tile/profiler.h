// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/stream.h>

#include <optional>
#include <string>
#include <vector>

namespace luisa::tile {

/// One run of a kernel.
struct ProfilerRecord {
    std::string kernel; ///< its name
    std::string program;///< of which it was a command; empty: dispatched by itself
    SourceLoc location; ///< of the dispatch
    double start_ms = 0;///< since the profiler began
    double duration_ms = 0;
    /// Times are those of the device's own clock; otherwise those of the thread that ran the kernel.
    bool on_device = false;
    int launches =
        0;///< of the device: one for each root nest, and for each set of panels that tasks share
    /// Of the views that it reads and of those that it writes, each element once: what must move at least, unless the
    /// kernel leaves parts of its views out.
    double bytes = 0;
    /// Operations on floating-point numbers that the program asks for inside its views, a multiply-add counted as
    /// two and a function such as exp as one. Nothing where the number depends on data.
    std::optional<double> flops;
};

/// Measures the kernels of a stream while it lives: `Profiler profiler{stream}; stream << …; puts(profiler.table())`.
/// Each dispatch, and each command of a program, is one record. A stream that nobody measures does not pay for it.
///
/// Records of an asynchronous stream appear as its commands are run: synchronise it first. On a GPU, events around each
/// launch measure it, and reading a record waits for it. Usable from any thread.
class Profiler {
public:
    /// StateError when another profiler measures the stream, LifetimeError for a stream that was moved from.
    explicit Profiler(Stream &stream);
    /// Stops.
    ~Profiler();
    Profiler(const Profiler &) = delete;
    Profiler &operator=(const Profiler &) = delete;
    Profiler(Profiler &&) noexcept = default;
    Profiler &operator=(Profiler &&) = delete;

    /// What follows is not measured. The records stay, also after the stream has gone.
    void stop() noexcept;
    /// Forgets the records so far.
    void clear();
    /// In the order in which the kernels ran.
    [[nodiscard]] std::vector<ProfilerRecord> records() const;
    /// A line for each kernel, the longest in total first: calls, total and mean time, share of all, GFLOP/s, GB/s.
    [[nodiscard]] std::string table() const;
    /// The records as JSON that chrome://tracing and ui.perfetto.dev open.
    [[nodiscard]] std::string trace() const;

private:
    std::shared_ptr<runtime::ProfilerState> _state;
};

}// namespace luisa::tile
