// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>

namespace luisa::tile::runtime {

/// `bytes` (at least one) of memory on a cache line; null when there is none. Large blocks are whole huge pages, fresh
/// from the system: a matrix product then spends no time on page walks. The heap would give parts that it has
/// touched before, whose small pages stay small whatever is asked for.
[[nodiscard]] void *allocate_memory(size_t bytes) noexcept;

/// Frees what `allocate_memory(bytes)` returned; null is fine.
void free_memory(void *memory, size_t bytes) noexcept;

}// namespace luisa::tile::runtime
