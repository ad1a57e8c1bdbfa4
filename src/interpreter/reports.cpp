// SPDX-License-Identifier: Apache-2.0
#include "interpreter/context.h"

#include "ir/report.h"

namespace luisa::tile::interpreter {

namespace {

/// The operands from `first` on; an undefined one is an error.
std::vector<uint64_t> values_from(const Context &context, const Step &step, size_t first) {
    std::vector<uint64_t> values;
    for (size_t i = first; i < step.operands.size(); ++i) {
        const auto &tile = context.tile(step.operands[i]);
        if (auto *load = tile.undefined_at(0)) {
            undefined_use(step.op, std::string{step.op->name()} + " uses it", load);
        }
        values.push_back(tile.bits[0]);
    }
    return values;
}

}// namespace

void run_assert(Context &context, const Step &step) {
    if (context.integer(step, 0, "a condition") == 0) {
        auto report = ir::report_of(*step.op);
        throw AssertionError{ir::text_of(report, values_from(context, step, 1)), report.loc};
    }
}

void run_print(Context &context, const Step &step) {
    auto values = values_from(context, step, 0);
    if (context.options.print) {
        context.options.print(ir::text_of(ir::report_of(*step.op), values));
    }
}

}// namespace luisa::tile::interpreter
