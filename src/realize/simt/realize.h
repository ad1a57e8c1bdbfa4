// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "plan/plan.h"
#include "realize/simt/program.h"

namespace luisa::tile::simt {

/// Rewrites a kernel that was planned for teams of threads as Machine form, one function a phase. Throws
/// UnsupportedError naming the operation and its line where there is no realization.
[[nodiscard]] Program realize(const plan::Plan &plan);

}// namespace luisa::tile::simt
