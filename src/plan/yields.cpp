// SPDX-License-Identifier: Apache-2.0
#include "plan/block_planner.h"

#include <algorithm>

// Ends of regions: what the new values of states are written to, and in which order.

namespace luisa::tile::plan {

using ir::Opcode;

bool BlockPlanner::updates_in_place(const ir::Value *result, const ir::Value *state) {
    auto *definition = result->definition();
    if (!definition || definition->region() != state->owner() || !result->has_one_use()) {
        return false;
    }
    auto sites = evaluation_sites(state, [this](const ir::Value *v) { return is_kept(v); });
    return std::all_of(sites.begin(), sites.end(), [&](const ir::Operation *site) {
        return site == definition || (site->is_before(definition));
    });
}

/// Scalars that are read out of states come before what overwrites these.
void BlockPlanner::plan_scalar_yields(const ir::Region &region,
                                      const std::vector<const ir::Value *> &targets, Block &block) {
    auto is_leaf = [this](const ir::Value *v) { return is_kept(v); };
    for (size_t i = 0; i < targets.size(); ++i) {
        auto *source = region.terminator()->operand(i);
        if (targets[i] || !source->type()->is_scalar() || !source->definition() ||
            !analysis::is_inline(*source->definition())) {
            continue;
        }
        bool reads_state = false;
        analysis::visit_leaves(source, {}, is_leaf, [&](const analysis::Leaf &leaf) {
            reads_state |= std::find(targets.begin(), targets.end(), leaf.value) != targets.end();
        });
        if (!reads_state) {
            continue;
        }
        if (!block.steps.empty()) {
            if (auto *group = std::get_if<LoopGroup>(&block.steps.back())) {
                finish_group(*group);
            }
        }
        block.steps.emplace_back(Sequential{source->definition()});
    }
}

void BlockPlanner::plan_yields(const ir::Region &region,
                               const std::vector<const ir::Value *> &targets, Block &block) {
    auto *yield = region.terminator();
    require(yield != nullptr || targets.empty(), "region with results ends in a yield");
    auto is_leaf = [this](const ir::Value *v) { return is_kept(v); };
    plan_scalar_yields(region, targets, block);
    std::vector<Root> copies;
    for (size_t i = 0; i < targets.size(); ++i) {
        auto *source = yield->operand(i);
        auto *target = targets[i];
        if (!target) {
            continue;
        }
        auto *parent = region.parent();
        if ((_plan->home(source) && _plan->home(source) == _plan->home(target)) ||
            inserts_nothing(source, target)) {
            continue;
        }
        if (parent->opcode() == Opcode::PARALLEL &&
            parent->get<ir::NestPayload>().updates.at(i) == ir::AncestorUpdate::INSERT) {
            std::vector<const ir::Operation *> chain;
            auto *state = region.argument(region.arguments().size() - targets.size() + i);
            for (auto *v = source; v != state; v = v->definition()->operand(0)) {
                require(v->definition() && v->definition()->opcode() == Opcode::INSERT,
                        "inserts under nests and branches write where they stand");
                chain.push_back(v->definition());
            }
            for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
                add_root({Root::Kind::INSERT, *it, nullptr, target}, block);
            }
            continue;
        }
        if (source == target) {
            continue;
        }
        if (const auto *insert = insert_in_place(region, target, source)) {
            add_root({Root::Kind::INSERT, insert, nullptr, target}, block);
            continue;
        }
        // Updates are simultaneous: a new value that reads another state, or its own at other
        // places, goes through a copy.
        bool hazard = false;
        analysis::visit_leaves(source, {}, is_leaf, [&](const analysis::Leaf &leaf) {
            for (size_t j = 0; j < targets.size(); ++j) {
                auto *other = targets[j];
                hazard |= other && leaf.value == other && (j != i || !leaf.pointwise);
            }
        });
        if (hazard) {
            auto *copy = temporary_like(target);
            add_root({Root::Kind::WRITE, nullptr, source, copy}, block);
            copies.push_back({Root::Kind::WRITE, nullptr, copy, target});
            if (auto *group = std::get_if<LoopGroup>(&block.steps.back())) {
                finish_group(*group);
            }
            ensure_storage(copy, root_space(copies.back()));
        } else {
            copies.push_back({Root::Kind::WRITE, nullptr, source, target});
        }
    }
    for (const auto &root : copies) {
        add_root(root, block);
    }
    if (!block.steps.empty()) {
        if (auto *group = std::get_if<LoopGroup>(&block.steps.back())) {
            finish_group(*group);
        }
    }
}

}// namespace luisa::tile::plan
