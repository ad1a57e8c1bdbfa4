// SPDX-License-Identifier: Apache-2.0
#include "analysis/expressions.h"
#include "plan/block_planner.h"
#include "realize/simt/block_lowering.h"
#include "realize/simt/share.h"

// Loop groups of which every thread has several vectors under way (plan::Deal).

namespace luisa::tile::simt {

using ir::Opcode;
using plan::LoopGroup;
using plan::Root;

namespace {

int64_t count_of(const std::vector<ir::DimExtent> &dims) {
    int64_t count = 1;
    for (const auto &d : dims) {
        count *= d.extent;
    }
    return count;
}

}// namespace

const plan::Deal *BlockLowering::deal_of(const LoopGroup &group) const {
    return _fast && group.aligned ? &*group.aligned : group.deal ? &*group.deal : nullptr;
}

Share BlockLowering::share_of(const LoopGroup &group, const plan::Deal &deal) {
    Share share;
    share.deal = deal;
    for (size_t i = 0; i < group.loops.size(); ++i) {
        const auto &loop = group.loops[i];
        bool folds = group.folds(loop.dim);
        if (static_cast<int>(i) == deal.axis) {
            share.axis = loop;
            share.axis_folds = folds && group.has_reduction();
        } else {
            (folds ? share.folded_dims : share.kept_dims).push_back(loop);
        }
    }
    share.kept = {count_of(share.kept_dims), deal.kept};
    share.folded = {count_of(share.folded_dims), deal.folded};
    share.along = {share.axis.extent, int64_t{deal.sharers} * deal.lanes};
    auto part = [&](ir::Value *number, int64_t count, bool last) {
        return count == 1 ? _b.index(0) : last ? number : _b.rem(number, _b.index(count));
    };
    auto *sharers = _b.index(deal.sharers);
    auto *row = deal.sharers == _threads ? _b.index(0) : _b.div(_thread, sharers);
    share.lane = _b.mul(part(_thread, deal.sharers, deal.sharers == _threads),
                        _b.index(deal.lanes));
    share.folded_row = part(row, deal.folded, deal.kept == 1);
    share.kept_row = deal.kept == 1 ? _b.index(0) : _b.div(row, _b.index(deal.folded));
    return share;
}

/// The place of a vector of this thread; `ends`: of loops that end early.
Point BlockLowering::place_of(const Share &share, const Vector &vector, const Point &outer,
                              const Ends &ends) {
    auto point = outer.derived();
    ir::Value *exists = nullptr, *lanes = nullptr;
    auto row_of = [&](const Round &round, const Share::Level &level, const Dims &dims,
                      ir::Value *first) {
        auto *row = _b.add(_b.mul(round.number, _b.index(level.at_once)), first);
        if (round.last && level.extent % level.at_once != 0) {
            exists = _b.both(exists, _b.compare(Opcode::LT, row, _b.index(level.extent)));
        }
        place_at(dims, row, point);
    };
    row_of(vector.kept, share.kept, share.kept_dims, share.kept_row);
    row_of(vector.folded, share.folded, share.folded_dims, share.folded_row);
    auto width = share.deal.lanes;
    auto *at = _b.add(_b.mul(vector.along.number, _b.index(share.along.at_once)), share.lane);
    auto *place = in_part(share.axis.dim, at);
    point.at[share.axis.dim.id] = {place, width > 1 ? 1 : 0, nullptr};
    point.lanes = width;
    auto below = [&](ir::Value *end, ir::Value *from) {
        if (width > 1) {
            lanes = _b.both(lanes, lanes_below(_b.sub(end, from), width));
        } else {
            exists = _b.both(exists, _b.compare(Opcode::LT, from, end));
        }
    };
    if (vector.along.last && share.along.extent % share.along.at_once != 0) {
        below(_b.index(share.axis.extent), at);
    }
    for (const auto *dims : {&share.kept_dims, &share.folded_dims}) {
        for (const auto &d : *dims) {
            if (auto *end = early_end(ends, d)) {
                exists = _b.both(exists, _b.compare(Opcode::LT, point.at.at(d.dim.id).base, end));
            }
        }
    }
    if (auto *end = early_end(ends, share.axis)) {
        below(end, place);
    }
    point.guard = _b.both(outer.guard, exists);
    point.mask = lanes;
    auto *active = _b.both(exists, lanes);
    point.active = active ? _b.splat(active, width) : nullptr;
    return point;
}

/// Where the loop over `dim` ends, if that is before its extent.
ir::Value *BlockLowering::early_end(const Ends &ends, const ir::DimExtent &dim) {
    auto found = ends.find(dim.dim.id);
    int64_t known = 0;
    bool whole = found == ends.end() ||
                 (MachineBuilder::is_constant(found->second, known) && known >= dim.extent);
    return whole ? nullptr : found->second;
}

/// Rounds of two levels, the inner fastest, `together` at a time: `body` gets those that are done at once.
Values BlockLowering::rounds(const Share::Level &outer, const Share::Level &inner, int together,
                             const Values &states, const RoundsBody &body) {
    auto outers = outer.rounds(), inners = inner.rounds();
    auto constant = [&](int64_t number, int64_t count) {
        return Round{_b.index(number), number + 1 == count};
    };
    auto pairs = [&](int64_t from, int64_t to, ir::Value *base) {
        std::vector<std::pair<Round, Round>> list;
        for (auto o = from; o < to; ++o) {
            auto at = base ? Round{_b.add(base, _b.index(o - from)), false} : constant(o, outers);
            for (int64_t i = 0; i < inners; ++i) {
                list.emplace_back(at, constant(i, inners));
            }
        }
        return list;
    };
    auto current = states;
    if (outers * inners <= together) {
        return body(pairs(0, outers, nullptr), current);
    }
    auto whole_outers = outer.extent % outer.at_once == 0 ? outers : outers - 1;
    if (inners <= together) {
        auto some = std::max<int64_t>(together / inners, 1);
        auto whole = whole_outers / some * some;
        current = _b.loop(
            _b.index(0), _b.index(whole), some, current,
            [&](ir::Value *iv, const Values &now) { return body(pairs(0, some, iv), now); });
        return whole < outers ? body(pairs(whole, outers, nullptr), current) : current;
    }
    auto along = [&](const Round &at, Values now) {
        auto whole_inners = inner.extent % inner.at_once == 0 ? inners : inners - 1;
        auto whole = whole_inners / together * together;
        now = _b.loop(_b.index(0), _b.index(whole), together, now,
                      [&](ir::Value *iv, const Values &before) {
                          std::vector<std::pair<Round, Round>> list;
                          for (int i = 0; i < together; ++i) {
                              list.emplace_back(at, Round{_b.add(iv, _b.index(i)), false});
                          }
                          return body(list, before);
                      });
        std::vector<std::pair<Round, Round>> rest;
        for (auto i = whole; i < inners; ++i) {
            rest.emplace_back(at, constant(i, inners));
        }
        return rest.empty() ? now : body(rest, now);
    };
    current = _b.loop(_b.index(0), _b.index(whole_outers), 1, current,
                      [&](ir::Value *iv, const Values &now) {
                          return along({iv, false}, now);
                      });
    return whole_outers < outers ? along(constant(whole_outers, outers), current) : current;
}

/// Reads what the roots read at the places of this thread, all of it before any of it is used.
void BlockLowering::read_first(const LoopGroup &group, std::vector<Point> &points) {
    std::vector<const ir::Value *> loads;
    const ir::Value *computed = nullptr;
    auto is_leaf = [&](const ir::Value *v) { return v != computed && _plan->home(v) != nullptr; };
    auto visit = [&](const analysis::Leaf &leaf) {
        auto *op = leaf.value->definition();
        if (leaf.pointwise && op && op->opcode() == Opcode::LOAD && !is_leaf(leaf.value) &&
            !leaf.value->type()->is_scalar() && !op->get<ir::LoadPayload>().mapped) {
            loads.push_back(leaf.value);
        }
    };
    for (const auto &root : group.roots) {
        const auto *source = plan::root_source(root);
        computed = root.kind == Root::Kind::WRITE && root.target == source ? source : nullptr;
        if (source && root.kind != Root::Kind::INSERT) {
            analysis::visit_leaves(source, {}, is_leaf, visit);
        }
    }
    for (auto *load : loads) {
        _b.set_location(load->definition()->loc);
        for (auto &point : points) {
            _plan->home(load) ? point.known[load] = evaluate_operation(*load->definition(), point)
                              : evaluate(load, point);
        }
    }
}

void BlockLowering::lower_dealt(const LoopGroup &group, const plan::Deal &deal) {
    Point outer;
    auto ends = clip_loops(group.roots, whole_loops(group), outer);
    auto share = share_of(group, deal);
    rounds(share.kept, share.along, deal.together, {}, [&](const auto &list, const Values &) {
        std::vector<Point> points;
        for (const auto &[kept, along] : list) {
            points.push_back(place_of(share, {kept, {_b.index(0), true}, along}, outer, ends));
        }
        read_first(group, points);
        for (auto &point : points) {
            emit_roots(group, point);
        }
        return Values{};
    });
}

}// namespace luisa::tile::simt
