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

std::vector<Operation *> operations(const ir::Module &module) {
    std::vector<Operation *> all;
    collect(module.kernel()->body, all);
    return all;
}

bool stays(const Operation *op) {
    static constexpr Opcode control[] = {Opcode::YIELD, Opcode::CONDITION, Opcode::STAGE};
    return !op->regions().empty() || ir::has_effect(*op) ||
           std::find(std::begin(control), std::end(control), op->opcode()) != std::end(control);
}

/// Erases pure operations without uses, repeatedly.
void prune(ir::Module &module) {
    for (bool again = true; again;) {
        again = false;
        auto all = operations(module);
        for (auto i = all.size(); i-- > 0;) {
            bool used = std::any_of(all[i]->results().begin(), all[i]->results().end(),
                                    [](const auto *v) { return v->has_uses(); });
            if (!used && !stays(all[i])) {
                module.erase(all[i]);
                again = true;
            }
        }
    }
}

using Step = bool (*)(ir::Module &, Operation *, size_t variant);

bool erase_operation(ir::Module &module, Operation *op, size_t variant) {
    bool used = std::any_of(op->results().begin(), op->results().end(),
                            [](const auto *v) { return v->has_uses(); });
    if (variant > 0 || used || op->opcode() == Opcode::YIELD || op->opcode() == Opcode::CONDITION) {
        return false;
    }
    module.erase(op);
    return true;
}

/// Results become an operand of their type (a nest's: its initial state), or a constant.
bool replace_results(ir::Module &module, Operation *op, size_t variant) {
    if (op->results().empty() || op->opcode() == Opcode::CONSTANT ||
        variant > op->operand_count()) {
        return false;
    }
    std::vector<ir::Value *> values;
    ir::Builder builder{module};
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
    ir::Rewriter{module}.replace(op, values);
    return true;
}

/// The body of a nest for indices 0 and the initial states, in its place; one side of an `if`.
bool inline_body(ir::Module &module, Operation *op, size_t variant) {
    bool branch = op->opcode() == Opcode::IF, nest = ir::is_nest(op->opcode());
    if ((!branch && !nest) || variant >= op->regions().size()) {
        return false;
    }
    ir::Rewriter rewriter{module};
    auto *body = op->body(variant);
    std::vector<ir::Value *> arguments;
    ir::Builder builder{module};
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
    module.erase(op);
    return true;
}

/// A state that nothing reads afterwards goes.
bool erase_state(ir::Module &module, Operation *op, size_t variant) {
    (void)module;
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
bool simplify_constant(ir::Module &module, Operation *op, size_t variant) {
    (void)module;
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
    bool any = false;
    for (size_t i = c.inputs.size(); i-- > 0;) {
        auto number = static_cast<int>(i);
        bool viewed = std::any_of(c.inputs.begin(), c.inputs.end(),
                                  [&](const Input &input) { return input.alias == number; });
        bool used = std::any_of(c.kernels.begin(), c.kernels.end(), [&](const auto &kernel) {
            return kernel->kernel()->body->argument(i)->has_uses();
        });
        if (used || viewed) {
            continue;
        }
        for (auto &kernel : c.kernels) {
            kernel->kernel()->body->erase_argument(i);
        }
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
        for (auto &kernel : candidate.kernels) {
            prune(*kernel);
            if (!ir::check(*kernel).empty()) {
                return false;
            }
        }
        if (!still_fails(candidate)) {
            return false;
        }
        best = std::move(candidate);
        return true;
    }
    bool attempt(Step step, size_t kernel, size_t index, size_t variant) {
        auto candidate = best.copy();
        auto &module = *candidate.kernels[kernel];
        auto all = operations(module);
        return index < all.size() && step(module, all[index], variant) &&
               accept(std::move(candidate));
    }
    bool erase_kernels() {
        bool changed = false;
        for (auto i = best.kernels.size(); i-- > 0 && best.kernels.size() > 1 && more();) {
            auto candidate = best.copy();
            candidate.kernels.erase(candidate.kernels.begin() + static_cast<std::ptrdiff_t>(i));
            changed |= accept(std::move(candidate));
        }
        return changed;
    }
    bool sweep() {
        bool changed = erase_kernels();
        for (size_t kernel = 0; kernel < best.kernels.size(); ++kernel) {
            for (auto step : steps) {
                // From the end: what comes late uses what comes early.
                for (auto i = operations(*best.kernels[kernel]).size(); i-- > 0 && more();) {
                    for (size_t variant = 0; variant < 6 && more(); ++variant) {
                        changed |= attempt(step, kernel, i, variant);
                    }
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
    plain.settings.device = failing.settings.device;
    reducer.accept(std::move(plain));
    while (more() && reducer.sweep()) {}
    reducer.simplify_contents();
    return std::move(reducer.best);
}

}// namespace luisa::tile::fuzz
