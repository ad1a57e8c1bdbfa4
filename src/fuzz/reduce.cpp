// SPDX-License-Identifier: Apache-2.0
#include "fuzz/reduce.h"

#include "ir/effects.h"
#include "ir/rewriter.h"
#include "ir/verifier.h"

#include <algorithm>

namespace luisa::tile::fuzz {

namespace {

using ir::Opcode;
using ir::Operation;

void collect(const ir::Region *region, std::vector<Operation *> &all) {
    for (auto *op : *region) {
        all.push_back(op);
        for (auto *inner : op->regions()) {
            collect(inner, all);
        }
    }
}

std::vector<Operation *> operations(const Case &c) {
    std::vector<Operation *> all;
    collect(c.module->kernel()->body, all);
    return all;
}

bool stays(const Operation *op) {
    static constexpr Opcode control[] = {Opcode::YIELD, Opcode::CONDITION, Opcode::STAGE};
    return !op->regions().empty() || ir::has_effect(*op) ||
           std::find(std::begin(control), std::end(control), op->opcode()) != std::end(control);
}

/// Erases pure operations without uses, repeatedly.
void prune(const Case &c) {
    for (bool again = true; again;) {
        again = false;
        auto all = operations(c);
        for (auto i = all.size(); i-- > 0;) {
            bool used = std::any_of(all[i]->results().begin(), all[i]->results().end(),
                                    [](const auto *v) { return v->has_uses(); });
            if (!used && !stays(all[i])) {
                c.module->erase(all[i]);
                again = true;
            }
        }
    }
}

using Step = bool (*)(Case &, Operation *, size_t variant);

bool erase_operation(Case &c, Operation *op, size_t variant) {
    bool used = std::any_of(op->results().begin(), op->results().end(),
                            [](const auto *v) { return v->has_uses(); });
    if (variant > 0 || used || op->opcode() == Opcode::YIELD || op->opcode() == Opcode::CONDITION) {
        return false;
    }
    c.module->erase(op);
    return true;
}

/// Results become an operand of their type (a nest's: its initial state), or a constant.
bool replace_results(Case &c, Operation *op, size_t variant) {
    if (op->results().empty() || op->opcode() == Opcode::CONSTANT ||
        variant > op->operand_count()) {
        return false;
    }
    std::vector<ir::Value *> values;
    ir::Builder builder{*c.module};
    builder.set_region(op->region(), op);
    auto first = op->operand_count() - std::min(op->operand_count(), op->result_count());
    for (size_t i = 0; i < op->result_count(); ++i) {
        const auto *type = op->result(i)->type();
        auto at = op->regions().empty() ? variant : variant == 0 ? first + i : op->operand_count();
        if (at < op->operand_count() && op->operand(at)->type() == type) {
            values.push_back(op->operand(at));
        } else if (variant == op->operand_count() && !type->is_view()) {
            values.push_back(builder.constant_tile(type, 0));
        } else {
            return false;
        }
    }
    ir::Rewriter{*c.module}.replace(op, values);
    return true;
}

/// The body of a nest for indices 0 and the initial states, in its place; one side of an `if`.
bool inline_body(Case &c, Operation *op, size_t variant) {
    bool branch = op->opcode() == Opcode::IF, nest = ir::is_nest(op->opcode());
    if ((!branch && !nest) || variant >= op->regions().size()) {
        return false;
    }
    ir::Rewriter rewriter{*c.module};
    auto *body = op->body(variant);
    std::vector<ir::Value *> arguments;
    ir::Builder builder{*c.module};
    builder.set_region(op->region(), op);
    auto states = op->result_count();
    for (size_t i = 0; nest && i < body->arguments().size() - states; ++i) {
        arguments.push_back(builder.index(0));
    }
    for (size_t i = 0; nest && i < states; ++i) {
        arguments.push_back(op->operand(op->operand_count() - states + i));
    }
    std::vector<Operation *> cuts;
    for (auto *inner : *body) {
        if (inner->opcode() == Opcode::STAGE) {
            cuts.push_back(inner);
        }
    }
    for (auto *cut : cuts) {
        rewriter.erase(cut);
    }
    auto values = rewriter.inline_region(body, ir::InsertPoint::at(op), arguments);
    for (size_t i = 0; i < states; ++i) {
        rewriter.replace_uses(op->result(i), values[i]);
    }
    c.module->erase(op);
    return true;
}

/// A state that nothing reads afterwards goes.
bool erase_state(Case &c, Operation *op, size_t variant) {
    (void)c;
    bool carries = ir::is_nest(op->opcode()) || op->opcode() == Opcode::WHILE;
    if ((!carries && op->opcode() != Opcode::IF) || variant >= op->result_count() ||
        op->result(variant)->has_uses()) {
        return false;
    }
    auto states = op->result_count();
    for (auto *body : op->regions()) {
        body->terminator()->erase_operand(variant);
        if (!carries) {
            continue;
        }
        auto at = body->arguments().size() - states + variant;
        auto *initial = op->operand(op->operand_count() - states + variant);
        body->argument(at)->replace_all_uses_with(initial);
        body->erase_argument(at);
    }
    if (carries) {
        op->erase_operand(op->operand_count() - states + variant);
    }
    op->erase_result(variant);
    if (op->opcode() == Opcode::PARALLEL) {
        auto &updates = op->get<ir::NestPayload>().updates;
        updates.erase(updates.begin() + static_cast<std::ptrdiff_t>(variant));
    }
    return true;
}

/// Constants become 0 or 1.
bool simplify_constant(Case &c, Operation *op, size_t variant) {
    (void)c;
    if (op->opcode() != Opcode::CONSTANT || variant > 1) {
        return false;
    }
    auto &bits = op->get<ir::ConstantPayload>().bits;
    if (bits <= variant || (variant == 1 && is_float(op->result()->scalar()))) {
        return false;
    }
    bits = variant;
    return true;
}

constexpr Step steps[] = {erase_operation, replace_results, inline_body, erase_state,
                          simplify_constant};

/// Parameters that nothing uses go, with their inputs.
bool erase_parameters(Case &c) {
    auto *body = c.module->kernel()->body;
    bool any = false;
    for (size_t i = body->arguments().size(); i-- > 0;) {
        auto number = static_cast<int>(i);
        bool viewed = std::any_of(c.inputs.begin(), c.inputs.end(),
                                  [&](const Input &input) { return input.alias == number; });
        if (body->argument(i)->has_uses() || viewed) {
            continue;
        }
        body->erase_argument(i);
        c.inputs.erase(c.inputs.begin() + static_cast<std::ptrdiff_t>(i));
        for (auto &input : c.inputs) {
            input.alias -= input.alias > number;
        }
        any = true;
    }
    return any;
}

struct Reducer {
    Case best;
    const StillFails &still_fails;
    const std::function<bool()> &more;

    bool accept(Case &&candidate) {
        prune(candidate);
        if (!ir::check(*candidate.module).empty() || !still_fails(candidate)) {
            return false;
        }
        best = std::move(candidate);
        return true;
    }
    bool attempt(Step step, size_t index, size_t variant) {
        auto candidate = best.copy();
        auto all = operations(candidate);
        return index < all.size() && step(candidate, all[index], variant) &&
               accept(std::move(candidate));
    }
    bool sweep() {
        bool changed = false;
        for (auto step : steps) {
            // From the end: what comes late uses what comes early.
            for (auto i = operations(best).size(); i-- > 0 && more();) {
                for (size_t variant = 0; variant < 6 && more(); ++variant) {
                    changed |= attempt(step, i, variant);
                }
            }
        }
        auto candidate = best.copy();
        if (erase_parameters(candidate)) {
            changed |= accept(std::move(candidate));
        }
        return changed;
    }
    void simplify_contents() {
        for (size_t i = 0; i < best.inputs.size() && more(); ++i) {
            auto candidate = best.copy();
            auto &bytes = candidate.inputs[i].bytes;
            std::fill(bytes.begin(), bytes.end(), uint8_t{0});
            accept(std::move(candidate));
        }
    }
};

}// namespace

Case reduce(const Case &failing, const StillFails &still_fails, const std::function<bool()> &more) {
    Reducer reducer{failing.copy(), still_fails, more};
    auto plain = failing.copy();
    plain.settings = {};
    reducer.accept(std::move(plain));
    while (more() && reducer.sweep()) {}
    reducer.simplify_contents();
    return std::move(reducer.best);
}

}// namespace luisa::tile::fuzz
