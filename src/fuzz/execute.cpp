// SPDX-License-Identifier: Apache-2.0
#include "fuzz/execute.h"

#include "compile/arguments.h"
#include "compile/cpu.h"
#include "fuzz/gpu.h"
#include "interpreter/interpreter.h"
#include "ir/text.h"
#include "ir/verifier.h"
#include "target/cpu.h"
#include "types/convert.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace luisa::tile::fuzz {

namespace {

struct Free {
    void operator()(void *p) const { std::free(p); }
};
using Memory = std::unique_ptr<void, Free>;

/// Aligned memory of at least one cache line, filled so that reading it before writing shows.
Memory allocate(size_t bytes) {
    auto rounded = (bytes + 127) / 64 * 64;
    Memory memory{std::aligned_alloc(64, rounded)};
    std::memset(memory.get(), 0xfe, rounded);
    return memory;
}

void run_cpu(const compiler::CpuKernel &kernel, std::vector<Input> &inputs, bool backwards) {
    auto words = compiler::words_of(arguments_of(inputs));
    auto scratch = allocate(kernel.scratch_bytes), shared = allocate(kernel.shared_bytes);
    for (const auto &phase : kernel.phases) {
        auto count = phase.task_count;
        if (phase.count) {
            phase.count(words.data(), 0, 0, scratch.get(), shared.get());
            count = *static_cast<int64_t *>(scratch.get());
        }
        auto pieces = count <= 0 ? 0 : (count - 1) / phase.grain + 1;
        for (int64_t i = 0; i < pieces; ++i) {
            auto begin = (backwards ? pieces - 1 - i : i) * phase.grain;
            phase.run(words.data(), begin, std::min(count, begin + phase.grain), scratch.get(),
                      shared.get());
        }
    }
}

compiler::CpuOptions options_of(const Settings &settings) {
    compiler::CpuOptions options;
    options.threads = settings.threads;
    options.may_alias = settings.may_alias;
    options.target = emit::host_cpu();
    if (!settings.cpu.empty()) {
        const auto *level = target::find_cpu_level(settings.cpu);
        // Elsewhere the same programs run on what there is.
        if (level && level->runs_here()) {
            options.target = {level->name, level->features};
        }
    }
    auto facts = target::cpu_facts(options.target.features, settings.threads);
    if (settings.vector_bytes > 0) {
        facts.vector_bytes = std::min(facts.vector_bytes, settings.vector_bytes);
    }
    if (settings.small_caches) {
        facts.l1_bytes = 1 << 10;
        facts.l2_bytes = 4 << 10;
    }
    options.facts = facts;
    return options;
}

bool both_nan(const Input &a, const Input &b, size_t at, size_t width) {
    uint64_t x = 0, y = 0;
    std::memcpy(&x, a.bytes.data() + at, width);
    std::memcpy(&y, b.bytes.data() + at, width);
    return arith::is_nan(a.type, x) && arith::is_nan(b.type, y);
}

/// The first element that differs, as text; empty if there is none.
std::string difference(const std::vector<Input> &expected, const std::vector<Input> &got,
                       const std::string &device) {
    for (size_t v = 0; v < expected.size(); ++v) {
        auto width = size_of(expected[v].type);
        for (size_t i = 0; i * width + width <= expected[v].bytes.size(); ++i) {
            if (std::memcmp(expected[v].bytes.data() + i * width, got[v].bytes.data() + i * width,
                            width) != 0 &&
                !both_nan(expected[v], got[v], i * width, width)) {
                return "parameter " + std::to_string(v) + ", element " +
                       std::to_string(static_cast<int64_t>(i) - expected[v].origin) +
                       " after its origin: interpreter " + element_text(expected[v], i) + ", " +
                       device + " " + element_text(got[v], i);
            }
        }
    }
    return {};
}

void interpret(const Case &c, std::vector<Input> &inputs, const interpreter::Options &limits) {
    for (const auto &kernel : c.kernels) {
        interpreter::run(*kernel, arguments_of(inputs), limits);
    }
}

/// Compiles the kernels for the device of the settings, then runs them.
void run(const Case &c, std::vector<Input> &inputs) {
    if (c.settings.device == "cuda-emulator") {
        return run_on_emulator(c, inputs);
    }
    if (c.settings.device != "cpu") {
        return run_on_gpu(c, inputs, c.settings.device);
    }
    std::vector<std::shared_ptr<const compiler::CpuKernel>> compiled;
    for (const auto &kernel : c.kernels) {
        compiled.push_back(compiler::compile_cpu(*kernel, options_of(c.settings)));
    }
    for (const auto &kernel : compiled) {
        run_cpu(*kernel, inputs, c.settings.backwards);
    }
}

Outcome compare(const Case &c) {
    for (const auto &kernel : c.kernels) {
        if (auto broken = ir::check(*kernel); !broken.empty()) {
            return {OutcomeKind::INVALID, broken.front().message};
        }
        auto text = ir::print(*kernel);
        if (ir::print(*ir::parse(text)) != text) {
            return {OutcomeKind::TEXT, "another text after printing and parsing"};
        }
    }
    auto expected = c.inputs, checked = c.inputs, got = c.inputs;
    interpreter::Options limits;
    limits.while_limit = 100000;
    try {
        interpret(c, expected, limits);
    } catch (const BoundsError &e) {
        return {OutcomeKind::EXCLUDED, e.what()};
    } catch (const UnsupportedError &e) {
        return {OutcomeKind::UNSUPPORTED, e.what()};
    }
    try {
        limits.validate = true;
        interpret(c, checked, limits);
    } catch (const RaceError &e) {
        return {OutcomeKind::RACE, e.what()};
    } catch (const BoundsError &) {
        // What validation reports is defined all the same.
    }
    try {
        run(c, got);
    } catch (const UnsupportedError &e) {
        return {OutcomeKind::UNSUPPORTED, e.what()};
    }
    auto message = difference(expected, got, c.settings.device);
    return {message.empty() ? OutcomeKind::SAME : OutcomeKind::DIFFERENT, message};
}

}// namespace

std::vector<KernelArgument> arguments_of(std::vector<Input> &inputs) {
    std::vector<KernelArgument> list;
    for (auto &input : inputs) {
        KernelArgument a;
        a.scalar_bits = input.scalar_bits;
        if (input.is_view) {
            auto &bytes = input.alias < 0 ? input.bytes
                                          : inputs[static_cast<size_t>(input.alias)].bytes;
            a.data = bytes.data() + input.origin * static_cast<int64_t>(size_of(input.type));
            a.extents = input.extents;
            a.strides = input.strides;
        }
        list.push_back(std::move(a));
    }
    return list;
}

const char *to_string(OutcomeKind kind) noexcept {
    static constexpr const char *names[outcome_kind_count] = {
        "same",    "unsupported", "excluded", "different", "error",
        "invalid", "text",        "race",     "crash",     "hang"};
    return names[static_cast<size_t>(kind)];
}

std::vector<Settings> variants(const Settings &given) {
    std::vector<Settings> all;
    auto add = [&](auto change) {
        auto s = given;
        change(s);
        if (std::find(all.begin(), all.end(), s) == all.end()) {
            all.push_back(s);
        }
    };
    add([](Settings &) {});
    if (given.device != "cpu") {
        add([](Settings &s) { s.may_alias = true; });
        return all;
    }
    for (const char *cpu : {"x86-64", "x86-64-v3", "x86-64-v4"}) {
        add([&](Settings &s) { s.cpu = cpu; });
    }
    for (int threads : {1, 2, 7}) {
        add([&](Settings &s) { s.threads = threads; });
    }
    add([](Settings &s) { s.backwards = !s.backwards; });
    add([](Settings &s) { s.vector_bytes = 16; });
    add([](Settings &s) { s.vector_bytes = 32; });
    add([](Settings &s) { s.small_caches = !s.small_caches; });
    return all;
}

Outcome execute(const Case &c) {
    try {
        return compare(c);
    } catch (const std::exception &e) {
        return {OutcomeKind::ERROR, e.what()};
    }
}

}// namespace luisa::tile::fuzz
