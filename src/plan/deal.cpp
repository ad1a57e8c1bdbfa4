// SPDX-License-Identifier: Apache-2.0
#include "analysis/expressions.h"
#include "analysis/intervals.h"
#include "plan/block_planner.h"
#include "plan/plan.h"
#include "plan/prefix_masks.h"

#include <algorithm>
#include <bit>
#include <numeric>

// How the threads of a GPU's block share loop groups: neighbouring threads have neighbouring vectors, and a thread
// has several of them under way at once.

namespace luisa::tile::plan {

using ir::DimExtent;
using ir::Opcode;

namespace {

/// What a thread loads and stores at once, bytes.
constexpr int64_t vector_bytes = 16;
/// Vectors and elements of a thread that are under way, and simple operations that one round has.
constexpr int64_t most_vectors = 16, most_elements = 64, most_work = 1500;
constexpr int64_t warp = 32, most_threads = 256, most_of_long_lines = 512, most_keys = 16;

int64_t power_below(int64_t n) {
    return n < 1 ? 1 : static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(n)));
}
int64_t power_above(int64_t n) {
    return n < 1 ? 1 : static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(n)));
}
int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// A number that the scalar is known to be a multiple of; 0 for zero.
int64_t factor_of(const ir::Value *value) {
    auto *op = value->definition();
    if (!op) {
        return 1;
    }
    switch (op->opcode()) {
        case Opcode::CONSTANT:
            return static_cast<int64_t>(op->get<ir::ConstantPayload>().bits & 0xffff);
        case Opcode::ADD:
        case Opcode::SUB: return std::gcd(factor_of(op->operand(0)), factor_of(op->operand(1)));
        case Opcode::MUL: {
            auto a = factor_of(op->operand(0)), b = factor_of(op->operand(1));
            return std::min<int64_t>(a, 1 << 16) * std::min<int64_t>(b, 1 << 16);
        }
        default: return 1;
    }
}

class Dealer {
public:
    explicit Dealer(Plan &plan)
        : _plan{plan}, _cost{[&plan](const ir::Value *v) { return plan.home(v) != nullptr; }} {}

    void phase(Phase &phase) {
        auto &block = phase.nest ? _plan.blocks.at(phase.nest->body()) : phase.block;
        visit(block, [&](LoopGroup &group) { widths(group); });
        phase.alone = phase.nest && _most_elements <= 1;
        auto wanted = std::max(power_below(_most_vectors / 2), power_above(_most_blocks));
        auto most = _longest > most_threads * most_vectors ? most_of_long_lines : most_threads;
        _threads = phase.alone ? 128 : std::clamp(wanted, warp, most);
        phase.threads = static_cast<int>(_threads);
        if (!phase.alone) {
            visit(block, [&](LoopGroup &group) { deal(group); });
            phase.resident = resident_blocks(block);
        }
    }

private:
    /// All groups of a block and of what is nested in it; products are counted.
    template<class F> void visit(Block &block, const F &each) {
        for (auto &step : block.steps) {
            if (auto *group = std::get_if<LoopGroup>(&step)) {
                each(*group);
            } else if (const auto *c = std::get_if<Contraction>(&step)) {
                int64_t elements = 1;
                for (const auto *dims : {&c->roles.batch, &c->roles.rows, &c->roles.columns}) {
                    elements = counted(*dims, elements);
                }
                auto blocks = c->stage ? c->stage->threads()
                                       : elements / (int64_t{c->rows} * c->vectors);
                _most_blocks = std::max(_most_blocks, blocks);
                _most_elements = std::max(_most_elements, blocks);
            } else if (auto *ordering = std::get_if<Ordering>(&step)) {
                order(*ordering);
            } else {
                const auto &op = *std::get<Sequential>(step).op;
                if (_plan.dealt_loops.count(&op)) {
                    // A few of them one thread does as well, which then has instances of its own.
                    auto iterations = iterations_of(op) < warp ? 1 : iterations_of(op);
                    _most_vectors = std::max(_most_vectors, iterations);
                    _most_elements = std::max(_most_elements, iterations);
                }
                for (const auto *region : op.regions()) {
                    if (auto inner = _plan.blocks.find(region); inner != _plan.blocks.end()) {
                        visit(inner->second, each);
                    }
                }
            }
        }
    }

    /// Where threads go through more than their registers hold, what counts is how much of it is under way, so that
    /// loads need registers more than the multiprocessor needs warps.
    int resident_blocks(Block &block) {
        bool long_way = false, products = false;
        for (auto &step : block.steps) {
            products |= !std::holds_alternative<LoopGroup>(step);
        }
        visit(block, [&](LoopGroup &group) {
            bool carries = group.has_reduction() || group.scan();
            long_way |= carries && group.deal && group.aligned && !group.aligned->all &&
                        group.aligned->together > 1;
        });
        return long_way && !products ? static_cast<int>(std::max<int64_t>(512 / _threads, 1)) : 0;
    }

    static int64_t counted(const std::vector<DimExtent> &dims, int64_t from) {
        for (const auto &d : dims) {
            from = d.extent > 0 && from < (1 << 20) ? from * d.extent : from;
        }
        return from;
    }

    /// Of a loop, or a guess.
    static int64_t iterations_of(const ir::Operation &nest) {
        constexpr int64_t guess = 1024;
        if (nest.get<ir::NestPayload>().is_range) {
            auto known = constant_trips(nest);
            return known ? known : guess;
        }
        int64_t count = 1;
        for (const auto *extent : nest.operands()) {
            auto known = analysis::interval_of(extent);
            auto most = known.bounded() && known.low == known.high ? known.high : guess;
            count = count < (1 << 20) ? count * std::max<int64_t>(most, 1) : count;
        }
        return count;
    }

    /// Every thread sorts as many keys as its registers hold well, fewer where threads had nothing to do then.
    void order(Ordering &o) {
        auto bytes = static_cast<int64_t>(size_of(o.keys()->scalar())) + (o.places() ? 8 : 0);
        auto most = std::min(o.positions, bytes > 8 ? most_keys / 2 : most_keys);
        auto lines = counted(o.lines, 1), keys = counted(o.lines, o.positions);
        auto each = std::clamp<int64_t>(power_below(std::max<int64_t>(keys / _threads, 1)),
                                        std::min<int64_t>(o.positions, 2), most);
        auto threads = std::min(o.positions / each, _threads);
        o.how.each = static_cast<int>(each);
        o.how.threads = static_cast<int>(threads);
        o.how.lines = static_cast<int>(std::clamp<int64_t>(lines, 1, _threads / threads));
        constexpr int64_t least_part = 512;
        o.how.bounded = 4 * o.first <= threads && threads == _threads && threads >= warp &&
                        threads * each >= least_part && lines == 1;
        _most_blocks = std::max(_most_blocks, std::min(keys / 8, most_threads));
        _most_elements = std::max(_most_elements, keys);
    }

    static int position(const LoopGroup &group) {
        return group.vector_axis >= 0 ? group.vector_axis
                                      : static_cast<int>(group.loops.size()) - 1;
    }

    void widths(LoopGroup &group) {
        auto elements = counted(group.loops, 1);
        _most_elements = std::max(_most_elements, elements);
        auto lanes = !may_deal(group)    ? 1
                     : goes_whole(group) ? neighbours_of(group)
                                         : lanes_of(group);
        _most_vectors = std::max(_most_vectors, elements / lanes);
        if (may_deal(group)) {
            auto extent = group.loops[static_cast<size_t>(position(group))].extent;
            _longest = std::max(_longest, extent / lanes);
        }
    }

    /// Whether the group is one balanced tree over lines, whole or up to an end.
    [[nodiscard]] static bool is_shared_tree(const LoopGroup &group) {
        if (group.roots.size() != 1 || group.roots.front().kind != Root::Kind::REDUCE) {
            return false;
        }
        const auto &op = *group.roots.front().op;
        const auto &payload = op.get<ir::ReducePayload>();
        auto last = static_cast<int>(group.loops.size()) - 1;
        bool found = payload.reducer != Reducer::ARGMIN && payload.reducer != Reducer::ARGMAX &&
                     payload.policy == ReductionPolicy::BALANCED_TREE &&
                     group.vector_axis == last && last >= 0;
        // What a prefix leaves out stands where the tree has nothing.
        found = found && (!payload.has_mask ||
                          is_prefix_mask(op.operand(1), group.loops[group.loops.size() - 1].dim));
        for (int i = 0; i <= last; ++i) {
            found &= group.folds(group.loops[static_cast<size_t>(i)].dim) == (i == last);
        }
        return found;
    }

    /// Threads share lines of scans that may be regrouped, or that are balanced trees over all elements.
    [[nodiscard]] static bool may_deal_scan(const LoopGroup &group) {
        const auto &scan = *group.scan();
        const auto &payload = scan.get<ir::ScanPayload>();
        auto type = scan.operand(0)->scalar();
        auto policy = scan_policy(scan);
        bool ordered = policy == ReductionPolicy::FOLD_LEFT ||
                       policy == ReductionPolicy::FOLD_RIGHT;
        bool masked_tree = policy == ReductionPolicy::BALANCED_TREE && payload.has_mask;
        // Of floats "nothing yet" is not what a sum begins with.
        bool flagged = payload.has_mask && !is_integer(type);
        return group.vector_axis == static_cast<int>(group.loops.size()) - 1 &&
               group.loops.back().dim == payload.dim && !ordered && !masked_tree && !flagged;
    }
    /// Where lines lie beside each other, a thread has runs of some of them. Such a scan is regrouped.
    [[nodiscard]] static bool may_deal_across(const LoopGroup &group) {
        const auto &scan = *group.scan();
        auto policy = scan_policy(scan);
        bool lines = std::any_of(group.loops.begin(), group.loops.end(),
                                 [&](const DimExtent &d) { return group.folds(d.dim); });
        return lines && group.vector_axis >= 0 && !group.scans_lanes() &&
               !scan.get<ir::ScanPayload>().has_mask &&
               (policy == ReductionPolicy::ORDERED_TREE ||
                policy == ReductionPolicy::UNORDERED_TREE);
    }

    [[nodiscard]] static bool may_deal(const LoopGroup &group) {
        if (group.loops.empty() ||
            (group.scan() && !may_deal_scan(group) && !may_deal_across(group))) {
            return false;
        }
        for (const auto &root : group.roots) {
            if (root.kind == Root::Kind::REDUCE && !regroups(*root.op) && !is_shared_tree(group)) {
                return false;
            }
        }
        return std::all_of(group.loops.begin(), group.loops.end(),
                           [](const DimExtent &d) { return d.extent > 0; });
    }

    /// Calls `note(bytes, factor)` for each access of neighbours along the axis: the size of an element, and
    /// what elements lie at multiples of; `other()` for each that reads or writes places far apart.
    template<class N, class O>
    void accesses(const LoopGroup &group, const N &note, const O &other) const {
        auto axis = group.loops[static_cast<size_t>(position(group))];
        analysis::Slopes slopes{{axis.dim.id, {true, 1}}};
        auto of_view = [&](const ir::Operation &op, const analysis::Slopes &at) {
            auto slope = analysis::address_slope(op, at);
            if (slope.known && slope.value == 0) {
                return;
            }
            slope.known &&slope.value == 1 ? note(view_bytes(op), view_factor(op)) : other();
        };
        auto of_home = [&](const ir::Value *home) {
            const auto &storage = _plan.storage.at(home);
            if (storage.layout || storage.order.empty() || home->type()->find(axis.dim) < 0) {
                return;
            }
            storage.order.back().dim == axis.dim
                ? note(static_cast<int64_t>(size_of(home->scalar())), axis.extent)
                : other();
        };
        auto is_leaf = [&](const ir::Value *v) { return _plan.home(v) != nullptr; };
        const ir::Value *computed = nullptr;
        auto of_leaf = [&](const analysis::Leaf &leaf) {
            auto *op = leaf.value->definition();
            if (const auto *home = _plan.home(leaf.value); home && leaf.value != computed) {
                of_home(home);
            } else if (op && op->opcode() == Opcode::LOAD) {
                of_view(*op, leaf.slopes);
            }
        };
        for (const auto &root : group.roots) {
            const auto *source = root_source(root);
            computed = root.kind == Root::Kind::WRITE && root.target == source ? source : nullptr;
            analysis::visit_leaves(
                source, slopes, [&](const ir::Value *v) { return v != computed && is_leaf(v); },
                of_leaf);
            if (root.kind == Root::Kind::STORE) {
                of_view(*root.op, slopes);
            } else if (const auto *home = root.target ? _plan.home(root.target) : nullptr) {
                of_home(home);
            }
        }
    }

    static int64_t view_bytes(const ir::Operation &op) {
        return static_cast<int64_t>(size_of(op.operand(0)->type()->scalar));
    }

    /// What the elements of a load or store lie at multiples of, where the view's own place, and strides that
    /// only the launch knows, are multiples of all.
    static int64_t view_factor(const ir::Operation &op) {
        const auto &view = *op.operand(0)->type();
        auto strides = analysis::view_strides(view);
        bool load = op.opcode() == Opcode::LOAD;
        bool mapped = load ? op.get<ir::LoadPayload>().mapped : op.get<ir::StorePayload>().mapped;
        int64_t factor = 0;
        for (size_t i = 0; i < strides.size(); ++i) {
            if (strides[i] == 1) {
                factor = std::gcd(factor, mapped ? 1 : factor_of(op.operand((load ? 1 : 2) + i)));
            } else if (strides[i] != ir::runtime_value && view.axes[i].extent != 1) {
                factor = std::gcd(factor, strides[i]);
            }
        }
        return factor;
    }

    static bool scans_along(const LoopGroup &group) {
        return group.scan() && group.folds(group.loops[static_cast<size_t>(position(group))].dim);
    }
    static bool is_reversed(const LoopGroup &group) {
        return scans_along(group) && group.scan()->get<ir::ScanPayload>().reverse;
    }
    /// Whether threads pair all elements of a line with each other.
    [[nodiscard]] static bool goes_whole(const LoopGroup &group) {
        return scans_along(group) || (group.has_reduction() && is_shared_tree(group));
    }
    /// As many neighbours as one access of the narrowest elements takes: where lines go whole, a thread that has
    /// neighbours needs fewer exchanges, whatever its accesses cost.
    [[nodiscard]] int64_t neighbours_of(const LoopGroup &group) const {
        if (is_reversed(group)) {
            return 1;
        }
        int64_t narrow = vector_bytes;
        accesses(
            group, [&](int64_t bytes, int64_t) { narrow = std::min(narrow, bytes); }, [] {});
        auto extent = group.loops[static_cast<size_t>(position(group))].extent;
        return group.vector_axis < 0
                   ? 1
                   : std::min(std::min<int64_t>(vector_bytes / narrow, 8), power_below(extent));
    }

    /// As many neighbours as most accesses take at once.
    [[nodiscard]] int64_t lanes_of(const LoopGroup &group) const {
        int64_t narrow = vector_bytes;
        size_t count = 0;
        accesses(
            group,
            [&](int64_t bytes, int64_t) {
                narrow = std::min(narrow, bytes);
                ++count;
            },
            [&] { ++count; });
        if (group.vector_axis < 0 || count == 0) {
            return 1;
        }
        auto extent = group.loops[static_cast<size_t>(position(group))].extent;
        for (auto lanes = std::min<int64_t>(vector_bytes / narrow, 8); lanes > 1; lanes /= 2) {
            size_t whole = 0;
            accesses(
                group,
                [&](int64_t bytes, int64_t factor) {
                    whole += factor % std::min(lanes, vector_bytes / bytes) == 0;
                },
                [] {});
            if (2 * whole > count && extent >= lanes) {
                return lanes;
            }
        }
        return 1;
    }

    void deal(LoopGroup &group) {
        if (!may_deal(group)) {
            return;
        }
        // All of a line stands in registers, or one thread goes along it.
        bool whole = goes_whole(group);
        group.deal = with_lanes(group, whole ? neighbours_of(group) : 1);
        if (auto lanes = lanes_of(group); lanes > 1 && !is_reversed(group)) {
            group.aligned = with_lanes(group, lanes);
        }
        if (whole && !line_in_registers(group, *group.deal)) {
            group.deal.reset();
        }
        if (whole && group.aligned && !line_in_registers(group, *group.aligned)) {
            group.aligned.reset();
        }
    }

    static bool line_in_registers(const LoopGroup &group, const Deal &deal) {
        auto parts = ceil_div(group.loops[static_cast<size_t>(deal.axis)].extent,
                              int64_t{deal.lanes} * deal.sharers);
        return parts <= std::min(most_vectors, most_elements / deal.lanes);
    }

    Deal with_lanes(const LoopGroup &group, int64_t lanes) {
        Deal deal;
        deal.axis = position(group);
        deal.lanes = static_cast<int>(lanes);
        int64_t kept = 1, folded = 1;
        for (size_t i = 0; i < group.loops.size(); ++i) {
            if (static_cast<int>(i) != deal.axis) {
                auto &lines = group.folds(group.loops[i].dim) ? folded : kept;
                lines *= group.loops[i].extent;
            }
        }
        auto vectors = ceil_div(group.loops[static_cast<size_t>(deal.axis)].extent, lanes);
        auto along = std::min(power_above(vectors), _threads);
        // Warps read along lines; beyond that, more lines at a time need fewer exchanges.
        auto lines = kept * folded;
        auto rest = _threads / power_below(std::min(lines, _threads));
        auto sharers = std::clamp(rest, std::min(warp, along), along);
        auto rows = _threads / sharers;
        auto kept_rows = std::min(rows, power_above(kept));
        deal.sharers = static_cast<int>(sharers);
        // All threads have a line: what a fold gives is then known to all.
        deal.kept = static_cast<int>(kept_rows);
        deal.folded = static_cast<int>(rows / kept_rows);
        auto parts = ceil_div(vectors, sharers) * ceil_div(kept, deal.kept) *
                     ceil_div(folded, deal.folded);
        double cost = 1;
        for (const auto &root : group.roots) {
            auto *source = root_source(root);
            cost += source->type()->is_view() ? 1 : _cost.element_cost(source);
        }
        auto work = static_cast<int64_t>(most_work / (cost * static_cast<double>(lanes)));
        auto limit = std::max<int64_t>(std::min({most_vectors, most_elements / lanes, work}), 1);
        deal.together = static_cast<int>(std::min(parts, limit));
        deal.all = parts <= limit;
        return deal;
    }

    Plan &_plan;
    CostModel _cost;
    int64_t _threads = warp, _most_elements = 1, _most_vectors = 1, _most_blocks = 1, _longest = 1;
};

}// namespace

void deal_out(Plan &plan) {
    for (auto &phase : plan.phases) {
        Dealer{plan}.phase(phase);
    }
}

}// namespace luisa::tile::plan
