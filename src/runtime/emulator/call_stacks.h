// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>

#include <vector>
#endif

namespace luisa::tile::emulator {

#if defined(__SANITIZE_THREAD__)
/// For functions that begin on one stack of calls and end on another, or never.
#define LUISA_TILE_NOT_FOLLOWED __attribute__((no_sanitize_thread))

/// The thread sanitizer keeps a stack of calls for each thread that it knows. The threads of a block are told to it, or
/// their calls would pile up on that of the host's thread.
class CallStacks {
public:
    void reserve(size_t threads) {
        while (_fibers.size() < threads) {
            _fibers.push_back(__tsan_create_fiber(0));
        }
    }
    /// Right before the host's thread goes on as a thread of the block, and the other way round.
    LUISA_TILE_NOT_FOLLOWED void enter(size_t thread) noexcept {
        _host = __tsan_get_current_fiber();
        __tsan_switch_to_fiber(_fibers.data()[thread], 0);
    }
    LUISA_TILE_NOT_FOLLOWED void leave() noexcept { __tsan_switch_to_fiber(_host, 0); }
    CallStacks() = default;
    CallStacks(const CallStacks &) = delete;
    CallStacks &operator=(const CallStacks &) = delete;
    ~CallStacks() {
        for (auto *fiber : _fibers) {
            __tsan_destroy_fiber(fiber);
        }
    }

private:
    std::vector<void *> _fibers;
    void *_host = nullptr;
};
#else
struct CallStacks {
    void reserve(size_t) noexcept {}
    void enter(size_t) noexcept {}
    void leave() noexcept {}
};
#define LUISA_TILE_NOT_FOLLOWED
#endif

}// namespace luisa::tile::emulator
