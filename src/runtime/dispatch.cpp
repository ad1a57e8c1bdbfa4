// SPDX-License-Identifier: Apache-2.0
#include "interpreter/interpreter.h"
#include "ir/report.h"
#include "runtime/accelerator.h"
#include "runtime/device.h"
#include "runtime/emulator/run.h"
#include "runtime/memory.h"
#include "runtime/overlap.h"
#include "runtime/reports.h"
#include "types/float_environment.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <limits>
#include <span>

namespace luisa::tile::runtime {

namespace {

std::string parameter_name(const ir::Module &module, size_t i) {
    const auto &names = module.kernel()->parameter_names;
    return i < names.size() ? "'" + names[i] + "'" : std::to_string(i);
}

std::string signature(const ir::Module &module) {
    std::string text;
    for (auto *p : module.kernel()->body->arguments()) {
        const auto &type = *p->type();
        text += text.empty() ? "" : ", ";
        text += type.is_view() ? std::string{"view of "} + (type.read_only ? "const " : "") +
                                     to_string(type.scalar) + " " + ir::extents_text(type)
                               : std::string{"scalar "} + to_string(type.scalar);
    }
    return "(" + text + ")";
}

/// Along an axis of one element the stride is never used.
void check_strides(const ir::Module &module, size_t i, const ir::Type &type, const Argument &a,
                   SourceLoc loc) {
    uint64_t dense = 1;// wraps where a strided view's extents are huge
    for (int d = a.rank - 1; d >= 0; --d) {
        auto expected = type.strides.empty() ? static_cast<int64_t>(dense)
                                             : type.strides[static_cast<size_t>(d)];
        dense *= static_cast<uint64_t>(a.extents[d]);
        if (expected != ir::runtime_value && a.extents[d] > 1 && expected != a.strides[d]) {
            throw ShapeError{"argument " + parameter_name(module, i) + " has stride " +
                                 std::to_string(a.strides[d]) + " in dimension " +
                                 std::to_string(d) + ", the kernel was captured for " +
                                 std::to_string(expected),
                             loc};
        }
    }
}

void check_view(const ir::Module &module, size_t i, const ir::Type &type, const Argument &a,
                SourceLoc loc) {
    auto name = [&] { return "argument " + parameter_name(module, i); };
    if (!a.is_view) {
        throw TypeError{name() + " is a number, the kernel expects a view of " +
                            to_string(type.scalar) + " " + ir::extents_text(type),
                        loc};
    }
    if (a.type != type.scalar || a.rank != static_cast<int>(type.rank())) {
        throw TypeError{name() + " is a rank-" + std::to_string(a.rank) + " tensor of " +
                            to_string(a.type) + ", the kernel expects rank " +
                            std::to_string(type.rank()) + " of " + to_string(type.scalar),
                        loc};
    }
    if (a.read_only && !type.read_only) {
        throw TypeError{name() + " is read only, the kernel's view may be written; declare it "
                                 "TensorView<const T, R>",
                        loc};
    }
    if (!a.alive) {
        throw LifetimeError{name() + " is a tensor that was moved from, freed or never made", loc};
    }
    bool empty = false;
    for (int d = 0; d < a.rank; ++d) {
        empty |= a.extents[d] == 0;
        auto expected = type.axes[static_cast<size_t>(d)].extent;
        if (a.extents[d] < 0) {
            throw ValueError{name() + " has the negative extent " + std::to_string(a.extents[d]) +
                                 " in dimension " + std::to_string(d),
                             loc};
        }
        if (expected != ir::runtime_value && expected != a.extents[d]) {
            throw ShapeError{name() + " has extent " + std::to_string(a.extents[d]) +
                                 " in dimension " + std::to_string(d) +
                                 ", the kernel was captured for " + std::to_string(expected),
                             loc};
        }
    }
    if (empty) {
        return;
    }
    check_strides(module, i, type, a, loc);
    if (reach_of(a) > static_cast<Reach>(std::numeric_limits<int64_t>::max())) {
        throw ValueError{name() + " has extents and strides that reach beyond the range of int64",
                         loc};
    }
    if (!a.data) {
        throw ValueError{name() + " has no memory (null data) but elements", loc};
    }
    auto address = reinterpret_cast<uintptr_t>(a.data);
    if (address % size_of(a.type) != 0) {
        char text[32];
        std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
        throw AlignmentError{name() + " is at address " + text + ", which is a multiple of " +
                                 std::to_string(address & -address) + ", not of the " +
                                 std::to_string(size_of(a.type)) + " bytes of one " +
                                 to_string(a.type),
                             loc};
    }
}

/// Equal names of runtime extents are one extent.
void check_names(const ShaderImpl &shader, const Argument *arguments, SourceLoc loc) {
    const auto &parameters = shader.module->kernel()->body->arguments();
    for (size_t i = 0; i < parameters.size(); ++i) {
        const auto &type = *parameters[i]->type();
        for (size_t axis = 0; type.is_view() && axis < type.rank(); ++axis) {
            if (type.axes[axis].extent != ir::runtime_value) {
                continue;
            }
            for (size_t j = 0; j <= i; ++j) {
                const auto &other = *parameters[j]->type();
                for (size_t k = 0; other.is_view() && k < other.rank(); ++k) {
                    if (other.axes[k].extent == ir::runtime_value &&
                        other.axes[k].name == type.axes[axis].name &&
                        arguments[j].extents[k] != arguments[i].extents[axis]) {
                        throw CallError{"extent '" + type.axes[axis].name + "' is " +
                                            std::to_string(arguments[j].extents[k]) +
                                            " in argument " + parameter_name(*shader.module, j) +
                                            " and " + std::to_string(arguments[i].extents[axis]) +
                                            " in argument " + parameter_name(*shader.module, i),
                                        loc};
                    }
                }
            }
        }
    }
}

// How far the exact overlap test may search before it says yes.
constexpr int quick_steps = 200, exact_steps = 1000000;

/// Each place of a written view is an element of its own: which of two stores to one element is the
/// last one would be left to chance.
void check_places(const ir::Module &module, size_t i, const Argument &a, SourceLoc loc) {
    auto overlap = find_self_overlap(a, exact_steps);
    if (!overlap.found) {
        return;
    }
    throw AliasError{"argument " + parameter_name(module, i) + " is written, but its " +
                         overlap_text(a, overlap) + "; write to a view whose elements are distinct",
                     loc};
}

/// Whether a written view overlaps another; a written view whose own elements share addresses is an error.
bool check_aliasing(const ShaderImpl &shader, const Argument *arguments, int count, SourceLoc loc) {
    bool overlaps = false;
    const auto &parameters = shader.module->kernel()->body->arguments();
    for (const auto *stored : shader.stored) {
        auto i = stored->index();
        const auto &a = arguments[i];
        check_places(*shader.module, i, a, loc);
        for (int j = 0; j < count; ++j) {
            if (j != static_cast<int>(i) && parameters[static_cast<size_t>(j)]->type()->is_view() &&
                share_element(a, arguments[j], quick_steps)) {
                overlaps = true;
                if (shader.module->kernel()->noalias &&
                    share_element(a, arguments[j], exact_steps)) {
                    throw AliasError{"arguments " + parameter_name(*shader.module, i) + " at " +
                                         range_text(a) + " and " +
                                         parameter_name(*shader.module, static_cast<size_t>(j)) +
                                         " at " + range_text(arguments[j]) +
                                         " overlap, but the kernel promises noalias",
                                     loc};
                }
            }
        }
    }
    return overlaps && !shader.module->kernel()->noalias;
}

/// A GPU sees its own memory only.
void check_reach(const ShaderImpl &shader, const AcceleratorQueue &queue,
                 std::span<const Argument> arguments, SourceLoc loc) {
    for (size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i].is_view && !queue.reaches(arguments[i])) {
            throw ValueError{"argument " + parameter_name(*shader.module, i) +
                                 " is a tensor over memory of the host, which kernels of '" +
                                 shader.device->name +
                                 "' cannot reach; give one that make_tensor(device, …) made and "
                                 "copy_from filled, and get results with copy_to",
                             loc};
        }
    }
}

/// Memory that a thread keeps between dispatches.
struct ThreadMemory {
    void *data = nullptr;
    size_t bytes = 0;
    ~ThreadMemory() { runtime::free_memory(data, bytes); }
    void *reserve(size_t wanted) {
        if (wanted > bytes) {
            runtime::free_memory(data, bytes);
            bytes = (wanted + 4095) / 4096 * 4096;
            data = runtime::allocate_memory(bytes);
            if (!data) {
                bytes = 0;
                throw OutOfMemoryError{"no memory for " + std::to_string(wanted) +
                                       " bytes of scratch"};
            }
        }
        return data;
    }
};
thread_local ThreadMemory scratch_memory, shared_memory;

struct Job {
    const compiler::CpuKernel *code;
    const compiler::CpuPhase *phase;
    const uint64_t *words;
    void *shared;
    DeviceImpl *device;
};

void run_tasks(void *context, int64_t begin, int64_t end) {
    const auto &job = *static_cast<const Job *>(context);
    DefaultFloatEnvironment environment;
    if (!job.code->reports.empty()) {
        const Reports::Print print = [&job](const std::string &text) {
            job.device->print_line(text);
        };
        Reports reports{job.code->reports, print};
        job.phase->run(job.words, begin, end, scratch_memory.reserve(job.code->scratch_bytes),
                       job.shared);
        return reports.check();
    }
    job.phase->run(job.words, begin, end, scratch_memory.reserve(job.code->scratch_bytes),
                   job.shared);
}

void run_cpu(const ShaderImpl &shader, const compiler::CpuKernel &code, const uint64_t *words) {
    auto &pool = *shader.device->pool;
    Job job{&code, nullptr, words,
            code.shared_bytes ? shared_memory.reserve(code.shared_bytes) : nullptr, shader.device};
    for (const auto &phase : code.phases) {
        job.phase = &phase;
        auto count = phase.task_count;
        if (phase.count) {
            auto *scratch = scratch_memory.reserve(std::max<size_t>(code.scratch_bytes, 64));
            phase.count(words, 0, 0, scratch, job.shared);
            count = *static_cast<const int64_t *>(scratch);
            if (count < 0) {
                throw ResourceError{"the domain of a root nest has more than 2^63 instances"};
            }
        }
        // Below about twenty microseconds, sharing costs more than it gives.
        bool small = phase.task_us > 0 && phase.task_us * static_cast<double>(count) < 20 &&
                     !pool.hot();
        if (count <= 1 || small || pool.threads() == 1) {
            if (count > 0) {
                run_tasks(&job, 0, count);
            }
        } else {
            auto share = std::max<int64_t>(1, count / (4 * pool.threads()));
            pool.run(count, std::min(phase.grain, share), run_tasks, &job);
        }
    }
}

void run_emulated(const ShaderImpl &shader, const compiler::EmulatorKernel &code,
                  const uint64_t *words, std::span<const Argument> arguments) {
    std::vector<emulator::Extent> memory;
    for (size_t i = 0; code.machine && i < arguments.size(); ++i) {
        if (arguments[i].is_view) {
            auto range = range_of(arguments[i]);
            memory.push_back({reinterpret_cast<const void *>(range.low), range.high - range.low,
                              "argument " + parameter_name(*shader.module, i)});
        }
    }
    emulator::run_kernel(
        code, words, memory, *shader.device->pool,
        [device = shader.device](const std::string &line) { device->print_line(line); });
}

}// namespace

bool check_call(const ShaderImpl &shader, const Argument *arguments, int count, SourceLoc loc) {
    shader.device->check_process(loc);
    const auto &parameters = shader.module->kernel()->body->arguments();
    if (count != static_cast<int>(parameters.size())) {
        throw CallError{"the kernel takes " + std::to_string(parameters.size()) + " arguments " +
                            signature(*shader.module) + ", got " + std::to_string(count),
                        loc};
    }
    for (size_t i = 0; i < parameters.size(); ++i) {
        const auto &type = *parameters[i]->type();
        if (type.is_view()) {
            check_view(*shader.module, i, type, arguments[i], loc);
        } else if (arguments[i].is_view || arguments[i].type != type.scalar) {
            throw TypeError{"argument " + parameter_name(*shader.module, i) + " is " +
                                (arguments[i].is_view ? "a tensor" : to_string(arguments[i].type)) +
                                ", the kernel expects a scalar " + to_string(type.scalar),
                            loc};
        }
    }
    check_names(shader, arguments, loc);
    return check_aliasing(shader, arguments, count, loc);
}

void dispatch(const ShaderImpl &shader, const Argument *arguments, int count, SourceLoc loc) {
    auto *accelerator = shader.device->accelerator.get();
    auto queue = accelerator ? accelerator->make_queue() : nullptr;
    dispatch(shader, arguments, count, loc, queue.get());
    if (queue) {
        queue->synchronize();
    }
}

void dispatch(const ShaderImpl &shader, const Argument *arguments, int count, SourceLoc loc,
              AcceleratorQueue *queue) {
    bool aliases = check_call(shader, arguments, count, loc);
    if (!shader.code && !shader.emulated && !queue) {
        std::vector<KernelArgument> list(static_cast<size_t>(count));
        for (int i = 0; i < count; ++i) {
            auto &to = list[static_cast<size_t>(i)];
            to.data = arguments[i].data;
            to.extents.assign(arguments[i].extents, arguments[i].extents + arguments[i].rank);
            to.strides.assign(arguments[i].strides, arguments[i].strides + arguments[i].rank);
            to.scalar_bits = arguments[i].bits;
        }
        interpreter::Options options;
        options.validate = shader.device->options.validate;
        options.print = [device = shader.device](const std::string &line) {
            device->print_line(line);
        };
        interpreter::run(*shader.module, list, options);
        return;
    }
    constexpr size_t inline_words = 128;
    uint64_t block[inline_words];
    std::unique_ptr<uint64_t[]> long_block;
    if (shader.words > inline_words) {
        long_block = std::make_unique<uint64_t[]>(shader.words);
    }
    auto *words = long_block ? long_block.get() : block;
    auto *word = words;
    for (int i = 0; i < count; ++i) {
        const auto &a = arguments[i];
        if (!a.is_view) {
            *word++ = a.bits;
            continue;
        }
        *word++ = reinterpret_cast<uint64_t>(a.data);
        for (int d = 0; d < a.rank; ++d) {
            *word++ = static_cast<uint64_t>(a.extents[d]);
        }
        for (int d = 0; d < a.rank; ++d) {
            *word++ = static_cast<uint64_t>(a.strides[d]);
        }
    }
    if (queue) {
        check_reach(shader, *queue, {arguments, static_cast<size_t>(count)}, loc);
        return queue->launch(shader, aliases ? shader.accelerated_alias_safe() : shader.accelerated,
                             {words, shader.words}, {arguments, static_cast<size_t>(count)}, loc);
    }
    if (shader.emulated) {
        auto safe = aliases ? shader.emulated_alias_safe() : shader.emulated;
        return run_emulated(shader, *safe, words, {arguments, static_cast<size_t>(count)});
    }
    if (aliases) {
        auto safe = shader.alias_safe();
        run_cpu(shader, *safe, words);
    } else {
        run_cpu(shader, *shader.code, words);
    }
}

}// namespace luisa::tile::runtime
