// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/operation.h"

#include <vector>

namespace luisa::tile::analysis {

/// The dimensions of an `mma` by role, each in the order of the value that is named first. A role
/// may hold several dimensions, or none.
struct ContractionRoles {
    std::vector<ir::DimExtent> batch;  ///< in a, b and the accumulator (order of the accumulator)
    std::vector<ir::DimExtent> rows;   ///< in a and the accumulator (order of the accumulator)
    std::vector<ir::DimExtent> columns;///< in b and the accumulator (order of the accumulator)
    std::vector<ir::DimExtent> contracted;///< in a and b only (order of a)
};

/// The roles of a verified `mma`. O(rank²).
[[nodiscard]] ContractionRoles contraction_roles(const ir::Operation &mma);

}// namespace luisa::tile::analysis
