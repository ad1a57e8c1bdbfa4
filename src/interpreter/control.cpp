// SPDX-License-Identifier: Apache-2.0
#include "interpreter/context.h"

// if and while.

namespace luisa::tile::interpreter {

void run_if(Context &context, const Step &step) {
    const auto &branch = step.blocks[context.integer(step, 0, "its condition") != 0 ? 0 : 1];
    run_block(context, branch);
    std::vector<TileRef> values;
    for (auto slot : branch.yields) {
        values.push_back(context.slots[slot]);
    }
    for (size_t i = 0; i < values.size(); ++i) {
        context.slots[step.results[i]] = std::move(values[i]);
    }
}

void run_while(Context &context, const Step &step) {
    const auto &body = step.blocks[0];
    require(body.condition != nullptr, "while without a condition");
    std::vector<TileRef> states;
    for (auto slot : step.operands) {
        states.push_back(context.slots[slot]);
    }
    while (true) {
        // The states are kept: when the condition fails they are the results.
        for (size_t i = 0; i < states.size(); ++i) {
            context.slots[body.arguments[i]] = states[i];
        }
        run_steps(context, std::span{body.steps}.first(body.condition_position));
        const auto &condition = context.tile(body.condition_value);
        if (auto *load = condition.undefined_at(0)) {
            undefined_use(body.condition, "while uses it as its condition", load);
        }
        if (condition.bits[0] == 0) {
            break;
        }
        if (++context.while_iterations > context.options.while_limit) {
            throw StateError{"while: more than " + std::to_string(context.options.while_limit) +
                                 " iterations of while loops in this launch; check that the "
                                 "condition becomes false, or raise while_limit",
                             step.op->loc};
        }
        run_steps(context, std::span{body.steps}.subspan(body.condition_position));
        for (size_t i = 0; i < states.size(); ++i) {
            states[i] = context.slots[body.yields[i]];
        }
    }
    for (size_t i = 0; i < states.size(); ++i) {
        context.slots[step.results[i]] = std::move(states[i]);
    }
}

}// namespace luisa::tile::interpreter
