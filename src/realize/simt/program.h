// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/module.h"
#include "ir/report.h"

#include <memory>
#include <string>
#include <vector>

namespace luisa::tile::simt {

// A Machine function of a GPU is kernel(args, scratch): `args` points at the words of realize/cpu/program.h,
// `scratch` at memory of the launch, of which block number b has `scratch_bytes` from b · scratch_bytes on.
// All threads of a block run it together. Block b does portions b, b + blocks, … of the phase, so that any
// number of blocks does them all: instances that its threads share, or one for each of them.

/// One launch. Launches of a kernel run one after the other.
struct Phase {
    std::string function;
    int64_t instances = 1;   ///< portions: blocks beyond them do nothing; -1: known at launch only
    int threads = 32;        ///< a block; whole warps of 32
    size_t shared_bytes = 0; ///< a block
    size_t scratch_bytes = 0;///< a block, in global memory
    /// Argument words that are addresses of what nothing writes while the kernel runs.
    std::vector<int64_t> constant_views{};
    int resident = 0;///< blocks that registers of a multiprocessor suffice for; 0: any
};

/// A kernel in Machine form with what its launches need.
struct Program {
    std::unique_ptr<ir::Module> machine;
    std::vector<Phase> phases;
    std::vector<ir::Report> reports;///< by site
};

}// namespace luisa::tile::simt
