// SPDX-License-Identifier: Apache-2.0
#include "analysis/insert_chain.h"
#include "plan/block_planner.h"

// Tiles of an outer scope whose parts a `parallel` body inserts under branches and in loops.

namespace luisa::tile::plan {

void BlockPlanner::share_insert_chain(const ir::Value *yielded, const ir::Value *incoming,
                                      const ir::Value *target) {
    analysis::InsertChain chain;
    const auto *base = chain.follow(yielded, incoming->owner());
    if (base != incoming || !chain.is_private()) {
        throw UnsupportedError{
            "a part of an outer tile that is inserted under a branch or in a loop of `parallel` "
            "and "
            "read again in the same instance has no CPU realization yet; keep the part in a value "
            "of its own",
            incoming->owner()->parent()->loc};
    }
    _insert_incoming[incoming] = target;
    for (const auto *value : chain.values) {
        _plan->shares[value] = target;
    }
    for (const auto *insert : chain.inserts) {
        _insert_targets[insert] = target;
    }
}

bool BlockPlanner::inserts_nothing(const ir::Value *value, const ir::Value *target) const {
    auto found = _insert_incoming.find(value);
    return target && found != _insert_incoming.end() &&
           _plan->home(found->second) == _plan->home(target);
}

}// namespace luisa::tile::plan
