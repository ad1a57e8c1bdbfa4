// SPDX-License-Identifier: Apache-2.0
#include "runtime/profile.h"

#include "runtime/device.h"

namespace luisa::tile::runtime {

namespace {

int launches_of(const ShaderImpl &shader) {
    return shader.code          ? static_cast<int>(shader.code->phases.size())
           : shader.emulated    ? static_cast<int>(shader.emulated->phases.size())
           : shader.accelerated ? shader.accelerated->launches()
                                : 1;
}

double bytes_of(const Argument &a) {
    auto bytes = static_cast<double>(size_of(a.type));
    for (int d = 0; d < a.rank; ++d) {
        bytes *= static_cast<double>(a.extents[d]);
    }
    return bytes;
}

/// Views are read unless nothing loads from them, and written where the kernel stores to them.
double bytes_of(const ShaderImpl &shader, const Argument *arguments) {
    double bytes = 0;
    const auto &parameters = shader.module->kernel()->body->arguments();
    for (size_t i = 0; i < parameters.size(); ++i) {
        bool loads = false;
        for (auto *use = parameters[i]->first_use(); use; use = use->next()) {
            auto code = use->user()->opcode();
            loads |= code == ir::Opcode::LOAD || code == ir::Opcode::ATOMIC;
        }
        bytes += parameters[i]->type()->is_view() && loads ? bytes_of(arguments[i]) : 0;
    }
    for (const auto *stored : shader.stored) {
        bytes += bytes_of(arguments[stored->index()]);
    }
    return bytes;
}

int64_t signed_value(const Argument &a) {
    auto bits = 8 * size_of(a.type);
    auto shift = 64 - static_cast<int>(bits);
    auto value = static_cast<int64_t>(a.bits << shift);
    return is_signed(a.type) ? value >> shift
                             : static_cast<int64_t>(static_cast<uint64_t>(value) >> shift);
}

ProfilerState::Entry entry_of(const ShaderImpl &shader, const Argument *arguments, int count,
                              SourceLoc loc, const char *program) {
    ProfilerState::Entry entry;
    entry.module = shader.module;
    entry.program = program;
    entry.loc = loc;
    entry.launches = launches_of(shader);
    entry.bytes = bytes_of(shader, arguments);
    for (int i = 0; i < count; ++i) {
        const auto &a = arguments[i];
        entry.extents.emplace_back(a.extents, a.extents + a.rank);
        bool known = !a.is_view && is_integer(a.type);
        entry.scalars.push_back(known ? std::optional{signed_value(a)} : std::nullopt);
    }
    return entry;
}

}// namespace

void dispatch(const ShaderImpl &shader, const Argument *arguments, int count, SourceLoc loc,
              AcceleratorQueue *queue, ProfilerState *profile, const char *program) {
    if (!profile || !profile->active.load(std::memory_order_relaxed)) {
        return dispatch(shader, arguments, count, loc, queue);
    }
    // Before the clock starts: compiling for overlapping views is not the kernel's time, and mistakes are no runs.
    static_cast<void>(check_call(shader, arguments, count, loc));
    auto entry = entry_of(shader, arguments, count, loc, program);
    entry.from = queue ? queue->record() : nullptr;
    entry.begin = ProfilerState::Clock::now();
    dispatch(shader, arguments, count, loc, queue);
    entry.end = ProfilerState::Clock::now();
    entry.until = queue ? queue->record() : nullptr;
    std::lock_guard lock{profile->mutex};
    if (entry.from && !profile->first) {
        profile->first = entry.from;
        profile->first_seen = entry.begin;
    }
    profile->entries.push_back(std::move(entry));
}

}// namespace luisa::tile::runtime
