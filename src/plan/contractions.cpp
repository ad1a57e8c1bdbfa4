// SPDX-License-Identifier: Apache-2.0
#include "analysis/expressions.h"
#include "analysis/intervals.h"
#include "plan/block_planner.h"
#include "plan/memory_layout.h"
#include "plan/panels.h"

#include <algorithm>
#include <set>

namespace luisa::tile::plan {

using ir::Opcode;

namespace {

size_t state_count(const ir::Operation &nest) { return nest.result_count(); }

bool accumulates_wide(ScalarType type) {
    return type == ScalarType::FLOAT32 || type == ScalarType::FLOAT64 || is_integer(type);
}

/// Collects the products of one step: `yielded` is a chain of mma operations that ends in `state`.
bool collect_products(const ir::Value *yielded, const ir::Value *state,
                      std::vector<const ir::Operation *> &products) {
    for (auto *value = yielded; value != state; value = value->definition()->operand(2)) {
        auto *op = value->definition();
        if (!op || op->opcode() != Opcode::MMA || !value->has_one_use() ||
            op->region() != state->owner()) {
            return false;
        }
        products.push_back(op);
    }
    std::reverse(products.begin(), products.end());
    return !products.empty() && state->has_one_use();
}

bool same_dims(const std::vector<ir::DimExtent> &a, const std::vector<ir::DimExtent> &b) {
    return a == b;
}

}// namespace

bool BlockPlanner::match_steps(const ir::Operation &op, Contraction &out, const char *&why) {
    if (op.opcode() == Opcode::MMA) {
        out.products = {&op};
        out.initial = op.operand(2);
        out.result = op.result();
        out.roles = analysis::contraction_roles(op);
        return true;
    }
    const ir::Operation *nest = &op;
    std::vector<const ir::Operation *> body_ops;
    for (;;) {
        why = "the nest does not carry exactly one value";
        if (nest->opcode() == Opcode::PARALLEL || !ir::is_nest(nest->opcode()) ||
            state_count(*nest) != 1) {
            return false;
        }
        why = "the policy of the reduction fixes the order of its steps";
        const auto &payload = nest->get<ir::NestPayload>();
        if (nest->opcode() == Opcode::REDUCE &&
            (payload.policy == ReductionPolicy::FOLD_RIGHT ||
             payload.policy == ReductionPolicy::BALANCED_TREE)) {
            return false;
        }
        out.nests.push_back(nest);
        auto *body = nest->body();
        auto *state = body->argument(body->arguments().size() - 1);
        auto *yielded = body->terminator()->operand(0);
        const ir::Operation *inner = nullptr;
        why = "the nest does something else in its steps";
        for (auto *step : *body) {
            bool plain = analysis::is_inline(*step) || step->opcode() == Opcode::MMA ||
                         step->opcode() == Opcode::STAGE || step->opcode() == Opcode::YIELD;
            bool carries = ir::is_nest(step->opcode()) && step->result_count() == 1;
            if (!plain && carries && !inner && yielded == step->result()) {
                inner = step;
            } else if (!plain) {
                return false;
            }
            body_ops.push_back(step);
        }
        if (inner) {
            if (!state->has_one_use() || inner->operand(inner->operand_count() - 1) != state) {
                return false;
            }
            nest = inner;
            continue;
        }
        why = "what the nest carries is not only a chain of products";
        if (!collect_products(yielded, state, out.products)) {
            return false;
        }
        // A product that only feeds another one is no link of the chain and cannot be evaluated in it.
        bool foreign = std::any_of(body_ops.begin(), body_ops.end(), [&](const auto *step) {
            return step->opcode() == Opcode::MMA &&
                   std::find(out.products.begin(), out.products.end(), step) == out.products.end();
        });
        if (foreign) {
            return false;
        }
        break;
    }
    out.initial = op.operand(op.operand_count() - 1);
    out.result = op.result();
    return match_products(out, why);
}

/// Whether register blocks can hold the sums of all products of a chain and evaluate their operands.
bool BlockPlanner::match_products(Contraction &out, const char *&why) {
    why = "sums of this element type are rounded at every step";
    if (!accumulates_wide(out.result->scalar())) {
        return false;
    }
    out.roles = analysis::contraction_roles(*out.products.front());
    for (const auto *product : out.products) {
        auto roles = analysis::contraction_roles(*product);
        why = "its products have different dimensions";
        if (!same_dims(roles.batch, out.roles.batch) || !same_dims(roles.rows, out.roles.rows) ||
            !same_dims(roles.columns, out.roles.columns)) {
            return false;
        }
        why = "computing an operand costs too much inside a register block";
        // Operands are evaluated inside the register block, element by element.
        if (_cost.element_cost(product->operand(0)) > 4 ||
            _cost.element_cost(product->operand(1)) > 4) {
            return false;
        }
    }
    return true;
}

bool BlockPlanner::match_contraction(const ir::Operation &op, Contraction &out) {
    const char *why = nullptr;
    bool matches = match_steps(op, out, why);
    if (!matches && _plan->records) {
        for (auto *inner : *op.body()) {
            if (inner->opcode() == Opcode::MMA) {
                record(inner, "a product a step", "steps interchanged with register blocks", why);
            }
        }
    }
    return matches;
}

/// Whether a plain load comes from a view that does not stay in the second-level cache: its rows are
/// then copied next to each other once a task, which also keeps them out of each other's sets.
bool BlockPlanner::streams_from_memory(const ir::Value *operand) const {
    auto *op = operand->definition();
    if (!op || op->opcode() != Opcode::LOAD || is_kept(operand)) {
        return false;
    }
    return exceeds_near_caches(*op->operand(0)->type());
}

/// Whether a view takes so much of the second-level cache that what is used beside it does not stay there.
bool BlockPlanner::exceeds_near_caches(const ir::Type &view) const {
    int64_t bytes = static_cast<int64_t>(size_of(view.scalar));
    for (const auto &axis : view.axes) {
        if (axis.extent == ir::runtime_value ||
            __builtin_mul_overflow(bytes, axis.extent, &bytes)) {
            return false;
        }
    }
    return bytes > _plan->facts.l2_bytes / 4;
}

/// Whether every nest has a trip count that panels can be sized by.
static bool constant_steps(const Contraction &c) {
    return std::all_of(c.nests.begin(), c.nests.end(), [](const ir::Operation *nest) {
        auto operands = nest->operands();
        return std::all_of(operands.begin(), operands.end(), [](const ir::Value *v) {
            auto known = v->type()->is_scalar() ? analysis::interval_of(v)
                                                : analysis::Interval{0, 0};
            return known.low == known.high;
        });
    });
}

/// A panel of the vector operand holds all steps of its nests. Where only the launch knows how many there are, the nests
/// are ordinary loops around products that have panels of their own.
bool BlockPlanner::has_room_for_panels(const Contraction &c) {
    return !c.vector_panel || constant_steps(c);
}

/// Slope with which an operand is read when `axis` moves: 1 is a plain vector load.
analysis::Slope BlockPlanner::operand_slope(const ir::Value *operand, Dim axis) const {
    analysis::Slope worst{true, 1};
    auto is_leaf = [this](const ir::Value *v) { return is_kept(v); };
    analysis::visit_leaves(operand, {{axis.id, {true, 1}}}, is_leaf, [&](const auto &leaf) {
        auto *op = leaf.value->definition();
        analysis::Slope slope{true, 0};
        if (op && op->opcode() == Opcode::LOAD && !is_kept(leaf.value)) {
            slope = analysis::address_slope(*op, leaf.slopes);
        } else if (auto *home = _plan->home(leaf.value)) {
            const auto &storage = _plan->storage.at(home);
            const auto &order = storage.order;
            bool last = !order.empty() && order.back().dim == axis;
            slope = storage.layout ? layout_slope(*storage.layout, {{axis.id, {true, 1}}})
                                   : analysis::Slope{true, last ? 1 : 2};
        }
        if (!slope.known || (slope.value != 1 && slope.value != 0)) {
            worst = slope;
        }
    });
    return worst;
}

/// How well the last of an operand's free dimensions suits vectors: its extent, how the operand is read
/// along it, and how the result is stored.
double BlockPlanner::column_score(const Contraction &c, const std::vector<ir::DimExtent> &free,
                                  size_t operand) const {
    if (free.empty()) {
        return -100.0;
    }
    auto axis = free.back();
    double total = std::min<double>(static_cast<double>(axis.extent), 64) / 16;
    for (const auto *product : c.products) {
        auto slope = operand_slope(product->operand(operand), axis.dim);
        total += slope.known && slope.value == 1 ? 2 : -1;
    }
    auto is_leaf = [this](const ir::Value *v) { return is_kept(v); };
    for (const auto *site : evaluation_sites(c.result, is_leaf)) {
        if (site->opcode() == Opcode::STORE) {
            auto slope = analysis::address_slope(*site, {{axis.dim.id, {true, 1}}});
            total += slope.known && slope.value == 1 ? 4 : -4;
        }
    }
    return total;
}

void BlockPlanner::shape_contraction(Contraction &c) {
    c.transposed = column_score(c, c.roles.rows, 0) > column_score(c, c.roles.columns, 1);
    if (!c.roles.rows.empty() && !c.roles.columns.empty() && !_plan->team && !takes_preferred()) {
        c.transposed = !c.transposed;
    }
    const auto &columns = c.transposed ? c.roles.rows : c.roles.columns;
    const auto &rows = c.transposed ? c.roles.columns : c.roles.rows;
    auto type = c.result->scalar();
    size_t bytes = is_float(type) ? std::max<size_t>(size_of(type), 4) : size_of(type);
    c.lanes = std::max<int>(1, _plan->facts.vector_bytes / static_cast<int>(bytes));
    int64_t width = columns.empty() ? 1 : columns.back().extent;
    int64_t height = rows.empty() ? 1 : rows.back().extent;
    int most = _plan->facts.vector_registers >= 32 ? 4 : 2;
    c.vectors = static_cast<int>(
        std::clamp<int64_t>((width + c.lanes - 1) / std::max(c.lanes, 1), 1, most));
    // Accumulators and the operand vectors share the register file; few rows keep pointers in
    // registers when the scalar operand is read from its source.
    static constexpr int wide[] = {0, 12, 10, 8, 6}, narrow[] = {0, 6, 6};
    c.rows = most == 4 ? wide[c.vectors] : narrow[c.vectors];
    c.rows = static_cast<int>(std::clamp<int64_t>(height, 1, c.rows));
    if (_plan->team) {
        shape_thread_block(c);
        return stage_contraction(c);
    }
    if (takes_preferred()) {
        choose_atom(c);
    }
    if (c.atom == Atom::MULTIPLY_ADD && !(takes_preferred() && put_lanes_along_steps(c))) {
        plan_vector_panel(c);
        plan_scalar_panel(c);
        reconsider(c);
    }
}

void BlockPlanner::reconsider(Contraction &c) const {
    if (!_plan->choices) {
        return;
    }
    c.rows -= static_cast<int>(choose(static_cast<size_t>(c.rows), 0));
    c.vectors -= static_cast<int>(choose(static_cast<size_t>(c.vectors), 0));
    if (!takes_preferred()) {
        c.vector_panel = c.vector_panel ? std::nullopt : std::optional{PanelPlan{}};
    }
    if (!takes_preferred()) {
        c.scalar_panel.reset();
    }
}

/// What one thread of a team holds: fewer elements where there would be too few blocks for all threads. It reads
/// operands where they are.
void BlockPlanner::shape_thread_block(Contraction &c) {
    constexpr int64_t threads = 128, most = 4;
    auto count = [](const std::vector<ir::DimExtent> &dims) {
        int64_t n = 1;
        for (const auto &d : dims) {
            n *= std::max<int64_t>(d.extent, 1);
        }
        return n;
    };
    const auto &columns = c.transposed ? c.roles.rows : c.roles.columns;
    const auto &rows = c.transposed ? c.roles.columns : c.roles.rows;
    auto last = [](const std::vector<ir::DimExtent> &dims) {
        return std::max<int64_t>(dims.empty() ? 1 : dims.back().extent, 1);
    };
    auto elements = count(c.roles.batch) * count(rows) * count(columns);
    int64_t height = std::min(last(rows), most), width = std::min(last(columns), most);
    while (height * width > 1 && elements < threads * height * width) {
        (height >= width ? height : width) /= 2;
    }
    c.rows = static_cast<int>(height);
    c.vectors = static_cast<int>(width);
    c.lanes = 1;
}

/// Whether a vector operand lies in memory as a panel of it would: one step's columns right behind those of the
/// step before. A copy would be the same again.
bool BlockPlanner::lies_as_panel(const Contraction &c, const ir::Value *operand) const {
    int64_t block = int64_t{c.vectors} * c.lanes;
    auto steps = c.roles.contracted;
    std::erase_if(steps, [](const ir::DimExtent &d) { return d.extent == 1; });
    if (steps.size() != 1) {
        return false;
    }
    auto step = operand_slope(operand, steps.front().dim);
    return step.known && step.value > 0 && step.value <= block;
}

/// The vector operand is copied when it is not contiguous, when computing it costs, and when it comes
/// from beyond the caches for many rows.
void BlockPlanner::plan_vector_panel(Contraction &c) {
    const auto &rows = c.transposed ? c.roles.columns : c.roles.rows;
    const auto &columns = c.transposed ? c.roles.rows : c.roles.columns;
    bool reused = !rows.empty() && rows.back().extent >= 4 * c.rows;
    for (const auto *product : c.products) {
        auto *operand = product->operand(c.transposed ? 0 : 1);
        auto slope = columns.empty() ? analysis::Slope{true, 1}
                                     : operand_slope(operand, columns.back().dim);
        bool contiguous = slope.known && slope.value == 1;
        if (!contiguous || _cost.element_cost(operand) > 1 ||
            (reused && streams_from_memory(operand) && !lies_as_panel(c, operand))) {
            c.vector_panel.emplace();
        }
    }
    for (const auto &d : c.roles.contracted) {
        bool along = c.vector_panel && !columns.empty() && d.extent * 2 > c.lanes;
        for (size_t i = 0; i < c.products.size() && along; ++i) {
            auto *operand = c.products[i]->operand(c.transposed ? 0 : 1);
            auto own = operand_slope(operand, columns.back().dim);
            auto step = operand_slope(operand, d.dim);
            along = !(own.known && own.value == 1) && step.known && step.value == 1;
        }
        if (along) {
            c.vector_panel->contiguous_step = d.dim;
        }
    }
}

/// Elements of the other operand are read one step after the other: from a large view that is not
/// contiguous along the steps, each would come from another line, and often from the same few cache sets.
void BlockPlanner::plan_scalar_panel(Contraction &c) const {
    const auto &rows = c.transposed ? c.roles.columns : c.roles.rows;
    const auto &columns = c.transposed ? c.roles.rows : c.roles.columns;
    const auto &steps = c.roles.contracted;
    if (rows.size() != 1 || columns.empty() || columns.back().extent < 2 * c.lanes ||
        rows.back().extent < c.lanes || steps.empty() || steps.back().extent < c.lanes ||
        !constant_steps(c)) {
        return;
    }
    for (const auto *product : c.products) {
        auto *operand = product->operand(c.transposed ? 1 : 0);
        bool contiguous = false;
        for (const auto &d : steps) {
            auto step = operand_slope(operand, d.dim);
            contiguous |= step.known && step.value == 1;
        }
        auto own = operand_slope(operand, rows.back().dim);
        if (!contiguous && own.known && own.value == 1 && streams_from_memory(operand)) {
            c.scalar_panel.emplace();
        }
    }
}

int64_t constant_trips(const ir::Operation &nest) {
    if (!nest.get<ir::NestPayload>().is_range) {
        return 0;
    }
    auto begin = analysis::interval_of(nest.operand(0)),
         end = analysis::interval_of(nest.operand(1)),
         step = analysis::interval_of(nest.operand(2));
    if (begin.low != begin.high || end.low != end.high || step.low != step.high || step.low <= 0) {
        return 0;
    }
    return (end.low - begin.low + step.low - 1) / step.low;
}

/// Long contractions go through the columns in panels that stay in the second-level cache while all rows
/// use them; partial sums wait in scratch memory. While rows use one panel, the next is fetched.
void BlockPlanner::cut_panels(Contraction &c) const {
    const auto &rows = c.transposed ? c.roles.columns : c.roles.rows;
    const auto &columns = c.transposed ? c.roles.rows : c.roles.columns;
    if (!c.vector_panel || c.lanes == 1 || c.nests.size() != 1 || c.products.size() != 1 ||
        rows.empty() || columns.empty() || rows.back().extent < 4 * c.rows) {
        return;
    }
    auto trips = constant_trips(*c.nests.front());
    int64_t depth = 1;
    for (const auto &d : c.roles.contracted) {
        depth *= std::max<int64_t>(d.extent, 1);
    }
    const auto &facts = _plan->facts;
    int64_t row_bytes = int64_t{c.vectors} * facts.vector_bytes;
    auto steps = std::max<int64_t>(1, facts.l2_bytes / 8 / row_bytes / depth);
    c.panel_steps = trips > 2 * steps ? steps : 0;
    if (trips > 1 && !takes_preferred()) {
        c.panel_steps = c.panel_steps ? 0 : 1;
    }
    c.prefetch_panel = trips > 0 &&
                       streams_from_memory(c.products[0]->operand(c.transposed ? 0 : 1));
}

/// Rows of the broadcast operand that are read where they are come from as many places as a block has
/// rows, and each of them only once a block: they are asked for a step ahead.
void BlockPlanner::plan_row_prefetch(Contraction &c) const {
    if (c.lanes == 1 || c.nests.size() != 1 || c.products.size() != 1 ||
        constant_trips(*c.nests.front()) < 2) {
        return;
    }
    auto *operand = c.products[0]->operand(c.transposed ? 1 : 0);
    auto steps = std::count_if(c.roles.contracted.begin(), c.roles.contracted.end(),
                               [](const ir::DimExtent &d) { return d.extent != 1; });
    if (!c.scalar_panel && steps == 1 && streams_from_memory(operand)) {
        for (const auto &d : c.roles.contracted) {
            auto slope = operand_slope(operand, d.dim);
            c.prefetch_rows |= d.extent != 1 && slope.known && slope.value == 1;
        }
    }
}

/// Results that are stored far away are asked for while the last steps run. `c` has its epilogue.
void BlockPlanner::plan_result_prefetch(Contraction &c) const {
    bool far = std::any_of(c.epilogue.begin(), c.epilogue.end(), [&](const Root &root) {
        return root.kind == Root::Kind::STORE && !root.op->get<ir::StorePayload>().mapped &&
               exceeds_near_caches(*root.op->operand(0)->type());
    });
    c.prefetch_results = far && c.lanes > 1 && c.panel_steps == 0 && c.nests.size() == 1 &&
                         constant_trips(*c.nests.front()) > 1;
}

namespace {

/// The axes of `body`'s domain that an expression depends on; false if it depends on anything else that
/// changes while the kernel runs.
struct AxisDependence {
    const Plan &plan;
    const ir::Region &body;
    const Contraction &contraction;
    std::set<size_t> axes;
    std::unordered_set<const ir::Value *> seen;

    bool visit(const ir::Value *value) {
        if (!seen.insert(value).second || value->type()->is_view()) {
            return true;
        }
        if (auto *owner = value->owner()) {
            if (owner == &body) {
                axes.insert(value->index());
                return true;
            }
            auto *parent = owner->parent();
            bool temporal = std::find(contraction.nests.begin(), contraction.nests.end(), parent) !=
                            contraction.nests.end();
            return !parent || temporal || parent->opcode() == Opcode::MAP;
        }
        auto *op = value->definition();
        if (plan.home(value) || !analysis::is_inline(*op)) {
            return false;
        }
        for (auto *region : op->regions()) {
            for (auto *inner : *region) {
                for (auto *operand : inner->operands()) {
                    if (!visit(operand)) {
                        return false;
                    }
                }
            }
        }
        auto operands = op->operands();
        return std::all_of(operands.begin(), operands.end(),
                           [&](const ir::Value *v) { return visit(v); });
    }
};

bool is_constant_extent(const ir::Value *value) {
    auto known = analysis::interval_of(value);
    return known.low == known.high;
}

/// Views that an expression loads from.
void loaded_views(const ir::Value *value, std::unordered_set<const ir::Value *> &views,
                  std::unordered_set<const ir::Value *> &seen) {
    auto *op = value->definition();
    if (!op || !seen.insert(value).second) {
        return;
    }
    for (auto *operand : op->operands()) {
        if (operand->type()->is_view()) {
            views.insert(operand);
        }
        loaded_views(operand, views, seen);
    }
    for (auto *region : op->regions()) {
        for (auto *inner : *region) {
            for (auto *operand : inner->operands()) {
                loaded_views(operand, views, seen);
            }
        }
    }
}

}// namespace

void BlockPlanner::share_panels(const ir::Operation &nest) {
    const auto &payload = nest.get<ir::NestPayload>();
    bool is_static = !payload.is_range && !_plan->may_alias;
    for (size_t i = 0; i < payload.dims.size() && is_static; ++i) {
        is_static &= is_constant_extent(nest.operand(i));
    }
    if (!is_static) {
        return;
    }
    std::unordered_set<const ir::Value *> stored;
    for (auto *op : *_plan->kernel->body) {
        visit_stores(*op, [&](const ir::Operation &store) { stored.insert(store.operand(0)); });
    }
    for (auto &step : _plan->blocks.at(nest.body()).steps) {
        auto *c = std::get_if<Contraction>(&step);
        if (!c || !c->roles.batch.empty() || c->roles.rows.size() > 1 ||
            c->roles.columns.size() > 1) {
            continue;
        }
        bool constant = std::all_of(
            c->nests.begin(), c->nests.end(), [](const ir::Operation *temporal) {
                auto operands = temporal->operands();
                return std::all_of(operands.begin(), operands.end(), [](const ir::Value *v) {
                    return !v->type()->is_scalar() || is_constant_extent(v);
                });
            });
        for (auto *panel : {&c->vector_panel, &c->scalar_panel}) {
            if (*panel && constant) {
                auto position = (panel == &c->vector_panel) == c->transposed ? 0 : 1;
                share_panel(*c, **panel, static_cast<size_t>(position), nest, stored);
            }
        }
    }
}

/// Shares a panel that depends on some axes of the root domain only, and on nothing that is stored.
void BlockPlanner::share_panel(const Contraction &c, PanelPlan &panel, size_t position,
                               const ir::Operation &nest,
                               const std::unordered_set<const ir::Value *> &stored) const {
    AxisDependence dependence{*_plan, *nest.body(), c, {}, {}};
    for (const auto *product : c.products) {
        auto *operand = product->operand(position);
        std::unordered_set<const ir::Value *> views, seen;
        loaded_views(operand, views, seen);
        if (!dependence.visit(operand) ||
            std::any_of(views.begin(), views.end(),
                        [&](const ir::Value *v) { return stored.count(v) != 0; })) {
            return;
        }
    }
    // A panel of groups that one instance uses stays in its cache when that instance fills it.
    int64_t users = 1;
    for (size_t i = 0; i < nest.get<ir::NestPayload>().dims.size(); ++i) {
        users *= dependence.axes.count(i) ? 1 : analysis::interval_of(nest.operand(i)).low;
    }
    bool own = c.atom != Atom::MULTIPLY_ADD && users == 1;
    if (dependence.axes.size() < nest.get<ir::NestPayload>().dims.size() && !own &&
        takes_preferred()) {
        panel.shared = true;
        panel.shared_axes.assign(dependence.axes.begin(), dependence.axes.end());
    }
}

void BlockPlanner::finish_contraction(Contraction contraction, Block &block) {
    if (contraction.atom == Atom::MULTIPLY_ADD && contraction.step_lanes == 0) {
        cut_panels(contraction);
        plan_row_prefetch(contraction);
        sweep_columns(contraction);
    }
    lay_out_panels(contraction);
    record_contraction(contraction);
    auto *result = contraction.result;
    const auto &roles = contraction.roles;
    std::vector<ir::DimExtent> order;
    for (const auto *role : {&roles.batch, contraction.transposed ? &roles.columns : &roles.rows,
                             contraction.transposed ? &roles.rows : &roles.columns}) {
        for (const auto &d : *role) {
            if (d.extent != 1) {
                order.push_back(d);
            }
        }
    }
    // A state that the product updates is accumulated where it lives.
    if (result->has_one_use() && result->first_use()->user()->opcode() == Opcode::YIELD) {
        auto *use = result->first_use();
        auto *region = use->user()->region();
        auto *parent = region->parent();
        if (parent && ir::is_nest(parent->opcode()) && parent->opcode() != Opcode::PARALLEL) {
            size_t position = 0;
            while (use->user()->operand(position) != result) {
                ++position;
            }
            auto *state = region->argument(region->arguments().size() - parent->result_count() +
                                           position);
            bool operand_reads_state = false;
            for (const auto *product : contraction.products) {
                for (size_t i = 0; i < 2; ++i) {
                    analysis::visit_leaves(
                        product->operand(i), {}, [this](const ir::Value *v) { return is_kept(v); },
                        [&](const analysis::Leaf &leaf) {
                            operand_reads_state |= leaf.value == state;
                        });
                }
            }
            if (!operand_reads_state && updates_in_place(result, state)) {
                if (!_plan->home(state)) {
                    ensure_storage(state, order);
                }
                _plan->shares[result] = state;
            }
        }
    }
    if (!_plan->home(result) && !result->type()->is_scalar()) {
        ensure_storage(result, order);
    }
    block.steps.emplace_back(std::move(contraction));
}

}// namespace luisa::tile::plan
