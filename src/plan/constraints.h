// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/module.h"

namespace luisa::tile::plan {

/// Throws UnsupportedError for what a program demands and no plan for a CPU can grant: execution levels and
/// memory resources that a CPU lacks, correctly rounded functions. `tasks`: root instances run on cores.
void check_constraints(const ir::Module &module, bool tasks);

}// namespace luisa::tile::plan
