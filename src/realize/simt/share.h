// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "plan/plan.h"
#include "realize/cpu/machine_builder.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace luisa::tile::simt {

/// Which elements of a dealt group the running thread has.
struct Share {
    /// Things of which the threads have `at_once` at a time.
    struct Level {
        int64_t extent = 1, at_once = 1;
        [[nodiscard]] int64_t rounds() const { return (extent + at_once - 1) / at_once; }
    };
    plan::Deal deal;
    std::vector<ir::DimExtent> kept_dims, folded_dims;
    ir::DimExtent axis;
    bool axis_folds = false;
    Level kept, folded, along;///< lines, lines, elements of a line
    ir::Value *kept_row = nullptr, *folded_row = nullptr, *lane = nullptr;///< of the first round
};

/// A round of one level. Only in the last one may things be missing.
struct Round {
    ir::Value *number = nullptr;
    bool last = false;
};

/// A vector of the running thread.
struct Vector {
    Round kept, folded, along;
};

}// namespace luisa::tile::simt
