// SPDX-License-Identifier: Apache-2.0
#include "realize/simt/ordered_lines.h"

#include <bit>

// Runs of keys: a network in registers, and merges of neighbours through memory.

namespace luisa::tile::simt {

using ir::Opcode;

namespace {

/// Bytes after which room is left: all banks of shared memory once.
constexpr int64_t bank_line = 128;

}// namespace

void OrderedLines::when(ir::Value *condition, const std::function<void()> &body) {
    if (!condition) {
        return body();
    }
    ++_l._alone;
    _b.branch(
        condition,
        [&] {
            body();
            return Values{};
        },
        [] { return Values{}; });
    --_l._alone;
}

ir::Value *OrderedLines::before(const Key &a, const Key &b) {
    auto *less = op(Opcode::LT, a.key, b.key);
    if (!a.place) {
        return less;
    }
    auto *tie = op(Opcode::AND, op(Opcode::EQ, a.key, b.key), op(Opcode::LT, a.place, b.place));
    return op(Opcode::OR, less, tie);
}

OrderedLines::Key OrderedLines::choose(ir::Value *condition, const Key &yes, const Key &no) {
    return {_l.select(condition, yes.key, no.key),
            yes.place ? _l.select(condition, yes.place, no.place) : nullptr};
}

/// Batcher's network by merges of odd and even places.
OrderedLines::Keys OrderedLines::sorted(Keys keys) {
    auto n = keys.size();
    auto exchange = [&](size_t i, size_t j) {
        auto *turned = before(keys[j], keys[i]);
        auto lower = choose(turned, keys[j], keys[i]), upper = choose(turned, keys[i], keys[j]);
        keys[i] = lower;
        keys[j] = upper;
    };
    for (size_t run = 1; run < n; run *= 2) {
        for (size_t by = run; by >= 1; by /= 2) {
            for (size_t begin = by % run; begin + by < n; begin += 2 * by) {
                for (size_t i = begin; i < begin + by && i + by < n; ++i) {
                    if (i / (2 * run) == (i + by) / (2 * run)) {
                        exchange(i, i + by);
                    }
                }
            }
        }
    }
    return keys;
}

int64_t OrderedLines::spaced_bytes(int64_t count, int64_t each) {
    auto bytes = count * each;
    return (bytes + bytes / bank_line * each + each + 15) / 16 * 16;
}

int64_t OrderedLines::staged_bytes(const plan::Ordering &ordering) {
    const auto &how = ordering.how;
    if (how.threads == 1) {
        return 0;
    }
    auto count = int64_t{how.lines} * how.threads * how.each;
    auto key = static_cast<int64_t>(size_of(ordering.keys()->scalar()));
    return spaced_bytes(count, key) + (ordering.places() ? spaced_bytes(count, 8) : 0);
}

OrderedLines::Runs OrderedLines::runs_of(int64_t count) {
    auto room = [&](ScalarType type) {
        return _l.allocate_bytes(count * static_cast<int64_t>(size_of(type)));
    };
    return {room(_o.keys()->scalar()), _o.places() ? room(ScalarType::INT64) : 0, false};
}

ir::Value *OrderedLines::address(const Runs &runs, int64_t room, ir::Value *at, ScalarType type) {
    auto bytes = static_cast<int64_t>(size_of(type));
    at = runs.offset ? op(Opcode::ADD, at, runs.offset) : at;
    if (runs.spaced) {
        auto shift = std::countr_zero(static_cast<uint64_t>(bank_line / bytes));
        at = op(Opcode::ADD, at, op(Opcode::SHR, at, number(shift)));
    }
    return _b.address(_l.start_of(room), _l.convert(at, ScalarType::INT64), bytes);
}

OrderedLines::Key OrderedLines::read(const Runs &runs, ir::Value *at) {
    auto word = [&](int64_t room, ScalarType type) {
        auto bytes = static_cast<uint32_t>(size_of(type));
        return _b.read(Opcode::READ, {address(runs, room, at, type)}, {bytes, false, false},
                       _b.module().scalar(type));
    };
    return {word(runs.keys, _o.keys()->scalar()),
            _o.places() ? word(runs.places, ScalarType::INT64) : nullptr};
}

void OrderedLines::write(const Runs &runs, ir::Value *at, const Key &key) {
    auto word = [&](int64_t room, ir::Value *value) {
        auto type = value->scalar();
        auto bytes = static_cast<uint32_t>(size_of(type));
        _b.effect(Opcode::WRITE, {address(runs, room, at, type), value},
                  ir::MemoryPayload{bytes, false, false});
    };
    word(runs.keys, key.key);
    if (key.place) {
        word(runs.places, key.place);
    }
}

Values OrderedLines::flat(const Keys &keys) {
    Values values;
    for (const auto &key : keys) {
        values.push_back(key.key);
        if (key.place) {
            values.push_back(key.place);
        }
    }
    return values;
}

OrderedLines::Keys OrderedLines::keys_of(const Values &values) const {
    bool wide = _o.places() != nullptr;
    Keys keys;
    for (size_t i = 0; i < values.size(); i += wide ? 2 : 1) {
        keys.push_back({values[i], wide ? values[i + 1] : nullptr});
    }
    return keys;
}

/// The keys of a part, of which each thread has a sorted run.
OrderedLines::Keys OrderedLines::merged_part(Keys keys) {
    if (_sharers == 1) {
        return keys;
    }
    Touched staging;
    staging.writes.insert(&_l._order_room);
    _l.touch(staging);
    auto levels = std::countr_zero(static_cast<uint64_t>(_sharers));
    auto result = _b.loop(
        _b.index(0), _b.index(levels), 1, flat(keys), [&](ir::Value *level, const Values &now) {
            auto mine = keys_of(now);
            when(_active, [&] {
                for (size_t i = 0; i < mine.size(); ++i) {
                    write(_staged, op(Opcode::ADD, _first, number(static_cast<int64_t>(i))),
                          mine[i]);
                }
            });
            _l.barrier();
            auto *steps = _b.add(level,
                                 _b.index(std::countr_zero(static_cast<uint64_t>(_each)) + 1));
            auto after = merged(_staged, _first, shifted(number(_each), level), steps);
            _l.barrier();
            return flat(after);
        });
    return keys_of(result);
}

/// Key j of the thread becomes that at j · sharers + its place: neighbouring threads have neighbours.
OrderedLines::Keys OrderedLines::spread(const Keys &keys) {
    when(_active, [&] {
        for (size_t i = 0; i < keys.size(); ++i) {
            write(_staged, op(Opcode::ADD, _first, number(static_cast<int64_t>(i))), keys[i]);
        }
    });
    _l.barrier();
    auto *begin = narrow(_b.add(_b.mul(_slot, _b.index(_part)), _place));
    Keys result;
    for (int64_t j = 0; j < _each; ++j) {
        result.push_back(read(_staged, op(Opcode::ADD, begin, number(j * _sharers))));
    }
    return result;
}

void OrderedLines::write_spread(const Runs &runs, ir::Value *begin, const Keys &keys) {
    auto *at = narrow(_b.add(begin, _place));
    for (size_t j = 0; j < keys.size(); ++j) {
        write(runs, op(Opcode::ADD, at, number(static_cast<int64_t>(j) * _sharers)), keys[j]);
    }
}

/// How many keys of the first of two runs are among the `first` smallest of both.
ir::Value *OrderedLines::split(const Runs &runs, ir::Value *begin, ir::Value *first, ir::Value *run,
                               ir::Value *steps) {
    auto *low = op(Opcode::MAXIMUM, op(Opcode::SUB, first, run), number(0));
    auto *high = op(Opcode::MINIMUM, first, run);
    auto *second = op(Opcode::SUB, op(Opcode::ADD, op(Opcode::ADD, begin, run), first), number(1));
    auto found = _b.loop(_b.index(0), steps, 1, {low, high}, [&](ir::Value *, const Values &range) {
        auto *middle = op(Opcode::SHR, op(Opcode::ADD, range[0], range[1]), number(1));
        auto *open = op(Opcode::LT, range[0], range[1]);
        auto a = read(runs, op(Opcode::ADD, begin, middle)),
             b = read(runs, op(Opcode::SUB, second, middle));
        auto *later = before(b, a);
        auto *up = op(Opcode::AND, open, _b.pure(Opcode::NOT, {later}));
        return Values{_l.select(up, op(Opcode::ADD, middle, number(1)), range[0]),
                      _l.select(op(Opcode::AND, open, later), middle, range[1])};
    });
    return found.front();
}

/// The keys from number `first` on of the run into which it and its neighbour, both `run` long, are merged. A
/// bisection takes `steps`.
OrderedLines::Keys OrderedLines::merged(const Runs &runs, ir::Value *first, ir::Value *run,
                                        ir::Value *steps) {
    auto *both = op(Opcode::ADD, run, run);
    auto *inside = op(Opcode::AND, first, op(Opcode::SUB, both, number(1)));
    auto *begin = op(Opcode::SUB, first, inside);
    auto *middle = op(Opcode::ADD, begin, run), *end = op(Opcode::ADD, begin, both);
    auto *last = op(Opcode::SUB, end, number(1));
    auto *taken = split(runs, begin, inside, run, steps);
    auto *at_a = op(Opcode::ADD, begin, taken);
    auto *at_b = op(Opcode::ADD, middle, op(Opcode::SUB, inside, taken));
    // Beyond the end of a run something is read, and not used.
    auto a = read(runs, at_a), b = read(runs, op(Opcode::MINIMUM, at_b, last));
    Keys result;
    for (int64_t i = 0; i < _each; ++i) {
        auto *b_is_next = op(Opcode::AND, op(Opcode::LT, at_b, end), before(b, a));
        auto *from_b = op(Opcode::OR, op(Opcode::GE, at_a, middle), b_is_next);
        result.push_back(choose(from_b, b, a));
        if (i + 1 < _each) {
            at_a = _l.select(from_b, at_a, op(Opcode::ADD, at_a, number(1)));
            at_b = _l.select(from_b, op(Opcode::ADD, at_b, number(1)), at_b);
            auto next = read(runs, _l.select(from_b, op(Opcode::MINIMUM, at_b, last), at_a));
            a = choose(from_b, a, next);
            b = choose(from_b, next, b);
        }
    }
    return result;
}

}// namespace luisa::tile::simt
