// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/module.h"

namespace luisa::tile::core {

/// Removes states that nothing observes, and every operation whose result is unused. A state lives
/// exactly if its result, or its argument inside the body, reaches something observable by another
/// way than its own yield. A state that comes back unchanged collapses to its initial value.
void prune(ir::Module &module);

/// Makes the order of operations independent of the order in which C++ evaluates operands: effects
/// and regions keep program order; pure operations and loads are placed where a left-to-right
/// depth-first walk from them first needs them. A load stays between the effects that it was written
/// between, every operation in its pipeline stage. Equal constants of a region become one.
/// Expects a pruned module. O(size × depth).
void canonicalize(ir::Module &module);

}// namespace luisa::tile::core
