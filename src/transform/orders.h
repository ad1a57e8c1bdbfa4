// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/module.h"

#include <functional>

namespace luisa::tile::transform {

/// Whether the kernel says of some values that they are keys in order.
[[nodiscard]] bool has_orders(const ir::Module &module);

/// Takes each `sorted` by its word: where `keep` holds, nothing computes the value any longer and the operation itself
/// puts the keys in order; elsewhere the value is what computed it, and the operation is gone.
void settle_orders(ir::Module &module, const std::function<bool(const ir::Operation &)> &keep);

}// namespace luisa::tile::transform
