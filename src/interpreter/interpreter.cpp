// SPDX-License-Identifier: Apache-2.0
#include "interpreter/interpreter.h"

#include "interpreter/arguments.h"
#include "types/float_environment.h"

#include <new>
#include <stdexcept>

namespace luisa::tile::interpreter {

void run_steps(Context &context, std::span<const Step> steps) {
    for (const auto &step : steps) {
        step.run(context, step);
    }
}

void run(const ir::Module &module, std::span<const KernelArgument> arguments,
         const Options &options) {
    require(module.form == ir::Form::CANDIDATE, "the interpreter runs Candidate form");
    DefaultFloatEnvironment environment;
    const auto &kernel = *module.kernel();
    auto program = prepare(kernel);
    Context context{options, kernel, {}, {}, {}, 0, {}};
    context.slots.resize(program.slot_count);
    bind_arguments(context, program.body, arguments);
    try {
        run_block(context, program.body);
    } catch (const std::bad_alloc &) {
        throw OutOfMemoryError{kernel.name + ": the interpreter ran out of memory for its tiles",
                               kernel.loc};
    } catch (const std::length_error &) {
        throw OutOfMemoryError{kernel.name + ": a tile is larger than memory", kernel.loc};
    }
}

}// namespace luisa::tile::interpreter
