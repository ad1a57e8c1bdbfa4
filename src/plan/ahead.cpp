// SPDX-License-Identifier: Apache-2.0
#include "analysis/expressions.h"
#include "plan/block_planner.h"

#include <algorithm>

namespace luisa::tile::plan {

using ir::DimExtent;
using ir::Opcode;

namespace {

/// What a core can have under way while it goes through less than this much of a view.
constexpr int64_t near_bytes = 2048;
/// Tiles smaller than this are not worth the instructions.
constexpr int64_t least_bytes = 512;
/// Simple operations an element beside which lines arrive for nothing.
constexpr double costly_element = 16;

/// Whether a coordinate follows from the indices of the instance, and what is known outside, without reading
/// memory: then it can be computed for another instance. `moves` is set where the innermost index counts.
bool follows_from_indices(const ir::Value *value, const ir::Region &body, bool &moves) {
    if (value->region() != &body) {
        return true;
    }
    auto *op = value->definition();
    if (!op) {
        moves |= value == body.arguments().back();
        return true;
    }
    if (op->opcode() == Opcode::LOAD || !analysis::is_inline(*op)) {
        return false;
    }
    auto operands = op->operands();
    return std::all_of(operands.begin(), operands.end(), [&](const ir::Value *operand) {
        return operand->type()->is_view() || follows_from_indices(operand, body, moves);
    });
}

/// The dimensions of extent other than one that an access goes over.
std::vector<DimExtent> dims_of(const ir::Operation &access) {
    const auto &all = access.opcode() == Opcode::LOAD ? access.result()->type()->dims
                                                      : access.get<ir::StorePayload>().box;
    std::vector<DimExtent> dims;
    std::copy_if(all.begin(), all.end(), std::back_inserter(dims),
                 [](const DimExtent &d) { return d.extent != 1; });
    return dims;
}

int64_t bytes_of(const ir::Operation &access) {
    auto bytes = static_cast<int64_t>(size_of(access.operand(0)->type()->scalar));
    for (const auto &d : dims_of(access)) {
        if (__builtin_mul_overflow(bytes, d.extent, &bytes)) {
            return INT64_MAX;
        }
    }
    return bytes;
}

bool is_mapped(const ir::Operation &access) {
    return access.opcode() == Opcode::LOAD ? access.get<ir::LoadPayload>().mapped
                                           : access.get<ir::StorePayload>().mapped;
}

/// Whether the group goes through the places of the access one after the other, each once.
bool walks_along(const LoopGroup &group, const ir::Operation &access) {
    if (group.vector_axis < 0 || group.columns > 1 || group.scan()) {
        return false;
    }
    auto dims = dims_of(access);
    bool same = dims.size() == group.loops.size() &&
                std::all_of(dims.begin(), dims.end(), [&](const DimExtent &d) {
                    return std::find(group.loops.begin(), group.loops.end(), d) !=
                           group.loops.end();
                });
    auto axis = group.loops[static_cast<size_t>(group.vector_axis)].dim;
    auto slope = analysis::address_slope(access, {{axis.id, {true, 1}}});
    return same && slope.known && slope.value == 1;
}

/// The group out of [begin, end) that works longest on an element, the last of equals; `end` where none fits.
size_t busiest(const std::vector<LoopGroup *> &groups, const std::vector<double> &costs,
               size_t begin, size_t end, const ir::Operation &access) {
    auto best = end;
    for (auto i = begin; i < end; ++i) {
        if (walks_along(*groups[i], access) && (best == end || costs[i] >= costs[best])) {
            best = i;
        }
    }
    return best;
}

}// namespace

/// Whether instances find the lines of the access beyond the near caches, each its own.
bool BlockPlanner::comes_from_afar(const ir::Operation &access, const ir::Operation &nest) const {
    const auto &view = *access.operand(0)->type();
    bool fixed = std::none_of(view.axes.begin(), view.axes.end(), [](const ir::ViewAxis &axis) {
        return axis.extent == ir::runtime_value;
    });
    if (is_mapped(access) || bytes_of(access) < least_bytes ||
        (fixed && !exceeds_near_caches(view))) {
        return false;
    }
    bool moves = false, known = true;
    size_t first = access.opcode() == Opcode::LOAD ? 1 : 2;
    for (size_t i = 0; i < view.rank(); ++i) {
        known &= follows_from_indices(access.operand(first + i), *nest.body(), moves);
    }
    return known && moves;
}

/// Between the passes over a tile the stream from memory stands still, and prefetchers of the processor lose it; beside
/// much work on each element they do not run far enough ahead. So the pass with most work asks for the tiles of
/// the next instance, and one with much work for the lines that it or a later pass writes.
void BlockPlanner::plan_ahead(const ir::Operation &nest) {
    if (!nest.get<ir::NestPayload>().layout.empty()) {
        return;
    }
    std::vector<LoopGroup *> groups;
    std::vector<double> costs;
    std::vector<std::pair<const ir::Operation *, size_t>> accesses;
    for (auto &step : _plan->blocks.at(nest.body()).steps) {
        auto *group = std::get_if<LoopGroup>(&step);
        if (!group) {
            const auto *sequential = std::get_if<Sequential>(&step);
            if (!sequential || !sequential->op->regions().empty()) {
                return;
            }
            continue;
        }
        double cost = 0;
        auto use = [&](const ir::Operation *op) {
            bool known = std::any_of(accesses.begin(), accesses.end(),
                                     [&](const auto &a) { return a.first == op; });
            if (!known && comes_from_afar(*op, nest)) {
                accesses.emplace_back(op, groups.size());
            }
        };
        for (const auto &root : group->roots) {
            visit_reads(root, {}, [&](const analysis::Leaf &leaf) {
                auto *op = leaf.value->definition();
                if (op && op->opcode() == Opcode::LOAD) {
                    use(op);
                }
            });
            if (root.kind == Root::Kind::STORE) {
                use(root.op);
            }
            cost += root_source(root)->type()->is_view() ? 1
                                                         : _cost.element_cost(root_source(root));
        }
        groups.push_back(group);
        costs.push_back(cost);
    }
    if (groups.size() >= 2 || (groups.size() == 1 && costs[0] >= costly_element)) {
        place_ahead(groups, costs, accesses);
    }
}

void BlockPlanner::place_ahead(
    const std::vector<LoopGroup *> &groups, const std::vector<double> &costs,
    const std::vector<std::pair<const ir::Operation *, size_t>> &accesses) const {
    int64_t left = _plan->facts.l2_bytes / 4;
    for (const auto &[op, user] : accesses) {
        bool reads = op->opcode() == Opcode::LOAD;
        auto bytes = bytes_of(*op);
        auto end = reads ? groups.size() : user + 1;
        auto best = busiest(groups, costs, reads ? user : 0, end, *op);
        if (best == end || (!reads && costs[best] < costly_element) || bytes > left) {
            continue;
        }
        left -= bytes;
        // The group that comes to the lines itself asks on behalf of another instance.
        bool later = reads || best == user;
        groups[best]->ahead.push_back({op, later ? (near_bytes + bytes - 1) / bytes : 0});
    }
}

}// namespace luisa::tile::plan
