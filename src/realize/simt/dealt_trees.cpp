// SPDX-License-Identifier: Apache-2.0
#include "plan/prefix_masks.h"
#include "realize/cpu/reducers.h"
#include "realize/simt/block_lowering.h"

#include <algorithm>

// Balanced trees over lines that several threads share. Neighbours are paired level by level: within a vector, a warp
// by exchanges, and through shared memory the warps and vectors of a line. Where there is no right half, the left one
// is the whole, so that the shape is the one of a tree over just the elements that exist.

namespace luisa::tile::simt {

using ir::Opcode;
using plan::LoopGroup;

class DealtTree {
public:
    DealtTree(BlockLowering &lowering, const LoopGroup &group, const Share &share)
        : _l{lowering}, _b{lowering._b}, _group{group}, _share{share}, _op{*group.roots.front().op},
          _type{_op.operand(0)->scalar()}, _lanes{share.deal.lanes}, _sharers{share.deal.sharers},
          _length{share.axis.extent} {}

    /// The tree over one line, in all threads of the line.
    ir::Value *run(const std::vector<std::pair<Round, Round>> &list) {
        std::vector<Point> points;
        for (const auto &[kept, along] : list) {
            points.push_back(_l.place_of(_share, {kept, {_b.index(0), false}, along}, Point{}, {}));
        }
        _l.read_first(_group, points);
        _b.set_location(_op.loc);
        for (auto &point : points) {
            _parts.push_back(in_thread(point));
        }
        for (int64_t by = 1; by < std::min(_sharers, warp); by *= 2) {
            across_lanes(by);
        }
        auto *tree = whole(_sharers > warp ? by_warps() : by_parts());
        return is_masked() ? of_some(tree, points.front()) : tree;
    }

private:
    [[nodiscard]] Reducer reducer() const {
        return cpu::effective_reducer(_op.get<ir::ReducePayload>());
    }
    /// Whether a mask leaves elements out: those from some place on, which identities stand for.
    [[nodiscard]] bool is_masked() const {
        if (!_op.get<ir::ReducePayload>().has_mask) {
            return false;
        }
        auto bounds = plan::bounds_mask(_op.operand(1));
        return !bounds || !_l.lies_inside(bounds.view, bounds.axis, bounds.first, _length);
    }
    /// The tree, or what a reduction of nothing gives where the mask leaves the first element out too.
    ir::Value *of_some(ir::Value *tree, const Point &place) {
        auto line = place.derived();
        line.at[_share.axis.dim.id] = {_b.index(0), 0, nullptr};
        line.lanes = 1;
        line.mask = nullptr;
        line.active = nullptr;
        auto *nothing = _b.constant(_type, cpu::seed_bits(reducer(), _type));
        return _l.select(_l.evaluate(_op.operand(1), line), tree, nothing);
    }
    /// Elements of a part, or of a warp's share of one.
    [[nodiscard]] int64_t part_elements() const { return _sharers * _lanes; }

    /// Whether element `index` exists; null when it does whatever the thread.
    ir::Value *exists(size_t part, ir::Value *index) {
        bool all = static_cast<int64_t>(part + 1) * part_elements() <= _length;
        return all ? nullptr : _b.compare(Opcode::LT, index, _b.index(_length));
    }
    ir::Value *merge(ir::Value *left, ir::Value *right, ir::Value *right_exists) {
        auto *both = _l.reduce_step(reducer(), left, right);
        return right_exists ? _l.select(right_exists, both, left) : both;
    }

    ir::Value *in_thread(Point &point) {
        auto *x = _b.splat(_l.evaluate(_op.operand(0), point), _lanes);
        if (is_masked()) {
            auto *identity = _b.constant(_type, cpu::identity_bits(reducer(), _type));
            auto *mask = _b.splat(_l.evaluate(_op.operand(1), point), _lanes);
            x = _l.select(mask, x, _b.splat(identity, _lanes));
        }
        auto *first = point.at.at(_share.axis.dim.id).base;
        _firsts.push_back(first);
        if (_lanes == 1) {
            return x;
        }
        Values part;
        for (int64_t i = 0; i < _lanes; ++i) {
            part.push_back(
                _b.pure(Opcode::EXTRACT_LANE, {x}, ir::IndexPayload{i}, _b.module().scalar(_type)));
        }
        for (size_t half = 1; half < part.size(); half *= 2) {
            for (size_t i = 0; i < part.size(); i += 2 * half) {
                auto *index = _b.add(first, _b.index(static_cast<int64_t>(i + half)));
                part[i] = merge(part[i], part[i + half], exists(_parts.size(), index));
            }
        }
        return part.front();
    }

    /// What the first thread of each pair of blocks has is the tree over both.
    void across_lanes(int64_t by) {
        auto *lane = _b.constant(ScalarType::INT32, static_cast<uint64_t>(by));
        for (size_t i = 0; i < _parts.size(); ++i) {
            auto *other = _b.fixed(Opcode::EXCHANGE_LANES, {_parts[i], lane},
                                   ir::ExchangePayload{ir::ExchangeMode::XOR}, _parts[i]->type());
            auto *index = _b.add(_firsts[i], _b.index(by * _lanes));
            _parts[i] = merge(_parts[i], other, exists(i, index));
        }
    }

    /// The tree over each part, from the first thread of the line.
    Values by_parts() {
        auto *first = _b.pure(Opcode::AND, {_l._thread, _b.index((warp - 1) & ~(_sharers - 1))});
        Values all;
        for (auto *part : _parts) {
            all.push_back(_b.fixed(Opcode::EXCHANGE_LANES,
                                   {part, _l.convert(first, ScalarType::INT32)},
                                   ir::ExchangePayload{ir::ExchangeMode::INDEX}, part->type()));
        }
        return all;
    }

    /// The trees over what the warps of a line have of each part, those that exist, in their order.
    Values by_warps() {
        auto bytes = static_cast<int64_t>(size_of(_type));
        auto warps = _l._threads / warp, each = _sharers / warp;
        auto room = _l.allocate_bytes(static_cast<int64_t>(_parts.size()) * warps * bytes);
        ir::MemoryPayload access{static_cast<uint32_t>(bytes), false, false};
        auto *number = _b.div(_l._thread, _b.index(warp));
        auto slot = [&](size_t part, ir::Value *index) {
            return _b.address(_l.start_of(room), index, bytes,
                              static_cast<int64_t>(part) * warps * bytes);
        };
        Touched staging;
        staging.writes.insert(_parts.front());
        _l.touch(staging);
        auto *lane = _b.pure(Opcode::AND, {_l._thread, _b.index(warp - 1)});
        ++_l._alone;
        _b.branch(
            _b.compare(Opcode::EQ, lane, _b.index(0)),
            [&] {
                for (size_t i = 0; i < _parts.size(); ++i) {
                    _b.effect(Opcode::WRITE, {slot(i, number), _parts[i]}, access);
                }
                return Values{};
            },
            [] { return Values{}; });
        --_l._alone;
        _l.barrier();
        auto *first = _b.sub(number, _b.rem(number, _b.index(each)));
        Values all;
        for (size_t i = 0; i < _parts.size(); ++i) {
            for (int64_t w = 0; w < each; ++w) {
                if (static_cast<int64_t>(i) * part_elements() + w * warp * _lanes < _length) {
                    all.push_back(_b.read(Opcode::READ, {slot(i, _b.add(first, _b.index(w)))},
                                          access, _b.module().scalar(_type)));
                }
            }
        }
        Touched read;
        read.reads.insert(_parts.front());
        _l.touch(read);
        return all;
    }

    ir::Value *whole(Values all) {
        while (all.size() > 1) {
            Values merged;
            for (size_t i = 0; i < all.size(); i += 2) {
                merged.push_back(i + 1 < all.size() ? merge(all[i], all[i + 1], nullptr) : all[i]);
            }
            all = merged;
        }
        return all.front();
    }

    BlockLowering &_l;
    MachineBuilder &_b;
    const LoopGroup &_group;
    const Share &_share;
    const ir::Operation &_op;
    ScalarType _type;
    int64_t _lanes, _sharers, _length;
    Values _parts, _firsts;///< of each vector of the thread: the tree over it, and its first place
};

void BlockLowering::lower_dealt_tree(const LoopGroup &group, const plan::Deal &deal) {
    auto share = share_of(group, deal);
    auto parts = static_cast<int>(share.along.rounds());
    const auto *outside = _b.region();
    // Threads beyond those of all lines hold what those of the first have.
    auto *place = _b.rem(_thread, _b.index(int64_t{deal.sharers} * deal.folded));
    rounds(share.kept, share.along, parts, {}, [&](const auto &list, const Values &) {
        auto *tree = DealtTree{*this, group, share}.run(list);
        auto point = line_of(share, list.front().first);
        _writer = _b.compare(Opcode::EQ, place, _b.index(0));
        write_result(group.roots.front(), tree, point);
        _writer = nullptr;
        if (_b.region() != outside && deal.sharers > warp) {
            barrier();
        }
        return Values{};
    });
}

}// namespace luisa::tile::simt
