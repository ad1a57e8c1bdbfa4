// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/module.h"

namespace luisa::tile::plan {

/// Throws UnsupportedError for what a program demands and no plan for a CPU can grant: execution levels and
/// memory resources that it lacks, correctly rounded functions. `tasks`: root instances run on cores, or, where
/// teams of threads run them, on blocks.
void check_constraints(const ir::Module &module, bool tasks, bool team);

}// namespace luisa::tile::plan
