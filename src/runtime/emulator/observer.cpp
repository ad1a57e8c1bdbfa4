// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulator/observer.h"

#include "ir/operation.h"

#include <algorithm>
#include <bit>
#include <variant>

namespace luisa::tile::emulator {

namespace {

std::string text_of(const Observer::Where &where) {
    return "thread " + std::to_string(where.thread) + " of block " + std::to_string(where.block);
}

SourceLoc line_of(const ir::Operation *at) { return at ? at->loc : SourceLoc{}; }

/// What an address must be a multiple of.
uintptr_t alignment_of(const ir::Operation *at) {
    if (const auto *access = at ? std::get_if<ir::MemoryPayload>(&at->payload()) : nullptr) {
        return std::max<uintptr_t>(access->align, 1);
    }
    if (const auto *copy = at ? std::get_if<ir::CopyPayload>(&at->payload()) : nullptr) {
        return copy->bytes;
    }
    return at && std::holds_alternative<ir::LoadMatrixPayload>(at->payload()) ? 16 : 1;
}

}// namespace

void Observer::add_memory(const void *begin, size_t bytes, std::string name, bool defined) {
    auto first = reinterpret_cast<uintptr_t>(begin);
    _memories.push_back({first, first + bytes, std::move(name), defined});
}

void Observer::begin_launch() { _bytes.clear(); }

void Observer::begin_block(int64_t, const void *shared, size_t bytes) {
    _shared.begin = reinterpret_cast<uintptr_t>(shared);
    _shared.end = _shared.begin + bytes;
    _shared_bytes.clear();
    _shown.clear();
}

const Observer::Memory *Observer::memory_of(uintptr_t begin, uintptr_t end) const {
    if (begin >= _shared.begin && end <= _shared.end) {
        return &_shared;
    }
    for (const auto &memory : _memories) {
        if (begin >= memory.begin && end <= memory.end) {
            return &memory;
        }
    }
    return nullptr;
}

/// Whether nothing says that an access came before what a thread does now.
bool Observer::unordered(const Access &before, const Where &now) {
    if (before.where.thread < 0) {
        return false;
    }
    return before.where.block != now.block ||
           (before.where.thread != now.thread && before.where.interval == now.interval);
}

void Observer::race(const Access &before, bool wrote, const Access &now, bool writes,
                    const Memory &memory, uintptr_t address) {
    auto verb = [](bool w) { return w ? " writes" : " reads"; };
    throw RaceError{text_of(now.where) + verb(writes) + " byte " +
                        std::to_string(address - memory.begin) + " of " + memory.name + ", which " +
                        text_of(before.where) + verb(wrote) + ", with no barrier between",
                    line_of(now.at),
                    {{"the other access is here", line_of(before.at)}}};
}

void Observer::check_byte(Byte &byte, const Access &now, bool writes, const Memory &memory,
                          uintptr_t address) {
    bool never = byte.write.where.thread < 0;
    if (!writes && never && !memory.defined) {
        throw BoundsError{text_of(now.where) + " reads byte " +
                              std::to_string(address - memory.begin) + " of " + memory.name +
                              ", which was never written",
                          line_of(now.at)};
    }
    if (byte.copied) {
        throw RaceError{text_of(now.where) + (writes ? " writes byte " : " reads byte ") +
                            std::to_string(address - memory.begin) + " of " + memory.name +
                            ", into which a copy that " + text_of(byte.write.where) +
                            " asked for is under way, with no wait for it between",
                        line_of(now.at),
                        {{"the copy is here", line_of(byte.write.at)}}};
    }
    if (unordered(byte.write, now.where) && !(byte.write.atomic && now.atomic)) {
        race(byte.write, true, now, writes, memory, address);
    }
    if (!writes) {
        bool same = byte.read.where.thread == now.where.thread &&
                    byte.read.where.block == now.where.block;
        byte.other_read = same ? byte.other_read : byte.read;
        byte.read = now;
        return;
    }
    for (const auto *read : {&byte.read, &byte.other_read}) {
        if (unordered(*read, now.where)) {
            race(*read, false, now, true, memory, address);
        }
    }
    byte.write = now;
}

bool Observer::access(const Where &where, const void *address, int64_t bytes, emit::AccessKind kind,
                      const ir::Operation *at) noexcept {
    auto begin = reinterpret_cast<uintptr_t>(address);
    bool inside = true;
    try {
        const auto *memory = memory_of(begin, begin + static_cast<uintptr_t>(bytes));
        if (!memory) {
            inside = false;
            throw BoundsError{text_of(where) +
                                  (kind == emit::AccessKind::READ ? " reads " : " writes ") +
                                  std::to_string(bytes) + " bytes outside of all memory",
                              line_of(at)};
        }
        // Of a vector with a mask, each element is an access of its own.
        auto whole = std::bit_floor(static_cast<uint64_t>(bytes));
        if (auto align = std::min<uint64_t>(alignment_of(at), whole); begin % align != 0) {
            inside = false;
            throw BoundsError{text_of(where) +
                                  (kind == emit::AccessKind::READ ? " reads " : " writes ") +
                                  std::to_string(bytes) + " bytes at byte " +
                                  std::to_string(begin - memory->begin) + " of " + memory->name +
                                  ", which is no multiple of " + std::to_string(align),
                              line_of(at)};
        }
        auto &table = table_of(*memory);
        Access now{where, at, kind == emit::AccessKind::ATOMIC, _shown[where.thread]};
        for (auto byte = begin; byte < begin + static_cast<uintptr_t>(bytes); ++byte) {
            check_byte(table[byte], now, kind != emit::AccessKind::READ, *memory, byte);
        }
    } catch (...) {
        if (!_error) {
            _error = std::current_exception();
        }
    }
    return inside;
}

bool Observer::begin_copy(const Where &where, void *to, int64_t bytes,
                          const ir::Operation *at) noexcept {
    if (!access(where, to, bytes, emit::AccessKind::WRITE, at)) {
        return false;
    }
    auto begin = reinterpret_cast<uintptr_t>(to), end = begin + static_cast<uintptr_t>(bytes);
    for (auto byte = begin; byte < end; ++byte) {
        table_of(*memory_of(begin, end))[byte].copied = true;
    }
    return true;
}

void Observer::end_copy(const Where &where, void *to, int64_t bytes,
                        const ir::Operation *at) noexcept {
    auto begin = reinterpret_cast<uintptr_t>(to), end = begin + static_cast<uintptr_t>(bytes);
    for (auto byte = begin; byte < end; ++byte) {
        table_of(*memory_of(begin, end))[byte].copied = false;
    }
    access(where, to, bytes, emit::AccessKind::WRITE, at);
}

bool Observer::read_panel(const Where &where, const void *address, int64_t bytes,
                          const ir::Operation *at) noexcept {
    if (!access(where, address, bytes, emit::AccessKind::READ, at)) {
        return false;
    }
    auto begin = reinterpret_cast<uintptr_t>(address), end = begin + static_cast<uintptr_t>(bytes);
    try {
        for (auto byte = begin; byte < end; ++byte) {
            const auto &write = _shared_bytes[byte].write;
            if (write.where.thread >= 0 && write.shown == _shown[write.where.thread]) {
                throw RaceError{"a product of panels reads byte " +
                                    std::to_string(byte - _shared.begin) +
                                    " of shared memory, which " + text_of(write.where) +
                                    " wrote and did not make visible to it",
                                line_of(at),
                                {{"it is written here", line_of(write.at)}}};
            }
        }
    } catch (...) {
        if (!_error) {
            _error = std::current_exception();
        }
    }
    return true;
}

void Observer::panels_touched(const Where &where, const ir::Operation *at) noexcept {
    try {
        throw RaceError{text_of(where) +
                            " gives sums to a product of panels that it touched while they were "
                            "under way, or computed without a fence",
                        line_of(at)};
    } catch (...) {
        if (!_error) {
            _error = std::current_exception();
        }
    }
}

void Observer::divergence(int64_t block, const ir::Operation *one,
                          const ir::Operation *other) noexcept {
    try {
        throw RaceError{"threads of block " + std::to_string(block) + " wait at different barriers",
                        line_of(one),
                        {{"others wait here", line_of(other)}}};
    } catch (...) {
        if (!_error) {
            _error = std::current_exception();
        }
    }
}

void Observer::rethrow() {
    if (auto error = std::move(_error)) {
        _error = nullptr;
        std::rethrow_exception(error);
    }
}

}// namespace luisa::tile::emulator
