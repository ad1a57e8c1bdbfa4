// SPDX-License-Identifier: Apache-2.0
#include "realize/simt/ordered_lines.h"

#include <algorithm>
#include <bit>

// Lines in order, by threads that share one: which keys a thread has, and how runs are merged.

namespace luisa::tile::simt {

using ir::Opcode;

void BlockLowering::reserve_orders(const plan::Phase &phase) {
    int64_t count = 0, bytes = 0;
    auto visit = [&](const plan::Block &block) {
        for (const auto &step : block.steps) {
            if (const auto *ordering = std::get_if<plan::Ordering>(&step)) {
                ++count;
                bytes = std::max(bytes, OrderedLines::staged_bytes(*ordering));
            }
        }
    };
    visit(phase.block);
    for (const auto &[region, block] : _plan->blocks) {
        if (!phase.nest || phase.nest->body()->encloses(region)) {
            visit(block);
        }
    }
    _only_one_order = count == 1;
    _order_room = bytes ? shared_room(bytes) : 0;
}

void BlockLowering::lower_ordering(const plan::Ordering &ordering) {
    plan::LoopGroup written;
    for (const auto *op : ordering.ops) {
        written.roots.push_back({plan::Root::Kind::WRITE, op, op->result(), op->result()});
    }
    begin_group(written);
    OrderedLines{*this, ordering}.run();
    end_group();
}

OrderedLines::OrderedLines(BlockLowering &lowering, const plan::Ordering &ordering)
    : _l{lowering}, _b{lowering._b}, _o{ordering}, _sharers{ordering.how.threads},
      _each{ordering.how.each}, _slots{ordering.how.lines}, _part{_sharers * _each} {
    _b.set_location(ordering.ops.front()->loc);
    const auto &payload = ordering.ops.front()->get<ir::SortedPayload>();
    const auto &dims = ordering.keys()->type()->dims;
    for (auto dim : payload.order) {
        for (const auto &d : dims) {
            if (d.dim == dim) {
                _order.push_back(d);
            }
        }
    }
    bool alone = _sharers == 1;
    auto sharers = _b.index(_sharers);
    _slot = alone                     ? _l._thread
            : _sharers == _l._threads ? _b.index(0)
                                      : _b.div(_l._thread, sharers);
    _place = alone                     ? _b.index(0)
             : _sharers == _l._threads ? _l._thread
                                       : _b.rem(_l._thread, sharers);
    if (_slots * _sharers < _l._threads) {
        _active = _b.compare(Opcode::LT, _slot, _b.index(_slots));
        _slot = _b.minimum(_slot, _b.index(_slots - 1));
    }
    _first = narrow(_b.add(_b.mul(_slot, _b.index(_part)), _b.mul(_place, _b.index(_each))));
    auto count = _slots * _part;
    auto key = static_cast<int64_t>(size_of(ordering.keys()->scalar()));
    _staged = {_l._order_room, _l._order_room + spaced_bytes(count, key), true};
    stay_in_place();
}

/// One line in a kernel's only order needs no other place than that of its runs.
void OrderedLines::stay_in_place() {
    bool stays = _l._only_one_order && _o.lines.empty() && _sharers > 1 && _part == _o.positions &&
                 _o.first == _o.positions;
    for (const auto *sorted : _o.ops) {
        const auto *home = _l._plan->home(sorted->result());
        stays &= home == sorted->result() && _l._offsets.count(home) == 0;
    }
    for (size_t i = 0; stays && i < _o.ops.size(); ++i) {
        bool key = _o.ops[i]->get<ir::SortedPayload>().word == 0;
        _l._offsets[_o.ops[i]->result()] = key ? _staged.keys : _staged.places;
    }
    _stays = stays;
}

void OrderedLines::run() {
    int64_t lines = 1;
    for (const auto &d : _o.lines) {
        lines *= d.extent;
    }
    bool repeats = lines > _slots;
    _b.loop(_b.index(0), _b.index(lines), _slots, {}, [&](ir::Value *base, const Values &) {
        auto *line = _b.add(base, _slot);
        _writes = _active;
        if (lines % _slots != 0) {
            _writes = _b.both(_writes, _b.compare(Opcode::LT, line, _b.index(lines)));
            line = _b.minimum(line, _b.index(lines - 1));
        }
        _line = {};
        _l.place_at(_o.lines, line, _line);
        _o.how.bounded ? first_of_line() : _part == _o.positions ? short_line() : long_line();
        if (repeats && _sharers > 1) {
            _l.barrier();
        }
        return Values{};
    });
    if (_sharers > 1) {
        // What was read last: whoever uses the same room again waits for it.
        Touched read;
        read.reads.insert(&_l._order_room);
        _l.touch(read);
    }
}

void OrderedLines::short_line() {
    auto keys = merged_part(sorted(loaded(_b.index(0))));
    if (_sharers == 1) {
        return finish(keys, nullptr, _b.index(0));
    }
    auto all = spread(keys);
    if (_stays) {
        _l.barrier();
    }
    finish(all, _place, _b.index(0));
}

/// Parts in order, one after the other, in scratch memory, then merged in pairs from one half of it to the other.
void OrderedLines::long_line() {
    auto room = runs_of(2 * _o.positions);
    auto parts = _o.positions / _part;
    auto each_part = [&](const std::function<void(ir::Value *)> &body) {
        _b.loop(_b.index(0), _b.index(parts), 1, {}, [&](ir::Value *part, const Values &) {
            body(_b.mul(part, _b.index(_part)));
            _l.barrier();
            return Values{};
        });
    };
    each_part([&](ir::Value *begin) {
        write_spread(room, begin, spread(merged_part(sorted(loaded(begin)))));
    });
    auto levels = std::countr_zero(static_cast<uint64_t>(parts));
    auto half = [&](ir::Value *level) {
        return _b.mul(_b.pure(Opcode::AND, {level, _b.index(1)}), _b.index(_o.positions));
    };
    _b.loop(_b.index(0), _b.index(levels), 1, {}, [&](ir::Value *level, const Values &) {
        auto from = room;
        from.offset = narrow(half(level));
        auto *to = half(_b.add(level, _b.index(1)));
        auto *run = shifted(number(_part), level);
        auto steps = _b.add(level, _b.index(std::countr_zero(static_cast<uint64_t>(_part)) + 1));
        each_part([&](ir::Value *begin) {
            auto *first = op(Opcode::ADD, narrow(begin), _first);
            write_spread(room, _b.add(to, begin), spread(merged(from, first, run, steps)));
        });
        return Values{};
    });
    each_part([&](ir::Value *begin) {
        Keys keys;
        for (int64_t j = 0; j < _each; ++j) {
            auto *at = _b.add(_b.add(begin, _place),
                              _b.index(j * _sharers + levels % 2 * _o.positions));
            keys.push_back(read(room, narrow(at)));
        }
        finish(keys, _place, begin);
    });
}

/// Elements of the line in the order in which they lie: neighbouring threads have neighbouring ones.
OrderedLines::Keys OrderedLines::loaded(ir::Value *begin) {
    Keys keys;
    auto lanes = _order.size() > 1 ? _order[1].extent : 1;
    for (int64_t j = 0; j < _each; ++j) {
        auto *at = _b.add(_b.add(begin, _place), _b.index(j * _sharers));
        auto point = _line.derived();
        point.at[_order[0].dim.id] = {lanes > 1 ? _b.div(at, _b.index(lanes)) : at, 0, nullptr};
        if (lanes > 1) {
            point.at[_order[1].dim.id] = {_b.rem(at, _b.index(lanes)), 0, nullptr};
        }
        Key key{_l.evaluate(_o.keys(), point), nullptr};
        if (_o.places()) {
            key.place = _l.evaluate(_o.places(), point);
        }
        keys.push_back(key);
    }
    _b.set_location(_o.ops.front()->loc);
    return keys;
}

/// Writes the positions of the line that the result has: key j is at begin + j · sharers + place, or one after the
/// other where there is no place.
void OrderedLines::finish(const Keys &keys, ir::Value *place, ir::Value *begin) {
    const auto &payload = _o.ops.front()->get<ir::SortedPayload>();
    auto stride = place ? _sharers : 1;
    for (size_t j = 0; j < keys.size(); ++j) {
        auto first = static_cast<int64_t>(j) * stride;
        int64_t known = 0;
        bool only = MachineBuilder::is_constant(begin, known) && known == 0;
        if (only && first >= _o.first) {
            break;
        }
        auto *at = _b.add(begin, _b.index(first));
        at = place ? _b.add(at, place) : at;
        bool whole = _o.first == _o.positions || (only && first + stride <= _o.first);
        auto *writes = _writes;
        if (!whole) {
            writes = _b.both(writes, _b.compare(Opcode::LT, at, _b.index(_o.first)));
        }
        when(writes, [&] {
            auto point = _line.derived();
            if (payload.first) {
                point.at[payload.to[0].id] = {at, 0, nullptr};
            } else {
                auto columns = _b.index(_order[0].extent);
                bool lanes = _order.size() > 1;
                point.at[_order[0].dim.id] = {lanes ? _b.rem(at, columns) : at, 0, nullptr};
                if (lanes) {
                    point.at[_order[1].dim.id] = {_b.div(at, columns), 0, nullptr};
                }
            }
            for (const auto *sorted : _o.ops) {
                bool key = sorted->get<ir::SortedPayload>().word == 0;
                _l.write_storage(_l._plan->home(sorted->result()),
                                 key ? keys[j].key : keys[j].place, point);
            }
        });
    }
}

}// namespace luisa::tile::simt
