// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/cuda/context.h"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace luisa::tile::runtime::cuda {

/// Memory of one GPU. What is given back is kept for the next request of its size, since asking the driver takes
/// longer than a kernel and waits for the device. Thread safe.
class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
public:
    explicit MemoryPool(std::shared_ptr<const Context> context) : _context{std::move(context)} {}
    ~MemoryPool();
    MemoryPool(const MemoryPool &) = delete;
    MemoryPool &operator=(const MemoryPool &) = delete;

    /// 256-byte aligned memory, of one byte at least. When the device has none left, memory that is kept is given
    /// back first. OutOfMemoryError: what was asked for, what is free, what there is.
    [[nodiscard]] std::shared_ptr<void> allocate(size_t bytes);
    /// Whether `owner` holds memory of a pool.
    [[nodiscard]] static bool is_own(const std::shared_ptr<void> &owner) noexcept;
    /// Gives kept memory back to the driver.
    void trim();
    /// Bytes that are kept for later requests.
    [[nodiscard]] size_t kept_bytes() const;

    /// Calls `release` when memory is short, until the pair of the id is removed: what only finished work holds.
    int add_holder(std::function<void()> release);
    void remove_holder(int id);

private:
    /// What the last holder of memory does.
    struct GiveBack {
        std::shared_ptr<MemoryPool> pool;
        size_t bytes;
        void operator()(void *memory) const noexcept {
            pool->give_back(reinterpret_cast<DevicePointer>(memory), bytes);
        }
    };
    void give_back(DevicePointer pointer, size_t bytes) noexcept;
    DevicePointer take(size_t rounded);
    [[nodiscard]] int ask_driver(size_t bytes, DevicePointer &out) const;
    [[noreturn]] void fail(size_t bytes) const;

    std::shared_ptr<const Context> _context;
    mutable std::mutex _mutex;
    std::multimap<size_t, DevicePointer> _kept;
    std::mutex _holders_mutex;
    std::map<int, std::function<void()>> _holders;
    int _next_holder = 0;
};

/// The size that requests of `bytes` get: eight to a power of two, so that at most an eighth is wasted.
[[nodiscard]] size_t rounded_bytes(size_t bytes) noexcept;

/// Memory of the host that the device reads and writes at full speed.
class PinnedMemory {
public:
    PinnedMemory(std::shared_ptr<const Context> context, size_t bytes);
    ~PinnedMemory();
    PinnedMemory(const PinnedMemory &) = delete;
    PinnedMemory &operator=(const PinnedMemory &) = delete;
    [[nodiscard]] char *data() const noexcept { return static_cast<char *>(_data); }

private:
    std::shared_ptr<const Context> _context;
    void *_data = nullptr;
};

}// namespace luisa::tile::runtime::cuda
