// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory.h"

#include <cstdint>
#include <cstdlib>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace luisa::tile::runtime {

namespace {

constexpr size_t line = 64, huge = size_t{2} << 20;

// Under the address sanitizer all blocks come from its own heap, which sees accesses beyond their ends.
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
constexpr bool maps_large_blocks = true;

/// `bytes`, a multiple of huge pages, that begin on one.
void *map(size_t bytes) noexcept {
    auto reserved = bytes + huge;
    if (reserved < bytes) {
        return nullptr;
    }
    auto *start = mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                       0);
    if (start == MAP_FAILED) {
        return nullptr;
    }
    auto address = reinterpret_cast<uintptr_t>(start);
    auto before = (huge - address % huge) % huge, after = huge - before;
    auto *memory = static_cast<char *>(start) + before;
    if (before) {
        munmap(start, before);
    }
    if (after) {
        munmap(memory + bytes, after);
    }
    madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}
void unmap(void *memory, size_t bytes) noexcept { munmap(memory, bytes); }
#else
constexpr bool maps_large_blocks = false;
void *map(size_t) noexcept { return nullptr; }
void unmap(void *, size_t) noexcept {}
#endif

bool is_mapped(size_t bytes) noexcept { return maps_large_blocks && bytes >= huge; }

/// 0 where that overflows.
size_t rounded(size_t bytes) noexcept {
    auto unit = bytes >= huge ? huge : line;
    return bytes == 0 ? unit : (bytes + unit - 1) / unit * unit;
}

}// namespace

void *allocate_memory(size_t bytes) noexcept {
    auto all = rounded(bytes);
    if (all < bytes) {
        return nullptr;
    }
    return is_mapped(bytes) ? map(all) : std::aligned_alloc(bytes >= huge ? huge : line, all);
}

void free_memory(void *memory, size_t bytes) noexcept {
    if (memory && is_mapped(bytes)) {
        unmap(memory, rounded(bytes));
    } else {
        std::free(memory);
    }
}

}// namespace luisa::tile::runtime
