// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/operation.h"

namespace luisa::tile::analysis {

/// Bounds of an integer; the extremes of int64 mean "not known".
struct Interval {
    int64_t low = INT64_MIN, high = INT64_MAX;
    [[nodiscard]] bool bounded() const noexcept { return low != INT64_MIN && high != INT64_MAX; }
};

/// What is known of a scalar i64 of Candidate IR from constants, nest domains and arithmetic on
/// them. Never wrong, often wide. O(depth of the expression).
[[nodiscard]] Interval interval_of(const ir::Value *value);

/// Whether two scalars are provably equal: the same computation from the same values.
[[nodiscard]] bool same_scalar(const ir::Value *a, const ir::Value *b);

}// namespace luisa::tile::analysis
