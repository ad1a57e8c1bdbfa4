// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

namespace luisa::tile::emulator {

class Observer;

/// The type of every Machine function of a GPU (see realize/simt/program.h).
using KernelFunction = void (*)(const uint64_t *args, void *scratch);

/// One launch of such a function.
struct Launch {
    KernelFunction run = nullptr;
    const uint64_t *args = nullptr;
    void *scratch = nullptr;///< `scratch_bytes` for each block
    int64_t blocks = 1;
    int threads = 32;///< of a block; whole warps
    size_t shared_bytes = 0;
    Observer *observer = nullptr;///< of code that was compiled to tell its accesses
    uint32_t seed = 0;           ///< of the order in which threads take turns; 0: by their number
};

/// Runs one block of a launch on the calling thread: its threads are fibers that take turns. Throws
/// DeviceError when some wait for a barrier or an exchange that others never come to.
void run_block(const Launch &launch, int64_t block);

}// namespace luisa::tile::emulator
