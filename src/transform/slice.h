// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/rewriter.h"

#include <unordered_set>
#include <vector>

namespace luisa::tile::transform {

/// The operations of a region, and of the regions in it, that chosen values and effects depend on.
/// Nests and branches are cut state by state: one result of a loop does not need the others.
class Slice {
public:
    explicit Slice(const ir::Region &root) noexcept : _root{&root} {}

    /// Adds `value` and all that it depends on inside the root region.
    void add_value(const ir::Value *value);
    /// Adds every store inside `region`, and what it needs to be reached.
    void add_stores(const ir::Region &region);

    [[nodiscard]] bool contains(const ir::Operation *op) const {
        return _operations.count(op) != 0;
    }
    [[nodiscard]] bool contains(const ir::Value *value) const { return _values.count(value) != 0; }
    /// The results of `op` that the slice keeps.
    [[nodiscard]] std::vector<size_t> states_of(const ir::Operation &op) const;

    /// Copies what the slice holds of `region` to a place; the terminator is left out.
    void copy_operations(const ir::Region &region, ir::InsertPoint at, ir::Module &module,
                         ir::Cloner &cloner) const;
    /// Copies a nest or branch with the given states only. Its results are mapped.
    ir::Operation *copy_with_regions(const ir::Operation &op, const std::vector<size_t> &states,
                                     ir::InsertPoint at, ir::Module &module,
                                     ir::Cloner &cloner) const;

private:
    void add_operation(const ir::Operation *op);
    void add_state(const ir::Operation *op, size_t state);
    [[nodiscard]] bool is_inside(const ir::Region *region) const {
        return region && _root->encloses(region);
    }

    const ir::Region *_root;
    std::unordered_set<const ir::Operation *> _operations;
    std::unordered_set<const ir::Value *> _values;
};

/// Operands of a nest, branch or loop before its initial states.
[[nodiscard]] size_t leading_operands(const ir::Operation &op);

}// namespace luisa::tile::transform
