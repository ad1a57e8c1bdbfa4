// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/module.h"

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace luisa::tile::simt {

/// Integers low … high.
struct Range {
    int64_t low, high;
};

/// What threads of a block touch: ranges of bytes of memories that do not overlap one another.
class BlockAccesses {
public:
    void add(const BlockAccesses &other);
    /// `memory`: a number for each that overlaps no other.
    void add(int64_t memory, Range bytes, bool writes);
    void add_everything() { _everything = true; }
    [[nodiscard]] bool empty() const noexcept { return !_everything && _parts.empty(); }
    /// Whether both touch a byte, and one of them writes it.
    [[nodiscard]] bool conflicts(const BlockAccesses &other) const;

private:
    /// Disjoint ranges by their first byte.
    using Ranges = std::map<int64_t, int64_t>;
    struct Part {
        Ranges reads, writes;
    };
    static void insert(Ranges &ranges, Range range);
    static bool overlap(const Ranges &a, const Ranges &b);
    std::map<int64_t, Part> _parts;
    bool _everything = false;
};

/// Finds what operations of a Machine function of a block of threads touch, whichever thread runs them.
class AccessFinder {
public:
    AccessFinder(int threads, bool views_overlap, const ir::Region &body);
    /// Adds what the operation itself touches. One that is not known touches everything.
    void add(const ir::Operation &op, BlockAccesses &accesses);

private:
    void add_bytes(const ir::Value *address, int64_t bytes, bool writes, BlockAccesses &accesses);
    void find_copies(const ir::Region &region);
    /// What an i64 scalar can be.
    Range range_of(const ir::Value *value);
    Range compute(const ir::Value *value);

    int _threads;
    bool _views_overlap;
    const ir::Value *_scratch;
    BlockAccesses
        _copies;///< all that copies past the registers touch, some time before a wait for them
    std::unordered_map<const ir::Value *, Range> _ranges;
};

}// namespace luisa::tile::simt
