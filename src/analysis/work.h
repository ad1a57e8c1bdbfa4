// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/module.h"

#include <optional>
#include <unordered_map>
#include <vector>

namespace luisa::tile::analysis {

/// What is known of a launch beside the kernel: by parameter, the extents of a view or the value of an integer.
/// What is missing is taken from the kernel's types where it is fixed.
struct LaunchFacts {
    std::vector<std::vector<int64_t>> extents;
    std::vector<std::optional<int64_t>> scalars;
};

/// What an operation does in a whole launch.
struct OperationWork {
    double executions = 0;///< of the region that it stands in
    double flops =
        0;///< on floating-point numbers; a multiply-add counts two, a function such as exp one
    double loaded = 0, stored = 0;///< bytes of views, again each time
};

struct Work {
    std::unordered_map<const ir::Operation *, OperationWork> of;
    double flops = 0, loaded = 0, stored = 0;///< of all operations
    bool known = true;///< false: a loop runs as often as data says; counted once
    bool exact = true;///< false: some instances stand for others, or a branch is counted as taken
};

/// Counts what the program asks for, whatever a back end computes again. Elements of tiles that lie outside of the
/// views they are loaded from or stored to do not count. Time is bounded: of long domains some indices are looked at.
[[nodiscard]] Work count_work(const ir::Function &kernel, const LaunchFacts &launch = {});

}// namespace luisa::tile::analysis
