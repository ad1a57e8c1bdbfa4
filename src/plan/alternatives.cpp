// SPDX-License-Identifier: Apache-2.0
#include "plan/block_planner.h"

#include <fmt/format.h>

// What the planner did not choose, and why: for explanations alone.

namespace luisa::tile::plan {

namespace {

std::string name_of(const ir::DimExtent &d) {
    return d.dim.is_positional() ? fmt::format("#{}", d.dim.id) : std::string{d.dim.label};
}

std::string names_of(const std::vector<ir::DimExtent> &dims) {
    std::string text;
    for (const auto &d : dims) {
        text += (text.empty() ? "" : " ") + name_of(d);
    }
    return text;
}

/// The operation that stands for a root: the one with its source line.
const ir::Operation *operation_of(const Root &root) {
    return root.op ? root.op : root.source ? root.source->definition() : nullptr;
}

}// namespace

void BlockPlanner::record(const ir::Operation *op, std::string what, std::string alternative,
                          std::string reason) const {
    if (_plan->records) {
        _plan->alternatives.push_back(
            {op, std::move(what), std::move(alternative), std::move(reason)});
    }
}

void BlockPlanner::record(const Root &root, const char *what, const char *alternative,
                          const char *reason) const {
    if (_plan->records) {
        record(operation_of(root), std::string{what}, alternative, reason);
    }
}

void BlockPlanner::record_axes(const LoopGroup &group, const std::vector<AxisChoice> &choices,
                               int best, double best_score) const {
    if (!_plan->records) {
        return;
    }
    auto chosen = best < 0 ? ir::DimExtent{} : group.loops[static_cast<size_t>(best)];
    auto what = best < 0 ? std::string{"scalar code"} : "vectors along " + name_of(chosen);
    for (const auto &choice : choices) {
        if (best >= 0 && choice.axis == chosen) {
            continue;
        }
        auto reason =
            choice.allowed
                ? fmt::format(
                      "accesses along it score {:.1f}, along {} {:.1f} (2 each for elements "
                      "side by side, -8 for a stride, -9 where it is not known)",
                      choice.score, name_of(chosen), best_score)
                : "the reduction keeps its order along it";
        record(operation_of(group.roots.front()), what, "vectors along " + name_of(choice.axis),
               std::move(reason));
    }
}

void BlockPlanner::record_shape(const LoopGroup &group) const {
    if (!_plan->records || group.vector_axis < 0) {
        return;
    }
    const auto &axis = group.loops[static_cast<size_t>(group.vector_axis)];
    const auto *op = operation_of(group.roots.front());
    if (group.folds(axis.dim) && group.accumulators == 1) {
        record(op, "one partial result in a register", "four partial results",
               group.scan() ? "a scan carries one running value"
                            : fmt::format("{} has {} elements, fewer than four vectors of {}",
                                          name_of(axis), axis.extent, group.lanes));
    } else if (!group.folds(axis.dim) && group.has_reduction() && group.columns == 1) {
        record(op, "one vector at a time", "neighbouring vectors folded side by side",
               2 * group.lanes > axis.extent
                   ? fmt::format("{} has {} elements, fewer than two vectors of {}", name_of(axis),
                                 axis.extent, group.lanes)
                   : "each element costs enough to hide latency by itself, or registers are short");
    }
}

void BlockPlanner::record_kept(const ir::Operation &op, const char *reason) {
    if (!_plan->records || op.result()->type()->is_scalar() ||
        op.opcode() == ir::Opcode::CONSTANT) {
        return;
    }
    if (reason) {
        record(&op, "kept in scratch memory", "computed where it is used", reason);
        return;
    }
    auto sites = evaluation_sites(op.result(), [this](const ir::Value *v) { return is_kept(v); });
    auto cost = _cost.element_cost(op.result());
    if (sites.size() > 1 && cost > 1) {
        record(
            &op, "computed where it is used", "kept in scratch memory",
            fmt::format("{} places need it; {:.0f} simple operations an element are cheaper than "
                        "a way through memory",
                        sites.size(), cost));
    }
}

void BlockPlanner::record_panel(const Contraction &c, bool vector) const {
    const auto &panel = vector ? c.vector_panel : c.scalar_panel;
    const auto *product = c.products.front();
    std::string operand = vector ? "vector operand" : "broadcast operand";
    auto position = vector == c.transposed ? 0u : 1u;
    bool far = streams_from_memory(product->operand(position));
    if (panel) {
        record(product, operand + " copied into panels", operand + " read where it is",
               !vector
                   ? "its elements are far apart along the steps, and the view exceeds the near "
                     "caches"
               : far ? "it comes from beyond the near caches for many rows, or is not contiguous"
                     : "its columns are not contiguous, or computing them costs");
        return;
    }
    record(product, operand + " read where it is", operand + " copied into panels",
           far ? "it lies in memory as a panel would, or too few rows use it"
               : "it stays in the near caches and is contiguous where vectors need it");
}

void BlockPlanner::record_contraction(const Contraction &c) const {
    if (!_plan->records || _plan->team) {
        return;
    }
    const auto *product = c.products.front();
    const auto &columns = c.transposed ? c.roles.rows : c.roles.columns;
    const auto &rows = c.transposed ? c.roles.columns : c.roles.rows;
    if (!rows.empty() && !columns.empty()) {
        auto score = [&](bool transposed) {
            return transposed ? column_score(c, c.roles.rows, 0)
                              : column_score(c, c.roles.columns, 1);
        };
        record(product, "vectors along " + names_of(columns), "vectors along " + names_of(rows),
               fmt::format("reading and storing score {:.1f} along {}, {:.1f} along {}",
                           score(c.transposed), names_of(columns), score(!c.transposed),
                           names_of(rows)));
    }
    record_panel(c, true);
    record_panel(c, false);
    if (c.panel_steps == 0 && c.vector_panel) {
        record(
            product, "all steps in one panel", "panels of some steps, sums in scratch memory",
            "the steps fit into an eighth of the second-level cache, or their number is not known");
    }
}

}// namespace luisa::tile::plan
