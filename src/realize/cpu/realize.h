// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "plan/plan.h"
#include "realize/cpu/program.h"

#include <unordered_map>

namespace luisa::tile::cpu {

/// Numbers of the steps of a plan, from 1 on.
using StepNumbers = std::unordered_map<const plan::Step *, uint32_t>;

/// Rewrites a planned kernel as Machine form, one function a phase (and one more where the number of
/// tasks is known at launch only). Takes the plan literally. Throws UnsupportedError naming the
/// operation and its line where the CPU has no realization. With `trace`, operations have the number of their step
/// in place of a source line, and the rooms of scratch memory are listed.
[[nodiscard]] Program realize(const plan::Plan &plan, const StepNumbers *trace = nullptr);

}// namespace luisa::tile::cpu
