// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/module.h"

#include <string>

namespace luisa::tile::transform {

/// Replaces a `reduce` with a contract by a loop whose states have a lane for each part of the contributions,
/// and the merge of the lanes. Returns how it is done, or nothing, the reduction untouched, when its policy,
/// domain or body does not permit it.
[[nodiscard]] std::string reduce_in_lanes(ir::Module &module, ir::Operation *reduce,
                                          int vector_bytes);

}// namespace luisa::tile::transform
