// SPDX-License-Identifier: Apache-2.0
#include "interpreter/contract.h"
#include "interpreter/tree.h"
#include "ir/reduction_update.h"
#include "layout/proved.h"

// serial, pipeline, parallel and reduce.

namespace luisa::tile::interpreter {

namespace {

Tiles initial_states(const Context &context, const Step &step, const Domain &domain) {
    Tiles states;
    for (auto i = domain.operand_count; i < step.operands.size(); ++i) {
        states.push_back(context.slots[step.operands[i]]);
    }
    return states;
}

void bind(Context &context, const Block &body, size_t first, Tiles states) {
    for (size_t i = 0; i < states.size(); ++i) {
        context.slots[body.arguments[first + i]] = std::move(states[i]);
    }
}

Tiles yields(const Context &context, const Block &body) {
    Tiles tiles;
    for (auto slot : body.yields) {
        tiles.push_back(context.slots[slot]);
    }
    return tiles;
}

void finish(Context &context, const Step &step, Tiles states) {
    for (size_t i = 0; i < step.results.size(); ++i) {
        context.slots[step.results[i]] = std::move(states[i]);
    }
}

/// The `INSERT` state of a `parallel` while its instances run.
struct Collected {
    TileRef tile;       ///< the incoming tile with what instances have written so far
    Numbers last_writer;///< per element, -1 if none; in validation mode only
};

void record_inserts(const Domain &domain, const Step &parallel, const ir::Operation *write,
                    int64_t instance, const Numbers &elements, const ir::Type &type,
                    Collected &collected) {
    if (collected.last_writer.empty()) {
        collected.last_writer.assign(collected.tile->bits.size(), -1);
    }
    for (auto element : elements) {
        auto &last = collected.last_writer[static_cast<size_t>(element)];
        if (last >= 0 && last != instance) {
            auto at = coordinates_of(element, extents_of(type.dims));
            race(parallel.op, domain, last, instance, write,
                 "element " + coordinates_text(at) + " of a tile of the enclosing scope");
        }
        last = instance;
    }
}

// Where the update is not a plain chain of inserts (a nested nest, a branch), an instance has
// written what differs from the incoming tile.
Numbers copy_differences(const Tile &incoming, const Tile &updated, Tile &to) {
    Numbers written;
    for (size_t i = 0; i < incoming.bits.size(); ++i) {
        auto at = static_cast<int64_t>(i);
        if (updated.bits[i] != incoming.bits[i] ||
            updated.undefined_at(at) != incoming.undefined_at(at)) {
            to.bits[i] = updated.bits[i];
            to.set_undefined(at, updated.undefined_at(at));
            written.push_back(at);
        }
    }
    return written;
}

void collect(Context &context, const Step &step, const Domain &domain, int64_t instance,
             size_t state, const Tile &incoming, Collected &collected) {
    auto validate = context.options.validate;
    const auto &type = *step.op->result(state)->type();
    const auto &chain = step.chains[state];
    if (!chain.recognised) {
        const auto &updated = context.tile(step.blocks[0].yields[state]);
        auto written = copy_differences(incoming, updated, *collected.tile);
        if (validate) {
            record_inserts(domain, step, step.op, instance, written, type, collected);
        }
        return;
    }
    for (const auto &link : chain.links) {
        Numbers written;
        insert_into(context, link, *collected.tile, validate ? &written : nullptr);
        if (validate) {
            record_inserts(domain, step, link.op, instance, written, type, collected);
        }
    }
}

// Evaluates the body for instance n, all states being the incoming ones.
void run_instance(Context &context, const Step &step, const Domain &domain, int64_t n,
                  const Tiles &incoming) {
    const auto &body = step.blocks[0];
    bind_indices(context, body, domain, n);
    bind(context, body, domain.index_count, incoming);
    if (context.options.validate) {
        context.frames.back().instance = n;
    }
    run_block(context, body);
}

ir::Opcode recognised_merge(const ir::Operation *op, size_t state) {
    auto merge = ir::merge_of_state(*op, state);
    if (!merge) {
        throw UnsupportedError{"reduce: balanced_tree needs updates of the form `s = op(s, c)` "
                               "with add, mul, minimum, "
                               "maximum, fmin, fmax, and, or, xor or mma, and state " +
                                   std::to_string(state) +
                                   " is updated otherwise; use fold_left, or a contract",
                               op->loc};
    }
    return *merge;
}

/// A `reduce` with balanced_tree: each leaf is what one iteration contributes to every state. Iterations that
/// contribute nothing are no leaves.
struct BalancedReduction {
    Context &context;
    const Step &step;
    const Domain &domain;
    Contract contract;
    std::vector<std::optional<ir::Opcode>> merges;///< none: the contract merges this state
    const ir::Operation *guard = ir::guard_of(*step.op);

    /// Empty: iteration `n` contributes nothing.
    [[nodiscard]] Tiles leaf(int64_t n) const {
        const auto &body = step.blocks[0];
        bind_indices(context, body, domain, n);
        Tiles neutral;// the contribution of an mma is its result from zeros
        for (auto *result : step.op->results()) {
            auto tile = std::make_shared<Tile>();
            tile->bits.assign(static_cast<size_t>(result->type()->element_count()), 0);
            neutral.push_back(std::move(tile));
        }
        contract.set_identity(neutral);
        bind(context, body, domain.index_count, std::move(neutral));
        run_block(context, body);
        if (guard && context.integer(body.steps.back(), 0, "its condition") == 0) {
            return {};
        }
        Tiles contributions;
        for (size_t i = 0; i < merges.size(); ++i) {
            contributions.push_back(merges[i] ? contribution(i) : context.slots[body.yields[i]]);
        }
        return contributions;
    }
    [[nodiscard]] TileRef contribution(size_t state) const {
        const auto &body = step.blocks[0];
        auto *update = ir::updated_state(*step.op, state)->definition();
        if (update->opcode() == ir::Opcode::MMA) {
            return std::make_shared<Tile>(context.tile(body.yields[state]));
        }
        auto *argument = step.op->body()->argument(domain.index_count + state);
        auto operand = update->operand(0) == argument ? size_t{1} : size_t{0};
        for (const auto &inner : guard ? body.steps.back().blocks[0].steps : body.steps) {
            if (inner.op == update) {
                return std::make_shared<Tile>(spread(context, inner, operand, context.scratch[0]));
            }
        }
        internal_error("update of a reduction state is not a step of its body");
    }
    [[nodiscard]] Tiles merge(const Tiles &left, const Tiles &right) const {
        Tiles merged(merges.size());
        contract.merge(left, right, merged);
        for (size_t i = 0; i < merges.size(); ++i) {
            if (!merges[i]) {
                continue;
            }
            merged[i] = std::make_shared<Tile>();
            merge_elements(*merges[i], step.op->result(i)->scalar(), *left[i], *right[i],
                           *merged[i]);
        }
        return merged;
    }
};

/// The instances in the order that a layout gives them; empty where they are in their own.
Numbers order_of(const Step &step, const Domain &domain) {
    const auto &layout = step.op->get<ir::NestPayload>().layout;
    if (layout.empty()) {
        return {};
    }
    Numbers order(static_cast<size_t>(domain.count));
    auto map = core::proved_map(layout)->map;
    for (int64_t n = 0; n < domain.count; ++n) {
        order[static_cast<size_t>(map(domain.indices(n)).at(0))] = n;
    }
    return order;
}

bool has_store(const ir::Region &region) {
    for (auto *op : region) {
        bool stores = op->opcode() == ir::Opcode::STORE;
        for (auto *inner : op->regions()) {
            stores |= has_store(*inner);
        }
        if (stores) {
            return true;
        }
    }
    return false;
}

/// The left fold, with the laws of the contract sampled on what it meets.
void run_sampled(Context &context, const Step &step) {
    auto domain = domain_of(context, step);
    const auto &body = step.blocks[0];
    LawSampler laws{context, step};
    auto states = initial_states(context, step, domain);
    auto update = [&](int64_t n, Tiles from) {
        bind_indices(context, body, domain, n);
        bind(context, body, domain.index_count, std::move(from));
        run_block(context, body);
        return yields(context, body);
    };
    for (int64_t n = 0; n < domain.count; ++n) {
        if (!LawSampler::wants(n)) {
            states = update(n, std::move(states));
            continue;
        }
        auto identity = states;
        laws.contract().set_identity(identity);
        auto leaf = update(n, std::move(identity));
        auto after = update(n, states);
        laws.sample(states, leaf, after);
        states = std::move(after);
    }
    finish(context, step, std::move(states));
}

}// namespace

void run_serial(Context &context, const Step &step) {
    auto domain = domain_of(context, step);
    const auto &body = step.blocks[0];
    auto backwards = step.op->opcode() == ir::Opcode::REDUCE &&
                     step.op->get<ir::NestPayload>().policy == ReductionPolicy::FOLD_RIGHT;
    auto states = initial_states(context, step, domain);
    for (int64_t n = 0; n < domain.count; ++n) {
        bind_indices(context, body, domain, backwards ? domain.count - 1 - n : n);
        bind(context, body, domain.index_count, std::move(states));
        run_block(context, body);
        states = yields(context, body);
    }
    finish(context, step, std::move(states));
}

void run_parallel(Context &context, const Step &step) {
    auto domain = domain_of(context, step);
    const auto &updates = step.op->get<ir::NestPayload>().updates;
    const auto incoming = initial_states(context, step, domain);
    require(updates.size() == incoming.size(), "parallel: one update kind a state");
    auto states = incoming;
    std::vector<Collected> collected(incoming.size());
    for (size_t i = 0; i < incoming.size(); ++i) {
        if (updates[i] == ir::AncestorUpdate::INSERT) {
            collected[i].tile = std::make_shared<Tile>(*incoming[i]);
            states[i] = collected[i].tile;
        }
    }
    if (context.options.validate) {
        context.frames.push_back({step.op, domain, 0, {}});
    }
    const auto order = order_of(step, domain);
    for (int64_t at = 0; at < domain.count; ++at) {
        auto n = order.empty() ? at : order[static_cast<size_t>(at)];
        run_instance(context, step, domain, n, incoming);
        for (size_t i = 0; i < incoming.size(); ++i) {
            if (updates[i] == ir::AncestorUpdate::INSERT) {
                collect(context, step, domain, n, i, *incoming[i], collected[i]);
            } else if (at == 0) {// collective: the same from every instance
                states[i] = context.slots[step.blocks[0].yields[i]];
            }
        }
    }
    if (context.options.validate) {
        context.frames.pop_back();
    }
    finish(context, step, std::move(states));
}

void run_reduce(Context &context, const Step &step) {
    const auto &payload = step.op->get<ir::NestPayload>();
    if (payload.policy != ReductionPolicy::BALANCED_TREE) {
        // A tree may group as it likes; the left fold is one of its groupings.
        bool tree = payload.policy == ReductionPolicy::UNORDERED_TREE ||
                    payload.policy == ReductionPolicy::ORDERED_TREE;
        if (tree && context.options.validate && !payload.contract.empty() &&
            !has_store(*step.op->body())) {
            run_sampled(context, step);
        } else {
            run_serial(context, step);
        }
        return;
    }
    auto domain = domain_of(context, step);
    BalancedReduction reduction{context, step, domain, Contract{context, step}, {}};
    for (size_t i = 0; i < step.results.size(); ++i) {
        reduction.merges.push_back(reduction.contract.binds(i)
                                       ? std::nullopt
                                       : std::optional{recognised_merge(step.op, i)});
    }
    auto states = initial_states(context, step, domain);
    std::vector<Tiles> leaves;
    for (int64_t n = 0; n < domain.count; ++n) {
        if (auto leaf = reduction.leaf(n); !leaf.empty()) {
            leaves.push_back(std::move(leaf));
        }
    }
    if (!leaves.empty()) {
        auto tree = balanced_tree<Tiles>(
            0, static_cast<int64_t>(leaves.size()),
            [&](int64_t n) { return leaves[static_cast<size_t>(n)]; },
            [&](const Tiles &a, const Tiles &b) { return reduction.merge(a, b); });
        states = reduction.merge(states, tree);// the seed last, on the left
    }
    finish(context, step, std::move(states));
}

}// namespace luisa::tile::interpreter
