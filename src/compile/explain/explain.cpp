// SPDX-License-Identifier: Apache-2.0
#include "compile/cpu.h"
#include "compile/explain/builder.h"
#include "compile/planned.h"
#include "compile/target.h"
#include "emit/llvm/marked.h"
#include "frontend/kernel_access.h"
#include "plan/plan.h"

#include <algorithm>
#include <tuple>

namespace luisa::tile {

namespace {

using compiler::place_of;

/// Extents of a launch: those of the types, those that the caller names, and an assumption for the rest.
analysis::LaunchFacts launch_of(const ir::Function &kernel, const ExplainOptions &options,
                                Explanation &out) {
    analysis::LaunchFacts launch;
    for (auto *argument : kernel.body->arguments()) {
        auto &extents = launch.extents.emplace_back();
        launch.scalars.emplace_back();
        for (const auto &axis : argument->type()->axes) {
            extents.push_back(axis.extent);
            if (axis.extent != ir::runtime_value) {
                continue;
            }
            auto given = options.extents.find(axis.name);
            extents.back() = given == options.extents.end() ? options.assumed_extent
                                                            : given->second;
            auto known = std::any_of(out.assumed.begin(), out.assumed.end(),
                                     [&](const auto &a) { return a.name == axis.name; });
            if (!known) {
                out.assumed.push_back({axis.name, extents.back()});
            }
        }
    }
    return launch;
}

void add_lines(const ir::Region &region, std::vector<Explanation::Place> &lines) {
    for (auto *op : region) {
        if (op->loc.known()) {
            lines.push_back(place_of(op->loc));
        }
        for (auto *inner : op->regions()) {
            add_lines(*inner, lines);
        }
    }
}

std::vector<Explanation::Place> lines_of(const ir::Function &kernel) {
    std::vector<Explanation::Place> lines;
    add_lines(*kernel.body, lines);
    auto key = [](const auto &p) { return std::tie(p.file, p.line); };
    std::sort(lines.begin(), lines.end(),
              [&](const auto &a, const auto &b) { return key(a) < key(b); });
    lines.erase(std::unique(lines.begin(), lines.end(),
                            [&](const auto &a, const auto &b) { return key(a) == key(b); }),
                lines.end());
    return lines;
}

void add_phases(const cpu::Program &program, const plan::Plan &plan, Explanation &out) {
    for (const auto &phase : program.phases) {
        Explanation::Phase said;
        said.function = phase.function;
        said.tasks = phase.count_function.empty() ? phase.task_count : -1;
        said.grain = phase.grain;
        said.task_us = phase.task_us;
        for (size_t i = 0; i < plan.phases.size(); ++i) {
            auto name = plan.kernel->name + (plan.phases.size() > 1 ? "." + std::to_string(i) : "");
            if (name == phase.function && plan.phases[i].nest) {
                said.place = place_of(plan.phases[i].nest->loc);
            }
        }
        out.phases.push_back(std::move(said));
    }
}

/// Instructions go to their steps; what lies between two pieces of one step is a gap.
void add_assembly(const ir::Module &machine, const emit::CpuTarget &target, Explanation &out) {
    uint32_t before = 0;
    std::string function;
    for (auto &line : emit::marked_assembly(machine, target)) {
        bool mine = line.mark != 0 && line.mark <= out.steps.size();
        auto &list = mine ? out.steps[line.mark - 1].assembly : out.other_assembly;
        bool new_function = function != line.function;
        if (!list.empty() && (line.mark != before || new_function)) {
            list.push_back({"...", true});
        }
        if (new_function && !mine) {
            list.push_back({line.function + ":", true});
        }
        before = line.mark;
        function = line.function;
        list.push_back({std::move(line.text), line.is_label});
    }
}

}// namespace

Explanation explain(const Kernel &kernel, const ExplainOptions &options) {
    const auto &candidate = *module_of(kernel);
    compiler::CpuOptions cpu;
    cpu.target = compiler::target_named(options.cpu);
    cpu.threads = options.threads;
    auto facts = compiler::facts_of(cpu);
    plan::PlanOptions wanted;
    wanted.record = true;
    auto planned = compiler::make_planned(candidate, facts, wanted, facts.vector_bytes);
    const auto &plan = planned.plan;

    Explanation out;
    out.kernel = kernel.name();
    out.cpu = cpu.target.cpu;
    out.vector_bytes = facts.vector_bytes;
    out.vector_registers = facts.vector_registers;
    out.threads = facts.threads;
    out.l1_bytes = facts.l1_bytes;
    out.l2_bytes = facts.l2_bytes;
    out.tile_ir = kernel.ir_text(true);
    out.plan = plan::print(plan);
    out.notes = plan.notes;
    out.lines = lines_of(*plan.kernel);

    auto work = analysis::count_work(*plan.kernel, launch_of(*plan.kernel, options, out));
    out.flops = work.flops;
    out.loaded = work.loaded;
    out.stored = work.stored;
    out.work_known = work.known;
    out.work_exact = work.exact;

    compiler::ExplanationBuilder builder{plan, work, out};
    auto program = cpu::realize(plan, &builder.numbers());
    out.scratch_bytes = program.scratch_bytes;
    out.shared_bytes = program.shared_bytes;
    add_phases(program, plan, out);
    builder.fill_nests(*plan.kernel->body, 0);
    builder.fill_values(program.rooms);
    builder.fill_alternatives();
    if (options.assembly) {
        add_assembly(*program.machine, cpu.target, out);
    }
    return out;
}

}// namespace luisa::tile
