// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/module.h"

#include <string>
#include <vector>

namespace luisa::tile::ir {

/// One broken rule.
struct Violation {
    const Operation *op = nullptr;///< null when it concerns a function or a region argument
    std::string message;
};

/// Checks structure (links, dominance, arity, result types, region shapes) and the rules of the
/// module's form (language.md; ir.md "Verification"). O(size × depth). An empty result is a valid module.
[[nodiscard]] std::vector<Violation> check(const Module &module);

/// Throws VerifyError for the first violation (the rest as notes): the message shows the line of the
/// printed IR with a caret under the operation, and the error carries the operation's C++ location.
void verify(const Module &module);

}// namespace luisa::tile::ir
