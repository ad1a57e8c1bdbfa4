// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/operation.h"

#include <functional>
#include <unordered_map>
#include <vector>

namespace luisa::tile::plan {

/// The operation of `region` that is `op` or contains it.
[[nodiscard]] const ir::Operation *anchor_in(const ir::Operation *op, const ir::Region *region);

/// The operations of the value's own region where its inline expression is finally evaluated:
/// roots, kept operations (`is_kept`), nests. In program order, each once.
[[nodiscard]] std::vector<const ir::Operation *> evaluation_sites(
    const ir::Value *value, const std::function<bool(const ir::Value *)> &is_kept);

/// Stores in `op` or inside it, at any depth.
void visit_stores(const ir::Operation &op, const std::function<void(const ir::Operation &)> &visit);

/// Estimated work of one element of an inline expression, in simple vector operations.
class CostModel {
public:
    explicit CostModel(std::function<bool(const ir::Value *)> is_kept)
        : _is_kept{std::move(is_kept)} {}
    double element_cost(const ir::Value *value);

private:
    std::function<bool(const ir::Value *)> _is_kept;
    std::unordered_map<const ir::Value *, double> _known;
};

}// namespace luisa::tile::plan
