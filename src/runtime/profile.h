// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/profiler.h>

#include "ir/module.h"
#include "runtime/accelerator.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <vector>

namespace luisa::tile::runtime {

struct ShaderImpl;

/// What a profiler and its stream share.
struct ProfilerState {
    using Clock = std::chrono::steady_clock;

    /// A run, as far as it is known when it was started; the rest is worked out when somebody asks.
    struct Entry {
        std::shared_ptr<const ir::Module> module;
        std::string program;
        SourceLoc loc;
        Clock::time_point begin, end;     ///< of the thread that ran or launched it
        std::shared_ptr<Mark> from, until;///< on an accelerator, around it
        int launches = 0;
        std::vector<std::vector<int64_t>> extents;///< of views, by parameter
        std::vector<std::optional<int64_t>> scalars;
        double bytes = 0;
    };

    std::atomic<bool> active{true};
    mutable std::mutex mutex;
    Clock::time_point begin = Clock::now();
    std::vector<Entry> entries;
    std::shared_ptr<Mark> first;///< of the device's clock, and when the host saw it
    Clock::time_point first_seen;
};

/// `dispatch` of device.h, measured if `profile` is active; null: not measured. `program`: of which it is a command.
void dispatch(const ShaderImpl &shader, const Argument *arguments, int count, SourceLoc loc,
              AcceleratorQueue *queue, ProfilerState *profile, const char *program = "");

}// namespace luisa::tile::runtime
