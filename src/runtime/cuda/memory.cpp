// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/memory.h"

#include <bit>

namespace luisa::tile::runtime::cuda {

namespace {

constexpr size_t least_bytes = 512;

}// namespace

size_t rounded_bytes(size_t bytes) noexcept {
    if (bytes <= least_bytes) {
        return least_bytes;
    }
    auto unit = std::max(std::bit_floor(bytes - 1) / 8, least_bytes);
    auto rounded = (bytes + unit - 1) / unit * unit;
    return rounded < bytes ? bytes : rounded;
}

MemoryPool::~MemoryPool() {
    if (!_context->abandoned()) {
        trim();
    }
}

int MemoryPool::ask_driver(size_t bytes, DevicePointer &out) const {
    Context::Current current{*_context};
    return _context->cu.mem_alloc(&out, bytes);
}

DevicePointer MemoryPool::take(size_t rounded) {
    std::lock_guard lock{_mutex};
    auto found = _kept.find(rounded);
    if (found == _kept.end()) {
        return 0;
    }
    auto pointer = found->second;
    _kept.erase(found);
    return pointer;
}

std::shared_ptr<void> MemoryPool::allocate(size_t bytes) {
    _context->check_usable();
    auto rounded = rounded_bytes(bytes);
    auto pointer = take(rounded);
    for (int attempt = 0; !pointer; ++attempt) {
        auto result = ask_driver(rounded, pointer);
        if (result == SUCCESS) {
            break;
        }
        if (result != OUT_OF_MEMORY) {
            _context->check(result, "cuMemAlloc");
        }
        if (attempt == 1) {
            fail(bytes);
        }
        {
            std::lock_guard lock{_holders_mutex};
            for (const auto &[id, release] : _holders) {
                release();
            }
        }
        trim();
    }
    return {reinterpret_cast<void *>(pointer), GiveBack{shared_from_this(), rounded}};
}

bool MemoryPool::is_own(const std::shared_ptr<void> &owner) noexcept {
    return std::get_deleter<GiveBack>(owner) != nullptr;
}

void MemoryPool::fail(size_t bytes) const {
    size_t free = 0, total = 0;
    Context::Current current{*_context};
    _context->cu.mem_get_info(&free, &total);
    throw OutOfMemoryError{"no memory on " + _context->name + " for " + std::to_string(bytes) +
                           " bytes: " + std::to_string(free) + " of " + std::to_string(total) +
                           " bytes are free"};
}

void MemoryPool::give_back(DevicePointer pointer, size_t bytes) noexcept {
    try {
        std::lock_guard lock{_mutex};
        _kept.emplace(bytes, pointer);
    } catch (...) {
        // Without room for a note of it, it stays taken until the context ends.
    }
}

void MemoryPool::trim() {
    std::multimap<size_t, DevicePointer> all;
    {
        std::lock_guard lock{_mutex};
        all.swap(_kept);
    }
    try {
        Context::Current current{*_context};
        for (const auto &[bytes, pointer] : all) {
            _context->cu.mem_free(pointer);
        }
    } catch (const Error &) {
        // A broken context has freed everything itself.
    }
}

size_t MemoryPool::kept_bytes() const {
    std::lock_guard lock{_mutex};
    size_t sum = 0;
    for (const auto &[bytes, pointer] : _kept) {
        sum += bytes;
    }
    return sum;
}

int MemoryPool::add_holder(std::function<void()> release) {
    std::lock_guard lock{_holders_mutex};
    _holders.emplace(_next_holder, std::move(release));
    return _next_holder++;
}

void MemoryPool::remove_holder(int id) {
    std::lock_guard lock{_holders_mutex};
    _holders.erase(id);
}

PinnedMemory::PinnedMemory(std::shared_ptr<const Context> context, size_t bytes)
    : _context{std::move(context)} {
    Context::Current current{*_context};
    if (auto result = _context->cu.mem_host_alloc(&_data, bytes, 0); result != SUCCESS) {
        throw OutOfMemoryError{"no pinned memory of the host for " + std::to_string(bytes) +
                               " bytes: " + _context->cu.text(result)};
    }
}

PinnedMemory::~PinnedMemory() {
    if (_context->abandoned()) {
        return;
    }
    try {
        Context::Current current{*_context};
        _context->cu.mem_free_host(_data);
    } catch (const Error &) {
        // A broken context has freed it.
    }
}

}// namespace luisa::tile::runtime::cuda
