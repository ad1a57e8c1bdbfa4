// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/operation.h"

#include <functional>
#include <unordered_map>

namespace luisa::tile::analysis {

/// Whether an operation is evaluated where its result is needed: pure, without a loop of its own.
[[nodiscard]] bool is_inline(const ir::Operation &op);

/// How a coordinate changes with one step along a chosen axis.
struct Slope {
    bool known = true;
    int64_t value = 0;
};

/// Slopes of the dimensions of a value, by dimension id; absent means zero.
using Slopes = std::unordered_map<uint32_t, Slope>;

/// What an expression reads: a load or a value that `stop` names, and how its own coordinates move.
struct Leaf {
    const ir::Value *value = nullptr;
    Slopes slopes;
    bool pointwise = true;///< read at the very place of the expression's own element
};

/// Visits the leaves of the inline expression of `value` when its dimensions move by `slopes`:
/// loads and what their coordinates and fallbacks read, and every value for which `is_leaf` holds (region
/// arguments always are).
void visit_leaves(const ir::Value *value, const Slopes &slopes,
                  const std::function<bool(const ir::Value *)> &is_leaf,
                  const std::function<void(const Leaf &)> &visit);

/// Stride in elements along which a load or store moves in its view: the slope-weighted sum of the view's
/// strides. Unknown when a stride is known at launch only, or a coordinate of a mapped one is not affine.
[[nodiscard]] Slope address_slope(const ir::Operation &access, const Slopes &slopes);

/// Strides of a view in elements: `runtime_value` where only the launch knows.
[[nodiscard]] std::vector<int64_t> view_strides(const ir::Type &view);

}// namespace luisa::tile::analysis
