// SPDX-License-Identifier: Apache-2.0
#include "analysis/intervals.h"
#include "plan/block_planner.h"

#include <algorithm>

// Which instruction multiplies and adds: some processors take groups of narrow elements at once.

namespace luisa::tile::plan {

using ir::GroupFactors;
using ir::Opcode;

std::optional<GroupFactors> group_factors(ScalarType a, ScalarType b) {
    struct Row {
        ScalarType a, b;
        GroupFactors factors;
    };
    static constexpr Row table[] = {
        {ScalarType::BFLOAT16, ScalarType::BFLOAT16, GroupFactors::BF16},
        {ScalarType::INT8, ScalarType::INT8, GroupFactors::S8S8},
        {ScalarType::INT8, ScalarType::UINT8, GroupFactors::S8U8},
        {ScalarType::UINT8, ScalarType::INT8, GroupFactors::U8S8},
        {ScalarType::UINT8, ScalarType::UINT8, GroupFactors::U8U8},
    };
    for (const auto &row : table) {
        if (row.a == a && row.b == b) {
            return row.factors;
        }
    }
    return std::nullopt;
}

const ir::Value *narrow_source(const ir::Value *operand,
                               const std::function<bool(const ir::Value *)> &is_kept) {
    auto *op = operand->definition();
    if (!op || op->opcode() != Opcode::CAST || is_kept(operand)) {
        return operand;
    }
    auto from = op->operand(0)->scalar(), to = operand->scalar();
    bool widens = from == ScalarType::BFLOAT16
                      ? to == ScalarType::FLOAT32
                      : group_factors(from, from) && is_integer(to) && size_of(to) == 4;
    return widens ? op->operand(0) : operand;
}

/// Words of both operands must stand for one product each, in the order of the steps. Products of floats may be grouped
/// where the policy lets them be; those of integers wrap, and any order gives the same.
bool BlockPlanner::may_group(const Contraction &c) const {
    const auto &rows = c.transposed ? c.roles.columns : c.roles.rows;
    const auto &columns = c.transposed ? c.roles.rows : c.roles.columns;
    auto steps = std::count_if(c.roles.contracted.begin(), c.roles.contracted.end(),
                               [](const ir::DimExtent &d) { return d.extent != 1; });
    if (c.products.size() != 1 || rows.size() != 1 || columns.empty() || steps != 1) {
        return false;
    }
    const auto &policy = c.products.front()->get<ir::MmaPayload>().policy;
    auto type = c.result->scalar();
    return (type == ScalarType::FLOAT32 && policy.allow_reassociation) ||
           type == ScalarType::INT32 || type == ScalarType::UINT32;
}

/// Whether the words of one turn of the nests fill rows of matrix registers: a product of registers adds up its steps
/// before it adds them to a sum, so that those of two turns would not come one after the other.
static bool fills_matrices(const Contraction &c) {
    int64_t steps = 1;
    for (const auto &d : c.roles.contracted) {
        steps *= d.extent;
    }
    constexpr int64_t row = int64_t{matrix_rows} * 2;
    return c.nests.empty() || steps % row == 0;
}

void BlockPlanner::choose_atom(Contraction &c) const {
    if (!may_group(c)) {
        return;
    }
    auto kept = [this](const ir::Value *v) { return is_kept(v); };
    const auto *product = c.products.front();
    auto factors = group_factors(narrow_source(product->operand(0), kept)->scalar(),
                                 narrow_source(product->operand(1), kept)->scalar());
    if (!factors || (*factors == GroupFactors::BF16) != is_float(c.result->scalar())) {
        return;
    }
    const auto &facts = _plan->facts;
    const auto &rows = c.transposed ? c.roles.columns : c.roles.rows;
    bool bf16 = *factors == GroupFactors::BF16;
    // Panels are worth filling when several rows use them.
    constexpr int64_t few = 4;
    if (rows.back().extent < few) {
        return;
    }
    if (bf16 ? facts.matrix_bf16 && fills_matrices(c) : facts.matrix_int8) {
        c.atom = Atom::MATRIX;
    } else if (bf16 ? facts.dot_bf16 : facts.dot_int8) {
        c.atom = Atom::DOT;
    }
    if (c.atom == Atom::MATRIX && rows.back().extent <= matrix_rows) {
        // A panel of the columns would be read once. Where they lie as rows of groups they can be the rows.
        auto turned = c;
        turned.transposed = !c.transposed;
        if (may_group(turned) && reads_rows_in_place(turned)) {
            c.transposed = turned.transposed;
        }
    }
    if (c.atom != Atom::MULTIPLY_ADD) {
        shape_groups(c, *factors);
    }
}

/// Whether the scalar operand's rows go to matrix registers from where they lie.
bool BlockPlanner::reads_rows_in_place(const Contraction &c) const {
    auto kept = [this](const ir::Value *v) { return is_kept(v); };
    auto *operand = narrow_source(c.products.front()->operand(c.transposed ? 1 : 0), kept);
    bool along = std::any_of(c.roles.contracted.begin(), c.roles.contracted.end(),
                             [&](const ir::DimExtent &d) {
                                 auto step = operand_slope(operand, d.dim);
                                 return d.extent != 1 && step.known && step.value == 1;
                             });
    return along && rows_lie_as_matrices(c, operand);
}

/// The steps of a block of columns whose words stay in the first-level cache while all rows pass; sums wait in scratch
/// memory meanwhile.
void BlockPlanner::cut_matrices(Contraction &c, GroupFactors factors) const {
    const auto &rows = c.transposed ? c.roles.columns : c.roles.rows;
    if (c.nests.size() != 1 || rows.back().extent <= c.rows) {
        return;
    }
    int64_t steps = 1;
    for (const auto &d : c.roles.contracted) {
        steps *= d.extent;
    }
    auto words = steps / group_size(factors);
    if (steps % (matrix_rows * group_size(factors)) != 0) {
        return;
    }
    auto turns = std::max<int64_t>(1, _plan->facts.l1_bytes * 2 / 3 /
                                          (4 * words * c.vectors * c.lanes));
    c.panel_steps = constant_trips(*c.nests.front()) > turns ? turns : 0;
}

/// Blocks of groups: of matrix registers four hold sums, and the rest factors. Integers of equal signedness take
/// an instruction for unsigned and signed ones: sums of the offset take registers of their own.
void BlockPlanner::shape_groups(Contraction &c, GroupFactors factors) const {
    const auto &rows = c.transposed ? c.roles.columns : c.roles.rows;
    const auto &columns = c.transposed ? c.roles.rows : c.roles.columns;
    auto height = rows.back().extent, width = (columns.back().extent + c.lanes - 1) / c.lanes;
    if (c.atom == Atom::MATRIX) {
        bool low = height <= matrix_rows, thin = width <= 1;
        c.rows = low ? matrix_rows : thin ? 4 * matrix_rows : 2 * matrix_rows;
        c.vectors = static_cast<int>(std::min<int64_t>(width, low ? 4 : 2));
        c.rows = static_cast<int>(
            std::min<int64_t>(c.rows, (height + matrix_rows - 1) / matrix_rows * matrix_rows));
    } else if (factors == GroupFactors::S8S8 || factors == GroupFactors::U8U8) {
        c.rows = std::min(c.rows, _plan->facts.vector_registers >= 32 ? 5 : 4);
    }
    c.vector_panel.emplace();
    c.scalar_panel.emplace();
    for (auto *panel : {&c.vector_panel, &c.scalar_panel}) {
        bool vector = panel == &c.vector_panel;
        auto *operand = c.products.front()->operand(vector == c.transposed ? 0 : 1);
        auto own = operand_slope(operand, (vector ? columns : rows).back().dim);
        for (const auto &d : c.roles.contracted) {
            auto step = operand_slope(operand, d.dim);
            if (d.extent != 1 && !(own.known && own.value == 1) && step.known && step.value == 1) {
                (*panel)->contiguous_step = d.dim;
            }
        }
    }
    auto kept = [this](const ir::Value *v) { return is_kept(v); };
    if (c.atom == Atom::MATRIX) {
        cut_matrices(c, factors);
        auto *columns_of = narrow_source(c.products.front()->operand(c.transposed ? 0 : 1), kept);
        c.prefetch_panel = height <= matrix_rows && c.nests.size() == 1 &&
                           !c.vector_panel->contiguous_step && streams_from_memory(columns_of);
    }
    if (c.atom == Atom::MATRIX && reads_rows_in_place(c)) {
        auto *rows_of = narrow_source(c.products.front()->operand(c.transposed ? 1 : 0), kept);
        c.scalar_panel.reset();
        // Rows that one block of columns uses come from memory while it is at work.
        c.prefetch_rows = c.nests.size() == 1 && width <= c.vectors && streams_from_memory(rows_of);
    }
}

/// Whether matrix registers can load the operand's rows from the view that they lie in: whole rows of groups, none of
/// which is cut off by an end of the view.
bool BlockPlanner::rows_lie_as_matrices(const Contraction &c, const ir::Value *operand) const {
    auto *op = operand->definition();
    if (!op || op->opcode() != Opcode::LOAD || is_kept(operand) ||
        op->get<ir::LoadPayload>().mapped) {
        return false;
    }
    const auto &view = *op->operand(0)->type();
    const auto &box = op->result()->type()->dims;
    auto rows = (c.transposed ? c.roles.columns : c.roles.rows).back();
    auto words = int64_t{matrix_rows} * 4 / static_cast<int64_t>(size_of(view.scalar));
    bool whole = rows.extent % matrix_rows == 0;
    for (size_t i = 0; i < box.size(); ++i) {
        auto known = analysis::interval_of(op->operand(1 + i));
        whole &= view.axes[i].extent != ir::runtime_value && known.low >= 0 &&
                 known.high <= view.axes[i].extent - box[i].extent;
        bool steps = box[i].extent != 1 && !(box[i].dim == rows.dim) &&
                     std::any_of(c.roles.contracted.begin(), c.roles.contracted.end(),
                                 [&](const ir::DimExtent &d) { return d.dim == box[i].dim; });
        whole &= !steps || box[i].extent % words == 0;
    }
    auto own = operand_slope(operand, rows.dim);
    return whole && own.known && own.value > 1;
}

/// Bytes of narrow elements that one instance reads of an operand in all steps; 0 where only the launch knows.
static int64_t operand_bytes(const Contraction &c, size_t position) {
    const auto *operand = c.products.front()->operand(position);
    auto bytes = operand->type()->element_count() *
                 static_cast<int64_t>(size_of(operand->scalar()));
    for (const auto *nest : c.nests) {
        const auto &payload = nest->get<ir::NestPayload>();
        auto begin = analysis::interval_of(nest->operand(0));
        auto end = payload.is_range ? analysis::interval_of(nest->operand(1)) : begin;
        auto step = payload.is_range ? analysis::interval_of(nest->operand(2)) : begin;
        if (!payload.is_range || begin.low != 0 || end.low != end.high || step.low <= 0 ||
            step.low != step.high) {
            return 0;
        }
        bytes *= (end.low + step.low - 1) / step.low;
    }
    return bytes;
}

/// Matrix registers are fast enough for the second-level cache to matter: what instances with equal second indices read
/// is read again for every first index, and comes from beyond that cache unless a band of them takes turns.
int64_t BlockPlanner::band_of(const ir::Operation &nest) const {
    const auto &payload = nest.get<ir::NestPayload>();
    const auto &steps = _plan->blocks.at(nest.body()).steps;
    const auto *c = steps.size() == 1 ? std::get_if<Contraction>(&steps.front()) : nullptr;
    if (!c || c->atom != Atom::MATRIX || !c->vector_panel || !c->vector_panel->shared ||
        payload.is_range || payload.dims.size() != 2 || !payload.layout.empty() ||
        c->vector_panel->shared_axes.size() != 1) {
        return 0;
    }
    bool vector_is_last = c->vector_panel->shared_axes.front() == 1;
    size_t vector = c->transposed ? 0 : 1, last = vector_is_last ? vector : 1 - vector;
    auto last_bytes = operand_bytes(*c, last), first_bytes = operand_bytes(*c, 1 - last);
    auto count = analysis::interval_of(nest.operand(1)).low;
    auto room = _plan->facts.l2_bytes * 3 / 4 - first_bytes;
    if (last_bytes == 0 || count * last_bytes <= room) {
        return 0;
    }
    return std::max<int64_t>(1, room / last_bytes);
}

}// namespace luisa::tile::plan
