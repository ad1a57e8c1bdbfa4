// SPDX-License-Identifier: Apache-2.0
#include "plan/predict.h"

#include "analysis/intervals.h"
#include "plan/block_planner.h"

#include <algorithm>

namespace luisa::tile::plan {

using ir::Opcode;

namespace {

constexpr double cycles_a_microsecond = 3000;
/// A vector that goes to or comes from the second-level cache.
constexpr double access_cycles = 2;
/// What a loop, a branch or a scalar load costs besides what it does.
constexpr double step_cycles = 5;

/// How often the body of a nest runs, when that is a constant.
std::optional<double> trip_count(const ir::Operation &nest) {
    const auto &payload = nest.get<ir::NestPayload>();
    auto constant = [&](size_t operand) -> std::optional<double> {
        auto known = analysis::interval_of(nest.operand(operand));
        return known.low == known.high ? std::optional{static_cast<double>(known.low)}
                                       : std::nullopt;
    };
    if (payload.is_range) {
        auto begin = constant(0), end = constant(1), step = constant(2);
        if (!begin || !end || !step || *step == 0) {
            return std::nullopt;
        }
        return std::max(0.0, (*end - *begin) / *step);
    }
    double count = 1;
    for (size_t i = 0; i < payload.dims.size(); ++i) {
        auto extent = constant(i);
        if (!extent) {
            return std::nullopt;
        }
        count *= std::max(*extent, 0.0);
    }
    return count;
}

double product(const std::vector<ir::DimExtent> &dims) {
    double count = 1;
    for (const auto &d : dims) {
        count *= static_cast<double>(d.extent);
    }
    return count;
}

class Prediction {
public:
    Prediction(const Plan &plan, CostModel &cost) : _plan{plan}, _cost{cost} {}

    std::optional<double> cycles(const Block &block) {
        double total = 0;
        for (const auto &step : block.steps) {
            auto part = std::visit([this](const auto &s) { return cycles_of(s); }, step);
            if (!part) {
                return std::nullopt;
            }
            total += *part;
        }
        return total;
    }

private:
    double cost_of(const std::vector<Root> &roots) {
        double total = 0;
        for (const auto &root : roots) {
            const auto *source = root_source(root);
            bool computed = source && !source->type()->is_view();
            total += access_cycles + (computed ? _cost.element_cost(source) : 1);
        }
        return total;
    }

    std::optional<double> cycles_of(const LoopGroup &group) {
        auto vectors = product(group.loops) / std::max(group.lanes, 1);
        return step_cycles + vectors * cost_of(group.roots);
    }

    std::optional<double> cycles_of(const Contraction &c) {
        auto elements = product(c.roles.batch) * product(c.roles.rows) * product(c.roles.columns);
        auto steps = product(c.roles.contracted) * static_cast<double>(c.products.size());
        for (const auto *nest : c.nests) {
            auto trips = trip_count(*nest);
            if (!trips) {
                return std::nullopt;
            }
            steps *= *trips;
        }
        auto vectors = elements / std::max({c.lanes, c.step_lanes, 1});
        return step_cycles + vectors * (steps / steps_a_cycle(c) + cost_of(c.epilogue));
    }

    /// How many steps of one vector a cycle takes.
    static double steps_a_cycle(const Contraction &c) {
        constexpr double vectors_a_cycle = 2;
        double group = is_float(c.result->scalar()) ? 2 : 4;
        switch (c.atom) {
            case Atom::MULTIPLY_ADD: return vectors_a_cycle;
            case Atom::DOT: return vectors_a_cycle * group;
            case Atom::MATRIX: break;
        }
        return matrix_rows * group;
    }

    static std::optional<double> cycles_of(const Ordering &) { return std::nullopt; }

    std::optional<double> cycles_of(const Sequential &step) {
        const auto &op = *step.op;
        if (op.opcode() == Opcode::WHILE) {
            return std::nullopt;
        }
        double total = 0;
        for (const auto *region : op.regions()) {
            auto found = _plan.blocks.find(region);
            auto part = found == _plan.blocks.end() ? std::nullopt : cycles(found->second);
            if (!part) {
                return std::nullopt;
            }
            // Of two branches, the longer.
            total = std::max(total, *part);
        }
        std::optional<double> trips = 1;
        if (ir::is_nest(op.opcode())) {
            trips = trip_count(op);
        }
        return trips ? std::optional{step_cycles + *trips * (total + step_cycles)} : std::nullopt;
    }

    const Plan &_plan;
    CostModel &_cost;
};

}// namespace

std::optional<double> predict_us(const Plan &plan, const Block &block, CostModel &cost) {
    auto cycles = Prediction{plan, cost}.cycles(block);
    return cycles ? std::optional{*cycles / cycles_a_microsecond} : std::nullopt;
}

std::optional<double> BlockPlanner::predict_us(const Block &block) {
    return plan::predict_us(*_plan, block, _cost);
}

}// namespace luisa::tile::plan
