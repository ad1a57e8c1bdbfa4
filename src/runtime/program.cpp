// SPDX-License-Identifier: Apache-2.0
#include "runtime/program.h"

#include "runtime/accelerator.h"
#include "runtime/device.h"
#include "runtime/memory.h"
#include "runtime/profile.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace luisa::tile::runtime {

namespace {

struct Command {
    Shader shader;
    std::vector<ProgramArgument> arguments;
    SourceLoc loc;
    std::vector<Argument> resolved;///< filled by each dispatch
};

/// What a program is for one set of extents and strides.
struct Recording {
    std::vector<int64_t> facts;
    std::vector<Command> commands;
    std::vector<size_t> offsets;///< of temporaries in the memory that all recordings share
    size_t bytes = 0;
};

constexpr size_t temporary_alignment = 64;
/// Sets of extents and strides whose recordings a program keeps: those that were dispatched last.
constexpr size_t most_recordings = 64;

}// namespace

struct ProgramState {
    ProgramForm form;
    std::mutex recording_mutex;///< of the list; whoever runs a recording owns it too
    std::vector<std::shared_ptr<Recording>> recordings;///< the one that was used last comes first
    std::mutex running_mutex;                          ///< of temporaries and resolved arguments
    void *memory = nullptr;
    size_t memory_bytes = 0;

    explicit ProgramState(ProgramForm f) : form{std::move(f)} {}
    ProgramState(const ProgramState &) = delete;
    ProgramState &operator=(const ProgramState &) = delete;
    ~ProgramState() { free_memory(memory, memory_bytes); }

    [[nodiscard]] std::string parameter(int i) const {
        auto at = static_cast<size_t>(i);
        return at < form.options.parameters.size() ? "'" + form.options.parameters[at] + "'"
                                                   : std::to_string(i);
    }
    [[nodiscard]] std::string argument(int i) const {
        return "argument " + parameter(i) + " of program '" + form.options.name + "'";
    }
    /// Memory for the temporaries of a dispatch. Dispatches on an accelerator overlap, so each gets its own.
    void *temporaries(size_t bytes, AcceleratorQueue *queue) {
        if (queue) {
            auto own = form.device.impl()->accelerator->allocate(bytes);
            queue->keep(own);
            return own.get();
        }
        reserve(bytes);
        return memory;
    }
    void reserve(size_t bytes) {
        if (bytes <= memory_bytes) {
            return;
        }
        free_memory(memory, memory_bytes);
        memory = allocate_memory(bytes);
        memory_bytes = memory ? bytes : 0;
        if (!memory) {
            throw OutOfMemoryError{"no memory for the " + std::to_string(bytes) +
                                   " bytes of temporaries of program '" + form.options.name + "'"};
        }
    }
};

struct Recorder {
    ProgramState &program;
    Recording &recording;
    SourceLoc dispatch;
};

const Device &device_of(const Recorder &recorder) { return recorder.program.form.device; }
const Device &device_of(const ProgramState &program) { return program.form.device; }

int add_temporary(Recorder &recorder, const int64_t *extents, int rank, size_t element,
                  SourceLoc loc) {
    auto bytes = checked_bytes(extents, rank, element, loc.known() ? loc : recorder.dispatch);
    auto &recording = recorder.recording;
    if (static_cast<uint64_t>(bytes) > std::numeric_limits<size_t>::max() / 4 - recording.bytes) {
        throw OutOfMemoryError{"no memory for a temporary of " + std::to_string(bytes) + " bytes"};
    }
    recording.offsets.push_back(recording.bytes);
    recording.bytes += (static_cast<size_t>(bytes) + temporary_alignment - 1) /
                       temporary_alignment * temporary_alignment;
    return static_cast<int>(recorder.program.form.parameters.size() + recording.offsets.size()) - 1;
}

void add_command(Recorder &recorder, const Shader &shader, std::vector<ProgramArgument> arguments,
                 SourceLoc loc) {
    if (!shader.impl()) {
        throw LifetimeError{"an empty Shader is recorded: compile a kernel first", loc};
    }
    if (shader.impl()->device != device_of(recorder).impl()) {
        throw DeviceError{"a shader of device '" + shader.impl()->device->name +
                              "' is recorded for another device",
                          loc};
    }
    std::vector<Argument> resolved;
    for (const auto &a : arguments) {
        resolved.push_back(a.argument);
    }
    recorder.recording.commands.push_back({shader, std::move(arguments), loc, std::move(resolved)});
}

void fail_extent_of(const Recorder &recorder, int slot, int axis, int64_t extent,
                    int64_t expected) {
    auto parameters = static_cast<int>(recorder.program.form.parameters.size());
    auto name = slot < parameters ? recorder.program.argument(slot)
                                  : "temporary " + std::to_string(slot - parameters);
    throw ShapeError{name + " has extent " + std::to_string(extent) + " in dimension " +
                         std::to_string(axis) + ", expected " + std::to_string(expected),
                     recorder.dispatch};
}

std::shared_ptr<ProgramState> make_program(ProgramForm form) {
    static_cast<void>(form.device.shared_impl());
    return std::make_shared<ProgramState>(std::move(form));
}

namespace {

std::string kind_text(bool is_view, ScalarType type, int rank) {
    return is_view ? "a rank-" + std::to_string(rank) + " tensor of " + to_string(type)
                   : std::string{"a number of type "} + to_string(type);
}

/// What the commands' own checks cannot say in terms of the program.
void check_parameters(const ProgramState &program, const Argument *arguments, SourceLoc loc) {
    for (size_t i = 0; i < program.form.parameters.size(); ++i) {
        const auto &p = program.form.parameters[i];
        const auto &a = arguments[i];
        auto name = [&] { return program.argument(static_cast<int>(i)); };
        if (a.is_view != p.is_view || a.type != p.type || a.rank != p.rank) {
            throw TypeError{name() + " is " + kind_text(a.is_view, a.type, a.rank) + ", expected " +
                                kind_text(p.is_view, p.type, p.rank),
                            loc};
        }
        if (!p.is_view) {
            continue;
        }
        if (!a.alive) {
            throw LifetimeError{name() + " is a tensor that was moved from, freed or never made",
                                loc};
        }
        if (a.read_only && !p.read_only) {
            throw TypeError{name() + " is read only, but the program may write it; declare it "
                                     "ProgramTensor<const T, R>",
                            loc};
        }
        for (int d = 0; d < a.rank; ++d) {
            if (a.extents[d] < 0) {
                throw ValueError{name() + " has the negative extent " +
                                     std::to_string(a.extents[d]) + " in dimension " +
                                     std::to_string(d),
                                 loc};
            }
        }
    }
}

/// Extents and strides of all tensors, in order.
template<class F> bool all_facts(const Argument *arguments, size_t count, const F &f) {
    for (size_t i = 0; i < count; ++i) {
        for (int d = 0; d < arguments[i].rank; ++d) {
            if (!f(arguments[i].extents[d]) || !f(arguments[i].strides[d])) {
                return false;
            }
        }
    }
    return true;
}

std::shared_ptr<Recording> find_or_record(ProgramState &program, const Argument *arguments,
                                          SourceLoc loc) {
    std::lock_guard lock{program.recording_mutex};
    auto count = program.form.parameters.size();
    auto &known = program.recordings;
    auto found = std::find_if(known.begin(), known.end(), [&](const auto &recording) {
        auto fact = recording->facts.begin();
        return all_facts(arguments, count, [&](int64_t x) { return x == *fact++; });
    });
    if (found != known.end()) {
        std::rotate(known.begin(), found, found + 1);
        return known.front();
    }
    auto recording = std::make_shared<Recording>();
    all_facts(arguments, count, [&](int64_t x) {
        recording->facts.push_back(x);
        return true;
    });
    Recorder recorder{program, *recording, loc};
    Commands commands{recorder};
    program.form.body(commands, arguments);
    if (known.size() == most_recordings) {
        known.pop_back();
    }
    known.insert(known.begin(), recording);
    return recording;
}

/// The argument of a command in this dispatch; temporaries lie from `temporaries` on.
void resolve(const ProgramState &program, const Recording &recording, const ProgramArgument &from,
             const Argument *arguments, char *temporaries, Argument &to) {
    if (from.slot < 0) {
        return;
    }
    auto slot = static_cast<size_t>(from.slot), parameters = program.form.parameters.size();
    if (!from.argument.is_view) {
        to.bits = arguments[slot].bits;
        return;
    }
    auto *base = slot < parameters ? static_cast<char *>(arguments[slot].data)
                                   : temporaries + recording.offsets[slot - parameters];
    auto distance = reinterpret_cast<uintptr_t>(from.argument.data) - program_base;
    to.data = base ? base + static_cast<ptrdiff_t>(distance) : nullptr;
    if (slot < parameters) {
        to.read_only = from.argument.read_only || arguments[slot].read_only;
    }
}

[[noreturn]] void rethrow(const ProgramState &program, const Recording &recording, size_t number,
                          const Error &error) {
    const auto &command = recording.commands[number];
    std::string text;
    auto parameters = static_cast<int>(program.form.parameters.size());
    for (const auto &a : command.arguments) {
        text += text.empty() ? "" : ", ";
        text += a.slot < 0            ? "a value of its own"
                : a.slot < parameters ? program.argument(a.slot)
                                      : "temporary " + std::to_string(a.slot - parameters);
    }
    auto notes = error.notes();
    notes.push_back({"in command " + std::to_string(number) + " of program '" +
                         program.form.options.name + "' on (" + text + "), recorded here",
                     command.loc});
    throw_error(error.kind(), error.message(), error.location(), std::move(notes));
}

std::shared_ptr<Recording> prepare(ProgramState &program, const Argument *arguments, int count,
                                   SourceLoc loc) {
    if (count != static_cast<int>(program.form.parameters.size())) {
        throw CallError{"program '" + std::string{program.form.options.name} + "' takes " +
                            std::to_string(program.form.parameters.size()) + " arguments, got " +
                            std::to_string(count),
                        loc};
    }
    program.form.device.impl()->check_process(loc);
    check_parameters(program, arguments, loc);
    return find_or_record(program, arguments, loc);
}

}// namespace

void check_program(ProgramState &program, const Argument *arguments, int count, SourceLoc loc) {
    const auto recorded = prepare(program, arguments, count, loc);
    auto &recording = *recorded;
    // Where temporaries will lie does not matter here, and another dispatch may be using them.
    auto *temporaries = reinterpret_cast<char *>(program_base);
    for (size_t i = 0; i < recording.commands.size(); ++i) {
        const auto &command = recording.commands[i];
        std::vector<Argument> list;
        for (const auto &a : command.arguments) {
            list.push_back(a.argument);
            resolve(program, recording, a, arguments, temporaries, list.back());
        }
        try {
            check_call(*command.shader.impl(), list.data(), static_cast<int>(list.size()), loc);
        } catch (const Error &error) {
            rethrow(program, recording, i, error);
        }
    }
}

void run_program(ProgramState &program, const Argument *arguments, int count, SourceLoc loc,
                 AcceleratorQueue *queue, ProfilerState *profile) {
    const auto recorded = prepare(program, arguments, count, loc);
    auto &recording = *recorded;
    std::lock_guard lock{program.running_mutex};
    auto *temporaries = static_cast<char *>(program.temporaries(recording.bytes, queue));
    for (size_t i = 0; i < recording.commands.size(); ++i) {
        auto &command = recording.commands[i];
        for (size_t j = 0; j < command.arguments.size(); ++j) {
            resolve(program, recording, command.arguments[j], arguments, temporaries,
                    command.resolved[j]);
        }
        try {
            runtime::dispatch(*command.shader.impl(), command.resolved.data(),
                              static_cast<int>(command.resolved.size()), loc, queue, profile,
                              program.form.options.name);
        } catch (const Error &error) {
            rethrow(program, recording, i, error);
        }
    }
}

}// namespace luisa::tile::runtime
