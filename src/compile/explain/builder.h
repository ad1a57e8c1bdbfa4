// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/explain.h>

#include "analysis/work.h"
#include "plan/plan.h"
#include "realize/cpu/realize.h"

#include <set>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace luisa::tile::compiler {

[[nodiscard]] Explanation::Place place_of(SourceLoc loc);

/// Walks a plan once and fills the parts of an explanation that follow from it.
class ExplanationBuilder {
public:
    ExplanationBuilder(const plan::Plan &plan, const analysis::Work &work, Explanation &out);

    [[nodiscard]] const cpu::StepNumbers &numbers() const noexcept { return _numbers; }
    void fill_nests(const ir::Region &region, int depth); // nests.cpp
    void fill_values(const std::vector<cpu::Room> &rooms);// values.cpp
    void fill_alternatives();

private:
    struct Uses {
        std::unordered_set<const ir::Operation *> operations;///< evaluated in the step
        std::unordered_set<const ir::Value *> reads, writes; ///< storage
    };
    // steps.cpp
    void visit(const plan::Block &block, int parent, int phase, double executions);
    void fill_group(const plan::LoopGroup &group, Explanation::Step &step, Uses &uses);
    void fill_contraction(const plan::Contraction &c, Explanation::Step &step, Uses &uses);
    void add_root(const plan::Root &root, Explanation::Step &step, Uses &uses) const;
    void gather(const ir::Value *value, const ir::Value *computed, Uses &uses) const;
    void count(const Uses &uses, Explanation::Step &step) const;
    [[nodiscard]] double executions_of(const ir::Region &region) const;

    struct Life {
        int first = 0, last = 0;
    };
    [[nodiscard]] Life life_of(const ir::Value *home) const;

    const plan::Plan &_plan;
    const analysis::Work &_work;
    Explanation &_out;
    cpu::StepNumbers _numbers;
    std::vector<Uses> _uses;///< by step number - 1
    std::vector<const ir::Operation *>
        _sequential;              ///< by step number - 1; null: a group or contraction
    std::vector<int> _last_inside;///< by step number - 1: the last step that it contains
};

}// namespace luisa::tile::compiler
