// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/operation.h"

namespace luisa::tile::plan {

/// Whether a mask holds of the first so many elements along the axis, however many, and of no others.
[[nodiscard]] bool is_prefix_mask(const ir::Value *mask, Dim axis);

/// A mask `first + iota < extent` of an axis of a view: what a load at `first` finds inside of it.
struct BoundsMask {
    const ir::Value *first = nullptr, *view = nullptr;
    size_t axis = 0;
    explicit operator bool() const noexcept { return view != nullptr; }
};
[[nodiscard]] BoundsMask bounds_mask(const ir::Value *mask);

}// namespace luisa::tile::plan
