// SPDX-License-Identifier: Apache-2.0
#include "analysis/expressions.h"
#include "analysis/intervals.h"
#include "plan/block_planner.h"
#include "plan/plan.h"

#include <algorithm>
#include <unordered_set>

// Instances that are too few for the multiprocessors of a GPU: several blocks share each, where a dimension stands in
// all that an instance does and nothing of one part of it needs anything of another.

namespace luisa::tile::plan {

using ir::DimExtent;
using ir::Opcode;

namespace {

constexpr int64_t multiprocessors = 132;///< where no GPU is known
/// What a block should have at least: elements, and bytes of each line of memory.
constexpr int64_t least_elements = 2048, least_bytes = 64;
/// Values with storage beyond this are not kept once a block.
constexpr int64_t most_kept_bytes = 32 << 10;

int64_t known_instances(const ir::Operation &nest) {
    const auto &payload = nest.get<ir::NestPayload>();
    if (payload.is_range) {
        return constant_trips(nest);
    }
    int64_t count = 1;
    for (size_t i = 0; i < payload.dims.size(); ++i) {
        auto extent = analysis::interval_of(nest.operand(i));
        bool known = extent.low == extent.high && extent.low > 0 && count < (1 << 20);
        count = known ? count * extent.low : 0;
    }
    return count;
}

class Splits {
public:
    explicit Splits(Plan &plan) : _plan{plan} {}

    void phase(Phase &phase) {
        auto blocks = int64_t{_plan.gpu ? _plan.gpu->multiprocessors : multiprocessors};
        auto instances = phase.nest ? known_instances(*phase.nest) : 1;
        if (instances == 0 || instances >= blocks || _plan.may_alias) {
            return;
        }
        auto &block = phase.nest ? _plan.blocks.at(phase.nest->body()) : phase.block;
        std::vector<LoopGroup *> groups;
        if (!collect(block, groups) || groups.empty()) {
            return;
        }
        for (const auto &loop : groups.front()->loops) {
            auto parts = is_apart(groups, loop) ? parts_of(groups, loop, 2 * blocks / instances)
                                                : 1;
            if (parts > 1 && (!phase.split || parts > phase.split->parts)) {
                phase.split = Split{loop.dim, parts, loop.extent / parts};
            }
        }
        for (auto *group : groups) {
            for (auto &loop : group->loops) {
                if (phase.split && loop.dim == phase.split->dim) {
                    loop.extent = phase.split->extent;
                }
            }
        }
    }

private:
    /// The groups of a block that does nothing else but read scalars. No view is both read and written.
    bool collect(Block &block, std::vector<LoopGroup *> &groups) {
        std::unordered_set<const ir::Value *> read, written;
        for (auto &step : block.steps) {
            if (auto *group = std::get_if<LoopGroup>(&step)) {
                groups.push_back(group);
                for (const auto &root : group->roots) {
                    bool stores = root.kind == Root::Kind::STORE;
                    if (root.kind == Root::Kind::INSERT ||
                        (stores && root.op->get<ir::StorePayload>().mapped)) {
                        return false;
                    }
                    if (stores) {
                        written.insert(root.op->operand(0));
                    }
                    reads(root, read);
                }
            } else if (const auto *one = std::get_if<Sequential>(&step);
                       one && one->op->opcode() == Opcode::LOAD) {
                read.insert(one->op->operand(0));
            } else {
                return false;
            }
        }
        return std::none_of(written.begin(), written.end(),
                            [&](const ir::Value *view) { return read.count(view) != 0; });
    }

    /// All views that a root reads.
    static void reads(const Root &root, std::unordered_set<const ir::Value *> &views) {
        std::unordered_set<const ir::Value *> seen;
        std::function<void(const ir::Operation &)> operation;
        std::function<void(const ir::Value *)> value = [&](const ir::Value *v) {
            if (!v->type()->is_view() && seen.insert(v).second && v->definition()) {
                operation(*v->definition());
            }
        };
        operation = [&](const ir::Operation &op) {
            if (op.opcode() == Opcode::LOAD) {
                views.insert(op.operand(0));
            }
            for (const auto *operand : op.operands()) {
                value(operand);
            }
            for (const auto *region : op.regions()) {
                for (const auto *inner : *region) {
                    operation(*inner);
                }
            }
        };
        if (root.op) {
            operation(*root.op);
        }
        if (root.source) {
            value(root.source);
        }
    }

    /// Whether each group keeps the dimension, writes along it, and reads what others computed at its own places.
    bool is_apart(const std::vector<LoopGroup *> &groups, const DimExtent &dim) const {
        return std::all_of(groups.begin(), groups.end(), [&](const LoopGroup *group) {
            auto found = std::find(group->loops.begin(), group->loops.end(), dim);
            return found != group->loops.end() && !group->folds(dim.dim) &&
                   std::all_of(group->roots.begin(), group->roots.end(),
                               [&](const Root &root) { return is_apart(root, dim); });
        });
    }
    bool is_apart(const Root &root, const DimExtent &dim) const {
        const auto *source = root_source(root);
        bool stores = root.kind == Root::Kind::STORE;
        const auto *target = stores                           ? nullptr
                             : root.kind == Root::Kind::WRITE ? root.target
                                                              : root.op->result();
        const auto &dims = stores ? root.op->get<ir::StorePayload>().box : target->type()->dims;
        bool apart = std::find(dims.begin(), dims.end(), dim) != dims.end();
        const auto *computed = root.target == source ? source : nullptr;
        auto is_kept = [&](const ir::Value *v) { return _plan.home(v) != nullptr; };
        auto of_leaf = [&](const analysis::Leaf &leaf) {
            bool kept = is_kept(leaf.value) && leaf.value != computed;
            apart &= !kept || (leaf.pointwise && leaf.value->type()->find(dim.dim) >= 0);
        };
        auto visit = [&](const ir::Value *value) {
            if (value && !value->type()->is_view()) {
                analysis::visit_leaves(
                    value, {}, [&](const ir::Value *v) { return v != computed && is_kept(v); },
                    of_leaf);
            }
        };
        visit(source);
        for (size_t i = 0; root.op && source != root.target && i < root.op->operand_count(); ++i) {
            visit(root.op->operand(i));
        }
        return apart && (stores || fits(target));
    }
    [[nodiscard]] bool fits(const ir::Value *value) const {
        auto bytes = _plan.home(value) ? static_cast<int64_t>(size_of(value->scalar())) : 0;
        for (const auto &d : value->type()->dims) {
            bytes = bytes > most_kept_bytes ? bytes : bytes * std::max<int64_t>(d.extent, 1);
        }
        return bytes <= most_kept_bytes;
    }

    /// The most parts, up to `most`, that are long enough.
    static int64_t parts_of(const std::vector<LoopGroup *> &groups, const DimExtent &dim,
                            int64_t most) {
        int64_t elements = 0, narrow = 1;
        for (const auto *group : groups) {
            int64_t count = 1;
            for (const auto &loop : group->loops) {
                count = count < (int64_t{1} << 40) ? count * loop.extent : count;
            }
            elements = std::max(elements, count);
            bool along = group->vector_axis >= 0 &&
                         group->loops[static_cast<size_t>(group->vector_axis)] == dim;
            for (const auto &root : group->roots) {
                auto bytes = static_cast<int64_t>(size_of(root_source(root)->scalar()));
                narrow = along ? std::max(narrow, least_bytes / bytes) : narrow;
            }
        }
        auto parts = std::min({most, elements / least_elements, dim.extent / narrow});
        while (parts > 1 && (dim.extent % parts != 0 || dim.extent / parts % narrow != 0)) {
            --parts;
        }
        return std::max<int64_t>(parts, 1);
    }

    Plan &_plan;
};

}// namespace

void split_instances(Plan &plan) {
    for (auto &phase : plan.phases) {
        Splits{plan}.phase(phase);
    }
}

}// namespace luisa::tile::plan
