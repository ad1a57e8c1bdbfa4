// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "plan/plan.h"

#include <memory>

namespace luisa::tile::compiler {

/// A plan and, where the kernel was transformed for it, the module that it speaks of.
struct Planned {
    std::unique_ptr<ir::Module> transformed;
    plan::Plan plan;
};

/// Brings a verified Candidate module into the form that is planned, and plans it. `lane_bytes`: how many bytes
/// of partial states a reduction with a contract keeps side by side.
[[nodiscard]] Planned make_planned(const ir::Module &candidate, const target::CpuFacts &facts,
                                   const plan::PlanOptions &options, int lane_bytes);

}// namespace luisa::tile::compiler
