// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/operation.h"

#include <span>
#include <string>
#include <vector>

namespace luisa::tile::ir {

/// What an `assert` or `print` says, apart from its values: enough to make its text when the program is
/// no longer there.
struct Report {
    bool is_assertion = false;
    std::string text;///< the message or the format
    std::vector<DimExtent> box;
    std::vector<ScalarType> types;///< of the values: the operands, without an assertion's condition
    SourceLoc loc;
};

[[nodiscard]] Report report_of(const Operation &op);

/// The line to print, or the message of the AssertionError. One value an entry of `types`, as raw bits.
[[nodiscard]] std::string text_of(const Report &report, std::span<const uint64_t> values);

}// namespace luisa::tile::ir
