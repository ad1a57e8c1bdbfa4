// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "analysis/expressions.h"
#include "plan/plan.h"

namespace luisa::tile::plan {

/// The layout of the Memory that a value is the contents of: an insert, or a state of loops and branches, of
/// contents that began as `memory.alloc`. Nothing for other values and for row-major objects.
[[nodiscard]] std::optional<MemoryLayout> memory_layout(const ir::Value *value);

/// What the place adds up to when coordinates move by `slopes`; not known where that is no constant.
[[nodiscard]] analysis::Slope layout_slope(const MemoryLayout &layout,
                                           const analysis::Slopes &slopes);

}// namespace luisa::tile::plan
