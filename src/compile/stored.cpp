// SPDX-License-Identifier: Apache-2.0
#include "compile/stored.h"

#include "cache/build.h"

#include <xxhash.h>

#include <bit>
#include <chrono>
#include <cstring>
#include <mutex>
#include <set>

namespace luisa::tile::compiler {

namespace {

// Counts changes of what a launch hands to generated code, and of the bytes below, between builds whose
// sources are equal but not their meaning (a changed calling convention of the platform).
constexpr int abi_version = 1;

double now_ms() {
    return std::chrono::duration<double, std::milli>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// The plan and the reports name lines, so a program that moved in its file is compiled again.
class LocationHash {
public:
    explicit LocationHash(const ir::Module &module) : _state{XXH3_createState()} {
        XXH3_128bits_reset(_state);
        for (const auto &function : module.functions()) {
            add(function.loc);
            add(*function.body);
        }
    }
    ~LocationHash() { XXH3_freeState(_state); }
    LocationHash(const LocationHash &) = delete;
    LocationHash &operator=(const LocationHash &) = delete;
    [[nodiscard]] std::string text() const {
        auto hash = XXH3_128bits_digest(_state);
        return std::to_string(hash.high64) + " " + std::to_string(hash.low64);
    }

private:
    void add(SourceLoc loc) {
        XXH3_128bits_update(_state, loc.file, std::strlen(loc.file) + 1);
        XXH3_128bits_update(_state, &loc.line, sizeof(loc.line));
    }
    void add(const ir::Region &region) {
        for (const auto *op : region) {
            add(op->loc);
            for (const auto *inner : op->regions()) {
                add(*inner);
            }
        }
    }
    XXH3_state_t *_state;
};

/// Names of files for locations that come from disk; errors may carry them for as long as the process lives.
const char *lasting(std::string name) {
    static std::mutex mutex;
    static auto &names = *new std::set<std::string>;
    std::lock_guard lock{mutex};
    return names.insert(std::move(name)).first->c_str();
}

// One description of the fields serves both directions. Numbers are as in memory: the key names the machine.

class Writer {
public:
    static constexpr bool reading = false;
    template<class T> void number(const T &value) {
        bytes.append(reinterpret_cast<const char *>(&value), sizeof(value));
    }
    void text(const std::string &value) {
        number(uint64_t{value.size()});
        bytes += value;
    }
    template<class T, class Each> void list(const std::vector<T> &values, const Each &each) {
        number(uint64_t{values.size()});
        for (const auto &value : values) {
            each(value);
        }
    }
    void location(const SourceLoc &loc) {
        text(loc.file);
        number(loc.line);
    }
    std::string bytes;
};

class Reader {
public:
    static constexpr bool reading = true;
    explicit Reader(std::string_view bytes) : _rest{bytes} {}
    template<class T> void number(T &value) {
        if (sizeof(value) > _rest.size()) {
            _rest = {};
            _failed = true;
            value = {};
            return;
        }
        std::memcpy(&value, _rest.data(), sizeof(value));
        _rest.remove_prefix(sizeof(value));
    }
    void text(std::string &value) {
        auto size = count();
        value = _rest.substr(0, size);
        _rest.remove_prefix(size);
    }
    template<class T, class Each> void list(std::vector<T> &values, const Each &each) {
        // Every element takes a byte at least, so a wrong number cannot ask for all memory.
        values.resize(count());
        for (auto &value : values) {
            each(value);
        }
    }
    void location(SourceLoc &loc) {
        std::string file;
        text(file);
        loc.file = lasting(std::move(file));
        number(loc.line);
    }
    [[nodiscard]] bool done() const { return !_failed && _rest.empty(); }

private:
    size_t count() {
        uint64_t size = 0;
        number(size);
        if (size > _rest.size()) {
            _failed = true;
            _rest = {};
            return 0;
        }
        return size;
    }
    std::string_view _rest;
    bool _failed = false;
};

template<class Stream, class Report> void describe_report(Stream &s, Report &report) {
    // A byte, since a bool with another value is none.
    auto assertion = static_cast<uint8_t>(report.is_assertion);
    s.number(assertion);
    s.text(report.text);
    // Reports count along dimensions; which ones they are is known to the program alone.
    s.list(report.box, [&](auto &axis) { s.number(axis.extent); });
    s.list(report.types, [&](auto &type) { s.number(type); });
    s.location(report.loc);
    if constexpr (Stream::reading) {
        report.is_assertion = assertion != 0;
    }
}

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
    const auto &[target, asked_threads, may_alias, asked_facts] = options;
    const auto &[cpu, features, observed] = target;
    const auto [vector_bytes, vector_registers, l1, l2, threads] = facts_of(options);
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
    line("may_alias", static_cast<int>(may_alias));
    line("locations", LocationHash{candidate}.text());
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
