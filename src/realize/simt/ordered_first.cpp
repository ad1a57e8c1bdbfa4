// SPDX-License-Identifier: Apache-2.0
#include "realize/simt/ordered_lines.h"

// The first keys of a line. The first of each thread's keys tell a bound that enough keys are not behind; what is not
// behind it is gathered, and the place of each among these is counted. Where too much is left, all is put in order.

namespace luisa::tile::simt {

using ir::Opcode;

OrderedLines::Key OrderedLines::exchanged(const Key &key, ir::Value *lane) {
    auto one = [&](ir::Value *value) {
        return value ? _b.fixed(Opcode::EXCHANGE_LANES, {value, lane},
                                ir::ExchangePayload{ir::ExchangeMode::INDEX}, value->type())
                     : nullptr;
    };
    return {one(key.key), one(key.place)};
}

OrderedLines::Key OrderedLines::thread_first(const Keys &keys) {
    auto least = keys;
    while (least.size() > 1) {
        Keys half;
        for (size_t i = 0; i + 1 < least.size(); i += 2) {
            half.push_back(choose(before(least[i + 1], least[i]), least[i + 1], least[i]));
        }
        least = std::move(half);
    }
    return least.front();
}

/// Of a warp the key that as many lanes' keys are not behind as its part of the result has; in all lanes.
OrderedLines::Key OrderedLines::warp_bound(const Key &mine) {
    auto wanted = (_o.first + _sharers / warp - 1) / (_sharers / warp);
    auto *lane = narrow(_b.rem(_l._thread, _b.index(warp)));
    auto *smaller = number(0);
    for (int64_t i = 1; i < warp; ++i) {
        auto *from = op(Opcode::AND, op(Opcode::ADD, lane, number(i)), number(warp - 1));
        auto other = exchanged(mine, from);
        // Of equal keys the lower lane's stands first.
        auto *ahead = op(Opcode::OR, before(other, mine),
                         op(Opcode::AND, op(Opcode::LT, from, lane),
                            _b.pure(Opcode::NOT, {before(mine, other)})));
        smaller = op(Opcode::ADD, smaller, _l.select(ahead, number(1), number(0)));
    }
    // One lane has it: the others say zero, and all are added.
    auto *found = op(Opcode::EQ, smaller, number(wanted - 1));
    auto *at = _l.select(found, lane, number(0));
    for (int64_t by = warp / 2; by >= 1; by /= 2) {
        auto *other = _b.fixed(Opcode::EXCHANGE_LANES, {at, number(by)},
                               ir::ExchangePayload{ir::ExchangeMode::XOR}, at->type());
        at = op(Opcode::ADD, at, other);
    }
    return exchanged(mine, at);
}

/// The last of the warps' bounds.
OrderedLines::Key OrderedLines::block_bound(const Key &mine) {
    auto own = warp_bound(mine);
    auto warps = _sharers / warp;
    if (warps == 1) {
        return own;
    }
    auto *lane = _b.rem(_l._thread, _b.index(warp));
    when(_b.compare(Opcode::EQ, lane, _b.index(0)),
         [&] { write(_staged, narrow(_b.div(_l._thread, _b.index(warp))), own); });
    _l.barrier();
    Key last = read(_staged, number(0));
    for (int64_t w = 1; w < warps; ++w) {
        auto other = read(_staged, number(w));
        last = choose(before(last, other), other, last);
    }
    _l.barrier();
    return last;
}

ir::Value *OrderedLines::count(const Keys &keys, const Key &bound) {
    auto *found = number(0);
    for (const auto &key : keys) {
        auto *behind = before(bound, key);
        found = op(Opcode::ADD, found, _l.select(behind, number(0), number(1)));
    }
    return found;
}

/// Where this thread's keys go if those of all threads follow each other, and how many there are in all.
std::pair<ir::Value *, ir::Value *> OrderedLines::places_of(ir::Value *count) {
    auto *lane = narrow(_b.rem(_l._thread, _b.index(warp)));
    auto *upto = count;
    for (int64_t by = 1; by < warp; by *= 2) {
        auto *below = _b.fixed(Opcode::EXCHANGE_LANES, {upto, number(by)},
                               ir::ExchangePayload{ir::ExchangeMode::UP}, upto->type());
        upto = op(Opcode::ADD, upto, _l.select(op(Opcode::GE, lane, number(by)), below, number(0)));
    }
    auto *before_own = op(Opcode::SUB, upto, count);
    auto warps = _sharers / warp;
    auto *last_lane = number(warp - 1);
    if (warps == 1) {
        auto *all = _b.fixed(Opcode::EXCHANGE_LANES, {upto, last_lane},
                             ir::ExchangePayload{ir::ExchangeMode::INDEX}, upto->type());
        return {before_own, all};
    }
    auto *own_warp = _b.div(_l._thread, _b.index(warp));
    auto at = [&](ir::Value *w) { return _b.address(_l.start_of(_l._order_room), w, 4); };
    constexpr ir::MemoryPayload access{4, false, false};
    when(op(Opcode::EQ, lane, last_lane), [&] {
        _b.effect(Opcode::WRITE, {at(own_warp), upto}, access);
    });
    _l.barrier();
    auto *all = number(0);
    auto *earlier = number(0);
    for (int64_t w = 0; w < warps; ++w) {
        auto *sum = _b.read(Opcode::READ, {at(_b.index(w))}, access, count->type());
        auto *is_earlier = _b.compare(Opcode::LT, _b.index(w), own_warp);
        earlier = op(Opcode::ADD, earlier, _l.select(is_earlier, sum, number(0)));
        all = op(Opcode::ADD, all, sum);
    }
    _l.barrier();
    return {op(Opcode::ADD, earlier, before_own), all};
}

/// Writes what is not behind the bound, one key after the other from `at` on, as far as there is room.
void OrderedLines::gather(const Keys &keys, const Key &bound, ir::Value *&at) {
    for (const auto &key : keys) {
        auto *behind = before(bound, key);
        auto *writes = op(Opcode::AND, _b.pure(Opcode::NOT, {behind}),
                          op(Opcode::LT, at, number(most_gathered)));
        when(writes, [&] { write(_staged, at, key); });
        at = op(Opcode::ADD, at, _l.select(behind, number(0), number(1)));
    }
}

/// Each of `count` gathered keys goes to the place that is the number of those before it.
void OrderedLines::rank(ir::Value *count) {
    auto *end = _l.convert(count, ScalarType::INT64);
    ++_l._alone;
    _b.loop(_l._thread, end, _b.index(_sharers), {}, [&](ir::Value *i, const Values &) {
        auto mine = read(_staged, narrow(i));
        auto places = _b.loop(
            _b.index(0), end, 1, {number(0)}, [&](ir::Value *j, const Values &now) {
                auto *is_before = before(read(_staged, narrow(j)), mine);
                return Values{op(Opcode::ADD, now[0], _l.select(is_before, number(1), number(0)))};
            });
        finish({mine}, nullptr, _l.convert(places[0], ScalarType::INT64));
        return Values{};
    });
    --_l._alone;
}

void OrderedLines::first_of_line() {
    auto parts = _o.positions / _part;
    Keys all;
    Values states;
    auto least = Key{nullptr, nullptr};
    if (parts == 1) {
        all = loaded(_b.index(0));
        least = thread_first(all);
    } else {
        auto first = thread_first(loaded(_b.index(0)));
        auto found = _b.loop(_b.index(1), _b.index(parts), 1, flat({first}),
                             [&](ir::Value *part, const Values &now) {
                                 auto own = thread_first(loaded(_b.mul(part, _b.index(_part))));
                                 auto known = keys_of(now).front();
                                 return flat({choose(before(own, known), own, known)});
                             });
        least = keys_of(found).front();
    }
    Touched staging;
    staging.writes.insert(&_l._order_room);
    _l.touch(staging);
    auto bound = block_bound(least);
    auto each_part = [&](ir::Value *start,
                         const std::function<ir::Value *(const Keys &, ir::Value *)> &body) {
        if (parts == 1) {
            return body(all, start);
        }
        return _b
            .loop(_b.index(0), _b.index(parts), 1, {start},
                  [&](ir::Value *part, const Values &now) {
                      return Values{body(loaded(_b.mul(part, _b.index(_part))), now[0])};
                  })
            .front();
    };
    auto *own = each_part(number(0), [&](const Keys &keys, ir::Value *sum) {
        return op(Opcode::ADD, sum, count(keys, bound));
    });
    auto [at, total] = places_of(own);
    auto fits = op(Opcode::LE, total, number(most_gathered));
    _b.branch(
        fits,
        [&] {
            each_part(at, [&](const Keys &keys, ir::Value *to) {
                gather(keys, bound, to);
                return to;
            });
            _l.barrier();
            rank(total);
            return Values{};
        },
        [&] {
            parts == 1 ? finish(spread(merged_part(sorted(all))), _place, _b.index(0))
                       : long_line();
            return Values{};
        });
    _l.barrier();
}

}// namespace luisa::tile::simt
