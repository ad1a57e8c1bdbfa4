// SPDX-License-Identifier: Apache-2.0
#include "plan/block_planner.h"
#include "realize/cpu/reducers.h"
#include "realize/simt/block_lowering.h"

#include <algorithm>

// Scans along lines that lie beside each other, such as columns: neighbouring threads have neighbouring lines, and
// the threads of a line a run of its elements each. What the runs come to is scanned in a warp by shuffles and
// between warps through shared memory; what a stretch of runs comes to is carried to the next one.

namespace luisa::tile::simt {

using ir::Opcode;
using plan::LoopGroup;
using plan::Root;

class DealtColumnScan {
public:
    DealtColumnScan(BlockLowering &lowering, const LoopGroup &group, const Share &share)
        : _l{lowering}, _b{lowering._b}, _group{group}, _share{share}, _op{*group.scan()},
          _payload{_op.get<ir::ScanPayload>()}, _type{_op.operand(0)->scalar()},
          _lanes{share.deal.lanes}, _stride{share.deal.sharers}, _runs{share.deal.folded},
          _extent{share.folded.extent} {
        _run = std::min<int64_t>(share.deal.together, (_extent + _runs - 1) / _runs);
        _unit = std::max(_stride, warp);
        _parts = std::max<int64_t>(_stride * _runs / _unit, 1);
        _distinct = std::min(_stride, warp);
    }

    /// All stretches of the lines at one place across them.
    void run(const Round &kept, const Round &along) {
        _start = _l.place_of(_share, {kept, {_b.index(0), false}, along}, Point{}, {});
        for (const auto &d : _share.folded_dims) {
            _dim = d.extent > 1 || _share.folded_dims.size() == 1 ? d.dim : _dim;
            _start.at[d.dim.id] = {_b.index(0), 0, nullptr};
        }
        make_room();
        auto stretch = _runs * _run, whole = _extent / stretch;
        Values carry = first_carry();
        auto one = [&](ir::Value *number, const Values &before, bool guarded) {
            return this->stretch(number, before, guarded);
        };
        if (whole > 1) {
            carry = _b.loop(_b.index(0), _b.index(whole), 1, carry,
                            [&](ir::Value *iv, const Values &now) { return one(iv, now, false); });
        } else if (whole == 1) {
            carry = one(_b.index(0), carry, false);
        }
        if (_extent % stretch != 0) {
            one(_b.index(whole), carry, true);
        }
    }

private:
    ir::Value *step(ir::Value *left, ir::Value *right) {
        return _l.reduce_step(_payload.reducer, left, right);
    }
    Values steps(const Values &left, const Values &right) {
        Values all;
        for (size_t i = 0; i < left.size(); ++i) {
            all.push_back(step(left[i], right[i]));
        }
        return all;
    }
    Values either(ir::Value *condition, const Values &a, const Values &b) {
        Values all;
        for (size_t i = 0; i < a.size(); ++i) {
            all.push_back(_l.select(condition, a[i], b[i]));
        }
        return all;
    }
    Values identity() {
        auto *one = _b.constant(_type, cpu::identity_bits(_payload.reducer, _type));
        return Values(static_cast<size_t>(_lanes), one);
    }
    Values lanes_of(ir::Value *x) {
        if (_lanes == 1) {
            return {x};
        }
        Values all;
        for (int64_t i = 0; i < _lanes; ++i) {
            all.push_back(
                _b.pure(Opcode::EXTRACT_LANE, {x}, ir::IndexPayload{i}, _b.module().scalar(_type)));
        }
        return all;
    }
    ir::Value *joined(const Values &part) {
        if (_lanes == 1) {
            return part.front();
        }
        auto *vector = _b.splat(part.front(), static_cast<int>(_lanes));
        for (int64_t i = 1; i < _lanes; ++i) {
            vector = _b.pure(Opcode::INSERT_LANE, {vector, part[static_cast<size_t>(i)]},
                             ir::IndexPayload{i}, vector->type());
        }
        return vector;
    }

    Values first_carry() {
        if (!_payload.has_seed) {
            return identity();
        }
        return lanes_of(_b.splat(_l.evaluate(_op.operand(1), _start), static_cast<int>(_lanes)));
    }

    /// Scans one stretch of `_runs` runs. Gives what there is before the next one.
    Values stretch(ir::Value *number, const Values &carry, bool guarded) {
        auto points = places(number, guarded);
        _l.read_first(_group, points);
        _b.set_location(_op.loc);
        std::vector<Values> run;
        for (auto &point : points) {
            auto *x = _b.splat(_l.evaluate(_op.operand(0), point), static_cast<int>(_lanes));
            auto values = lanes_of(x);
            if (guarded) {
                values = either(_exists[run.size()], values, identity());
            }
            run.push_back(run.empty() ? values : steps(run.back(), values));
        }
        auto [before, next] = between_threads(run.back(), number, carry);
        std::vector<Values> results;
        for (size_t i = 0; i < run.size(); ++i) {
            if (_payload.exclusive) {
                results.push_back(i == 0 ? before : steps(before, run[i - 1]));
            } else {
                results.push_back(steps(before, run[i]));
            }
        }
        if (_payload.exclusive && !_payload.has_seed) {
            // What nothing comes to differs from an identity: a sum of no floats is +0.
            auto *nothing = _b.constant(_type, cpu::seed_bits(_payload.reducer, _type));
            auto *first = _b.compare(Opcode::EQ, _first, _b.index(0));
            results[0] = either(first, Values(results[0].size(), nothing), results[0]);
        }
        for (size_t i = 0; i < points.size(); ++i) {
            emit(points[i], joined(results[i]));
        }
        return next;
    }

    /// The places of a run, the first of its elements being number `_first` in the order of the scan.
    std::vector<Point> places(ir::Value *number, bool guarded) {
        auto *run = _b.add(_b.mul(number, _b.index(_runs)), _share.folded_row);
        _first = _b.mul(run, _b.index(_run));
        _exists.clear();
        std::vector<Point> points;
        for (int64_t i = 0; i < _run; ++i) {
            auto point = _start.derived();
            auto *at = _b.add(_first, _b.index(i));
            if (guarded) {
                _exists.push_back(_b.compare(Opcode::LT, at, _b.index(_extent)));
                point.guard = _b.both(_start.guard, _exists.back());
                auto *active = _b.both(point.guard, point.mask);
                point.active = active ? _b.splat(active, static_cast<int>(_lanes)) : nullptr;
            }
            at = _payload.reverse ? _b.sub(_b.index(_extent - 1), at) : at;
            point.at[_dim.id] = {at, 0, nullptr};
            points.push_back(point);
        }
        return points;
    }

    struct Before {
        Values own, next;
    };
    /// What comes before the run of this thread, and before the next stretch.
    Before between_threads(const Values &total, ir::Value *number, const Values &carry) {
        auto inclusive = total;
        auto *in_warp = _b.rem(_l._thread, _b.index(warp));
        auto span = std::min(_stride * _runs, warp);
        auto *row = _b.rem(in_warp, _b.index(span));
        for (auto by = _stride; by < span; by *= 2) {
            auto lower = from_below(inclusive, in_warp, by);
            auto *has = _b.compare(Opcode::GE, row, _b.index(by));
            inclusive = either(has, steps(lower, inclusive), inclusive);
        }
        auto before = identity();
        if (_stride < span) {
            auto *has = _b.compare(Opcode::GE, row, _b.index(_stride));
            before = either(has, from_below(inclusive, in_warp, _stride), before);
        }
        Values whole;
        auto earlier = carry;
        if (_parts > 1) {
            auto parts = of_warps(inclusive, in_warp, number);
            auto *place = _b.rem(_l._thread, _b.index(_stride * _runs));
            auto *own = _b.div(place, _b.index(_unit));
            for (int64_t i = 0; i < _parts; ++i) {
                auto &part = parts[static_cast<size_t>(i)];
                whole = i == 0 ? part : steps(whole, part);
                if (i + 1 < _parts) {
                    auto *after = _b.compare(Opcode::GT, own, _b.index(i));
                    earlier = either(after, steps(carry, whole), earlier);
                }
            }
        } else {
            whole = of_last(inclusive, in_warp, span);
        }
        return {steps(earlier, before), steps(carry, whole)};
    }

    Values exchanged(const Values &values, ir::Value *lane) {
        auto *from = _l.convert(lane, ScalarType::INT32);
        Values all;
        for (auto *value : values) {
            all.push_back(_b.fixed(Opcode::EXCHANGE_LANES, {value, from},
                                   ir::ExchangePayload{ir::ExchangeMode::INDEX}, value->type()));
        }
        return all;
    }
    Values from_below(const Values &values, ir::Value *in_warp, int64_t by) {
        auto *lane = _b.pure(Opcode::AND, {_b.sub(in_warp, _b.index(by)), _b.index(warp - 1)});
        return exchanged(values, lane);
    }
    /// Where all runs of a line are in one warp: what the last of them has.
    Values of_last(const Values &values, ir::Value *in_warp, int64_t span) {
        if (_runs == 1) {
            return values;
        }
        auto *column = _b.rem(in_warp, _b.index(_stride));
        auto *first = _b.sub(in_warp, _b.rem(in_warp, _b.index(span)));
        return exchanged(values, _b.add(_b.add(first, column), _b.index(span - _stride)));
    }

    void make_room() {
        _rooms.clear();
        auto slots = _l._threads / warp * _distinct;
        for (int64_t i = 0; _parts > 1 && i < _lanes; ++i) {
            _rooms.push_back(_l.allocate_bytes(2 * slots * bytes()));
        }
    }
    [[nodiscard]] int64_t bytes() const { return static_cast<int64_t>(size_of(_type)); }

    /// What the runs of each warp come to. Stretches take turns with two halves of the room, so that one barrier
    /// stands between them.
    std::vector<Values> of_warps(const Values &inclusive, ir::Value *in_warp, ir::Value *number) {
        auto slots = _l._threads / warp * _distinct;
        auto *half = _b.mul(_b.rem(number, _b.index(2)), _b.index(slots));
        auto *column = _b.rem(_l._thread, _b.index(_distinct));
        ir::MemoryPayload access{static_cast<uint32_t>(bytes()), false, false};
        auto place = [&](int64_t room, ir::Value *thread) {
            auto *slot = _b.add(_b.mul(_b.div(thread, _b.index(warp)), _b.index(_distinct)),
                                column);
            return _b.address(_l.start_of(room), _b.add(slot, half), bytes());
        };
        Touched staging;
        staging.writes.insert(this);
        _l._touched.add(staging);
        ++_l._write_count;
        auto write = [&] {
            for (size_t i = 0; i < _rooms.size(); ++i) {
                _b.effect(Opcode::WRITE, {place(_rooms[i], _l._thread), inclusive[i]}, access);
            }
            return Values{};
        };
        ++_l._alone;
        _distinct == warp ? write()
                          : _b.branch(_b.compare(Opcode::GE, in_warp, _b.index(warp - _distinct)),
                                      write, [] { return Values{}; });
        --_l._alone;
        _l.barrier();
        auto *line = _b.sub(_l._thread, _b.rem(_l._thread, _b.index(_stride * _runs)));
        auto *first = _b.add(line, _b.rem(_l._thread, _b.index(_unit)));
        std::vector<Values> parts;
        for (int64_t p = 0; p < _parts; ++p) {
            Values part;
            for (auto room : _rooms) {
                auto *from = place(room, _b.add(first, _b.index(p * _unit)));
                part.push_back(_b.read(Opcode::READ, {from}, access, _b.module().scalar(_type)));
            }
            parts.push_back(part);
        }
        Touched read;
        read.reads.insert(this);
        _l._touched.add(read);
        return parts;
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
    int64_t _lanes, _stride, _runs, _extent;///< `_stride` threads apart are the runs of a line
    int64_t _run = 1;                       ///< elements of one
    int64_t _unit = 1, _parts = 1, _distinct = 1;
    Dim _dim;
    Point _start;
    ir::Value *_first = nullptr;
    Values _exists;
    std::vector<int64_t> _rooms;///< one a lane of vectors
};

void BlockLowering::lower_dealt_column_scan(const LoopGroup &group, const plan::Deal &deal) {
    auto share = share_of(group, deal);
    const auto *outside = _b.region();
    rounds(share.kept, share.along, 1, {}, [&](const auto &list, const Values &) {
        const auto &[kept, along] = list.front();
        DealtColumnScan{*this, group, share}.run(kept, along);
        if (_b.region() != outside || list.size() > 1 || share.kept.rounds() > 1 ||
            share.along.rounds() > 1) {
            barrier();
        }
        return Values{};
    });
}

}// namespace luisa::tile::simt
