// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/module.h"

#include <optional>

namespace luisa::tile::ir {

/// A use of the contents of an object in memory that may come before anything was stored there.
struct EarlyRead {
    const Operation *read = nullptr, *alloc = nullptr;
    /// A nest around all stores that may run zero times; null when there is none.
    const Operation *skipped = nullptr;
};

/// The first early read of a kernel in program order. A store of a part counts for the whole; which elements
/// were stored, the interpreter follows.
[[nodiscard]] std::optional<EarlyRead> find_early_read(const Module &module);

}// namespace luisa::tile::ir
