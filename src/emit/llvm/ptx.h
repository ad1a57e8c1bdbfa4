// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "emit/llvm/jit.h"
#include "target/cuda.h"

#include <string>
#include <vector>

namespace luisa::tile::emit {

/// How one function of a module is launched.
struct GpuKernel {
    std::string function;
    int threads = 0; ///< of a block; 0: any number
    int resident = 0;///< blocks that a multiprocessor's registers suffice for; 0: any number
    /// Words that are addresses of memory that nothing writes while the kernel runs.
    std::vector<int64_t> constant_views{};
};

struct GpuOptions {
    const target::CudaFacts *target = nullptr;
    int ptx_isa =
        0;///< version of PTX to write, 80 for 8.0; 0: the oldest that has the architecture
    /// 64-bit words that `argument` reads. A launch passes them by value, and after them, if the code reports,
    /// the address of a report buffer.
    size_t argument_words = 0;
    std::vector<GpuKernel> kernels;///< those that are not named here may have any number of threads
};

// A report buffer is an array of 64-bit words in global memory:
//   0  records that were wanted so far   1  records that there is room for
//   2… records: the site, then `report_values` values

/// Text that the driver or ptxas assembles. Every function of the module is an entry of its name that takes the
/// argument words by value and, if it is kernel(args, scratch), the address of 128-byte aligned memory; `shared`
/// addresses count from the start of the memory that the launch gives a block.
struct GpuCode {
    std::string ptx;
    bool reports = false;    ///< some function has a `report`
    size_t report_values = 0;///< of the longest report
};

inline constexpr size_t report_header_words = 2;

/// Generates PTX for every function of a verified Machine module. Thread safe. Throws CompileError with LLVM's
/// message when code generation fails, TargetError for a version of PTX that lacks the architecture, ResourceError
/// for more arguments or threads than the architecture allows.
[[nodiscard]] GpuCode generate_ptx(const ir::Module &machine, const GpuOptions &options,
                                   EmitTimes *times = nullptr);

/// The LLVM IR of the same, for `luisa-tile compile --emit llvm` and tests.
[[nodiscard]] std::string gpu_llvm_text(const ir::Module &machine, const GpuOptions &options);

}// namespace luisa::tile::emit
