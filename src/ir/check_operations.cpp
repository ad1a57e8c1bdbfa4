// SPDX-License-Identifier: Apache-2.0
#include "ir/check_operations.h"

#include "ir/dependence.h"

#include <algorithm>

namespace luisa::tile::ir {

namespace {

/// Collects the first broken rule.
struct Rules {
    const Module &module;
    const Operation &op;
    const Operation *owner;
    std::string message;

    bool require_that(bool holds, std::string text) {
        if (!holds && message.empty()) {
            message = std::move(text);
        }
        return holds;
    }
    /// For checks elsewhere, which say what is wrong, or nothing.
    void is_fine(const std::string &problem) { require_that(problem.empty(), problem); }
    [[nodiscard]] bool broken() const { return !message.empty(); }

    [[nodiscard]] const Type &operand(size_t i) const { return *op.operand(i)->type(); }
    [[nodiscard]] const Type &result(size_t i = 0) const { return *op.result(i)->type(); }
    [[nodiscard]] bool candidate() const { return module.form == Form::CANDIDATE; }

    bool is_index(size_t i) {
        return require_that(operand(i).is_scalar() && operand(i).scalar == ScalarType::INT64,
                            "operand " + std::to_string(i) + " is no i64 scalar");
    }

    static bool has(const Type &t, Dim d) { return t.find(d) >= 0; }

    // Elementwise: the builder's inference is the rule.
    void elementwise() {
        auto rule = info(op.opcode()).types;
        if (!require_that(op.result_count() == 1, "has no single result")) {
            return;
        }
        for (size_t i = 0; i < op.operand_count(); ++i) {
            if (!require_that(operand(i).is_tile() || (!candidate() && operand(i).is_vector()),
                              "operand " + std::to_string(i) + " is no value")) {
                return;
            }
            if (!candidate()) {
                require_that(operand(i).lanes == result().lanes && operand(i).dims.empty(),
                             "operands and result have different widths");
            }
        }
        size_t first = rule == TypeRule::SELECT ? 1 : 0;
        if (first) {
            require_that(operand(0).scalar == ScalarType::BOOL, "the condition is no bool");
        }
        if (rule != TypeRule::FREE) {
            for (size_t i = first; i < op.operand_count(); ++i) {
                require_that(operand(i).scalar == operand(first).scalar,
                             std::string{"operands are "} + to_string(operand(first).scalar) +
                                 " and " + to_string(operand(i).scalar));
            }
            auto expected = rule == TypeRule::COMPARE ? ScalarType::BOOL : operand(first).scalar;
            require_that(result().scalar == expected, std::string{"the result is "} +
                                                          to_string(result().scalar) +
                                                          ", expected " + to_string(expected));
            check_class(rule, operand(first).scalar);
        } else {
            free_types();
        }
        if (candidate() && !broken()) {
            joined_dims();
        }
    }

    void check_class(TypeRule rule, ScalarType t) {
        bool number = t != ScalarType::BOOL && info(t).computes;
        bool fits = rule == TypeRule::SAME_NUMBER    ? number
                    : rule == TypeRule::SAME_INTEGER ? is_integer(t)
                    : rule == TypeRule::SAME_FLOAT   ? is_float(t) && info(t).computes
                    : rule == TypeRule::SAME_BITS    ? !is_float(t)
                    : rule == TypeRule::SAME_ORDERED || rule == TypeRule::SAME_SIGNABLE
                        ? t != ScalarType::BOOL
                        : true;
        require_that(fits, std::string{"is not defined on "} + to_string(t));
    }

    void free_types() {
        if (op.opcode() == Opcode::CAST) {
            require_that(info(result().scalar).computes || result().scalar == ScalarType::BOOL ||
                             result().scalar == operand(0).scalar,
                         "casts to an 8-bit float; quantize does that");
        } else if (op.opcode() == Opcode::BITCAST) {
            require_that(size_of(result().scalar) == size_of(operand(0).scalar), "widths differ");
        } else if (op.opcode() == Opcode::QUANTIZE) {
            require_that(is_float(result().scalar) && size_of(result().scalar) == 1 &&
                             operand(0).scalar == ScalarType::FLOAT32,
                         "rounds f32 to an 8-bit float");
        }
    }

    void joined_dims() {
        std::vector<DimExtent> dims;
        try {
            dims = join_dims(op.name(), op.operands(), op.loc);
        } catch (const Error &e) {
            require_that(false, e.message());
            return;
        }
        require_that(result().dims == dims,
                     "the result's dimensions are not the join of the operands'");
    }

    // Nests

    void nest() {
        const auto &payload = op.get<NestPayload>();
        size_t domain = payload.is_range ? 3 : payload.dims.size();
        size_t indices = payload.is_range ? 1 : payload.dims.size();
        if (!require_that(op.operand_count() >= domain && op.bodies().size() == 1,
                          "has too few operands for its domain")) {
            return;
        }
        for (size_t i = 0; i < domain; ++i) {
            is_index(i);
        }
        size_t states = op.operand_count() - domain;
        const auto &arguments = op.body()->arguments();
        if (!require_that(op.result_count() == states && arguments.size() == indices + states,
                          "operands, region arguments and results disagree about its states")) {
            return;
        }
        for (size_t i = 0; i < indices; ++i) {
            require_that(arguments[i]->type()->is_scalar() &&
                             arguments[i]->scalar() == ScalarType::INT64,
                         "an index is no i64");
        }
        for (size_t i = 0; i < states; ++i) {
            require_that(op.operand(domain + i)->type() == op.result(i)->type() &&
                             arguments[indices + i]->type() == op.result(i)->type(),
                         "state " + std::to_string(i) + " changes its type");
        }
        for (size_t i = 0; i < payload.dims.size(); ++i) {
            for (size_t j = 0; j < i; ++j) {
                require_that(!(payload.dims[i] == payload.dims[j]), "a domain axis stands twice");
            }
        }
        require_that(op.opcode() == Opcode::REDUCE ||
                         payload.policy == ReductionPolicy::UNORDERED_TREE,
                     "only reduce has a reduction policy");
        require_that(op.opcode() == Opcode::PARALLEL || payload.exec == ExecLevel::INFER,
                     "only parallel is pinned to an execution level");
        is_fine(check_order(op));
        require_that(op.opcode() == Opcode::PIPELINE || payload.pipeline == PipelinePolicy{},
                     "only pipeline has a pipeline policy");
        require_that(!payload.is_range || payload.dims.empty(), "a range has no domain axes");
        require_that(op.opcode() == Opcode::PARALLEL ? payload.updates.size() == states
                                                     : payload.updates.empty(),
                     "ancestor updates belong to the states of parallel, one each");
        is_fine(check_contract(op));
    }

    /// What the states of a `parallel` may become; its body is known to be well formed.
    void updates() {
        const auto &payload = op.get<NestPayload>();
        size_t indices = op.body()->arguments().size() - payload.updates.size();
        const auto &arguments = op.body()->arguments();
        Dependence dependent{
            *op.body(),
            {arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(indices)}};
        for (size_t i = 0; i < payload.updates.size(); ++i) {
            const auto *yielded = op.body()->terminator()->operand(i);
            if (payload.updates[i] == AncestorUpdate::INSERT) {
                check_insert_chain(yielded, op.body()->argument(indices + i));
            } else {
                require_that(!dependent.contains(yielded),
                             "a collective update depends on the indices; only inserts may");
            }
        }
    }

    /// Inserts on the state, directly or in the nests and branches that the state goes through.
    void check_insert_chain(const Value *yielded, const Value *state) {
        while (yielded != state && yielded->definition()) {
            const auto *from = yielded->definition();
            if (from->opcode() == Opcode::INSERT) {
                yielded = from->operand(0);
            } else if (is_nest(from->opcode())) {
                yielded = from->operand(from->operand_count() - from->result_count() +
                                        yielded->index());
            } else if (from->opcode() == Opcode::IF || from->opcode() == Opcode::WHILE) {
                return;
            } else {
                break;
            }
        }
        require_that(yielded == state, "an insert update is no chain of inserts on its state");
    }

    void map() {
        if (!require_that(op.result_count() == 1 && op.regions().size() == 1,
                          "has no single result")) {
            return;
        }
        require_that(op.body()->arguments().size() == result().dims.size(),
                     "has one region argument a dimension of its result");
        for (auto *inner : *op.body()) {
            bool pure = is_elementwise(inner->opcode()) || inner->opcode() == Opcode::CONSTANT ||
                        inner->opcode() == Opcode::EXTRACT || inner->opcode() == Opcode::EXTENT ||
                        inner->opcode() == Opcode::YIELD || inner->opcode() == Opcode::MAP ||
                        inner->opcode() == Opcode::IOTA || inner->opcode() == Opcode::BROADCAST;
            require_that(pure, std::string{"contains "} + inner->name() + ", which is not pure");
        }
    }

    void stage() {
        // A pipeline over part of a domain has its whole body in a branch.
        const auto *body = owner && owner->opcode() == Opcode::IF ? owner->parent() : owner;
        if (!require_that(body && body->opcode() == Opcode::PIPELINE,
                          "stands outside the body of a pipeline")) {
            return;
        }
        bool first = true, on_tiles = false;
        for (auto *before = op.previous(); before; before = before->previous()) {
            first &= before->opcode() != Opcode::STAGE;
            on_tiles |= std::any_of(before->results().begin(), before->results().end(),
                                    [](const Value *v) { return !v->type()->is_scalar(); });
        }
        require_that(!first || !on_tiles, "a tile operation stands before the first stage");
    }

    // Values and shapes

    void constant() {
        require_that(op.result_count() == 1 &&
                         (result().is_tile() || (!candidate() && result().is_vector())),
                     "has no value");
    }

    void access() {
        std::string problem;
        bool holds = check_part_access(op, problem);
        require_that(holds, std::move(problem));
    }

    void per() {
        require_that(op.operand_count() >= 1 && op.result()->type() == op.operand(0)->type(),
                     "the result is not like the value");
        for (size_t i = 1; i < op.operand_count(); ++i) {
            is_index(i);
        }
    }

    void memory_alloc() {
        require_that(result().is_tile() && !result().is_scalar(), "has no dimensions");
        is_fine(check_layout(op));
    }

    void broadcast() {
        require_that(operand(0).scalar == result().scalar, "changes the element type");
        for (const auto &d : operand(0).dims) {
            auto at = result().find(d.dim);
            require_that(at >= 0 && (result().dims[static_cast<size_t>(at)].extent == d.extent ||
                                     d.extent == 1),
                         "a dimension is lost or changes its extent");
        }
    }

    void retype() {
        bool same = operand(0).scalar == result().scalar &&
                    operand(0).dims.size() == result().dims.size();
        for (size_t i = 0; same && i < result().dims.size(); ++i) {
            same = operand(0).dims[i].extent == result().dims[i].extent;
        }
        require_that(same, "changes more than identities");
    }

    void reduce_expr() {
        const auto &payload = op.get<ReducePayload>();
        if (!require_that(op.operand_count() == (payload.has_mask ? 2u : 1u) &&
                              op.result_count() == 1,
                          "has a wrong number of operands")) {
            return;
        }
        std::vector<DimExtent> rest = operand(0).dims;
        for (auto d : payload.dims) {
            auto found = std::find_if(rest.begin(), rest.end(),
                                      [&](const DimExtent &k) { return k.dim == d; });
            if (!require_that(found != rest.end(),
                              "folds a dimension that the tile lacks, or twice")) {
                return;
            }
            rest.erase(found);
        }
        require_that(folds(payload.reducer, operand(0).scalar),
                     std::string{"this reducer does not fold "} + to_string(operand(0).scalar));
        bool position = payload.reducer == Reducer::ARGMIN || payload.reducer == Reducer::ARGMAX;
        auto scalar = position ? ScalarType::INT64 : operand(0).scalar;
        require_that(result().dims == rest && result().scalar == scalar,
                     "the result is not the tile without the folded dimensions");
        if (payload.has_mask) {
            fits_tile(1, ScalarType::BOOL, "the mask");
        }
    }

    /// Operand `i` has type `t` and spreads over the dimensions of operand 0.
    void fits_tile(size_t i, ScalarType t, const std::string &what) {
        require_that(operand(i).scalar == t, what + " is no " + to_string(t));
        for (const auto &d : operand(i).dims) {
            auto at = operand(0).find(d.dim);
            require_that(at >= 0 && (d.extent == 1 ||
                                     operand(0).dims[static_cast<size_t>(at)].extent == d.extent),
                         what + " does not fit the tile");
        }
    }

    void scan() {
        const auto &payload = op.get<ScanPayload>();
        size_t expected = 1 + (payload.has_seed ? 1 : 0) + (payload.has_mask ? 1 : 0);
        if (!require_that(op.operand_count() == expected, "has a wrong number of operands")) {
            return;
        }
        require_that(has(operand(0), payload.dim), "goes along a dimension that the tile lacks");
        require_that(folds(payload.reducer, operand(0).scalar) && payload.reducer < Reducer::ARGMIN,
                     std::string{"this reducer does not scan "} + to_string(operand(0).scalar));
        require_that(payload.policy == ReductionPolicy::ORDERED_TREE ||
                         payload.policy == ReductionPolicy::BALANCED_TREE ||
                         payload.policy == ReductionPolicy::FOLD_LEFT,
                     "the policy of a scan keeps the order and starts at the first element");
        require_that(op.result()->type() == op.operand(0)->type(),
                     "the result is not like the tile");
        if (payload.has_seed) {
            fits_tile(1, operand(0).scalar, "the seed");
            require_that(!has(operand(1), payload.dim), "the seed has the scanned dimension");
        }
        if (payload.has_mask) {
            fits_tile(expected - 1, ScalarType::BOOL, "the mask");
        }
    }

    void sorted() {
        const auto &payload = op.get<SortedPayload>();
        auto count = op.operand_count();
        if (!require_that(count == 2 || count == 3, "has a wrong number of operands") ||
            !require_that(payload.word >= 0 && payload.word + 2 <= static_cast<int>(count),
                          "the result is none of its words")) {
            return;
        }
        const auto &keys = operand(1);
        require_that(keys.scalar == ScalarType::UINT32 || keys.scalar == ScalarType::UINT64,
                     "the keys are no unsigned integers of 32 or 64 bits");
        if (count == 3) {
            require_that(operand(2).dims == keys.dims && operand(2).scalar == ScalarType::INT64,
                         "the places are not one i64 a key");
        }
        bool ordered = !payload.order.empty() && payload.order.size() <= 2;
        for (auto dim : payload.order) {
            ordered &= has(keys, dim);
        }
        require_that(ordered, "goes along one or two dimensions of the keys");
        auto word = static_cast<size_t>(payload.word) + 1;
        require_that(result().scalar == operand(word).scalar, "the result is of another type");
        require_that(op.operand(0) == op.operand(word) ||
                         op.result()->type() == op.operand(0)->type(),
                     "the result is not like the value");
        bool all = payload.first == 0 && payload.to.empty() && result().dims == keys.dims;
        bool some = payload.first > 0 && payload.to.size() == 1 && has(result(), payload.to[0]);
        require_that(all || some, "the result has not the positions that it says");
    }

    void mma() {
        const auto &a = operand(0), &b = operand(1), &c = operand(2);
        require_that(op.result()->type() == op.operand(2)->type(),
                     "the result is not like the accumulator");
        require_that(info(c.scalar).computes && is_float(a.scalar) == is_float(c.scalar) &&
                         is_float(b.scalar) == is_float(c.scalar),
                     "mixes floats and integers, or accumulates in a type that does not compute");
        bool contracts = false;
        auto one_side = [&](const Type &x, const Type &other) {
            for (const auto &d : x.dims) {
                int in_other = other.find(d.dim), in_c = c.find(d.dim);
                require_that(in_other >= 0 || in_c >= 0, "a dimension stands in one operand only");
                for (auto [type, at] : {std::pair{&other, in_other}, {&c, in_c}}) {
                    require_that(at < 0 || type->dims[static_cast<size_t>(at)].extent == d.extent,
                                 "a shared dimension has different extents");
                }
                contracts |= in_other >= 0 && in_c < 0;
            }
        };
        one_side(a, b);
        one_side(b, a);
        for (const auto &d : c.dims) {
            require_that(has(a, d.dim) || has(b, d.dim),
                         "a dimension stands in the accumulator only");
        }
        require_that(contracts, "contracts no dimension");
    }

    // Addresses and effects

    void extent() {
        require_that(operand(0).is_view() && op.get<IndexPayload>().index >= 0 &&
                         static_cast<size_t>(op.get<IndexPayload>().index) < operand(0).rank(),
                     "asks for an extent that the view lacks");
    }

    /// An access whose coordinates, from operand `first` on, are tiles over `dims`.
    void mapped(size_t first, const std::vector<DimExtent> &dims) {
        std::string problem;
        bool holds = check_mapped_access(op, first, dims, problem);
        require_that(holds, std::move(problem));
    }

    void load() {
        const auto &payload = op.get<LoadPayload>();
        if (!require_that(op.operand_count() >= 1 && operand(0).is_view() && op.result_count() == 1,
                          "reads no view")) {
            return;
        }
        auto rank = operand(0).rank();
        if (payload.mapped) {
            return mapped(1, result().dims);
        }
        if (!require_that(op.operand_count() == 1 + rank + (payload.has_fallback ? 1 : 0),
                          "has not one coordinate a dimension of the view")) {
            return;
        }
        for (size_t i = 0; i < rank; ++i) {
            is_index(1 + i);
        }
        require_that(result().scalar == operand(0).scalar &&
                         (result().dims.empty() || result().dims.size() == rank),
                     "the result is neither an element nor a tile of the view's rank and type");
        if (payload.has_fallback) {
            const auto &fallback = operand(1 + rank);
            require_that(fallback.is_scalar() && fallback.scalar == result().scalar,
                         "the fallback is no scalar of the view's type");
        }
    }

    void store() {
        if (!require_that(op.operand_count() >= 2 && operand(0).is_view(), "writes no view")) {
            return;
        }
        const auto &box = op.get<StorePayload>().box;
        auto rank = operand(0).rank();
        require_that(!operand(0).read_only, "writes a const view");
        if (op.get<StorePayload>().mapped) {
            return mapped(2, box);
        }
        if (!require_that(op.operand_count() == 2 + rank && (box.empty() || box.size() == rank),
                          "has not one coordinate a dimension of the view")) {
            return;
        }
        for (size_t i = 0; i < rank; ++i) {
            is_index(2 + i);
        }
        require_that(operand(1).is_tile() && operand(1).scalar == operand(0).scalar,
                     std::string{"stores "} + to_string(operand(1).scalar) + " into a view of " +
                         to_string(operand(0).scalar));
        for (size_t i = 0; i < box.size(); ++i) {
            require_that(box[i].extent >= 0, "the box has a negative extent");
            for (size_t j = 0; j < i; ++j) {
                require_that(!(box[i].dim == box[j].dim), "a dimension stands twice in the box");
            }
        }
        for (const auto &d : operand(1).dims) {
            bool fits = std::any_of(box.begin(), box.end(), [&](const DimExtent &k) {
                return k.dim == d.dim && (k.extent == d.extent || d.extent == 1);
            });
            require_that(fits, "a dimension of the tile does not fit the box");
        }
    }

    [[nodiscard]] bool candidate_only() const {
        auto family = info(op.opcode()).family;
        return is_nest(op.opcode()) || op.opcode() == Opcode::MAP || op.opcode() == Opcode::STAGE ||
               family == Family::EFFECT || family == Family::CONTRACTION ||
               (family == Family::SHAPE && op.opcode() != Opcode::CONSTANT);
    }

    /// How many results and regions, and of which kind: later rules rely on it.
    bool shape_of_results() {
        bool regions = info(op.opcode()).family == Family::REGION || op.opcode() == Opcode::FOR;
        bool stated = regions && op.opcode() != Opcode::MAP;
        static constexpr Opcode silent[] = {
            Opcode::CONDITION,     Opcode::STAGE,         Opcode::YIELD,    Opcode::STORE,
            Opcode::WRITE,         Opcode::SCATTER,       Opcode::PREFETCH, Opcode::ASSERT,
            Opcode::PRINT,         Opcode::REPORT,        Opcode::BARRIER,  Opcode::COPY_ASYNC,
            Opcode::COPY_COMMIT,   Opcode::COPY_WAIT,     Opcode::MATRIX,   Opcode::PANELS_FENCE,
            Opcode::PANELS_COMMIT, Opcode::COPIES_VISIBLE};
        size_t results = std::count(std::begin(silent), std::end(silent), op.opcode()) ? 0 : 1;
        require_that(stated || op.result_count() == results,
                     "has " + std::to_string(op.result_count()) + " results, expected " +
                         std::to_string(results));
        size_t bodies = !regions ? 0 : op.opcode() == Opcode::IF ? 2 : 1;
        bool contract = op.opcode() == Opcode::REDUCE && op.regions().size() == 3;
        require_that(op.regions().size() == bodies || contract,
                     "has " + std::to_string(op.regions().size()) + " regions, expected " +
                         std::to_string(bodies));
        for (auto *value : op.results()) {
            const auto &type = *value->type();
            require_that(candidate() ? type.is_tile() : !type.is_view() && type.dims.empty(),
                         candidate() ? "a result is no tile" : "a tile is left in Machine form");
            for (const auto &d : type.dims) {
                require_that(d.extent >= 0, "an extent is negative");
            }
        }
        return !broken();
    }

    void if_or_while() {
        bool loop = op.opcode() == Opcode::WHILE;
        size_t conditions = 0;
        for (auto *region : op.regions()) {
            require_that(region->arguments().size() == (loop ? op.result_count() : 0),
                         "has a wrong number of region arguments");
            for (auto *inner : *region) {
                conditions += inner->opcode() == Opcode::CONDITION;
            }
        }
        if (!loop || broken()) {
            return;
        }
        require_that(conditions == 1,
                     "has " + std::to_string(conditions) + " conditions, expected 1");
        if (require_that(op.operand_count() == op.result_count(), "has not one operand a state")) {
            for (size_t i = 0; i < op.result_count(); ++i) {
                const auto *type = op.result(i)->type();
                require_that(op.operand(i)->type() == type &&
                                 op.body()->argument(i)->type() == type,
                             "state " + std::to_string(i) + " changes its type");
            }
        }
    }

    void run() {
        auto family = info(op.opcode()).family;
        bool machine_only = family == Family::MACHINE || family == Family::MACHINE_REGION;
        if (!require_that(!candidate() || !machine_only, "belongs to Machine form") ||
            !require_that(candidate() || !candidate_only(), "belongs to Candidate form")) {
            return;
        }
        if (!shape_of_results()) {
            return;
        }
        switch (op.opcode()) {
            case Opcode::PARALLEL:
            case Opcode::SERIAL:
            case Opcode::PIPELINE:
            case Opcode::REDUCE: nest(); break;
            case Opcode::MAP: map(); break;
            case Opcode::STAGE: stage(); break;
            case Opcode::WHILE: if_or_while(); break;
            case Opcode::IF: if_or_while(); [[fallthrough]];
            case Opcode::CONDITION:
                require_that(operand(0).is_scalar() && operand(0).scalar == ScalarType::BOOL,
                             "the condition is no bool scalar");
                if (op.opcode() == Opcode::CONDITION) {
                    require_that(owner && owner->opcode() == Opcode::WHILE,
                                 "stands outside a while");
                }
                break;
            case Opcode::CONSTANT: constant(); break;
            case Opcode::EXTRACT:
            case Opcode::INSERT: access(); break;
            case Opcode::BROADCAST: broadcast(); break;
            case Opcode::RETYPE: retype(); break;
            case Opcode::REDUCE_EXPR: reduce_expr(); break;
            case Opcode::SCAN: scan(); break;
            case Opcode::SORTED: sorted(); break;
            case Opcode::MMA: mma(); break;
            case Opcode::PER: per(); break;
            case Opcode::MEMORY_ALLOC: memory_alloc(); break;
            case Opcode::EXTENT: extent(); break;
            case Opcode::LOAD: load(); break;
            case Opcode::STORE: store(); break;
            case Opcode::IOTA:
                require_that(result().dims.size() == 1, "has not one dimension");
                break;
            default:
                if (is_elementwise(op.opcode())) {
                    elementwise();
                } else if (machine_only || family == Family::EFFECT) {
                    std::string text;
                    bool holds = machine_only ? check_machine_rules(op, text)
                                              : check_effect_rules(op, text);
                    require_that(holds, std::move(text));
                }
        }
    }
};

}// namespace

bool folds(Reducer reducer, ScalarType type) noexcept {
    switch (reducer) {
        case Reducer::ADD:
        case Reducer::MULTIPLY: return type != ScalarType::BOOL && info(type).computes;
        case Reducer::LOGICAL_AND:
        case Reducer::LOGICAL_OR: return type == ScalarType::BOOL;
        case Reducer::BIT_AND:
        case Reducer::BIT_OR:
        case Reducer::BIT_XOR: return !is_float(type);
        default: return type != ScalarType::BOOL;
    }
}

bool check_rules(const Module &module, const Operation &op, const Operation *owner,
                 std::string &message) {
    Rules rules{module, op, owner, {}};
    rules.run();
    message = std::move(rules.message);
    return message.empty();
}

bool check_updates(const Module &module, const Operation &op, std::string &message) {
    Rules rules{module, op, op.parent(), {}};
    rules.updates();
    message = std::move(rules.message);
    return message.empty();
}

}// namespace luisa::tile::ir
