// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "plan/plan.h"

namespace luisa::tile::plan {

/// Steps of a nest whose trip count is static.
[[nodiscard]] int64_t trips(const ir::Operation &nest);

/// The dimensions that a product sums over, as its first operand has them.
[[nodiscard]] std::vector<ir::DimExtent> contracted_dims(const ir::Operation &product);

/// Decides how the elements of the packed operands lie, and proves that no two share a place and none lies outside.
void lay_out_panels(Contraction &contraction);

/// What code reads from the layout of a panel. Distances are in elements.
struct PanelShape {
    int64_t depth = 0;    ///< steps
    int64_t step = 0;     ///< from a step to the next
    int64_t width = 0;    ///< neighbouring columns that lie side by side; 1 for rows
    int64_t neighbour = 0;///< from one block of `width` to the next
    int64_t elements = 0; ///< of the panel, padding included
};
[[nodiscard]] PanelShape shape_of(const IndexMap &layout);

}// namespace luisa::tile::plan
