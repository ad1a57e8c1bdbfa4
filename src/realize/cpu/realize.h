// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "plan/plan.h"
#include "realize/cpu/program.h"

namespace luisa::tile::cpu {

/// Rewrites a planned kernel as Machine form, one function a phase (and one more where the number of
/// tasks is known at launch only). Takes the plan literally. Throws UnsupportedError naming the
/// operation and its line where the CPU has no realization.
[[nodiscard]] Program realize(const plan::Plan &plan);

}// namespace luisa::tile::cpu
