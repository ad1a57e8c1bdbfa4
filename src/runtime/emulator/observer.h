// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "emit/llvm/team.h"

#include <luisa/tile/error.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <unordered_map>
#include <vector>

namespace luisa::tile::emulator {

/// Follows every byte that a launch touches. Two accesses to a byte of which one writes are ordered only by a
/// barrier between them, for threads of one block, and not at all for threads of two blocks: whatever the order
/// in which the emulator happens to run them, anything else is a race. Used by one thread.
class Observer {
public:
    /// Memory that code may touch. Reading bytes that were never written is an error unless they are `defined`.
    void add_memory(const void *begin, size_t bytes, std::string name, bool defined);
    /// What is shared by a block is forgotten when the next one starts.
    void begin_block(int64_t block, const void *shared, size_t bytes);
    void begin_launch();

    struct Where {
        int64_t block, thread;
        int64_t interval;///< barriers that the thread has passed
    };
    /// False: the access is outside of all memory, and must not be done.
    bool access(const Where &where, const void *address, int64_t bytes, emit::AccessKind kind,
                const ir::Operation *at) noexcept;
    /// A copy into memory is asked for: from here on until it is done nobody may touch these bytes.
    bool begin_copy(const Where &where, void *to, int64_t bytes, const ir::Operation *at) noexcept;
    void end_copy(const Where &where, void *to, int64_t bytes, const ir::Operation *at) noexcept;
    /// What a thread wrote to shared memory so far may be read by products of panels.
    void show_writes(int64_t thread) noexcept { ++_shown[thread]; }
    /// A read by the product of a warpgroup: of what was shown after it was written.
    bool read_panel(const Where &where, const void *address, int64_t bytes,
                    const ir::Operation *at) noexcept;
    /// Sums of a product that is under way were touched, or computed without a fence.
    void panels_touched(const Where &where, const ir::Operation *at) noexcept;
    /// Threads of a block wait at two different barriers.
    void divergence(int64_t block, const ir::Operation *one, const ir::Operation *other) noexcept;
    /// Throws what was found first.
    void rethrow();

private:
    struct Memory {
        uintptr_t begin, end;
        std::string name;
        bool defined;
    };
    struct Access {
        Where where{-1, -1, -1};
        const ir::Operation *at = nullptr;
        bool atomic = false;
        int64_t shown = 0;///< how often the thread had shown what it wrote before
    };
    struct Byte {
        Access write, read, other_read;///< the last of each, and a read by another thread
        bool copied = false;           ///< the last write is a copy that is under way
    };
    [[nodiscard]] const Memory *memory_of(uintptr_t begin, uintptr_t end) const;
    [[nodiscard]] static bool unordered(const Access &before, const Where &now);
    void check_byte(Byte &byte, const Access &now, bool writes, const Memory &memory,
                    uintptr_t address);
    [[nodiscard]] std::unordered_map<uintptr_t, Byte> &table_of(const Memory &memory) {
        return &memory == &_shared ? _shared_bytes : _bytes;
    }
    void race(const Access &before, bool wrote, const Access &now, bool writes,
              const Memory &memory, uintptr_t address);

    std::vector<Memory> _memories;
    Memory _shared{0, 0, "shared memory", false};
    std::unordered_map<uintptr_t, Byte> _bytes, _shared_bytes;
    std::unordered_map<int64_t, int64_t> _shown;///< how often each thread of the block did
    std::exception_ptr _error;
};

}// namespace luisa::tile::emulator
