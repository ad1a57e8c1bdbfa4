// SPDX-License-Identifier: Apache-2.0
#include "compile/explain/builder.h"

#include "analysis/intervals.h"

#include <algorithm>

namespace luisa::tile::compiler {

using ir::Opcode;

namespace {

std::string number_text(const ir::Value *value) {
    auto known = analysis::interval_of(value);
    return known.low == known.high ? std::to_string(known.low) : "?";
}

/// "8 x 2", "range(0, 500, 32)"; a question mark for what only the launch or an outer index tells.
std::string domain_text(const ir::Operation &nest) {
    const auto &payload = nest.get<ir::NestPayload>();
    if (payload.is_range) {
        return "range(" + number_text(nest.operand(0)) + ", " + number_text(nest.operand(1)) +
               ", " + number_text(nest.operand(2)) + ")";
    }
    std::string text;
    for (size_t i = 0; i < payload.dims.size(); ++i) {
        text += (i ? " x " : "") + number_text(nest.operand(i));
    }
    return text;
}

/// How the steps of a pipeline follow each other on a CPU.
std::string realization_of(const plan::Plan &plan, const ir::Operation &nest) {
    for (const auto &[region, block] : plan.blocks) {
        for (const auto &step : block.steps) {
            const auto *c = std::get_if<plan::Contraction>(&step);
            if (!c || std::find(c->nests.begin(), c->nests.end(), &nest) == c->nests.end()) {
                continue;
            }
            return std::string{"All steps run inside each register block, in order; "} +
                   (c->prefetch_panel || c->prefetch_rows || c->prefetch_columns
                        ? "what the next step reads is asked for while one runs."
                        : "what they read is near or comes by the processor's own prefetching.");
        }
    }
    return "Steps run one after the other on the core that has the task; the processor's own "
           "prefetching "
           "brings what the next one loads.";
}

}// namespace

void ExplanationBuilder::fill_nests(const ir::Region &region, int depth) {
    for (auto *op : region) {
        bool loop = op->opcode() == Opcode::WHILE;
        int inner = depth;
        if (ir::is_nest(op->opcode()) || loop || op->opcode() == Opcode::IF) {
            Explanation::Nest nest;
            nest.depth = depth;
            nest.kind = op->name();
            nest.domain = ir::is_nest(op->opcode()) ? domain_text(*op) : "";
            auto found = _work.of.find(op);
            nest.executions = found == _work.of.end() ? 0 : found->second.executions;
            nest.trips = nest.executions > 0 ? executions_of(*op->body()) / nest.executions : 0;
            nest.place = place_of(op->loc);
            if (op->opcode() == Opcode::PIPELINE) {
                for (auto *step : *op->body()) {
                    if (step->opcode() == Opcode::STAGE) {
                        nest.stages.push_back(step->get<ir::NamePayload>().name);
                    }
                }
                nest.realization = realization_of(_plan, *op);
            }
            _out.nests.push_back(std::move(nest));
            inner = depth + 1;
        }
        for (auto *body : op->bodies()) {
            if (op->opcode() != Opcode::MAP) {
                fill_nests(*body, inner);
            }
        }
    }
}

}// namespace luisa::tile::compiler
