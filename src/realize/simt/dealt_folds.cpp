// SPDX-License-Identifier: Apache-2.0
#include "realize/cpu/reducers.h"
#include "realize/simt/block_lowering.h"

#include <algorithm>

// Folds of dealt groups: every thread folds its own vectors, then those that share a line exchange what they have,
// in a warp by shuffles and between warps through shared memory behind one barrier.

namespace luisa::tile::simt {

using ir::Opcode;
using plan::LoopGroup;
using plan::Root;

/// The folds of one line, or of as many lines as its vectors have lanes.
struct BlockLowering::Line {
    Point point;
    Values states;
};

/// A group whose elements along the axis are folded goes on without it.
static LoopGroup without_axis(LoopGroup group) {
    group.vector_axis = -1;
    group.lanes = 1;
    return group;
}

void BlockLowering::lower_dealt_fold(const LoopGroup &group, const plan::Deal &deal) {
    auto share = share_of(group, deal);
    auto own = group;
    own.vector_axis = deal.axis;
    own.lanes = deal.lanes;
    own.accumulators = own.columns = 1;
    Share::Level one, lanes = share.axis_folds ? one : share.along;
    auto at_once = deal.all ? static_cast<int>(share.kept.rounds() * lanes.rounds()) : 1;
    const auto *outside = _b.region();
    rounds(share.kept, lanes, at_once, {}, [&](const auto &list, const Values &) {
        std::vector<Line> lines;
        for (const auto &[kept, along] : list) {
            lines.push_back({{}, fold_vectors(own, share, {kept, {}, along})});
            Vector line{kept, {_b.index(0), false}, along};
            lines.back().point = place_of(share, line, Point{}, {});
            if (share.axis_folds) {
                lines.back().point = line_of(share, kept);
            }
        }
        finish_lines(own, share, lines);
        // Another round writes where this one read.
        if (_b.region() != outside && deal.folded * deal.sharers > warp) {
            barrier();
        }
        return Values{};
    });
}

/// The place of a line: no coordinates along what is folded.
Point BlockLowering::line_of(const Share &share, const Round &kept) {
    auto line = share;
    line.deal.lanes = 1;
    line.along = {1, 1};
    auto point = place_of(line, {kept, {_b.index(0), false}, {_b.index(0), false}}, Point{}, {});
    point.at.erase(share.axis.dim.id);
    return point;
}

/// What this thread contributes to a line.
Values BlockLowering::fold_vectors(const LoopGroup &group, const Share &share, const Vector &at) {
    Share::Level one;
    auto along = share.axis_folds ? share.along : one;
    auto states = fold_identity(group, share.deal.lanes, 1);
    return rounds(share.folded, along, share.deal.together, states,
                  [&](const auto &list, const Values &before) {
                      std::vector<Point> points;
                      for (const auto &[folded, inner] : list) {
                          auto place = share.axis_folds ? inner : at.along;
                          points.push_back(place_of(share, {at.kept, folded, place}, Point{}, {}));
                      }
                      read_first(group, points);
                      auto now = before;
                      for (auto &point : points) {
                          now = fold_elements(group, 0, 1, point, now);
                      }
                      return now;
                  });
}

/// Merges the lanes of folded vectors; vectors of lines come apart into single states, lane by lane.
Values BlockLowering::single_states(const LoopGroup &group, const Share &share,
                                    const Values &states) {
    if (share.deal.lanes == 1) {
        return states;
    }
    Values single;
    if (share.axis_folds) {
        for (const auto &root : group.roots) {
            if (root.kind != Root::Kind::REDUCE) {
                continue;
            }
            const auto &payload = root.op->get<ir::ReducePayload>();
            single.push_back(
                merge_parts(cpu::effective_reducer(payload), {states[single.size()]}, true));
            if (carries_flag(root)) {
                single.push_back(merge_parts(Reducer::LOGICAL_OR, {states[single.size()]}, true));
            }
        }
        return single;
    }
    for (int64_t lane = 0; lane < share.deal.lanes; ++lane) {
        for (auto *state : states) {
            single.push_back(_b.pure(Opcode::EXTRACT_LANE, {state}, ir::IndexPayload{lane},
                                     _b.module().scalar(state->scalar())));
        }
    }
    return single;
}

/// The inverse for lines that are the lanes of vectors.
Values BlockLowering::joined_states(const Share &share, const Values &single, size_t count) {
    if (share.deal.lanes == 1 || share.axis_folds) {
        return single;
    }
    Values states;
    for (size_t i = 0; i < count; ++i) {
        auto *state = _b.splat(single[i], share.deal.lanes);
        for (int64_t lane = 1; lane < share.deal.lanes; ++lane) {
            state = _b.pure(Opcode::INSERT_LANE,
                            {state, single[static_cast<size_t>(lane) * count + i]},
                            ir::IndexPayload{lane}, state->type());
        }
        states.push_back(state);
    }
    return states;
}

void BlockLowering::finish_lines(const LoopGroup &group, const Share &share,
                                 std::vector<Line> &lines) {
    Fold fold;
    fold.group = group;
    auto count = lines.front().states.size();
    std::vector<Values> all;
    for (auto &line : lines) {
        auto single = single_states(group, share, line.states);
        for (size_t i = 0; i < single.size(); i += count) {
            all.emplace_back(single.begin() + static_cast<std::ptrdiff_t>(i),
                             single.begin() + static_cast<std::ptrdiff_t>(i + count));
        }
    }
    int64_t stride = share.axis_folds ? 1 : share.deal.sharers;
    int64_t sharers = share.axis_folds ? int64_t{share.deal.sharers} * share.deal.folded
                                       : share.deal.folded;
    merge_across(fold, all, stride, sharers);
    auto each = all.size() / lines.size();
    auto done = share.axis_folds ? without_axis(group) : group;
    ir::Value *writes = nullptr;
    if (sharers > 1) {
        auto *place = _b.rem(_b.div(_thread, _b.index(stride)), _b.index(sharers));
        writes = _b.compare(Opcode::EQ, place, _b.index(0));
    }
    for (size_t i = 0; i < lines.size(); ++i) {
        Values single;
        for (size_t j = 0; j < each; ++j) {
            single.insert(single.end(), all[i * each + j].begin(), all[i * each + j].end());
        }
        _writer = writes;
        finish_fold(done, joined_states(share, single, count), 1, lines[i].point);
        _writer = nullptr;
    }
}

/// Each of `sharers` threads, which stand `stride` apart, gets the whole of what they have, for all lines.
void BlockLowering::merge_across(Fold &fold, std::vector<Values> &lines, int64_t stride,
                                 int64_t sharers) {
    auto span = std::min(stride * sharers, warp);
    for (auto by = span / 2; by >= stride; by /= 2) {
        auto *lane = _b.constant(ScalarType::INT32, static_cast<uint64_t>(by));
        for (auto &states : lines) {
            Values others;
            for (auto *state : states) {
                others.push_back(_b.fixed(Opcode::EXCHANGE_LANES, {state, lane},
                                          ir::ExchangePayload{ir::ExchangeMode::XOR},
                                          state->type()));
            }
            states = merge_states(fold, states, others);
        }
    }
    if (stride * sharers > warp && sharers > 1) {
        merge_shared(fold, lines, stride, sharers);
    }
}

/// The same between warps: those lanes of each that differ write, and all read what their line has.
void BlockLowering::merge_shared(Fold &fold, std::vector<Values> &lines, int64_t stride,
                                 int64_t sharers) {
    auto distinct = std::min(stride, warp), unit = std::max(stride, warp);
    auto parts = stride * sharers / unit, slots = _threads / warp * distinct;
    Touched staging;
    staging.writes.insert(lines.front().front());
    touch(staging);
    auto bytes_of = [](const ir::Value *v) { return static_cast<int64_t>(size_of(v->scalar())); };
    auto access = [&](const ir::Value *v) {
        return ir::MemoryPayload{static_cast<uint32_t>(bytes_of(v)), false, false};
    };
    std::vector<std::pair<int64_t, ir::Value *>> rooms;
    for (const auto &states : lines) {
        for (auto *state : states) {
            rooms.emplace_back(allocate_bytes(slots * bytes_of(state)), state);
        }
    }
    auto *lane = _b.rem(_thread, _b.index(distinct));
    auto slot_of = [&](ir::Value *thread) {
        return _b.add(_b.mul(_b.div(thread, _b.index(warp)), _b.index(distinct)), lane);
    };
    auto *own = slot_of(_thread);
    auto write = [&] {
        for (auto [room, state] : rooms) {
            _b.effect(Opcode::WRITE, {_b.address(start_of(room), own, bytes_of(state)), state},
                      access(state));
        }
        return Values{};
    };
    auto *in_warp = _b.rem(_thread, _b.index(warp));
    ++_alone;
    distinct == warp ? write()
                     : _b.branch(_b.compare(Opcode::LT, in_warp, _b.index(distinct)), write,
                                 [] { return Values{}; });
    --_alone;
    barrier();
    auto *group = _b.sub(_thread, _b.rem(_thread, _b.index(stride * sharers)));
    auto *first = _b.add(group, _b.rem(_thread, _b.index(unit)));
    size_t room = 0;
    for (auto &states : lines) {
        Values merged;
        for (int64_t part = 0; part < parts; ++part) {
            auto *slot = slot_of(_b.add(first, _b.index(part * unit)));
            Values one;
            for (size_t i = 0; i < states.size(); ++i) {
                auto *state = rooms[room + i].second;
                auto *place = _b.address(start_of(rooms[room + i].first), slot, bytes_of(state));
                one.push_back(_b.read(Opcode::READ, {place}, access(state), state->type()));
            }
            merged = part == 0 ? one : merge_states(fold, merged, one);
        }
        room += states.size();
        states = merged;
    }
    Touched read;
    read.reads.insert(lines.front().front());
    touch(read);
}

}// namespace luisa::tile::simt
