// SPDX-License-Identifier: Apache-2.0
#include "compile/explain/builder.h"

#include "analysis/expressions.h"
#include "ir/disjoint.h"
#include "plan/block_planner.h"
#include "plan/predict.h"
#include "plan/print.h"

#include <fmt/format.h>

#include <algorithm>

namespace luisa::tile::compiler {

using Step = Explanation::Step;

namespace {

std::string name_of(const ir::DimExtent &d) {
    return d.dim.is_positional() ? fmt::format("#{}", d.dim.id) : std::string{d.dim.label};
}

/// "store", without the place that follows in a printed plan.
std::string bare(std::string text) { return text.substr(0, text.find(" @ ")); }

const ir::Operation *operation_of(const plan::Root &root) {
    return root.op ? root.op : root.source ? root.source->definition() : nullptr;
}

/// What is proved of a store inside `parallel`.
const char *disjoint_text(const plan::Root &root) {
    if (root.kind != plan::Root::Kind::STORE) {
        return "";
    }
    bool inside = false, proven = true;
    for (const auto *op = root.op->parent(); op; op = op->parent()) {
        if (op->opcode() == ir::Opcode::PARALLEL) {
            inside = true;
            proven &= ir::prove_disjoint(*root.op, *op).proof == Proof::PROVEN;
        }
    }
    return !inside  ? ""
           : proven ? ", each instance to elements of its own"
                    : ", to places that are not proved distinct";
}

std::string panel_text(const std::optional<plan::PanelPlan> &panel) {
    if (!panel) {
        return "read where it is";
    }
    std::string text = panel->shared ? "copied into panels once a launch, shared by tasks"
                       : panel->contiguous_step ? "copied into panels, transposed in registers"
                                                : "copied into panels";
    for (const auto &layout : panel->layouts) {
        text += "; laid out by " + layout.text();
    }
    return text;
}

std::string steps_text(const plan::Contraction &c) {
    return c.nests.empty() ? "of one product"
           : c.panel_steps == plan::all_steps
               ? "all of a block, sums in scratch memory for the epilogue"
           : c.sweeps_columns
               ? fmt::format("{} at a time for all columns, sums in scratch memory between",
                             c.panel_steps)
           : c.panel_steps
               ? fmt::format("in panels of {}, sums in scratch memory between", c.panel_steps)
               : "all inside a register block, in source order";
}

}// namespace

Explanation::Place place_of(SourceLoc loc) {
    return loc.known() ? Explanation::Place{loc.file, loc.line} : Explanation::Place{};
}

ExplanationBuilder::ExplanationBuilder(const plan::Plan &plan, const analysis::Work &work,
                                       Explanation &out)
    : _plan{plan}, _work{work}, _out{out} {
    for (size_t i = 0; i < plan.phases.size(); ++i) {
        const auto *nest = plan.phases[i].nest;
        visit(nest ? plan.blocks.at(nest->body()) : plan.phases[i].block, 0, static_cast<int>(i),
              nest ? executions_of(*nest->body()) : 1);
    }
}

double ExplanationBuilder::executions_of(const ir::Region &region) const {
    auto found = _work.of.find(region.last());
    return found == _work.of.end() ? 0 : found->second.executions;
}

void ExplanationBuilder::visit(const plan::Block &block, int parent, int phase, double executions) {
    plan::CostModel cost{[this](const ir::Value *v) { return _plan.home(v) != nullptr; }};
    for (const auto &planned : block.steps) {
        auto number = static_cast<int>(_out.steps.size()) + 1;
        _numbers[&planned] = static_cast<uint32_t>(number);
        Step step;
        step.number = number;
        step.parent = parent;
        step.phase = phase;
        step.title = plan::step_text(planned);
        step.executions = executions;
        Uses uses;
        const ir::Operation *sequential = nullptr;
        if (const auto *group = std::get_if<plan::LoopGroup>(&planned)) {
            fill_group(*group, step, uses);
        } else if (const auto *contraction = std::get_if<plan::Contraction>(&planned)) {
            fill_contraction(*contraction, step, uses);
        } else if (const auto *ordering = std::get_if<plan::Ordering>(&planned)) {
            step.kind = "order";
            step.place = place_of(ordering->ops.front()->loc);
            for (const auto *op : ordering->ops) {
                uses.operations.insert(op);
            }
        } else {
            sequential = std::get<plan::Sequential>(planned).op;
            step.kind = sequential->name();
            step.place = place_of(sequential->loc);
            uses.operations.insert(sequential);
            for (auto *operand : sequential->operands()) {
                gather(operand, nullptr, uses);
            }
        }
        count(uses, step);
        if (auto once = plan::predict_us(_plan, plan::Block{{planned}}, cost)) {
            step.predicted_us = *once * executions;
        }
        _out.steps.push_back(std::move(step));
        _uses.push_back(std::move(uses));
        _sequential.push_back(sequential);
        _last_inside.push_back(number);
        for (auto *region : sequential ? sequential->regions() : std::vector<ir::Region *>{}) {
            if (auto inner = _plan.blocks.find(region); inner != _plan.blocks.end()) {
                visit(inner->second, number, phase, executions_of(*region));
            }
        }
        _last_inside[static_cast<size_t>(number) - 1] = static_cast<int>(_out.steps.size());
    }
}

/// The operations that are computed where `value` is needed, and the storage that they read.
void ExplanationBuilder::gather(const ir::Value *value, const ir::Value *computed,
                                Uses &uses) const {
    if (value->type()->is_view()) {
        return;
    }
    if (auto *home = _plan.home(value); home && value != computed) {
        uses.reads.insert(home);
        return;
    }
    auto *op = value->definition();
    if (!op || !analysis::is_inline(*op) || !uses.operations.insert(op).second) {
        return;
    }
    for (auto *operand : op->operands()) {
        gather(operand, computed, uses);
    }
    for (auto *region : op->regions()) {
        for (auto *inner : *region) {
            for (auto *operand : inner->operands()) {
                if (operand->region() != region) {
                    gather(operand, computed, uses);
                }
            }
        }
    }
}

void ExplanationBuilder::add_root(const plan::Root &root, Step &step, Uses &uses) const {
    const auto *op = operation_of(root);
    step.roots.push_back(
        {bare(plan::root_text(root)) + disjoint_text(root), place_of(op ? op->loc : SourceLoc{})});
    const auto *source = plan::root_source(root);
    bool own = root.kind == plan::Root::Kind::WRITE && root.target == source;
    gather(source, own ? source : nullptr, uses);
    for (size_t i = 0; root.op && i < root.op->operand_count(); ++i) {
        gather(root.op->operand(i), own ? source : nullptr, uses);
    }
    if (op && root.kind != plan::Root::Kind::WRITE) {
        uses.operations.insert(op);
    }
    bool result = root.kind == plan::Root::Kind::REDUCE || root.kind == plan::Root::Kind::SCAN;
    const auto *target = result ? op->result() : root.target;
    if (const auto *home = target ? _plan.home(target) : nullptr) {
        uses.writes.insert(home);
    }
}

void ExplanationBuilder::fill_group(const plan::LoopGroup &group, Step &step, Uses &uses) {
    step.kind = "group";
    for (const auto &d : group.loops) {
        step.loops.push_back({name_of(d), d.extent});
    }
    if (group.vector_axis >= 0) {
        step.vector_axis = name_of(group.loops[static_cast<size_t>(group.vector_axis)]);
        step.lanes = group.lanes;
    }
    if (group.accumulators > 1) {
        step.facts.push_back({"partial results", std::to_string(group.accumulators)});
    }
    if (group.columns > 1) {
        step.facts.push_back({"vectors side by side", std::to_string(group.columns)});
    }
    if (!group.note.empty()) {
        step.facts.push_back({"note", group.note});
    }
    for (const auto &ahead : group.ahead) {
        step.facts.push_back({"asks ahead for",
                              fmt::format("{} at {}", ahead.op->name(), to_string(ahead.op->loc))});
    }
    for (const auto &root : group.roots) {
        add_root(root, step, uses);
    }
    const auto *op = operation_of(group.roots.front());
    step.place = place_of(op ? op->loc : SourceLoc{});
}

void ExplanationBuilder::fill_contraction(const plan::Contraction &c, Step &step, Uses &uses) {
    step.kind = "contraction";
    const auto &columns = c.transposed ? c.roles.rows : c.roles.columns;
    const auto &rows = c.transposed ? c.roles.columns : c.roles.rows;
    for (const auto *dims : {&c.roles.batch, &rows, &columns, &c.roles.contracted}) {
        for (const auto &d : *dims) {
            step.loops.push_back({name_of(d), d.extent});
        }
    }
    step.vector_axis = columns.empty() || c.lanes == 1 ? "" : name_of(columns.back());
    step.lanes = c.step_lanes ? c.step_lanes : c.lanes;
    if (c.step_lanes) {
        for (const auto &d : c.roles.contracted) {
            step.vector_axis = d.extent != 1 ? name_of(d) : step.vector_axis;
        }
    }
    step.place = place_of(c.products.front()->loc);
    step.facts = {{"rows", plan::dims_text(rows)},
                  {"columns", plan::dims_text(columns)},
                  {"summed over", plan::dims_text(c.roles.contracted)},
                  {"register block", fmt::format("{} rows x {} columns ({} vectors of {})", c.rows,
                                                 c.vectors * c.lanes, c.vectors, c.lanes)},
                  {"vector operand", panel_text(c.vector_panel)},
                  {"broadcast operand", panel_text(c.scalar_panel)},
                  {"steps", steps_text(c)}};
    std::string ahead;
    for (auto [asks, what] : {std::pair{c.prefetch_panel, "the next panel"},
                              {c.prefetch_rows, "rows of the next step"},
                              {c.prefetch_columns, "what lies behind in each column"},
                              {c.prefetch_results, "the lines of the results"}}) {
        ahead += asks ? (ahead.empty() ? "" : ", ") + std::string{what} : "";
    }
    if (!ahead.empty()) {
        step.facts.push_back({"asks ahead for", ahead});
    }
    for (const auto *product : c.products) {
        step.roots.push_back({product->name(), place_of(product->loc)});
        uses.operations.insert(product);
        gather(product->operand(0), nullptr, uses);
        gather(product->operand(1), nullptr, uses);
    }
    gather(c.initial, nullptr, uses);
    for (const auto &root : c.epilogue) {
        add_root(root, step, uses);
        step.roots.back().what += ", in registers";
    }
    if (const auto *home = _plan.home(c.result)) {
        uses.writes.insert(home);
    }
}

void ExplanationBuilder::count(const Uses &uses, Step &step) const {
    for (const auto *op : uses.operations) {
        if (auto found = _work.of.find(op); found != _work.of.end()) {
            step.flops += found->second.flops;
            step.loaded += found->second.loaded;
            step.stored += found->second.stored;
        }
    }
}

void ExplanationBuilder::fill_alternatives() {
    for (const auto &a : _plan.alternatives) {
        Explanation::Alternative said{a.what, a.alternative, a.reason,
                                      place_of(a.op ? a.op->loc : SourceLoc{})};
        auto found = std::find_if(_uses.begin(), _uses.end(), [&](const Uses &uses) {
            return a.op && uses.operations.count(a.op) != 0;
        });
        auto &list = found == _uses.end()
                         ? _out.alternatives
                         : _out.steps[static_cast<size_t>(found - _uses.begin())].alternatives;
        list.push_back(std::move(said));
    }
}

}// namespace luisa::tile::compiler
