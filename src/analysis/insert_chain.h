// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/operation.h"

#include <unordered_map>
#include <vector>

namespace luisa::tile::analysis {

/// The values that a state goes through from the start of a body to its yield: inserts on it, directly, in
/// branches and in loops.
struct InsertChain {
    std::vector<const ir::Value *> values;///< after the incoming one
    std::vector<const ir::Operation *> inserts;
    std::unordered_map<const ir::Value *, size_t> uses;///< as links of the chain

    /// Follows `value` back to the first value that is not made inside `region`; null when a link is
    /// no insert, nest or branch.
    const ir::Value *follow(const ir::Value *value, const ir::Region *region);
    /// Whether nothing but the chain reads a value of it.
    [[nodiscard]] bool is_private() const;

private:
    const ir::Value *through_branches(const ir::Operation &op, size_t state);
    const ir::Value *through_loop(const ir::Operation &op, size_t state);
};

}// namespace luisa::tile::analysis
