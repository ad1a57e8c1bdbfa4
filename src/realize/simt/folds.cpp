// SPDX-License-Identifier: Apache-2.0
#include "plan/block_planner.h"
#include "realize/cpu/lower_scan.h"
#include "realize/cpu/reducers.h"
#include "realize/simt/block_lowering.h"

#include <algorithm>
#include <bit>

// Loop groups, and how threads share the lines that a group folds: each takes a line, or several share one and
// merge their parts, in a warp by exchanges and between warps through shared memory.

namespace luisa::tile::simt {

using ir::Opcode;
using plan::LoopGroup;
using plan::Root;

namespace {

bool is_arg(const Root &root) {
    auto reducer = root.op->get<ir::ReducePayload>().reducer;
    return reducer == Reducer::ARGMIN || reducer == Reducer::ARGMAX;
}

int64_t count_of(const std::vector<ir::DimExtent> &dims) {
    int64_t count = 1;
    for (const auto &d : dims) {
        count *= d.extent;
    }
    return count;
}

int64_t power_below(int64_t n) {
    return n < 1 ? 1 : static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(n)));
}

}// namespace

void BlockLowering::lower_group(const LoopGroup &group) {
    begin_group(group);
    if (group.has_reduction()) {
        const auto *deal = deal_of(group);
        const auto &first = group.roots.front();
        bool tree = deal && first.kind == Root::Kind::REDUCE && !plan::regroups(*first.op);
        tree   ? lower_dealt_tree(group, *deal)
        : deal ? lower_dealt_fold(group, *deal)
               : lower_folds(group);
        return end_group();
    }
    if (const auto *deal = deal_of(group)) {
        bool across = group.scan() &&
                      !group.folds(group.loops[static_cast<size_t>(deal->axis)].dim);
        across         ? lower_dealt_column_scan(group, *deal)
        : group.scan() ? lower_dealt_scan(group, *deal)
                       : lower_dealt(group, *deal);
        return end_group();
    }
    Point point;
    if (group.scan()) {
        Dims kept;
        for (const auto &d : group.loops) {
            if (!group.folds(d.dim)) {
                kept.push_back(d);
            }
        }
        _private_threads = std::min<int64_t>(count_of(kept), _threads);
        auto single = group;// elements of a line one after the other
        single.vector_axis = -1;
        cpu::ScanLowering scan{*this, single};
        deal_out(kept, {}, point, [&](Point &line) { scan.line(line); });
        return end_group();
    }
    auto ends = clip_loops(group.roots, whole_loops(group), point);
    deal_out(group.loops, ends, point, [&](Point &inner) { emit_roots(group, inner); });
    end_group();
}

void BlockLowering::lower_folds(const LoopGroup &group) {
    Fold fold;
    fold.group = group;
    fold.group.accumulators = fold.group.columns = 1;
    for (const auto &d : group.loops) {
        (group.folds(d.dim) ? fold.folded : fold.kept).push_back(d);
    }
    fold.lines = count_of(fold.kept);
    fold.length = count_of(fold.folded);
    fold.shares = true;
    const Root *tree = nullptr;
    for (const auto &root : group.roots) {
        if (root.kind != Root::Kind::REDUCE) {
            fold.is_plain = false;
            continue;
        }
        fold.is_arg = is_arg(root);
        fold.is_scalar |= root.op->result()->type()->is_scalar();
        bool grouping = plan::regroups(*root.op);
        fold.shares &= grouping || fold.is_arg;
        bool balanced = root.op->get<ir::ReducePayload>().policy == ReductionPolicy::BALANCED_TREE;
        tree = balanced && !grouping && !fold.is_arg ? &root : tree;
    }
    if (fold.lines == 0) {
        return;
    }
    if (tree) {
        int64_t bytes = static_cast<int64_t>(size_of(tree->op->operand(0)->scalar()));
        _private_threads = std::min<int64_t>(fold.lines, _threads);
        auto room = allocate_private((fold.length + 1) * bytes);
        Point point;
        return deal_out(fold.kept, {}, point, [&](Point &line) {
            lower_balanced_at(fold.group, fold.kept.size(), *tree, room, line);
        });
    }
    if (fold.shares && fold.length > 1) {
        bool along = group.vector_axis >= 0 &&
                     group.folds(group.loops[static_cast<size_t>(group.vector_axis)].dim);
        auto some = power_below(_threads / std::min<int64_t>(fold.lines, _threads));
        // A warp that reads along the lines reads neighbours.
        some = along ? std::max(some, warp) : some;
        auto useful = std::bit_ceil(static_cast<uint64_t>(fold.length));
        fold.sharers = std::min<int64_t>(some, static_cast<int64_t>(useful));
        fold.sharers = fold.is_scalar ? _threads : std::min<int64_t>(fold.sharers, _threads);
    }
    fold.sharers > 1 ? fold_line_blocks(fold) : fold_lines(fold);
}

/// One thread a line. What is a scalar all threads fold alike, unless there is something to write.
void BlockLowering::fold_lines(Fold &fold) {
    Point point;
    if (fold.is_scalar && fold.is_plain && fold.lines == 1) {
        return lower_fold(fold.group, fold.kept.size(), point);
    }
    deal_out(fold.kept, {}, point,
             [&](Point &line) { lower_fold(fold.group, fold.kept.size(), line); });
}

/// As many lines at a time as the threads have room for.
void BlockLowering::fold_line_blocks(Fold &fold) {
    auto at_once = _threads / fold.sharers;
    bool whole = fold.lines % at_once == 0;
    auto *lane = _b.rem(_thread, _b.index(fold.sharers));
    auto *own = at_once == 1 ? _b.index(0) : _b.div(_thread, _b.index(fold.sharers));
    bool repeats = fold.lines > at_once;
    _b.loop(_b.index(0), _b.index(fold.lines), at_once, {}, [&](ir::Value *base, const Values &) {
        auto *line = _b.add(base, own);
        ir::Value *exists = nullptr;
        if (!whole) {
            exists = _b.compare(Opcode::LT, line, _b.index(fold.lines));
            line = _b.minimum(line, _b.index(fold.lines - 1));
        }
        auto *count = exists ? select(exists, _b.index(fold.length), _b.index(0))
                             : _b.index(fold.length);
        Point point;
        place_at(fold.kept, line, point);
        auto states = merge_threads(fold, fold_part(fold, lane, count, point));
        if (fold.is_scalar) {
            finish_line(fold, states, point);
        } else {
            auto *first = _b.both(_b.compare(Opcode::EQ, lane, _b.index(0)), exists);
            ++_alone;
            _b.branch(
                first,
                [&] {
                    auto place = point.derived();
                    finish_line(fold, states, place);
                    return Values{};
                },
                [] { return Values{}; });
            --_alone;
        }
        if (repeats && fold.sharers > warp) {
            barrier();
        }
        return Values{};
    });
}

/// Elements lane, lane + sharers, … of a line.
Values BlockLowering::fold_part(Fold &fold, ir::Value *lane, ir::Value *count, Point &point) {
    const auto &group = fold.group;
    auto states = fold.is_arg ? arg_identity(group, 1, 1) : fold_identity(group, 1, 1);
    ++_alone;
    states = _b.loop(lane, count, _b.index(fold.sharers), states,
                     [&](ir::Value *iv, const Values &now) {
                         auto place = point.derived();
                         place_at(fold.folded, iv, place);
                         return fold.is_arg ? arg_elements(group, 0, place, now)
                                            : fold_elements(group, 0, 1, place, now);
                     });
    --_alone;
    return states;
}

Values BlockLowering::merge_states(const Fold &fold, const Values &left, const Values &right) {
    Values merged;
    for (const auto &root : fold.group.roots) {
        if (root.kind != Root::Kind::REDUCE) {
            continue;
        }
        const auto &payload = root.op->get<ir::ReducePayload>();
        auto slot = merged.size();
        if (fold.is_arg) {
            auto one = merge_candidates(payload, {left[slot], left[slot + 1]},
                                        {right[slot], right[slot + 1]});
            merged.insert(merged.end(), {one.value, one.index});
            continue;
        }
        merged.push_back(reduce_step(cpu::effective_reducer(payload), left[slot], right[slot]));
        if (carries_flag(root)) {
            merged.push_back(_b.pure(Opcode::OR, {left[slot + 1], right[slot + 1]}));
        }
    }
    return merged;
}

/// The whole of a line from the parts of those that share it: in its first thread, and in all where the
/// result is a scalar.
Values BlockLowering::merge_threads(Fold &fold, Values states) {
    auto exchange = [&](const Values &values, ir::ExchangeMode mode, int64_t by) {
        auto *lane = _b.constant(ScalarType::INT32, static_cast<uint64_t>(by));
        Values others;
        for (auto *value : values) {
            others.push_back(_b.fixed(Opcode::EXCHANGE_LANES, {value, lane},
                                      ir::ExchangePayload{mode}, value->type()));
        }
        return others;
    };
    for (auto by = std::min(fold.sharers, warp) / 2; by >= 1; by /= 2) {
        states = merge_states(fold, states, exchange(states, ir::ExchangeMode::XOR, by));
    }
    if (fold.sharers > warp) {
        return merge_warps(fold, states);
    }
    return fold.is_scalar ? exchange(states, ir::ExchangeMode::INDEX, 0) : states;
}

/// Every thread of a line merges the parts of its warps in one order.
Values BlockLowering::merge_warps(Fold &fold, const Values &states) {
    auto warps = _threads / warp, each = fold.sharers / warp;
    auto *number = _b.div(_thread, _b.index(warp));
    Touched staging;
    staging.writes.insert(states.front());
    touch(staging);
    std::vector<int64_t> rooms;
    for (auto *state : states) {
        rooms.push_back(allocate_bytes(warps * static_cast<int64_t>(size_of(state->scalar()))));
    }
    auto at = [&](size_t i, ir::Value *index) {
        return _b.address(start_of(rooms[i]), index,
                          static_cast<int64_t>(size_of(states[i]->scalar())));
    };
    auto access = [&](size_t i) {
        return ir::MemoryPayload{static_cast<uint32_t>(size_of(states[i]->scalar())), false, false};
    };
    ++_alone;
    _b.branch(
        _b.compare(Opcode::EQ, _b.rem(_thread, _b.index(warp)), _b.index(0)),
        [&] {
            for (size_t i = 0; i < states.size(); ++i) {
                _b.effect(Opcode::WRITE, {at(i, number), states[i]}, access(i));
            }
            return Values{};
        },
        [] { return Values{}; });
    --_alone;
    barrier();
    auto *first = _b.sub(number, _b.rem(number, _b.index(each)));
    Values merged;
    for (int64_t w = 0; w < each; ++w) {
        Values part;
        for (size_t i = 0; i < states.size(); ++i) {
            part.push_back(_b.read(Opcode::READ, {at(i, _b.add(first, _b.index(w)))}, access(i),
                                   states[i]->type()));
        }
        merged = w == 0 ? part : merge_states(fold, merged, part);
    }
    Touched read;
    read.reads.insert(states.front());
    touch(read);
    return merged;
}

void BlockLowering::finish_line(const Fold &fold, const Values &states, Point &point) {
    if (!fold.is_arg) {
        return finish_fold(fold.group, states, 1, point);
    }
    size_t slot = 0;
    for (const auto &root : fold.group.roots) {
        if (root.kind == Root::Kind::REDUCE) {
            write_result(root, convert(states[slot + 1], ScalarType::INT64), point);
            slot += 2;
        }
    }
}

}// namespace luisa::tile::simt
