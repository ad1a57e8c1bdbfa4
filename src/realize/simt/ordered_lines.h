// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "realize/simt/block_lowering.h"

#include <functional>

namespace luisa::tile::simt {

/// Puts the keys of lines in order: `sharers` threads have a line, or a part of it, `each` keys each. They sort these
/// in registers by a network and merge runs of neighbours: each thread finds by bisection where its part of the merged
/// run begins in both, and goes on from there.
class OrderedLines {
public:
    OrderedLines(BlockLowering &lowering, const plan::Ordering &ordering);
    void run();
    /// Bytes of shared memory that it needs.
    [[nodiscard]] static int64_t staged_bytes(const plan::Ordering &ordering);
    /// Of so many words of `each` bytes with room between them; a multiple of 16.
    [[nodiscard]] static int64_t spaced_bytes(int64_t count, int64_t each);

private:
    struct Key {
        ir::Value *key, *place;///< the place is null where it is in the key
    };
    using Keys = std::vector<Key>;
    /// Keys in memory, by numbers (i32) from `offset` on.
    struct Runs {
        int64_t keys, places;///< rooms
        bool spaced;///< 8 bytes follow every 128, so that threads' parts begin in different banks
        ir::Value *offset = nullptr;
    };

    void short_line();
    void long_line();
    Keys loaded(ir::Value *begin);
    void finish(const Keys &keys, ir::Value *place, ir::Value *begin);

    // The first of a line, without an order of all (ordered_first.cpp).
    void first_of_line();
    Key thread_first(const Keys &keys);
    Key warp_bound(const Key &mine);
    Key block_bound(const Key &mine);
    void gather(const Keys &keys, const Key &bound, ir::Value *&at);
    ir::Value *count(const Keys &keys, const Key &bound);
    std::pair<ir::Value *, ir::Value *> places_of(ir::Value *count);
    void rank(ir::Value *count);
    Key exchanged(const Key &key, ir::Value *lane);
    /// Keys that are gathered at most.
    static constexpr int64_t most_gathered = 512;

    // Keys in registers, and in memory (ordered_runs.cpp).
    Keys sorted(Keys keys);
    Keys merged_part(Keys keys);
    Keys spread(const Keys &keys);
    void write_spread(const Runs &runs, ir::Value *begin, const Keys &keys);
    Keys merged(const Runs &runs, ir::Value *first, ir::Value *run, ir::Value *steps);
    ir::Value *split(const Runs &runs, ir::Value *begin, ir::Value *first, ir::Value *run,
                     ir::Value *steps);
    Runs runs_of(int64_t count);
    void stay_in_place();
    static Values flat(const Keys &keys);
    [[nodiscard]] Keys keys_of(const Values &values) const;
    ir::Value *address(const Runs &runs, int64_t room, ir::Value *at, ScalarType type);
    Key read(const Runs &runs, ir::Value *at);
    void write(const Runs &runs, ir::Value *at, const Key &key);
    /// Whether `a` stands before `b`.
    ir::Value *before(const Key &a, const Key &b);
    Key choose(ir::Value *condition, const Key &yes, const Key &no);

    ir::Value *op(ir::Opcode code, ir::Value *a, ir::Value *b) { return _b.pure(code, {a, b}); }
    ir::Value *number(int64_t value) {
        return _b.constant(ScalarType::INT32, static_cast<uint64_t>(value));
    }
    ir::Value *narrow(ir::Value *value) { return _l.convert(value, ScalarType::INT32); }
    ir::Value *shifted(ir::Value *value, ir::Value *by) {
        return op(ir::Opcode::SHL, value, narrow(by));
    }
    /// Emits what is done where `condition` holds; null: always.
    void when(ir::Value *condition, const std::function<void()> &body);

    BlockLowering &_l;
    MachineBuilder &_b;
    const plan::Ordering &_o;
    int64_t _sharers, _each, _slots, _part;
    std::vector<ir::DimExtent> _order;
    ir::Value *_slot = nullptr, *_place = nullptr;///< of this thread's line, and of it in the line
    ir::Value *_first = nullptr;                  ///< its first number in shared memory
    ir::Value *_active = nullptr, *_writes = nullptr;
    Runs _staged{};
    bool _stays = false;///< the result lies where the runs were
    Point _line;
};

}// namespace luisa::tile::simt
