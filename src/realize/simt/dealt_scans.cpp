// SPDX-License-Identifier: Apache-2.0
#include "plan/block_planner.h"
#include "realize/cpu/reducers.h"
#include "realize/simt/block_lowering.h"

#include <algorithm>

// Scans along lines that several threads share. At level n the upper half of each block of 2^n elements takes in the
// last element of its lower half: within a thread, a warp by shuffles, a line through shared memory behind one
// barrier, and the vectors of a thread. The shape of that tree is the one of `balanced_tree`.

namespace luisa::tile::simt {

using ir::Opcode;
using plan::LoopGroup;
using plan::Root;

/// The scan of one line, or of as many lines as the block has at a time.
class DealtScan {
public:
    DealtScan(BlockLowering &lowering, const LoopGroup &group, const Share &share)
        : _l{lowering}, _b{lowering._b}, _group{group}, _share{share}, _op{*group.scan()},
          _payload{_op.get<ir::ScanPayload>()}, _type{_op.operand(0)->scalar()},
          _lanes{share.deal.lanes}, _sharers{share.deal.sharers} {}

    void run(const std::vector<std::pair<Round, Round>> &list) {
        for (const auto &[kept, along] : list) {
            _points.push_back(_l.place_of(_share, {kept, {_b.index(0), true}, along}, Point{}, {}));
            if (_payload.reverse) {
                auto &at = _points.back().at[_share.axis.dim.id];
                at.base = _b.sub(_b.index(_share.axis.extent - 1), at.base);
            }
        }
        _l.read_first(_group, _points);
        _b.set_location(_op.loc);
        for (auto &point : _points) {
            _parts.push_back(in_thread(point));
        }
        for (int64_t by = 1; by < std::min(_sharers, warp); by *= 2) {
            across_lanes(by);
        }
        if (_sharers > warp) {
            across_warps();
        }
        across_parts();
        auto *seed = _payload.has_seed ? _l.evaluate(_op.operand(1), _points.front()) : nullptr;
        for (size_t i = 0; seed && i < _parts.size(); ++i) {
            take(_parts[i], nullptr, seed);
        }
        if (_payload.exclusive) {
            move_up(seed);
        }
        for (size_t i = 0; i < _points.size(); ++i) {
            emit(_points[i], joined(_parts[i]));
        }
    }

private:
    ir::Value *step(ir::Value *left, ir::Value *right) {
        return _l.reduce_step(_payload.reducer, left, right);
    }

    /// The elements of one vector, each with those before it in the vector.
    Values in_thread(Point &point) {
        auto *x = _b.splat(_l.evaluate(_op.operand(0), point), _lanes);
        if (_payload.has_mask) {
            auto *mask = _l.evaluate(_op.operand(_op.operand_count() - 1), point);
            auto *identity = _b.constant(_type, cpu::identity_bits(_payload.reducer, _type));
            x = _l.select(_b.splat(mask, _lanes), x, _b.splat(identity, _lanes));
        }
        Values part{x};
        if (_lanes > 1) {
            part.clear();
            for (int64_t i = 0; i < _lanes; ++i) {
                part.push_back(_b.pure(Opcode::EXTRACT_LANE, {x}, ir::IndexPayload{i},
                                       _b.module().scalar(_type)));
            }
        }
        for (size_t half = 1; half < part.size(); half *= 2) {
            for (size_t i = 0; i < part.size(); ++i) {
                if (i & half) {
                    part[i] = step(part[(i & ~(half - 1)) - 1], part[i]);
                }
            }
        }
        return part;
    }

    ir::Value *bits(ir::Value *value, int64_t mask) {
        return _b.pure(Opcode::AND, {value, _b.index(mask)});
    }
    ir::Value *has_bit(ir::Value *value, int64_t bit) {
        return _b.compare(Opcode::NE, bits(value, bit), _b.index(0));
    }
    ir::Value *of_lane(ir::Value *value, ir::Value *lane) {
        return _b.fixed(Opcode::EXCHANGE_LANES, {value, _l.convert(lane, ScalarType::INT32)},
                        ir::ExchangePayload{ir::ExchangeMode::INDEX}, value->type());
    }
    void take(Values &part, ir::Value *upper, ir::Value *before) {
        for (auto &x : part) {
            auto *sum = step(before, x);
            x = upper ? _l.select(upper, sum, x) : sum;
        }
    }

    void across_lanes(int64_t by) {
        auto *upper = has_bit(_l._thread, by);
        auto *last = _b.sub(bits(_l._thread, warp - by), _b.index(1));
        auto *from = bits(last, warp - 1);
        for (auto &part : _parts) {
            take(part, upper, of_lane(part.back(), from));
        }
    }

    /// Totals of all warps of all parts stand in shared memory; each thread reads those before it.
    void across_warps() {
        auto each = _sharers / warp;
        stage_lasts();
        auto *number = _b.div(_l._thread, _b.index(warp));
        auto *first = _b.sub(number, _b.rem(number, _b.index(each)));
        auto total = [&](size_t part, ir::Value *from, int64_t count) {
            Values all;
            for (int64_t w = 0; w < count; ++w) {
                all.push_back(staged(part, _b.add(from, _b.index(w))));
            }
            return whole(all);
        };
        for (size_t i = 0; i < _parts.size(); ++i) {
            if (_parts.size() > 1) {
                _totals.push_back(total(i, first, each));
            }
            for (int64_t by = 1; by < each; by *= 2) {
                // Those of the lower half, or where there is none of the line's own first warps.
                auto *begin = _b.sub(bits(number, ~(by - 1)), _b.index(by));
                take(_parts[i], has_bit(number, by), total(i, _b.maximum(begin, first), by));
            }
        }
        read_staged();
    }

    /// A balanced tree over a power of two of values.
    ir::Value *whole(Values all) {
        while (all.size() > 1) {
            Values merged;
            for (size_t i = 0; i + 1 < all.size(); i += 2) {
                merged.push_back(step(all[i], all[i + 1]));
            }
            all = merged;
        }
        return all.front();
    }

    void across_parts() {
        if (_parts.size() == 1) {
            return;
        }
        if (_sharers <= warp) {
            auto *last = bits(_b.pure(Opcode::OR, {_l._thread, _b.index(_sharers - 1)}), warp - 1);
            for (auto &part : _parts) {
                _totals.push_back(of_lane(part.back(), last));
            }
        }
        for (size_t i = 0; i < _parts.size(); ++i) {
            for (size_t by = 1; by <= i; by *= 2) {
                if (i & by) {
                    auto first = _totals.begin() +
                                 static_cast<std::ptrdiff_t>((i & ~(by - 1)) - by);
                    take(_parts[i], nullptr,
                         whole({first, first + static_cast<std::ptrdiff_t>(by)}));
                }
            }
        }
    }

    /// Each element becomes the one before it, the first of a line what there is before any.
    void move_up(ir::Value *seed) {
        auto *nothing = seed ? seed : _b.constant(_type, cpu::seed_bits(_payload.reducer, _type));
        auto width = std::min(_sharers, warp);
        auto *first_lane = _b.compare(Opcode::EQ, bits(_l._thread, width - 1), _b.index(0));
        auto *first_thread = _b.compare(Opcode::EQ, bits(_l._thread, _sharers - 1), _b.index(0));
        auto before = lasts_before();
        for (size_t i = 0; i < _parts.size(); ++i) {
            auto &part = _parts[i];
            auto *lane = bits(_b.sub(_l._thread, _b.index(1)), warp - 1);
            auto *first = of_lane(part.back(), lane);
            first = before[i] ? _l.select(first_lane, before[i], first) : first;
            first = i == 0 ? _l.select(first_thread, nothing, first) : first;
            part.insert(part.begin(), first);
            part.pop_back();
        }
    }

    /// Of each part, what the first lane of a warp finds before its own: the last of the warp before, or of the
    /// part before. Null where there is none.
    Values lasts_before() {
        Values before;
        if (_sharers <= warp) {
            auto *last = bits(_b.pure(Opcode::OR, {_l._thread, _b.index(_sharers - 1)}), warp - 1);
            for (size_t i = 0; i < _parts.size(); ++i) {
                before.push_back(i == 0 ? nullptr : of_lane(_parts[i - 1].back(), last));
            }
            return before;
        }
        stage_lasts();
        auto each = _sharers / warp;
        auto *number = _b.div(_l._thread, _b.index(warp));
        auto *first = _b.sub(number, _b.rem(number, _b.index(each)));
        auto *earlier = _b.maximum(_b.sub(number, _b.index(1)), first);
        for (size_t i = 0; i < _parts.size(); ++i) {
            auto *value = staged(i, earlier);
            if (i > 0) {
                auto *of_part = staged(i - 1, _b.add(first, _b.index(each - 1)));
                value = _l.select(_b.compare(Opcode::EQ, number, first), of_part, value);
            }
            before.push_back(value);
        }
        read_staged();
        return before;
    }

    ir::MemoryPayload access() const {
        return {static_cast<uint32_t>(size_of(_type)), false, false};
    }
    ir::Value *slot(size_t part, ir::Value *number) {
        auto bytes = static_cast<int64_t>(size_of(_type));
        return _b.address(_l.start_of(_room), number, bytes,
                          static_cast<int64_t>(part) * (_l._threads / warp) * bytes);
    }
    ir::Value *staged(size_t part, ir::Value *number) {
        return _b.read(Opcode::READ, {slot(part, number)}, access(), _b.module().scalar(_type));
    }

    /// The last element that each warp has of each part, in shared memory.
    void stage_lasts() {
        auto count = static_cast<int64_t>(_parts.size()) * (_l._threads / warp);
        _room = _l.allocate_bytes(count * static_cast<int64_t>(size_of(_type)));
        Touched staging;
        staging.writes.insert(_parts.front().front());
        _l.touch(staging);
        ++_l._alone;
        _b.branch(
            _b.compare(Opcode::EQ, bits(_l._thread, warp - 1), _b.index(warp - 1)),
            [&] {
                auto *number = _b.div(_l._thread, _b.index(warp));
                for (size_t i = 0; i < _parts.size(); ++i) {
                    _b.effect(Opcode::WRITE, {slot(i, number), _parts[i].back()}, access());
                }
                return Values{};
            },
            [] { return Values{}; });
        --_l._alone;
        _l.barrier();
    }
    void read_staged() {
        Touched read;
        read.reads.insert(_parts.front().front());
        _l.touch(read);
    }

    ir::Value *joined(const Values &part) {
        if (_lanes == 1) {
            return part.front();
        }
        auto *vector = _b.splat(part.front(), _lanes);
        for (int64_t i = 1; i < _lanes; ++i) {
            vector = _b.pure(Opcode::INSERT_LANE, {vector, part[static_cast<size_t>(i)]},
                             ir::IndexPayload{i}, vector->type());
        }
        return vector;
    }

    void emit(Point &point, ir::Value *value) {
        point.known[_op.result()] = value;
        _l.hold(_op.result(), point, value);
        if (const auto *home = _l._plan->home(_op.result())) {
            _l.write_storage(home, value, point);
        }
        for (const auto &root : _group.roots) {
            if (root.kind != Root::Kind::SCAN) {
                _l.emit_root(root, point);
            }
        }
    }

    BlockLowering &_l;
    MachineBuilder &_b;
    const LoopGroup &_group;
    const Share &_share;
    const ir::Operation &_op;
    const ir::ScanPayload &_payload;
    ScalarType _type;
    int64_t _lanes, _sharers, _room = 0;
    std::vector<Point> _points;
    std::vector<Values> _parts;///< elements of each vector of the thread
    Values _totals;            ///< of all threads of the line, a part each
};

void BlockLowering::lower_dealt_scan(const LoopGroup &group, const plan::Deal &deal) {
    auto share = share_of(group, deal);
    auto parts = static_cast<int>(share.along.rounds());
    const auto *outside = _b.region();
    rounds(share.kept, share.along, parts, {}, [&](const auto &list, const Values &) {
        DealtScan{*this, group, share}.run(list);
        if (_b.region() != outside && deal.sharers > warp) {
            barrier();
        }
        return Values{};
    });
}

}// namespace luisa::tile::simt
