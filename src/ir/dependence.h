// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/operation.h"

#include <unordered_set>
#include <vector>

namespace luisa::tile::ir {

/// The values inside a region that depend on its coordinates: through operands, trip counts,
/// conditions and the states of inner nests, each state by itself.
class Dependence {
public:
    /// Of the values in `region` on `coordinates`. O(operations inside x depth of nests).
    Dependence(const Region &region, const std::vector<Value *> &coordinates)
        : _values(coordinates.begin(), coordinates.end()) {
        scan(region);
    }
    [[nodiscard]] bool contains(const Value *value) const { return _values.count(value) != 0; }

private:
    bool scan(const Region &region);
    bool visit(const Operation &op);
    [[nodiscard]] bool any(const Operation &op, size_t count) const;
    bool mark(const Value *value) { return _values.insert(value).second; }
    bool mark_all(const std::vector<Value *> &values);

    std::unordered_set<const Value *> _values;
};

}// namespace luisa::tile::ir
