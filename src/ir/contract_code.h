// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/module.h"

namespace luisa::tile::ir {

/// Whether an operation may stand in the identity or merge region of a contract: pure code that gives one element.
[[nodiscard]] bool is_code_of_elements(const Operation &op);

}// namespace luisa::tile::ir
