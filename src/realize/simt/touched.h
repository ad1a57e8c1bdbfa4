// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "plan/plan.h"

#include <unordered_map>
#include <unordered_set>

namespace luisa::tile::simt {

/// What threads of a block read and wrote: kept values by their home, views, staging areas.
struct Touched {
    std::unordered_set<const void *> reads, writes;

    [[nodiscard]] bool empty() const noexcept { return reads.empty() && writes.empty(); }
    /// Whether what `next` does needs that this is over in all threads.
    [[nodiscard]] bool conflicts(const Touched &next) const;
    void add(const Touched &other);
};

/// Finds what steps touch.
class TouchedBy {
public:
    using Scalars = std::unordered_map<const ir::Value *, ir::Value *>;
    /// `in_registers`: scalars that no memory is read for.
    TouchedBy(const plan::Plan &plan, const Scalars &in_registers)
        : _plan{plan}, _in_registers{in_registers} {}

    void group(const plan::LoopGroup &group);
    void contraction(const plan::Contraction &contraction);
    void ordering(const plan::Ordering &ordering);
    /// What evaluating `value` reads.
    void value(const ir::Value *value);
    void operation(const ir::Operation &op);
    void writes_view(const ir::Value *view) { result.writes.insert(key(view)); }

    Touched result;

private:
    void root(const plan::Root &root);
    void writes(const ir::Value *value);
    /// Views that may overlap are one thing.
    [[nodiscard]] const void *key(const ir::Value *view) const {
        return _plan.may_alias ? static_cast<const void *>(&_plan) : view;
    }

    const plan::Plan &_plan;
    const Scalars &_in_registers;
    std::unordered_set<const ir::Value *> _seen;
};

}// namespace luisa::tile::simt
