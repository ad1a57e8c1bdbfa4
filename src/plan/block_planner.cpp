// SPDX-License-Identifier: Apache-2.0
#include "plan/block_planner.h"

#include "analysis/intervals.h"

#include <algorithm>

namespace luisa::tile::plan {

using ir::Opcode;

namespace {

/// Work beyond which an element is stored rather than computed again.
constexpr double recompute_limit = 8;

constexpr const char *overwritten_reason =
    "a store changes the view before the last use of what was loaded";

bool touches_view(const ir::Operation &store, const ir::Operation &load, bool may_alias) {
    return may_alias || store.operand(0) == load.operand(0);
}

/// Whether a store writes each element at the very place from which the load reads it.
bool same_place(const ir::Operation &store, const ir::Operation &load) {
    const auto &box = store.get<ir::StorePayload>().box;
    const auto &dims = load.result()->type()->dims;
    auto rank = load.operand(0)->type()->rank();
    if (store.operand(0) != load.operand(0) || box != dims ||
        store.get<ir::StorePayload>().mapped || load.get<ir::LoadPayload>().mapped) {
        return false;
    }
    for (size_t i = 0; i < rank; ++i) {
        if (!analysis::same_scalar(store.operand(2 + i), load.operand(1 + i))) {
            return false;
        }
    }
    return true;
}

size_t domain_operands(const ir::Operation &nest) {
    const auto &payload = nest.get<ir::NestPayload>();
    return payload.is_range ? 3 : payload.dims.size();
}

}// namespace

bool BlockPlanner::is_kept(const ir::Value *value) const {
    return _kept.count(value) != 0 || _plan->storage.count(value) != 0 ||
           _plan->shares.count(value) != 0;
}

/// Whether each element of `value` needs no other element of the load than that at its own place.
bool BlockPlanner::reads_pointwise(const ir::Value *value, const ir::Operation &load) const {
    bool pointwise = true;
    analysis::visit_leaves(
        value, {}, [&](const ir::Value *v) { return v == load.result() || is_kept(v); },
        [&](const analysis::Leaf &leaf) {
            pointwise &= leaf.value != load.result() || leaf.pointwise;
        });
    return pointwise;
}

bool BlockPlanner::load_is_overwritten(const ir::Operation &load) {
    auto sites = evaluation_sites(load.result(), [this](const ir::Value *v) { return is_kept(v); });
    if (sites.empty()) {
        return false;
    }
    for (auto *op = load.next(); op; op = op->next()) {
        bool is_site = std::find(sites.begin(), sites.end(), op) != sites.end();
        bool last = op == sites.back();
        bool overwritten = false;
        visit_stores(*op, [&](const ir::Operation &store) {
            // A store that is itself the site reads before it writes, place by place.
            bool harmless = is_site && last && &store == op && store.opcode() == Opcode::STORE &&
                            same_place(store, load) && reads_pointwise(store.operand(1), load);
            overwritten |= touches_view(store, load, _plan->may_alias) && !harmless;
        });
        if (overwritten) {
            return true;
        }
        if (last) {
            return false;
        }
    }
    return false;
}

bool BlockPlanner::keeps_for_product(const ir::Operation &op,
                                     const std::vector<const ir::Operation *> &sites) {
    for (const auto *site : sites) {
        if (site->opcode() == Opcode::MMA) {
            bool operand = false;
            // The scalar operand is read once per column block; the vector one goes to panels.
            analysis::visit_leaves(
                site->operand(0), {},
                [&](const ir::Value *v) { return v == op.result() || is_kept(v); },
                [&](const analysis::Leaf &leaf) { operand |= leaf.value == op.result(); });
            if (operand && _cost.element_cost(op.result()) > 3) {
                return true;
            }
        }
    }
    return false;
}

const char *BlockPlanner::reason_to_keep(const ir::Operation &op) {
    auto *value = op.result();
    if (value->type()->is_scalar()) {
        return nullptr;
    }
    if (op.opcode() == Opcode::LOAD && load_is_overwritten(op)) {
        return overwritten_reason;
    }
    auto sites = evaluation_sites(value, [this](const ir::Value *v) { return is_kept(v); });
    if (sites.empty()) {
        return nullptr;
    }
    double cost = _cost.element_cost(value);
    bool in_nest = std::any_of(sites.begin(), sites.end(), [](const ir::Operation *s) {
        return !s->regions().empty() && s->opcode() != Opcode::MAP;
    });
    if (in_nest && cost > 2) {
        return "an inner nest needs it in each of its steps";
    }
    if (keeps_for_product(op, sites)) {
        return "a product reads each element once a block of columns";
    }
    // Costly and needed by several consumers that cannot share one traversal.
    bool only_stores = std::all_of(sites.begin(), sites.end(), [](const ir::Operation *s) {
        return s->opcode() == Opcode::STORE;
    });
    if (cost >= recompute_limit && sites.size() > 1 && !only_stores) {
        return "it is costly and several loop groups need it";
    }
    // Costly and read at other coordinates than its own: each element may be needed many times.
    for (auto *use = value->first_use(); use && cost > 2; use = use->next()) {
        auto code = use->user()->opcode();
        bool is_source = code == Opcode::EXTRACT && use->user()->operand(0) == value;
        if (is_source && !use->user()->result()->type()->is_scalar()) {
            continue;
        }
        if (is_source) {
            return "it is read at other coordinates than its own";
        }
    }
    return nullptr;
}

const char *BlockPlanner::reconsidered(const ir::Operation &op, const char *reason) {
    auto *value = op.result();
    if (!_plan->choices || value->type()->is_scalar() || op.opcode() == Opcode::CONSTANT ||
        reason == overwritten_reason) {
        return reason;
    }
    auto sites = evaluation_sites(value, [this](const ir::Value *v) { return is_kept(v); });
    // What many places need again and again is not computed there.
    bool cheap = sites.size() <= 2 && _cost.element_cost(value) < 4 * recompute_limit;
    if (sites.empty() || (reason && !cheap) || choose(4, 0) != 3) {
        return reason;
    }
    return reason ? nullptr : "it was chosen";
}

void BlockPlanner::decide_kept(const ir::Region &region, const ir::Operation *first,
                               const ir::Operation *end) {
    // Last to first: whether a value is evaluated inline decides where its operands are needed.
    for (auto *op = end ? end->previous() : region.last(); op; op = op->previous()) {
        if (analysis::is_inline(*op)) {
            const auto *reason = reconsidered(*op, reason_to_keep(*op));
            record_kept(*op, reason);
            if (reason) {
                _kept.insert(op->result());
            }
        } else {
            for (auto *result : op->results()) {
                _kept.insert(result);
            }
        }
        if (op == first) {
            break;
        }
    }
}

void BlockPlanner::plan_region(const ir::Region &region) {
    _plan->block_order.push_back(&region);
    Block block;
    plan_operations(region, region.first(), nullptr, block);
    _plan->blocks[&region] = std::move(block);
}

void BlockPlanner::plan_operations(const ir::Region &region, const ir::Operation *first,
                                   const ir::Operation *end, Block &block) {
    decide_kept(region, first, end);
    for (auto *op = first; op != end; op = op->next()) {
        plan_operation(*op, block);
    }
    if (!block.steps.empty()) {
        if (auto *group = std::get_if<LoopGroup>(&block.steps.back())) {
            finish_group(*group);
        }
    }
    fuse_epilogues(block);
}

void BlockPlanner::plan_operation(const ir::Operation &op, Block &block) {
    auto finish_last = [&] {
        if (!block.steps.empty()) {
            if (auto *group = std::get_if<LoopGroup>(&block.steps.back())) {
                finish_group(*group);
            }
        }
    };
    switch (op.opcode()) {
        case Opcode::YIELD:
        case Opcode::STAGE: return;
        case Opcode::STORE: return add_root({Root::Kind::STORE, &op, nullptr, nullptr}, block);
        case Opcode::REDUCE_EXPR:
            return add_root({Root::Kind::REDUCE, &op, nullptr, nullptr}, block);
        case Opcode::SCAN: return add_root({Root::Kind::SCAN, &op, nullptr, nullptr}, block);
        case Opcode::SORTED: finish_last(); return plan_sorted(op, block);
        case Opcode::MMA: {
            finish_last();
            Contraction contraction;
            require(match_contraction(op, contraction), "every mma is a contraction");
            shape_contraction(contraction);
            return finish_contraction(std::move(contraction), block);
        }
        case Opcode::PARALLEL:
        case Opcode::SERIAL:
        case Opcode::PIPELINE:
        case Opcode::REDUCE: finish_last(); return plan_nest(op, block);
        case Opcode::IF:
        case Opcode::WHILE: finish_last(); return plan_branch(op, block);
        case Opcode::LOAD:
            if (op.result()->type()->is_scalar()) {
                finish_last();
                block.steps.emplace_back(Sequential{&op});
                return;
            }
            break;
        case Opcode::ATOMIC:
        case Opcode::ASSERT:
        case Opcode::PRINT:
        case Opcode::CONDITION:
            finish_last();
            block.steps.emplace_back(Sequential{&op});
            return;
        default: break;
    }
    if (auto found = _insert_targets.find(&op); found != _insert_targets.end()) {
        return add_root({Root::Kind::INSERT, &op, nullptr, found->second}, block);
    }
    if (!analysis::is_inline(op)) {
        throw UnsupportedError{std::string{op.name()} + " has no CPU realization yet", op.loc};
    }
    if (_kept.count(op.result())) {
        add_root({Root::Kind::WRITE, &op, op.result(), op.result()}, block);
    }
}

void BlockPlanner::plan_states(const ir::Operation &nest, Block &block) {
    auto first = domain_operands(nest);
    for (size_t i = first; i < nest.operand_count(); ++i) {
        auto *argument = nest.body()->argument(nest.body()->arguments().size() -
                                               (nest.operand_count() - i));
        if (argument->type()->is_scalar() || _plan->shares.count(argument)) {
            continue;
        }
        auto *initial = nest.operand(i)->definition();
        if (initial && initial->opcode() == Opcode::MEMORY_ALLOC) {
            // Nothing to begin with: only the place is needed.
            ensure_storage(argument, root_space({Root::Kind::WRITE, nullptr, argument, argument}));
        } else {
            add_root({Root::Kind::WRITE, nullptr, nest.operand(i), argument}, block);
        }
    }
    if (!block.steps.empty()) {
        if (auto *group = std::get_if<LoopGroup>(&block.steps.back())) {
            finish_group(*group);
        }
    }
}

/// Whether state `i` of an inner `parallel` is a state of the `parallel` around it that only passes
/// through: its parts then go straight into the outer result.
static const ir::Operation *outer_parallel(const ir::Operation &nest, size_t i) {
    auto *initial = nest.operand(domain_operands(nest) + i);
    auto *region = nest.region();
    auto *outer = region->parent();
    auto *result = nest.result(i);
    if (!outer || outer->opcode() != Opcode::PARALLEL || initial->owner() != region ||
        nest.get<ir::NestPayload>().updates.at(i) != ir::AncestorUpdate::INSERT ||
        !result->has_one_use() || result->first_use()->user() != region->terminator()) {
        return nullptr;
    }
    size_t first = region->arguments().size() - outer->result_count();
    bool same = initial->index() >= first &&
                region->terminator()->operand(initial->index() - first) == result;
    return same ? outer : nullptr;
}

static bool inserts_into_outer(const ir::Operation &nest, size_t i) {
    return outer_parallel(nest, i) != nullptr;
}

static const ir::Value *outer_result(const ir::Operation &nest, size_t i) {
    const auto *outer = outer_parallel(nest, i);
    auto *initial = nest.operand(domain_operands(nest) + i);
    return outer->result(initial->index() -
                         (nest.region()->arguments().size() - outer->result_count()));
}

/// The state of the loop around it that state `i` of a loop takes over and hands back, or null: both then live in
/// one place.
static const ir::Value *passed_state(const ir::Operation &nest, size_t i) {
    auto *initial = nest.operand(domain_operands(nest) + i);
    auto *region = nest.region();
    auto *outer = region->parent();
    auto *result = nest.result(i);
    if (nest.opcode() != Opcode::SERIAL || !outer || outer->opcode() != Opcode::SERIAL ||
        initial->owner() != region || !initial->has_one_use() || !result->has_one_use() ||
        result->first_use()->user() != region->terminator()) {
        return nullptr;
    }
    size_t first = region->arguments().size() - outer->result_count();
    bool handed_back = initial->index() >= first &&
                       region->terminator()->operand(initial->index() - first) == result;
    return handed_back ? initial : nullptr;
}

/// Inserts that are not all at the body level write where they stand.
void BlockPlanner::share_nested_inserts(const ir::Operation &nest) {
    const auto *body = nest.body();
    size_t first = body->arguments().size() - nest.result_count();
    for (size_t i = 0; i < nest.result_count(); ++i) {
        const auto *state = body->argument(first + i), *yielded = body->terminator()->operand(i);
        bool nested = false;
        for (const auto *v = yielded; v != state && v->definition() && !nested;
             v = v->definition()->operand(0)) {
            nested = v->definition()->opcode() != Opcode::INSERT;
        }
        bool in_parallel = nested && yielded->definition()->opcode() == Opcode::PARALLEL &&
                           inserts_into_outer(*yielded->definition(), yielded->index());
        if (nested && !in_parallel && !_plan->shares.count(yielded) &&
            nest.get<ir::NestPayload>().updates.at(i) == ir::AncestorUpdate::INSERT) {
            share_insert_chain(yielded, state, nest.result(i));
        }
    }
}

void BlockPlanner::plan_nest(const ir::Operation &nest, Block &block) {
    Contraction contraction;
    if (nest.opcode() != Opcode::PARALLEL && match_contraction(nest, contraction) &&
        choose(4, 0) != 3) {
        shape_contraction(contraction);
        if (has_room_for_panels(contraction)) {
            return finish_contraction(std::move(contraction), block);
        }
    }
    auto *body = nest.body();
    size_t indices = body->arguments().size() - nest.result_count();
    std::vector<const ir::Value *> targets;
    for (size_t i = 0; i < nest.result_count(); ++i) {
        auto *state = body->argument(indices + i);
        auto *result = nest.result(i);
        _kept.insert(state);
        if (result->type()->is_scalar()) {
            targets.push_back(nullptr);
            continue;
        }
        if (nest.opcode() == Opcode::PARALLEL) {
            // The instances read the tile as it came in and write into a copy.
            targets.push_back(result);
        } else {
            _plan->shares[result] = state;
            if (const auto *outer = passed_state(nest, i)) {
                _plan->shares[state] = outer;
            }
            targets.push_back(state);
        }
    }
    // The body decides in which layout its states are kept, so it is planned first.
    if (nest.opcode() == Opcode::PARALLEL) {
        for (size_t i = 0; i < nest.result_count(); ++i) {
            if (targets[i] && inserts_into_outer(nest, i)) {
                auto *outer = nest.operand(domain_operands(nest) + i);
                _plan->shares[nest.result(i)] = outer_result(nest, i);
                _plan->shares[body->argument(indices + i)] = outer;
            } else if (targets[i] && !_plan->shares.count(body->argument(indices + i))) {
                add_root({Root::Kind::WRITE, nullptr, nest.operand(domain_operands(nest) + i),
                          nest.result(i)},
                         block);
            }
        }
        plan_states(nest, block);
        share_nested_inserts(nest);
    }
    _plan->block_order.push_back(body);
    Block inner;
    decide_kept(*body, body->first(), nullptr);
    for (auto *op = body->first(); op; op = op->next()) {
        plan_operation(*op, inner);
    }
    plan_yields(*body, targets, inner);
    fuse_epilogues(inner);
    _plan->blocks[body] = std::move(inner);
    if (nest.opcode() != Opcode::PARALLEL) {
        plan_states(nest, block);
    }
    if (_plan->team && updates_in_any_order(nest, _plan->may_alias)) {
        _plan->dealt_loops.insert(&nest);
    }
    block.steps.emplace_back(Sequential{&nest});
}

void BlockPlanner::plan_branch(const ir::Operation &op, Block &block) {
    std::vector<const ir::Value *> targets;
    bool loop = op.opcode() == Opcode::WHILE;
    for (size_t i = 0; i < op.result_count(); ++i) {
        auto *result = op.result(i);
        if (loop) {
            _kept.insert(op.body()->argument(i));
        }
        if (result->type()->is_scalar()) {
            targets.push_back(nullptr);
        } else if (loop) {
            auto *state = op.body()->argument(i);
            _plan->shares[result] = state;
            targets.push_back(state);
        } else {
            std::vector<ir::DimExtent> order;
            for (const auto &d : result->type()->dims) {
                if (d.extent != 1) {
                    order.push_back(d);
                }
            }
            ensure_storage(result, order);
            targets.push_back(result);
        }
    }
    for (auto *region : op.regions()) {
        _plan->block_order.push_back(region);
        Block inner;
        decide_kept(*region, region->first(), nullptr);
        for (auto *step = region->first(); step; step = step->next()) {
            plan_operation(*step, inner);
        }
        plan_yields(*region, targets, inner);
        fuse_epilogues(inner);
        _plan->blocks[region] = std::move(inner);
    }
    if (loop) {
        for (size_t i = 0; i < op.result_count(); ++i) {
            bool in_place = (_plan->home(targets[i]) &&
                             _plan->home(targets[i]) == _plan->home(op.operand(i))) ||
                            inserts_nothing(op.operand(i), targets[i]);
            if (targets[i] && !in_place) {
                add_root({Root::Kind::WRITE, nullptr, op.operand(i), targets[i]}, block);
            }
        }
        if (!block.steps.empty()) {
            if (auto *group = std::get_if<LoopGroup>(&block.steps.back())) {
                finish_group(*group);
            }
        }
    }
    block.steps.emplace_back(Sequential{&op});
}

bool BlockPlanner::stores_into_operands(const Contraction &contraction,
                                        const LoopGroup &group) const {
    bool overwrites = false;
    auto reads = [&](const analysis::Leaf &leaf) {
        auto *load = leaf.value->definition();
        for (const auto &root : group.roots) {
            overwrites |= root.kind == Root::Kind::STORE && load &&
                          load->opcode() == Opcode::LOAD &&
                          touches_view(*root.op, *load, _plan->may_alias);
        }
    };
    for (const auto *product : contraction.products) {
        for (size_t i = 0; i < 2; ++i) {
            analysis::visit_leaves(
                product->operand(i), {}, [this](const ir::Value *v) { return is_kept(v); }, reads);
        }
    }
    return overwrites;
}

void BlockPlanner::fuse_epilogues(Block &block) {
    for (size_t i = 0; i + 1 < block.steps.size(); ++i) {
        auto *contraction = std::get_if<Contraction>(&block.steps[i]);
        auto *group = std::get_if<LoopGroup>(&block.steps[i + 1]);
        if (!contraction || !group || group->has_reduction() || contraction->initial == nullptr ||
            _plan->shares.count(contraction->result) || choose(4, 0) == 3) {
            continue;
        }
        auto *result = contraction->result;
        auto sites = evaluation_sites(result, [this](const ir::Value *v) { return is_kept(v); });
        // Every consumer must be in the group, read pointwise and span the same elements.
        std::vector<ir::DimExtent> space;
        for (const auto &d : result->type()->dims) {
            if (d.extent != 1) {
                space.push_back(d);
            }
        }
        bool fits = space.size() == group->loops.size();
        for (const auto &d : space) {
            fits &= std::find(group->loops.begin(), group->loops.end(), d) != group->loops.end();
        }
        size_t consumers = 0;
        for (const auto &root : group->roots) {
            fits &= root.kind == Root::Kind::STORE ||
                    (root.kind == Root::Kind::WRITE && !root.target->type()->is_scalar());
            consumers += root.op && std::find(sites.begin(), sites.end(), root.op) != sites.end();
            visit_reads(root, {}, [&](const analysis::Leaf &leaf) {
                fits &= leaf.value != result || leaf.pointwise;
            });
        }
        if (!fits || consumers != sites.size() || stores_into_operands(*contraction, *group)) {
            record(contraction->products.front(), "the result is stored first",
                   "what follows applied in registers",
                   !fits ? "what follows reads other elements, or runs over others"
                   : consumers != sites.size()
                       ? "another group needs the result, too"
                       : "it stores to a view that later blocks still read");
            continue;
        }
        contraction->epilogue = group->roots;
        // A long epilogue is emitted once, over sums in scratch memory, not once a register.
        double cost = 0;
        for (const auto &root : group->roots) {
            cost += _cost.element_cost(root_source(root));
        }
        bool one_range = contraction->nests.size() == 1 && contraction->lanes > 1 &&
                         contraction->nests.front()->get<ir::NestPayload>().is_range &&
                         !contraction->roles.rows.empty() && !contraction->roles.columns.empty();
        bool grouped = contraction->atom != Atom::MULTIPLY_ADD;
        if (cost > 6 && one_range && contraction->panel_steps == 0 && !grouped) {
            contraction->panel_steps = all_steps;
        }
        if (!grouped) {
            plan_result_prefetch(*contraction);
        }
        _plan->storage.erase(result);
        block.steps.erase(block.steps.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
}

}// namespace luisa::tile::plan
