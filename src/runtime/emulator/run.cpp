// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulator/run.h"

#include "runtime/emulator/observer.h"
#include "runtime/emulator/team.h"
#include "runtime/memory.h"
#include "runtime/reports.h"
#include "types/float_environment.h"

#include <algorithm>
#include <memory>

namespace luisa::tile::emulator {

namespace {

/// Blocks that are resident at a time: as many as a GPU of 132 multiprocessors would have, two on each.
constexpr int64_t resident_blocks = 264;

struct Free {
    size_t bytes;
    void operator()(void *p) const { runtime::free_memory(p, bytes); }
};

/// What all blocks of a launch have in common.
struct Job {
    const compiler::EmulatorKernel &kernel;
    const std::function<void(const std::string &)> &print;
    Launch launch;
};

void run_blocks(void *context, int64_t begin, int64_t end) {
    const auto &job = *static_cast<const Job *>(context);
    DefaultFloatEnvironment environment;
    runtime::Reports reports{job.kernel.reports, job.print};
    for (auto block = begin; block < end; ++block) {
        run_block(job.launch, block);
        reports.check();
    }
}

}// namespace

void run_kernel(const compiler::EmulatorKernel &kernel, const uint64_t *args,
                const std::vector<Extent> &memory, runtime::Pool &pool,
                const std::function<void(const std::string &)> &print) {
    std::unique_ptr<Observer> observer;
    if (kernel.machine) {
        observer = std::make_unique<Observer>();
        for (const auto &extent : memory) {
            observer->add_memory(extent.begin, extent.bytes, extent.name, true);
        }
    }
    for (size_t i = 0; i < kernel.phases.size(); ++i) {
        const auto &phase = kernel.phases[i];
        auto blocks = phase.instances < 0 ? resident_blocks
                                          : std::min(phase.instances, resident_blocks);
        if (blocks == 0) {
            continue;
        }
        Job job{kernel, print, {}};
        auto &launch = job.launch;
        launch.run = kernel.functions[i];
        launch.args = args;
        launch.blocks = blocks;
        launch.threads = phase.threads;
        launch.shared_bytes = phase.shared_bytes;
        launch.observer = observer.get();
        launch.seed = observer ? 1 : 0;
        auto bytes = phase.scratch_bytes * static_cast<size_t>(blocks) + 128;
        const std::unique_ptr<void, Free> scratch{runtime::allocate_memory(bytes), Free{bytes}};
        if (!scratch) {
            throw OutOfMemoryError{"no memory for " + std::to_string(bytes) +
                                   " bytes of scratch of a launch"};
        }
        launch.scratch = scratch.get();
        if (observer) {
            observer->begin_launch();
            observer->add_memory(scratch.get(), bytes, "scratch memory", false);
            run_blocks(&job, 0, blocks);
        } else {
            pool.run(blocks, 1, run_blocks, &job);
        }
    }
}

}// namespace luisa::tile::emulator
