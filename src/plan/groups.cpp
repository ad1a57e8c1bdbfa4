// SPDX-License-Identifier: Apache-2.0
#include "analysis/expressions.h"
#include "analysis/intervals.h"
#include "plan/block_planner.h"
#include "plan/memory_layout.h"
#include "plan/prefix_masks.h"

#include <algorithm>

namespace luisa::tile::plan {

using ir::DimExtent;
using ir::Opcode;

namespace {

std::vector<DimExtent> without_ones(const std::vector<DimExtent> &dims) {
    std::vector<DimExtent> kept;
    for (const auto &d : dims) {
        if (d.extent != 1) {
            kept.push_back(d);
        }
    }
    return kept;
}

bool same_set(const std::vector<DimExtent> &a, const std::vector<DimExtent> &b) {
    return a.size() == b.size() && std::all_of(a.begin(), a.end(), [&](const DimExtent &d) {
               return std::find(b.begin(), b.end(), d) != b.end();
           });
}

std::vector<Dim> folded(const Root &root) {
    return root.kind == Root::Kind::REDUCE ? root.op->get<ir::ReducePayload>().dims
                                           : std::vector<Dim>{};
}

/// Size of the elements that a value computes with: half precision computes in f32.
size_t compute_bytes(ScalarType type) {
    return is_float(type) ? std::max<size_t>(size_of(type), 4) : size_of(type);
}

/// Strides of a kept value when `axis` moves: by its storage order.
analysis::Slope storage_slope(const Storage &storage, const analysis::Slopes &slopes) {
    if (storage.layout) {
        return layout_slope(*storage.layout, slopes);
    }
    analysis::Slope total;
    int64_t stride = 1;
    for (size_t i = storage.order.size(); i-- > 0;) {
        auto found = slopes.find(storage.order[i].dim.id);
        if (found != slopes.end()) {
            if (!found->second.known) {
                return {false, 0};
            }
            total.value += found->second.value * stride;
        }
        stride *= std::max<int64_t>(storage.order[i].extent, 1);
    }
    return total;
}

/// Simple operations in the body of a loop beyond which more of them save nothing.
constexpr double most_inline_work = 32;

double slope_score(const analysis::Slope &slope) {
    // A gather costs about a cycle a lane; what stays the same along the axis is loaded once, what runs backwards
    // is turned around in a register.
    return !slope.known        ? -9
           : slope.value == 1  ? 2
           : slope.value == 0  ? 1.5
           : slope.value == -1 ? 1
                               : -8;
}

}// namespace

bool order_free(Reducer reducer, ScalarType type) {
    switch (reducer) {
        case Reducer::ADD:
        case Reducer::MULTIPLY: return is_integer(type) || type == ScalarType::BOOL;
        default: return true;
    }
}

bool regroups(const ir::Operation &reduction) {
    const auto &payload = reduction.get<ir::ReducePayload>();
    auto type = reduction.operand(0)->scalar();
    if (payload.reducer == Reducer::ARGMIN || payload.reducer == Reducer::ARGMAX) {
        return false;
    }
    return payload.policy == ReductionPolicy::UNORDERED_TREE || order_free(payload.reducer, type);
}

std::vector<DimExtent> root_space(const Root &root) {
    switch (root.kind) {
        case Root::Kind::STORE: return without_ones(root.op->get<ir::StorePayload>().box);
        case Root::Kind::REDUCE:
        case Root::Kind::SCAN: return without_ones(root.op->operand(0)->type()->dims);
        case Root::Kind::INSERT: return without_ones(root.op->operand(1)->type()->dims);
        case Root::Kind::WRITE: return without_ones(root.target->type()->dims);
    }
    return {};
}

const ir::Value *root_source(const Root &root) {
    switch (root.kind) {
        case Root::Kind::STORE: return root.op->operand(1);
        case Root::Kind::REDUCE:
        case Root::Kind::SCAN: return root.op->operand(0);
        case Root::Kind::INSERT: return root.op->operand(1);
        case Root::Kind::WRITE: return root.source;
    }
    return nullptr;
}

void BlockPlanner::ensure_storage(const ir::Value *value, const std::vector<DimExtent> &order) {
    auto &shares = _plan->shares;
    for (auto found = shares.find(value); found != shares.end(); found = shares.find(value)) {
        value = found->second;
    }
    if (!_plan->storage.count(value)) {
        _plan->storage.emplace(value, Storage{order, memory_layout(value)});
    }
}

const ir::Value *BlockPlanner::temporary_like(const ir::Value *value) {
    auto &module = *_plan->temporaries;
    if (module.functions().empty()) {
        module.add_function("temporaries");
    }
    const auto &type = *value->type();
    return module.add_argument(module.functions().front().body,
                               module.tile(type.scalar, type.dims));
}

/// Whether the reduction finds the place of an element.
static bool position(const ir::Operation &op) {
    auto reducer = op.get<ir::ReducePayload>().reducer;
    return reducer == Reducer::ARGMIN || reducer == Reducer::ARGMAX;
}

/// Whether lanes may share the elements along `dim`: each lane of a search for a position then still sees its
/// own in their order.
static bool folds_in_lanes(const Root &root, Dim dim) {
    if (root.kind != Root::Kind::REDUCE || regroups(*root.op)) {
        return true;
    }
    const auto &source = *root.op->operand(0)->type();
    Dim last = dim;
    for (auto folded : root.op->get<ir::ReducePayload>().dims) {
        last = source.dims[static_cast<size_t>(source.find(folded))].extent > 1 ? folded : last;
    }
    return position(*root.op) && last == dim;
}

/// Whether two reductions may share one traversal: positions are kept in another way than values,
/// and what may not regroup keeps the direction of its fold.
static bool folds_alike(const ir::Operation &a, const ir::Operation &b) {
    return position(a) == position(b) && regroups(a) == regroups(b) &&
           (position(a) || regroups(a) ||
            a.get<ir::ReducePayload>().policy == b.get<ir::ReducePayload>().policy);
}

/// Puts loops in the source order of the first reduction that may not regroup: the order in which
/// the program names the dimensions.
static void keep_source_order(const LoopGroup &group, std::vector<DimExtent> &folds) {
    for (const auto &root : group.roots) {
        if (root.kind == Root::Kind::REDUCE && !regroups(*root.op)) {
            const auto &dims = root.op->get<ir::ReducePayload>().dims;
            auto place = [&](const DimExtent &d) {
                return std::find(dims.begin(), dims.end(), d.dim) - dims.begin();
            };
            std::stable_sort(folds.begin(), folds.end(),
                             [&](const auto &a, const auto &b) { return place(a) < place(b); });
            return;
        }
    }
}

/// A balanced tree over floats works on a copy of its leaves and shares no traversal.
static bool is_balanced(const Root &root) {
    return root.kind == Root::Kind::REDUCE && !regroups(*root.op) &&
           root.op->get<ir::ReducePayload>().policy == ReductionPolicy::BALANCED_TREE;
}

/// Whether the root is one balanced tree along `dim`, over all elements or those up to an end: threads that share
/// its line pair what they have level by level.
static bool is_tree_along(const Root &root, Dim dim) {
    if (!is_balanced(root)) {
        return false;
    }
    const auto &payload = root.op->get<ir::ReducePayload>();
    const auto &source = *root.op->operand(0)->type();
    bool alone = std::all_of(payload.dims.begin(), payload.dims.end(), [&](Dim d) {
        return d == dim || source.dims[static_cast<size_t>(source.find(d))].extent == 1;
    });
    return alone && (!payload.has_mask || is_prefix_mask(root.op->operand(1), dim));
}

static bool is_finished(const LoopGroup &group) {
    return group.lanes != 1 || group.vector_axis >= 0 || !group.note.empty();
}

/// What the root reads where it is evaluated. A value that it puts into storage itself is computed here:
/// elsewhere that is a leaf, here its own expression counts.
void BlockPlanner::visit_reads(const Root &root, const analysis::Slopes &slopes,
                               const std::function<void(const analysis::Leaf &)> &visit) const {
    auto *computed = root.kind == Root::Kind::WRITE && root.target == root_source(root)
                         ? root_source(root)
                         : nullptr;
    analysis::visit_leaves(
        root_source(root), slopes, [&](const ir::Value *v) { return v != computed && is_kept(v); },
        visit);
}

/// Whether a store can follow, element by element, what the roots of the group read and store.
bool BlockPlanner::may_store_after(const LoopGroup &group, const Root &root) const {
    bool may = true;
    auto meets = [&](const ir::Value *view) {
        return _plan->may_alias || view == root.op->operand(0);
    };
    for (const auto &other : group.roots) {
        // What earlier roots read is read as a whole first.
        visit_reads(other, {}, [&](const analysis::Leaf &leaf) {
            auto *op = leaf.value->definition();
            may &= !op || op->opcode() != Opcode::LOAD || !meets(op->operand(0));
        });
        may &= other.kind != Root::Kind::STORE || !meets(other.op->operand(0));
    }
    return may;
}

/// Whether no root of the group reads elsewhere what this one overwrites.
bool BlockPlanner::may_overwrite(const LoopGroup &group, const Root &root) const {
    if (root.kind != Root::Kind::WRITE || root.source == root.target) {
        return true;
    }
    auto home_of = [this](const ir::Value *value) {
        auto *home = _plan->home(value);
        return home ? home : value;
    };
    bool may = true;
    for (const auto &other : group.roots) {
        visit_reads(other, {}, [&](const analysis::Leaf &leaf) {
            may &= home_of(leaf.value) != home_of(root.target) || leaf.pointwise;
        });
    }
    return may;
}

const char *BlockPlanner::join_obstacle(const LoopGroup &group, const Root &root) const {
    constexpr auto complete = "what the group before folds is complete only after its loops";
    if (is_balanced(root) || is_balanced(group.roots.front())) {
        return "a balanced tree works on a copy of its leaves";
    }
    if (!same_set(group.loops, root_space(root))) {
        return "it runs over other dimensions";
    }
    if (root.kind == Root::Kind::INSERT || root.kind == Root::Kind::SCAN) {
        return "a scan and a part of a tile begin loops of their own";
    }
    if (group.scan() && !may_follow_scan(group, root)) {
        return "the scan before it is not complete at each element";
    }
    std::vector<const ir::Value *> pending, written;
    std::vector<const ir::Operation *> stores;
    for (const auto &other : group.roots) {
        switch (other.kind) {
            case Root::Kind::REDUCE:
                pending.push_back(other.op->result());
                if (root.kind == Root::Kind::REDUCE && folded(other) != folded(root)) {
                    return "it folds other dimensions";
                }
                if (root.kind == Root::Kind::REDUCE && !folds_alike(*other.op, *root.op)) {
                    return "it folds in another order";
                }
                break;
            case Root::Kind::WRITE:
                written.push_back(_plan->home(other.target) ? _plan->home(other.target)
                                                            : other.target);
                if (other.source != other.target) {
                    pending.push_back(written.back());
                }
                break;
            case Root::Kind::INSERT: return "a part of a tile is written first";
            case Root::Kind::SCAN: break;
            case Root::Kind::STORE: stores.push_back(other.op); break;
        }
    }
    const char *obstacle = nullptr;
    auto check = [&](const analysis::Leaf &leaf) {
        auto *home = _plan->home(leaf.value) ? _plan->home(leaf.value) : leaf.value;
        for (const auto *p : pending) {
            obstacle = p == home || p == leaf.value ? complete : obstacle;
        }
        for (const auto *w : written) {
            obstacle = w == home && !leaf.pointwise
                           ? "it reads what the group before writes at other places"
                           : obstacle;
        }
        auto *op = leaf.value->definition();
        for (const auto *store : stores) {
            if (op && op->opcode() == Opcode::LOAD &&
                (_plan->may_alias || store->operand(0) == op->operand(0))) {
                obstacle = "it loads from a view that the group before stores to";
            }
        }
    };
    auto is_leaf = [this](const ir::Value *v) { return is_kept(v); };
    auto visit = [&](const ir::Value *v) { analysis::visit_leaves(v, {}, is_leaf, check); };
    visit_reads(root, {}, check);
    if (root.op) {
        for (size_t i = 0; i < root.op->operand_count(); ++i) {
            if (!root.op->operand(i)->type()->is_view()) {
                visit(root.op->operand(i));
            }
        }
    }
    if (obstacle) {
        return obstacle;
    }
    if (root.kind == Root::Kind::STORE && !may_store_after(group, root)) {
        return "its store would come before other elements are read";
    }
    return may_overwrite(group, root) ? nullptr : "it overwrites what other elements still need";
}

void BlockPlanner::add_root(const Root &root, Block &block) {
    if (!block.steps.empty()) {
        if (auto *group = std::get_if<LoopGroup>(&block.steps.back())) {
            const auto *obstacle = join_obstacle(*group, root);
            if (!obstacle && choose(4, 0) == 3) {
                obstacle = "it was chosen";
            }
            if (!obstacle) {
                group->roots.push_back(root);
                if (is_finished(*group)) {
                    store_targets(*group);
                }
                return;
            }
            finish_group(*group);
            record(root, "loops of its own", "the loops of the group before", obstacle);
        }
    }
    LoopGroup group;
    group.loops = root_space(root);
    group.roots.push_back(root);
    block.steps.emplace_back(std::move(group));
}

double BlockPlanner::axis_score(const LoopGroup &group, Dim axis) const {
    analysis::Slopes slopes{{axis.id, {true, 1}}};
    double score = 0;
    auto of_leaf = [&](const analysis::Leaf &leaf) {
        auto *op = leaf.value->definition();
        if (op && op->opcode() == Opcode::LOAD && !is_kept(leaf.value)) {
            score += slope_score(analysis::address_slope(*op, leaf.slopes));
        } else if (auto *home = _plan->home(leaf.value)) {
            score += slope_score(storage_slope(_plan->storage.at(home), leaf.slopes));
        }
    };
    for (const auto &root : group.roots) {
        visit_reads(root, slopes, of_leaf);
        if (root.kind == Root::Kind::STORE) {
            score += 2 * slope_score(analysis::address_slope(*root.op, slopes));
        } else if (root.kind == Root::Kind::WRITE) {
            if (auto *home = _plan->home(root.target)) {
                score += slope_score(storage_slope(_plan->storage.at(home), slopes));
            }
        }
    }
    return score;
}

/// Storage for what the group computes, in the order of its loops with the vector axis last.
void BlockPlanner::store_targets(const LoopGroup &group) {
    bool vector = group.vector_axis >= 0;
    auto axis = vector ? group.loops[static_cast<size_t>(group.vector_axis)] : DimExtent{};
    for (const auto &root : group.roots) {
        bool result = root.kind == Root::Kind::REDUCE || root.kind == Root::Kind::SCAN;
        auto *target = result ? root.op->result() : root.target;
        if (!target || root.kind == Root::Kind::INSERT || target->type()->is_scalar()) {
            continue;
        }
        if (root.kind == Root::Kind::SCAN && stays_in_registers(group)) {
            continue;
        }
        std::vector<DimExtent> order;
        for (const auto &d : group.loops) {
            bool kept = root.kind != Root::Kind::REDUCE || !group.folds(d.dim);
            if (kept && target->type()->find(d.dim) >= 0 && !(vector && d.dim == axis.dim)) {
                order.push_back(d);
            }
        }
        if (vector && target->type()->find(axis.dim) >= 0) {
            order.push_back(axis);
        }
        ensure_storage(target, order);
    }
}

int BlockPlanner::columns_of(const LoopGroup &group) {
    // A fold across lines reads one place of each: neighbours are in the same line, page and stream, and their
    // sums do not wait for each other. A quarter of the registers holds sums, and costly elements hide latency by
    // themselves.
    bool plain = group.has_reduction() && !group.scan();
    int sums = 0;
    double cost = 1;
    for (const auto &root : group.roots) {
        plain &= !is_balanced(root) && !(root.kind == Root::Kind::REDUCE && position(*root.op));
        sums += root.kind == Root::Kind::REDUCE ? 1 : 0;
        cost += root_source(root)->type()->is_view() ? 1 : _cost.element_cost(root_source(root));
    }
    if (!plain) {
        return 1;
    }
    const auto &axis = group.loops[static_cast<size_t>(group.vector_axis)];
    int most = _plan->facts.vector_registers / 4 / std::max(sums, 1), columns = 1;
    while (2 * columns <= most && 2 * columns * group.lanes <= axis.extent &&
           columns * cost < most_inline_work) {
        columns *= 2;
    }
    while (columns > 1 && !takes_preferred()) {
        columns /= 2;
    }
    return columns;
}

/// Any axis that lanes may go along, or none.
void BlockPlanner::choose_axis(const LoopGroup &group, const std::vector<AxisChoice> &choices,
                               int &best) const {
    std::vector<int> allowed{-1};
    size_t preferred = 0;
    for (const auto &choice : choices) {
        auto at = std::find(group.loops.begin(), group.loops.end(), choice.axis);
        if (choice.allowed) {
            allowed.push_back(static_cast<int>(at - group.loops.begin()));
            preferred = allowed.back() == best ? allowed.size() - 1 : preferred;
        }
    }
    best = allowed[choose(allowed.size(), preferred)];
}

void BlockPlanner::finish_group(LoopGroup &group) {
    if (is_finished(group)) {
        return;
    }
    int best = -1;
    double best_score = -1e9;
    size_t bytes = 4;
    for (const auto &root : group.roots) {
        bytes = std::max(bytes, compute_bytes(root_source(root)->scalar()));
    }
    int lanes = std::max<int>(1, _plan->facts.vector_bytes / static_cast<int>(bytes));
    bool may_scan = !group.scan() || scans_in_lanes(*group.scan(), lanes);
    auto may_fold = [&](Dim dim) {
        return may_scan && std::all_of(group.roots.begin(), group.roots.end(), [&](const Root &r) {
                   return folds_in_lanes(r, dim) || (_plan->team && is_tree_along(r, dim));
               });
    };
    // Trees over what a mask leaves differ in shape from lane to lane.
    bool uneven = std::any_of(group.roots.begin(), group.roots.end(), [this](const Root &r) {
        return (!_plan->team && is_balanced(r) && r.op->get<ir::ReducePayload>().has_mask) ||
               (r.kind == Root::Kind::SCAN && scans_unevenly(*r.op));
    });
    std::vector<AxisChoice> choices;
    for (size_t i = 0; i < group.loops.size() && !uneven; ++i) {
        if (group.loops[i].extent < 2 ||
            (group.folds(group.loops[i].dim) && !may_fold(group.loops[i].dim))) {
            if (group.loops[i].extent > 1) {
                choices.push_back({group.loops[i], false, 0});
            }
            continue;
        }
        double score = axis_score(group, group.loops[i].dim) +
                       (group.loops[i].extent >= lanes ? 1 : -1) + 0.01 * static_cast<double>(i);
        // A prefix in a register takes a step a level; other axes take one in all.
        score -= group.scan() && group.folds(group.loops[i].dim) ? 3 : 0;
        choices.push_back({group.loops[i], true, score});
        if (score > best_score) {
            best_score = score;
            best = static_cast<int>(i);
        }
    }
    choose_axis(group, choices, best);
    record_axes(group, choices, best, best_score);
    // Order: kept loops, then the vector axis if it is kept, then folded ones, the vector axis last.
    std::vector<DimExtent> kept, folds;
    for (size_t i = 0; i < group.loops.size(); ++i) {
        if (static_cast<int>(i) != best) {
            (group.folds(group.loops[i].dim) ? folds : kept).push_back(group.loops[i]);
        }
    }
    bool fold_axis = best >= 0 && group.folds(group.loops[static_cast<size_t>(best)].dim);
    auto axis = best >= 0 ? group.loops[static_cast<size_t>(best)] : DimExtent{};
    group.loops = kept;
    if (best >= 0 && !fold_axis) {
        group.vector_axis = static_cast<int>(group.loops.size());
        group.loops.push_back(axis);
    }
    keep_source_order(group, folds);
    group.loops.insert(group.loops.end(), folds.begin(), folds.end());
    if (fold_axis) {
        group.vector_axis = static_cast<int>(group.loops.size());
        group.loops.push_back(axis);
        group.accumulators = axis.extent >= 4 * lanes && !group.scan() && takes_preferred() ? 4 : 1;
    }
    group.lanes = best >= 0 ? lanes : 1;
    group.columns = best >= 0 && !fold_axis ? columns_of(group) : 1;
    if (best < 0) {
        bool loops = std::any_of(group.loops.begin(), group.loops.end(),
                                 [](const DimExtent &d) { return d.extent > 1; });
        group.note = !loops   ? "single element"
                     : uneven ? "scalar: a mask leaves other trees in other lines"
                     : _plan->choices
                         ? "scalar: it was chosen"
                         : "scalar: the fold keeps its order and no other axis is left";
    }
    record_shape(group);
    store_targets(group);
}

}// namespace luisa::tile::plan
