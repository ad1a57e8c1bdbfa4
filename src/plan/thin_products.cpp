// SPDX-License-Identifier: Apache-2.0
#include "analysis/intervals.h"
#include "plan/block_planner.h"

#include <algorithm>

// Products of few rows read the other operand once: what counts is the order in which it comes from memory, and that
// nothing is copied.

namespace luisa::tile::plan {

using ir::Opcode;

namespace {

int64_t product(const std::vector<ir::DimExtent> &dims) {
    int64_t count = 1;
    for (const auto &d : dims) {
        count *= std::max<int64_t>(d.extent, 1);
    }
    return count;
}

const std::vector<ir::DimExtent> &rows_in(const Contraction &c) {
    return c.transposed ? c.roles.columns : c.roles.rows;
}

const std::vector<ir::DimExtent> &columns_in(const Contraction &c) {
    return c.transposed ? c.roles.rows : c.roles.columns;
}

/// The contracted dimension that has steps; null unless there is exactly one.
const ir::DimExtent *steps_of(const Contraction &c) {
    const ir::DimExtent *found = nullptr;
    for (const auto &d : c.roles.contracted) {
        if (d.extent != 1) {
            if (found) {
                return nullptr;
            }
            found = &d;
        }
    }
    return found;
}

/// So few rows that a copy of the other operand would hardly be used.
bool has_few_rows(const Contraction &c) { return product(rows_in(c)) < int64_t{4} * c.rows; }

bool is_one_range(const Contraction &c) {
    return c.nests.size() == 1 && c.nests.front()->get<ir::NestPayload>().is_range;
}

/// Registers hold the sums and one vector of each column and of a row.
int columns_beside(int rows, int registers) {
    static constexpr int many[] = {0, 8, 8, 6, 4, 4, 4}, few[] = {0, 4, 4, 3, 2, 2, 2};
    return (registers >= 32 ? many : few)[rows];
}

}// namespace

/// Whether the contributions of all steps may be added up in any grouping.
bool BlockPlanner::order_of_sums_is_free(const Contraction &c) const {
    auto type = c.result->scalar();
    if (!is_float(type)) {
        return size_of(type) >= 4;
    }
    bool wide = type == ScalarType::FLOAT32 || type == ScalarType::FLOAT64;
    const auto &policy = c.products.front()->get<ir::MmaPayload>().policy;
    return wide && policy.allow_reassociation &&
           std::all_of(c.nests.begin(), c.nests.end(), [](const ir::Operation *nest) {
               return nest->opcode() == Opcode::REDUCE &&
                      nest->get<ir::NestPayload>().policy == ReductionPolicy::UNORDERED_TREE;
           });
}

/// Adding up the lanes of a sum takes about as long as a dozen steps of it; transposing a block of columns instead costs
/// as much as a few steps of one row.
bool BlockPlanner::along_steps_pays(const Contraction &c, int lanes) const {
    constexpr int64_t merge = 12, transpose = 8;
    int64_t steps = product(c.roles.contracted);
    for (const auto *nest : c.nests) {
        auto trips = constant_trips(*nest);
        if (trips == 0) {
            return true;
        }
        steps *= trips;
    }
    return steps * transpose > merge * product(rows_in(c)) * lanes;
}

/// Few rows times columns that are contiguous along the steps: vectors go along the steps, and nothing is transposed.
bool BlockPlanner::put_lanes_along_steps(Contraction &c) {
    const auto *steps = steps_of(c);
    auto lanes = _plan->facts.vector_bytes / static_cast<int>(size_of(c.result->scalar()));
    if (!steps || lanes < 2 || steps->extent < lanes || c.products.size() != 1 ||
        !c.roles.batch.empty() || !order_of_sums_is_free(c)) {
        return false;
    }
    auto shaped = c;
    // The rows are those of the operand that has fewer.
    shaped.transposed = product(c.roles.rows) > product(c.roles.columns);
    const auto &rows = rows_in(shaped), &columns = columns_in(shaped);
    if (rows.size() > 1 || columns.size() > 1 || !has_few_rows(shaped) ||
        !along_steps_pays(shaped, lanes)) {
        return false;
    }
    for (size_t i = 0; i < 2; ++i) {
        auto *operand = c.products.front()->operand(i);
        const auto &own = i == 0 ? c.roles.rows : c.roles.columns;
        auto slope = operand_slope(operand, steps->dim);
        bool vectors = !own.empty() && own.back().extent != 1 &&
                       operand_slope(operand, own.back().dim).value == 1;
        if (!slope.known || slope.value != 1 || vectors || _cost.element_cost(operand) > 1) {
            return false;
        }
    }
    int64_t height = product(rows_in(shaped)), width = product(columns_in(shaped));
    auto blocks = (height + 5) / 6;
    shaped.rows = static_cast<int>((height + blocks - 1) / blocks);
    auto beside = columns_beside(shaped.rows, _plan->facts.vector_registers);
    shaped.vectors = static_cast<int>(std::min<int64_t>(width, beside));
    shaped.lanes = 1;
    shaped.step_lanes = lanes;
    auto *far = c.products.front()->operand(shaped.transposed ? 0 : 1);
    shaped.prefetch_columns = is_one_range(shaped) && blocks == 1 && is_read_once(shaped, far);
    // Rows of several blocks share columns while these are near; sums wait in scratch memory.
    constexpr int64_t near_bytes = 1024;
    auto depth = steps->extent * static_cast<int64_t>(size_of(c.result->scalar()));
    if (blocks > 1 && is_one_range(shaped)) {
        shaped.panel_steps = std::max<int64_t>(1, near_bytes / depth);
    }
    c = std::move(shaped);
    return true;
}

/// Whether nothing but this product reads the operand's elements, each once, and from far away: a plain load of a view
/// that is large, or whose extents only the launch knows.
bool BlockPlanner::is_read_once(const Contraction &c, const ir::Value *operand) const {
    auto *op = operand->definition();
    if (!op || op->opcode() != Opcode::LOAD || is_kept(operand) || !has_few_rows(c)) {
        return false;
    }
    const auto &view = *op->operand(0)->type();
    return exceeds_near_caches(view) ||
           std::any_of(view.axes.begin(), view.axes.end(),
                       [](const ir::ViewAxis &axis) { return axis.extent == ir::runtime_value; });
}

/// A register block that takes all steps reads a few columns of each row: lines that are far apart, which processors do
/// not fetch ahead. Columns side by side for a few steps are what lies in memory one after the other.
void BlockPlanner::sweep_columns(Contraction &c) const {
    const auto &rows = rows_in(c), &columns = columns_in(c);
    const auto *steps = steps_of(c);
    if (_plan->team || c.vector_panel || c.scalar_panel || c.lanes == 1 || !is_one_range(c) ||
        c.products.size() != 1 || !steps || rows.size() != 1 || columns.size() != 1 ||
        !c.roles.batch.empty()) {
        return;
    }
    auto *operand = c.products.front()->operand(c.transposed ? 0 : 1);
    auto slope = operand_slope(operand, columns.front().dim);
    int64_t block = int64_t{c.vectors} * c.lanes;
    auto sums = rows.front().extent * columns.front().extent *
                static_cast<int64_t>(size_of(c.result->scalar()));
    if (!slope.known || slope.value != 1 || lies_as_panel(c, operand) ||
        columns.front().extent < 2 * block || sums > _plan->facts.l2_bytes / 4 ||
        !is_read_once(c, operand)) {
        return;
    }
    constexpr int64_t steps_at_once = 32;
    c.panel_steps = std::max<int64_t>(1, steps_at_once / steps->extent);
    c.sweeps_columns = true;
    c.prefetch_rows = false;
}

}// namespace luisa::tile::plan
