// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/module.h"

namespace luisa::tile::transform {

/// Whether a `parallel` of the kernel has a collective state: an outer value that all instances
/// assign alike.
[[nodiscard]] bool has_collective_updates(const ir::Module &module);

/// Moves the computation of collective states out of their `parallel`, behind the test that there is
/// an instance at all, so that it runs once and not once an instance. What an instance needs for
/// itself stays inside. A state stays in the nest only where loads that it depends on stand between
/// stores to the same memory and the nest may have just one instance. `may_alias`: views that are
/// different parameters may be the same memory.
void hoist_collective_updates(ir::Module &module, bool may_alias);

}// namespace luisa::tile::transform
