// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdlib>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace luisa::tile::runtime {

/// `bytes` (at least one) of memory on a cache line, to be freed with `std::free`; null when there is
/// none. Large blocks start on a huge page and ask for huge pages: a matrix product then spends no time
/// on page walks.
[[nodiscard]] inline void *allocate_memory(size_t bytes) noexcept {
    constexpr size_t line = 64, huge = size_t{2} << 20;
    auto alignment = bytes >= huge ? huge : line;
    auto rounded = (bytes + alignment - 1) / alignment * alignment;
    if (rounded < bytes) {
        return nullptr;
    }
    void *memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
#if defined(__linux__)
    if (memory && alignment == huge) {
        madvise(memory, rounded, MADV_HUGEPAGE);
    }
#endif
    return memory;
}

}// namespace luisa::tile::runtime
