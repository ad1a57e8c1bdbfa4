// SPDX-License-Identifier: Apache-2.0
#include "analysis/expressions.h"
#include "plan/block_planner.h"

#include <algorithm>

// Scans: in which order they combine, and what is done to an element while it is in its register.

namespace luisa::tile::plan {

using ir::Opcode;

ReductionPolicy scan_policy(const ir::Operation &scan) {
    const auto &payload = scan.get<ir::ScanPayload>();
    return order_free(payload.reducer, scan.operand(0)->scalar()) ? ReductionPolicy::ORDERED_TREE
                                                                  : payload.policy;
}

bool scans_in_lanes(const ir::Operation &scan, int lanes) {
    const auto &payload = scan.get<ir::ScanPayload>();
    switch (scan_policy(scan)) {
        case ReductionPolicy::BALANCED_TREE: {
            // Its vectors begin at the first element, so a reversed line must be whole vectors.
            const auto &type = *scan.operand(0)->type();
            auto extent = type.dims[static_cast<size_t>(type.find(payload.dim))].extent;
            return !payload.reverse || extent % lanes == 0;
        }
        case ReductionPolicy::FOLD_LEFT: return false;
        default: return true;
    }
}

bool scans_unevenly(const ir::Operation &scan) {
    return scan.get<ir::ScanPayload>().has_mask &&
           scan_policy(scan) == ReductionPolicy::BALANCED_TREE;
}

namespace {

/// Whether an expression reads `result` at its own coordinates only.
class ReadsInPlace {
public:
    ReadsInPlace(const ir::Value *result, const std::function<bool(const ir::Value *)> &is_leaf)
        : _result{result}, _is_leaf{is_leaf} {}

    bool check(const ir::Value *value) {
        auto *op = value->definition();
        if (value == _result || !op || _is_leaf(value) || !_seen.insert(value).second) {
            return true;
        }
        return check_operands(*op);
    }
    bool check_operands(const ir::Operation &op) {
        if (op.opcode() == Opcode::STORE || op.opcode() == Opcode::BROADCAST ||
            ir::is_elementwise(op.opcode())) {
            auto operands = op.operands();
            return std::all_of(operands.begin(), operands.end(),
                               [this](const ir::Value *v) { return check(v); });
        }
        bool reached = false;
        for (const auto *result : op.results()) {
            analysis::visit_leaves(
                result, {}, [&](const ir::Value *v) { return v != result && _is_leaf(v); },
                [&](const analysis::Leaf &leaf) { reached |= leaf.value == _result; });
        }
        return !reached;
    }

private:
    const ir::Value *_result;
    const std::function<bool(const ir::Value *)> &_is_leaf;
    std::unordered_set<const ir::Value *> _seen;
};

}// namespace

bool BlockPlanner::may_follow_scan(const LoopGroup &group, const Root &root) const {
    const auto *scan = group.scan();
    bool write = root.kind == Root::Kind::WRITE && !root.target->type()->is_scalar();
    if (root.kind != Root::Kind::STORE && !write) {
        return false;
    }
    std::function<bool(const ir::Value *)> is_leaf = [this](const ir::Value *v) {
        return is_kept(v);
    };
    ReadsInPlace in_place{scan->result(), is_leaf};
    bool computed_here = write && root.source == root.target && root.op;
    if (root.kind == Root::Kind::STORE || computed_here ? !in_place.check_operands(*root.op)
                                                        : !in_place.check(root.source)) {
        return false;
    }
    // What the scan still has to read is not overwritten.
    auto *target = !write                     ? nullptr
                   : _plan->home(root.target) ? _plan->home(root.target)
                                              : root.target;
    bool safe = true;
    for (const auto *operand : scan->operands()) {
        analysis::visit_leaves(operand, {}, is_leaf, [&](const analysis::Leaf &leaf) {
            auto *op = leaf.value->definition();
            auto *home = _plan->home(leaf.value) ? _plan->home(leaf.value) : leaf.value;
            bool load = op && op->opcode() == Opcode::LOAD && !is_kept(leaf.value);
            safe &= !target || home != target;
            safe &= !load || write || (!_plan->may_alias && op->operand(0) != root.op->operand(0));
        });
    }
    return safe;
}

bool BlockPlanner::stays_in_registers(const LoopGroup &group) const {
    auto sites = evaluation_sites(group.scan()->result(),
                                  [this](const ir::Value *v) { return is_kept(v); });
    return std::all_of(sites.begin(), sites.end(), [&](const ir::Operation *site) {
        return std::any_of(group.roots.begin(), group.roots.end(),
                           [&](const Root &root) { return root.op == site; });
    });
}

}// namespace luisa::tile::plan
