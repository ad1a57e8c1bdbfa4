// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/module.h"

#include <optional>
#include <vector>

namespace luisa::tile::ir {

/// A use of the contents of an object in memory that may come before anything was stored there.
struct EarlyRead {
    const Operation *read = nullptr, *alloc = nullptr;
    /// A nest around all stores that may run zero times; null when there is none.
    const Operation *skipped = nullptr;
    /// An element of what is read that no store reaches; empty when nothing at all may have been stored.
    std::vector<int64_t> gap;
};

/// The first early read of a kernel in program order. Boxes at constant coordinates are followed exactly; where
/// coordinates are known at launch only, or loops store, a store of a part counts for the whole, and the
/// interpreter follows which elements were stored.
[[nodiscard]] std::optional<EarlyRead> find_early_read(const Module &module);

}// namespace luisa::tile::ir
