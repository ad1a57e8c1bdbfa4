// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compile/blocks.h"
#include "runtime/cpu/pool.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace luisa::tile::emulator {

/// Memory that a dispatch may touch, for kernels that are observed.
struct Extent {
    const void *begin = nullptr;
    size_t bytes = 0;
    std::string name;
};

/// Runs a kernel's phases, blocks over the pool's threads, and returns when all are done. Observed kernels run
/// on the calling thread; what is wrong comes out as an error that names both lines. `print` gets what the kernel
/// prints, one line at a time, from any thread.
void run_kernel(const compiler::EmulatorKernel &kernel, const uint64_t *args,
                const std::vector<Extent> &memory, runtime::Pool &pool,
                const std::function<void(const std::string &)> &print);

}// namespace luisa::tile::emulator
