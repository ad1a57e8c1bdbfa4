// SPDX-License-Identifier: Apache-2.0
#include "compile/stored.h"

#include "cache/build.h"
#include "compile/bytes.h"
#include "core/clock.h"

namespace luisa::tile::compiler {

namespace {

// Counts changes of what a launch hands to generated code, and of the bytes below, between builds whose
// sources are equal but not their meaning (a changed calling convention of the platform).
constexpr int abi_version = 1;

template<class Stream, class Object> void describe(Stream &s, Object &object) {
    s.text(object.plan);
    s.number(object.scratch_bytes);
    s.number(object.shared_bytes);
    s.list(object.phases, [&](auto &phase) {
        s.text(phase.function);
        s.text(phase.count_function);
        s.number(phase.task_count);
        s.number(phase.grain);
        s.number(phase.task_us);
    });
    s.list(object.reports, [&](auto &report) { describe_report(s, report); });
    s.list(object.code.functions, [&](auto &function) { s.text(function); });
    s.text(object.code.bytes);
}

/// The kernel in an entry, or null: one that passed its checks and still does not link is not used either.
std::shared_ptr<CpuKernel> load(cache::ObjectCache &cache, const cache::Key &key) {
    auto bytes = cache.find(key);
    if (!bytes) {
        return nullptr;
    }
    CpuObject object;
    if (!from_bytes(*bytes, object)) {
        cache.reject(key, "its payload is not a kernel");
        return nullptr;
    }
    try {
        return link(std::move(object));
    } catch (const CompileError &error) {
        cache.reject(key, error.message());
        return nullptr;
    }
}

}// namespace

std::string key_text(const ir::Module &candidate, const std::string &canonical_text,
                     const CpuOptions &options) {
    // Taken apart, so that a new field does not compile until it is part of the key.
    const auto &[target, asked_threads, may_alias, asked_facts, choices] = options;
    const auto &[cpu, features, observed] = target;
    const auto [vector_bytes, vector_registers, l1, l2, threads, dot_bf16, dot_int8, matrix_bf16,
                matrix_int8] = facts_of(options);
    static_cast<void>(asked_threads);// in the facts
    static_cast<void>(asked_facts);
    std::string text = "luisa-tile kernel for a CPU\n";
    auto line = [&](const char *name, const auto &value) {
        text += name;
        text += ' ';
        if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>) {
            text += std::to_string(value);
        } else {
            text += value;
        }
        text += '\n';
    };
    line("build", cache::build_id());
    line("choices", choices);
    line("abi", abi_version);
    line("generator", emit::generator_name());
    line("cpu", cpu);
    line("features", features);
    line("observed", static_cast<int>(observed));
    line("vector_bytes", vector_bytes);
    line("vector_registers", vector_registers);
    line("l1_bytes", l1);
    line("l2_bytes", l2);
    line("threads", threads);
    line("dot", 2 * dot_bf16 + dot_int8);
    line("matrix", 2 * matrix_bf16 + matrix_int8);
    line("may_alias", static_cast<int>(may_alias));
    line("locations", location_hash(candidate));
    return text + canonical_text;
}

std::string to_bytes(const CpuObject &object) {
    Writer writer;
    describe(writer, object);
    return std::move(writer.bytes);
}

bool from_bytes(std::string_view bytes, CpuObject &object) {
    Reader reader{bytes};
    describe(reader, object);
    return reader.done();
}

std::shared_ptr<const CpuKernel> compile_cpu(const ir::Module &candidate,
                                             const std::string &canonical_text,
                                             const CpuOptions &options, cache::ObjectCache &cache) {
    auto start = now_ms();
    cache::Key key{key_text(candidate, canonical_text, options)};
    if (auto kernel = load(cache, key)) {
        kernel->asked_disk = kernel->from_disk = true;
        kernel->disk_ms = now_ms() - start - kernel->emit.link_ms;
        return kernel;
    }
    auto disk_ms = now_ms() - start;
    CpuTimes times;
    auto object = compile_object(candidate, options, &times);
    start = now_ms();
    auto bytes = to_bytes(object);
    disk_ms += now_ms() - start;
    // What does not link is not kept.
    auto kernel = link(std::move(object), times);
    start = now_ms();
    cache.keep(key, bytes);
    disk_ms += now_ms() - start;
    kernel->asked_disk = true;
    kernel->disk_ms = disk_ms;
    return kernel;
}

}// namespace luisa::tile::compiler
