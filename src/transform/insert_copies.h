// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/module.h"

namespace luisa::tile::transform {

/// Whether an instance of a `parallel` reads again what it inserted into a tile of an outer scope under a branch
/// or in a loop.
[[nodiscard]] bool has_observed_inserts(const ir::Module &module);

/// Does such inserts twice: once into the outer tile, which nothing in the instance reads then, and once into a
/// tile of the instance's own that is read.
void separate_observed_inserts(ir::Module &module);

}// namespace luisa::tile::transform
