// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "plan/liveness.h"
#include "plan/plan.h"

#include <optional>

namespace luisa::tile::plan {

/// Predicted time of one execution of `block` on one core, in microseconds, as far as vector operations
/// and cache accesses tell; nothing when a trip count is known at launch only. For choosing how many tasks
/// are claimed at a time and whether they are worth another thread: right within a small factor.
[[nodiscard]] std::optional<double> predict_us(const Plan &plan, const Block &block,
                                               CostModel &cost);

}// namespace luisa::tile::plan
