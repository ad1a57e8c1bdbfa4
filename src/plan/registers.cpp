// SPDX-License-Identifier: Apache-2.0
#include "analysis/expressions.h"
#include "plan/block_planner.h"
#include "plan/plan.h"

#include <algorithm>

// Which kept values never leave the registers of the threads that compute them: those that are read only where the
// same thread, in a later group of the same block, stands at the same element.

namespace luisa::tile::plan {

using ir::DimExtent;
using ir::Opcode;

namespace {

/// Where the threads of a group stand: equal ones stand at equal elements.
struct Standing {
    std::vector<DimExtent> kept, folded;
    DimExtent axis;
    Deal deal;

    Standing(const LoopGroup &group, const Deal &how) : deal{how} {
        for (size_t i = 0; i < group.loops.size(); ++i) {
            bool folds = group.folds(group.loops[i].dim);
            if (static_cast<int>(i) == how.axis) {
                axis = group.loops[i];
            } else {
                (folds ? folded : kept).push_back(group.loops[i]);
            }
        }
        // Lines of one kind are dealt out as if they were kept.
        if (kept.empty() && deal.kept == 1) {
            kept = std::move(folded);
            folded.clear();
            deal.kept = deal.folded;
            deal.folded = 1;
        }
    }

    [[nodiscard]] bool same_lines(const Standing &other) const {
        return kept == other.kept && deal.kept == other.deal.kept &&
               deal.folded == other.deal.folded && deal.sharers == other.deal.sharers;
    }
    [[nodiscard]] bool same_elements(const Standing &other) const {
        bool lines = kept.empty() && other.kept.empty() ? deal.sharers == other.deal.sharers
                                                        : same_lines(other);
        return lines && folded == other.folded && axis == other.axis &&
               deal.lanes == other.deal.lanes;
    }
};

class Registers {
public:
    explicit Registers(Plan &plan) : _plan{plan} {}

    void run() {
        for (const auto &phase : _plan.phases) {
            if (!phase.alone) {
                block(phase.nest ? _plan.blocks.at(phase.nest->body()) : phase.block);
            }
        }
        for (const auto &[home, value] : _values) {
            if (value.writer && !value.spoiled && fits(home, value)) {
                _plan.in_registers.insert(home);
            }
        }
    }

private:
    struct Value {
        const LoopGroup *writer = nullptr;
        const Block *block = nullptr;
        bool spoiled = false;
        std::vector<const LoopGroup *> readers;
    };

    [[nodiscard]] bool is_kept(const ir::Value *v) const { return _plan.home(v) != nullptr; }

    void spoil(const ir::Value *value) {
        if (const auto *home = _plan.home(value)) {
            _values[home].spoiled = true;
        }
    }
    /// What evaluating a value reads, at places of its own.
    void spoil_leaves(const ir::Value *value) {
        if (value->type()->is_view()) {
            return;
        }
        analysis::visit_leaves(
            value, {}, [this](const ir::Value *v) { return is_kept(v); },
            [this](const analysis::Leaf &leaf) { spoil(leaf.value); });
    }
    void spoil_operands(const ir::Operation &op, size_t from = 0) {
        for (size_t i = from; i < op.operand_count(); ++i) {
            spoil_leaves(op.operand(i));
        }
    }

    void block(const Block &block) {
        for (const auto &step : block.steps) {
            if (const auto *g = std::get_if<LoopGroup>(&step)) {
                group(*g, block);
            } else if (const auto *c = std::get_if<Contraction>(&step)) {
                contraction(*c);
            } else if (const auto *o = std::get_if<Ordering>(&step)) {
                for (const auto *op : o->ops) {
                    spoil_operands(*op);
                    spoil(op->result());
                }
            } else {
                sequential(*std::get<Sequential>(step).op);
            }
        }
    }

    void contraction(const Contraction &c) {
        for (const auto *nest : c.nests) {
            spoil_operands(*nest);
        }
        for (const auto *product : c.products) {
            spoil_operands(*product);
        }
        spoil(c.result);
        if (c.initial) {
            spoil_leaves(c.initial);
        }
        for (const auto &root : c.epilogue) {
            if (root.op) {
                spoil_operands(*root.op);
            }
            spoil_leaves(root_source(root));
            if (root.target) {
                spoil(root.target);
            }
        }
    }

    void sequential(const ir::Operation &op) {
        spoil_operands(op);
        for (const auto *result : op.results()) {
            spoil(result);
        }
        for (const auto *region : op.regions()) {
            for (const auto *argument : region->arguments()) {
                spoil(argument);
            }
            if (region->terminator()) {
                spoil_operands(*region->terminator());
            }
            if (auto inner = _plan.blocks.find(region); inner != _plan.blocks.end()) {
                block(inner->second);
            } else {
                for (const auto *inside : *region) {
                    spoil_operands(*inside);
                }
            }
        }
    }

    void group(const LoopGroup &g, const Block &block) {
        bool reads_in_place = g.deal && g.deal->all && (!g.aligned || g.aligned->all);
        for (const auto &root : g.roots) {
            reads_in_place &= root.kind != Root::Kind::INSERT && root.kind != Root::Kind::SCAN;
        }
        for (const auto &root : g.roots) {
            const auto *source = root_source(root);
            bool computes = root.kind == Root::Kind::WRITE && root.target == source;
            write(g, block, root, reads_in_place);
            auto of_leaf = [&](const analysis::Leaf &leaf) {
                const auto *home = _plan.home(leaf.value);
                if (!home) {
                    return;
                }
                auto &value = _values[home];
                value.spoiled |= !leaf.pointwise || !reads_in_place || value.block != &block ||
                                 !value.writer;
                value.readers.push_back(&g);
            };
            auto is_leaf = [&](const ir::Value *v) {
                return !(computes && v == source) && is_kept(v);
            };
            analysis::visit_leaves(source, {}, is_leaf, of_leaf);
            if (root.op && root.kind == Root::Kind::REDUCE && root.op->operand_count() > 1) {
                analysis::visit_leaves(root.op->operand(1), {}, is_leaf, of_leaf);
                spoil_operands(*root.op, 2);
            } else if (root.op && !computes && root.kind != Root::Kind::REDUCE) {
                for (const auto *operand : root.op->operands()) {
                    if (operand != source) {
                        spoil_leaves(operand);
                    }
                }
            }
        }
    }

    void write(const LoopGroup &g, const Block &block, const Root &root, bool stays) {
        const auto *target = root.kind == Root::Kind::REDUCE || root.kind == Root::Kind::SCAN
                                 ? root.op->result()
                                 : root.target;
        const auto *home = target ? _plan.home(target) : nullptr;
        if (!home) {
            return;
        }
        auto &value = _values[home];
        bool own = root.kind == Root::Kind::REDUCE ||
                   (root.kind == Root::Kind::WRITE && root.target == root.source);
        // A fold of single elements has no line whose end gives it its value.
        bool folds = root.kind != Root::Kind::REDUCE ||
                     std::any_of(g.loops.begin(), g.loops.end(),
                                 [&](const DimExtent &d) { return g.folds(d.dim); });
        value.spoiled |= !own || !stays || !folds || value.writer || home != target ||
                         target->type()->is_scalar() || _plan.storage.at(home).layout;
        value.writer = &g;
        value.block = &block;
    }

    [[nodiscard]] static bool fits(const ir::Value *home, const Value &value) {
        auto alike = [&](const Deal &a, const Deal &b, const LoopGroup &reader) {
            Standing writes{*value.writer, a}, reads{reader, b};
            bool whole = home->type()->find(writes.axis.dim) >= 0;
            bool line = value.writer->has_reduction() && !whole;
            return line ? writes.same_lines(reads) : writes.same_elements(reads);
        };
        return std::all_of(value.readers.begin(), value.readers.end(), [&](const LoopGroup *r) {
            const auto &w = *value.writer;
            auto &wa = w.aligned ? *w.aligned : *w.deal;
            auto &ra = r->aligned ? *r->aligned : *r->deal;
            return r == value.writer || (alike(*w.deal, *r->deal, *r) && alike(wa, ra, *r));
        });
    }

    Plan &_plan;
    std::unordered_map<const ir::Value *, Value> _values;
};

}// namespace

void keep_in_registers(Plan &plan) {
    Registers{plan}.run();
    for (const auto &[value, other] : plan.shares) {
        plan.in_registers.erase(plan.home(value));
        plan.in_registers.erase(plan.home(other));
    }
}

}// namespace luisa::tile::plan
