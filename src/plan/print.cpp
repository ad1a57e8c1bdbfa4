// SPDX-License-Identifier: Apache-2.0
#include "plan/print.h"

#include "plan/block_planner.h"

#include <fmt/format.h>

namespace luisa::tile::plan {

std::string dim_text(const ir::DimExtent &d) {
    return d.dim.is_positional() ? fmt::format("#{}:{}", d.dim.id, d.extent)
                                 : fmt::format("{}:{}", d.dim.label, d.extent);
}

std::string dims_text(const std::vector<ir::DimExtent> &dims) {
    std::string text;
    for (const auto &d : dims) {
        text += (text.empty() ? "" : " ") + dim_text(d);
    }
    return "[" + text + "]";
}

namespace {

std::string at(SourceLoc loc) { return loc.known() ? " @ " + to_string(loc) : ""; }

}// namespace

std::string root_text(const Root &root) {
    switch (root.kind) {
        case Root::Kind::STORE: return "store" + at(root.op->loc);
        case Root::Kind::REDUCE: return "fold" + at(root.op->loc);
        case Root::Kind::SCAN: return "scan" + at(root.op->loc);
        case Root::Kind::INSERT: return "insert" + at(root.op->loc);
        case Root::Kind::WRITE: {
            auto *op = root.source->definition();
            std::string what = root.source == root.target ? "keep" : "update";
            return op ? what + " " + op->name() + at(op->loc) : what + " state";
        }
    }
    return {};
}

namespace {

std::string ahead_text(const Ahead &ahead) {
    auto what = std::string{"ask for "} + ahead.op->name() + at(ahead.op->loc);
    return ahead.instances == 0 ? what
                                : fmt::format("{}, {} instance{} later", what, ahead.instances,
                                              ahead.instances == 1 ? "" : "s");
}

std::string scan_text(const LoopGroup &group) {
    const auto &payload = group.scan()->get<ir::ScanPayload>();
    auto along = payload.dim.is_positional() ? fmt::format("#{}", payload.dim.id)
                                             : std::string{payload.dim.label};
    bool tree = scan_policy(*group.scan()) == ReductionPolicy::BALANCED_TREE;
    const auto &deal = group.aligned ? group.aligned : group.deal;
    if (deal && !(group.loops[static_cast<size_t>(deal->axis)].dim == payload.dim)) {
        return fmt::format("along {}{}: runs of a thread, their totals between threads", along,
                           payload.reverse ? " from the end" : "");
    }
    return fmt::format("along {}{}: {}, {}", along, payload.reverse ? " from the end" : "",
                       group.scans_lanes() ? "a prefix in each register" : "an element a step",
                       tree ? "balanced trees on a stack" : "one running value");
}

std::string group_text(const LoopGroup &g) {
    std::string axis = g.vector_axis < 0
                           ? "scalar"
                           : fmt::format("vector {} x {}",
                                         dim_text(g.loops[static_cast<size_t>(g.vector_axis)]),
                                         g.lanes);
    return fmt::format("group {} {}{}{}{}", dims_text(g.loops), axis,
                       g.accumulators > 1 ? fmt::format(", {} accumulators", g.accumulators) : "",
                       g.columns > 1 ? fmt::format(", {} vectors side by side", g.columns) : "",
                       g.note.empty() ? "" : " (" + g.note + ")");
}

std::string ordering_text(const Ordering &o) {
    auto what = o.first < o.positions ? fmt::format("first {} of {} keys", o.first, o.positions)
                                      : fmt::format("order {} keys", o.positions);
    return fmt::format("{} of {}{} for each {}{}", what, to_string(o.keys()->scalar()),
                       o.places() ? " with places" : "", dims_text(o.lines),
                       at(o.ops.front()->loc));
}

std::string panel_text(const Contraction &c, const char *operand) {
    bool vector = *operand == 'v';
    const auto &panel = vector ? c.vector_panel : c.scalar_panel;
    // Rows of groups lie as the steps do.
    bool along = panel && panel->contiguous_step;
    bool transposes = c.atom == Atom::MULTIPLY_ADD || vector ? along : !along;
    return !panel ? ""
                  : fmt::format(", {} operand packed{}{}", operand, panel->shared ? " once" : "",
                                transposes ? " by transposing" : "");
}

std::string atom_text(const Contraction &c) {
    if (c.atom == Atom::MULTIPLY_ADD) {
        return "";
    }
    return fmt::format(", {} of groups of {} steps",
                       c.atom == Atom::DOT ? "dot products" : "matrix registers",
                       is_float(c.result->scalar()) ? 2 : 4);
}

std::string contraction_text(const Contraction &c) {
    const auto &columns = c.transposed ? c.roles.rows : c.roles.columns;
    const auto &rows = c.transposed ? c.roles.columns : c.roles.rows;
    return fmt::format(
        "contraction rows {} columns {} over {}: block {}x{} lanes{}{}{}{}{}", dims_text(rows),
        dims_text(columns), dims_text(c.roles.contracted), c.rows,
        c.step_lanes ? fmt::format("{} columns, {}", c.vectors, c.step_lanes)
                     : fmt::format("{}", c.vectors * c.lanes),
        (c.step_lanes ? std::string{" along the steps"} : std::string{}) +
            (c.nests.empty() ? std::string{} : ", steps interchanged with blocks") + atom_text(c),
        panel_text(c, "vector") + panel_text(c, "scalar"),
        c.panel_steps == all_steps ? ", sums in scratch"
        : c.sweeps_columns ? fmt::format(", all columns take {} steps at a time", c.panel_steps)
        : c.panel_steps    ? fmt::format(", panels of {} steps", c.panel_steps)
                           : "",
        c.products.size() > 1 ? fmt::format(", {} products", c.products.size()) : "",
        at(c.products.front()->loc));
}

std::string deal_text(const Deal &deal) {
    auto lines = deal.kept * deal.folded;
    return fmt::format("{} thread{} a line{}, {} of {} element{}{}", deal.sharers,
                       deal.sharers == 1 ? "" : "s",
                       lines > 1 ? fmt::format(", {} lines", lines) : "", deal.together, deal.lanes,
                       deal.lanes == 1 ? "" : "s", deal.all ? ": all in registers" : " at a time");
}

std::string resident_text(const Phase &phase) {
    return phase.resident == 0 ? ""
                               : fmt::format(", {} block{} on a multiprocessor", phase.resident,
                                             phase.resident == 1 ? "" : "s");
}

struct Printer {
    const Plan &plan;
    std::string text;
    int depth = 1;

    void line(const std::string &content) {
        text += std::string(static_cast<size_t>(2 * depth), ' ') + content + "\n";
    }

    void bins(const Phase &phase) {
        for (const auto &own : plan.private_bins) {
            if (own.nest == phase.nest) {
                bool known = own.view->type()->axes[0].extent != ir::runtime_value;
                line(fmt::format("a block adds to {}{} sums of {} bytes in shared memory first",
                                 known ? "" : "up to ", own.capacity, own.bytes()));
            }
        }
    }

    void split(const Phase &phase) {
        if (phase.split) {
            line(fmt::format("{} blocks {}, each with {} of it", phase.split->parts,
                             phase.nest ? "an instance" : "in all",
                             dim_text({phase.split->dim, phase.split->extent})));
        }
    }

    void group(const LoopGroup &g) {
        ++depth;
        if (g.aligned) {
            line("aligned: " + deal_text(*g.aligned));
        }
        if (g.deal) {
            line((g.aligned ? "otherwise: " : "") + deal_text(*g.deal));
        }
        for (const auto &root : g.roots) {
            const auto *value = root.kind == Root::Kind::REDUCE ? root.op->result() : root.target;
            bool held = value && plan.in_registers.count(value) != 0;
            line(root_text(root) + (held ? ", in registers" : ""));
        }
        for (const auto &ahead : g.ahead) {
            line(ahead_text(ahead));
        }
        if (g.scan()) {
            line(scan_text(g));
        }
        --depth;
    }

    void contraction(const Contraction &c) {
        ++depth;
        if (c.stage) {
            staged(c);
        }
        layouts(c.vector_panel, "vector", "column");
        layouts(c.scalar_panel, "scalar", "row");
        for (const auto &root : c.epilogue) {
            line("in registers: " + root_text(root));
        }
        --depth;
    }

    void layouts(const std::optional<PanelPlan> &panel, const char *operand, const char *place) {
        for (size_t p = 0; panel && p < panel->layouts.size(); ++p) {
            line(fmt::format("{} panel: (step, {}) -> {}", operand, place,
                             panel->layouts[p].text()));
        }
    }

    void staged(const Contraction &c) {
        const auto &s = *c.stage;
        auto holders = s.panel_atom ? fmt::format("{}x{} warpgroups hold {} of {} each",
                                                  s.group_rows, s.group_columns, c.rows,
                                                  s.panel_atom->instruction(c.vectors * 8))
                       : s.atom
                           ? fmt::format("{}x{} warps hold {}x{} sums of {} each", s.warp_rows,
                                         s.warp_columns, c.rows, c.vectors, s.atom->instruction())
                           : fmt::format("{}x{} threads hold {}x{} sums each", s.thread_rows,
                                         s.thread_columns, c.rows, c.vectors);
        line(fmt::format(
            "through shared memory: panels of {} steps, {} in {} bytes; {}; {} block{} "
            "on a multiprocessor",
            s.depth, s.stages, s.shared_bytes(), holders, s.resident, s.resident == 1 ? "" : "s"));
        for (const auto &product : s.operands) {
            for (size_t side = 0; side < 2; ++side) {
                const auto &o = product[side];
                line(fmt::format(
                    "{}: {} of {} {}, {} bytes apart{}, copied {}{}", side ? "columns" : "rows",
                    fmt::format("{} line{}", o.lines, o.lines == 1 ? "" : "s"), o.length,
                    o.along_steps ? "steps"
                    : side        ? "columns"
                                  : "rows",
                    o.pitch, o.permuted ? ", units permuted" : "",
                    o.vector > 1 ? fmt::format("{} at a time", o.vector) : "one by one",
                    o.async ? " past registers" : ""));
            }
        }
    }

    void ordering(const Ordering &o) {
        ++depth;
        const auto &how = o.how;
        auto part = int64_t{how.threads} * how.each;
        line(fmt::format("{} line{} at a time, {} threads a line, {} keys each{}{}", how.lines,
                         how.lines == 1 ? "" : "s", how.threads, how.each,
                         how.bounded ? ", those before a bound" : "",
                         part < o.positions ? fmt::format(", {} parts merged in scratch memory",
                                                          o.positions / part)
                                            : ""));
        --depth;
    }

    void block(const Block &b) {
        for (const auto &step : b.steps) {
            const auto *sequential = std::get_if<Sequential>(&step);
            bool dealt = sequential && plan.dealt_loops.count(sequential->op);
            line(step_text(step) + (dealt ? ", iterations dealt to the threads" : ""));
            if (const auto *g = std::get_if<LoopGroup>(&step)) {
                group(*g);
            } else if (const auto *c = std::get_if<Contraction>(&step)) {
                contraction(*c);
            } else if (const auto *o = std::get_if<Ordering>(&step)) {
                ordering(*o);
            } else {
                const auto &op = *std::get<Sequential>(step).op;
                for (auto *region : op.regions()) {
                    auto inner = plan.blocks.find(region);
                    if (inner != plan.blocks.end()) {
                        ++depth;
                        block(inner->second);
                        --depth;
                    }
                }
            }
        }
    }
};

}// namespace

std::string step_text(const Step &step) {
    if (const auto *group = std::get_if<LoopGroup>(&step)) {
        return group_text(*group);
    }
    if (const auto *contraction = std::get_if<Contraction>(&step)) {
        return contraction_text(*contraction);
    }
    if (const auto *ordering = std::get_if<Ordering>(&step)) {
        return ordering_text(*ordering);
    }
    const auto &op = *std::get<Sequential>(step).op;
    return std::string{op.name()} + at(op.loc);
}

std::string print(const Plan &plan) {
    Printer printer{plan, {}, 1};
    auto aliases = plan.may_alias ? ", views may alias" : "";
    printer.text = plan.team ? fmt::format("plan @{} gpu{} {{\n", plan.kernel->name, aliases)
                             : fmt::format("plan @{} cpu, {}-byte vectors, threads {}{} {{\n",
                                           plan.kernel->name, plan.facts.vector_bytes,
                                           plan.facts.threads, aliases);
    for (const auto &phase : plan.phases) {
        if (phase.nest) {
            printer.line(phase.threads == 0
                             ? fmt::format("tasks: parallel{}, {} at a time", at(phase.nest->loc),
                                           phase.grain)
                             : fmt::format("blocks of {} threads: parallel{}{}{}", phase.threads,
                                           at(phase.nest->loc),
                                           phase.alone ? ", an instance a thread" : "",
                                           resident_text(phase)));
            ++printer.depth;
            printer.bins(phase);
            printer.split(phase);
            printer.block(plan.blocks.at(phase.nest->body()));
            --printer.depth;
        } else {
            printer.line(phase.threads == 0
                             ? std::string{"one task"}
                             : fmt::format("{} of {} threads", phase.split ? "blocks" : "one block",
                                           phase.threads));
            ++printer.depth;
            printer.split(phase);
            printer.block(phase.block);
            --printer.depth;
        }
    }
    for (const auto &note : plan.notes) {
        printer.line("note: " + note);
    }
    return printer.text + "}\n";
}

}// namespace luisa::tile::plan
