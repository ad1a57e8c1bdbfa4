// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "plan/plan.h"

#include <string>
#include <vector>

// Parts of what `print` says of a plan.

namespace luisa::tile::plan {

/// "m:128"
[[nodiscard]] std::string dim_text(const ir::DimExtent &dim);
/// "[m:128 n:64]"
[[nodiscard]] std::string dims_text(const std::vector<ir::DimExtent> &dims);
/// "store", "fold", "keep exp", …, and its place.
[[nodiscard]] std::string root_text(const Root &root);
/// The line that stands for a step.
[[nodiscard]] std::string step_text(const Step &step);

}// namespace luisa::tile::plan
