// SPDX-License-Identifier: Apache-2.0
#include "runtime/device.h"

#include "frontend/kernel_access.h"
#include "interpreter/interpreter.h"
#include "ir/effects.h"
#include "runtime/cuda/device.h"
#include "runtime/memory.h"
#include "target/cpu.h"
#include "target/cuda.h"
#include "types/float_environment.h"

#include <hwloc.h>
#include <xxhash.h>

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace luisa::tile {

namespace runtime {

namespace {

constexpr int most_threads = 4096;

int threads_from_environment(int otherwise) {
    const char *text = std::getenv("LUISA_TILE_THREADS");
    if (!text) {
        return otherwise;
    }
    int value = 0;
    auto *end = text + std::strlen(text);
    auto [rest, error] = std::from_chars(text, end, value);
    if (error != std::errc{} || rest != end || value < 1 || value > most_threads) {
        throw ValueError{std::string{"LUISA_TILE_THREADS is '"} + text +
                         "', expected a number of threads from 1 to " +
                         std::to_string(most_threads)};
    }
    return value;
}

/// How often this process descends by fork from the one that loaded the library.
uint32_t fork_generation() {
    static std::atomic<uint32_t> generation{0};
    static const int registered = pthread_atfork(
        nullptr, nullptr, [] { generation.fetch_add(1, std::memory_order_relaxed); });
    static_cast<void>(registered);
    return generation.load(std::memory_order_relaxed);
}

/// The number of a GPU in "cuda" and "cuda:1".
int cuda_ordinal(const std::string &name) {
    if (name == "cuda") {
        return 0;
    }
    int number = 0;
    const auto *begin = name.data() + std::strlen("cuda:"), *end = name.data() + name.size();
    auto [rest, error] = std::from_chars(begin, end, number);
    if (error != std::errc{} || rest != end || number < 0) {
        throw TargetError{"no device called '" + name +
                          "'; a GPU is \"cuda\" or \"cuda:\" and its number, such as \"cuda:1\""};
    }
    return number;
}

emit::CpuTarget cpu_target(const std::string &name) {
    auto host = emit::host_cpu();
    if (name.empty() || name == host.cpu) {
        return host;
    }
    const auto *level = target::find_cpu_level(name);
    if (level && level->runs_here()) {
        return {level->name, level->features};
    }
    throw TargetError{"DeviceOptions::cpu is \"" + name +
                      "\", which this machine cannot run; it runs " +
                      target::cpu_names(host.cpu, true)};
}

}// namespace

std::shared_ptr<void> allocate(const Device &device, size_t bytes) {
    const auto &impl = device.shared_impl();
    if (impl->accelerator) {
        impl->check_process();
        return impl->accelerator->allocate(bytes);
    }
    void *memory = runtime::allocate_memory(bytes);
    if (!memory) {
        throw OutOfMemoryError{"no memory for a tensor of " + std::to_string(bytes) + " bytes"};
    }
    return {memory, [bytes](void *p) { runtime::free_memory(p, bytes); }};
}

bool host_reads_memory_of(const Device &device) noexcept {
    return device.shared_impl()->accelerator == nullptr;
}

void fail_host_read(SourceLoc loc) {
    throw ValueError{
        "at: the tensor is in the memory of a GPU, which the host cannot read; copy_to a "
        "vector, and copy_from one to write",
        loc};
}

void fail_extent(int64_t extent, SourceLoc loc) {
    throw ValueError{"extent must be >= 0, got " + std::to_string(extent), loc};
}

int64_t checked_bytes(const int64_t *extents, int rank, size_t element, SourceLoc loc) {
    auto bytes = static_cast<int64_t>(element);
    for (int i = 0; i < rank; ++i) {
        if (extents[i] < 0) {
            fail_extent(extents[i], loc);
        }
        if (__builtin_mul_overflow(bytes, extents[i], &bytes)) {
            throw ValueError{"the size of this tensor leaves the range of int64", loc};
        }
    }
    return bytes;
}

/// The row that the emulator stands for; null: its own choice.
static const target::CudaFacts *emulated_architecture(const std::string &asked) {
    if (asked.empty()) {
        return nullptr;
    }
    const auto *found = target::find_cuda(asked);
    if (!found) {
        throw TargetError{"DeviceOptions::architecture is '" + asked + "', expected one of " +
                          target::cuda_names()};
    }
    return found;
}

/// Both kinds of device share this: the interpreter has no pool and no code.
DeviceImpl::DeviceImpl(std::string device_name, DeviceOptions device_options)
    : name{std::move(device_name)}, options{std::move(device_options)}, _generation{
                                                                            fork_generation()} {
    if (options.threads < 0 || options.threads > most_threads) {
        throw ValueError{"DeviceOptions::threads is " + std::to_string(options.threads) +
                         ", expected 0 (all cores) to " + std::to_string(most_threads)};
    }
    if (options.cache_bytes < 0) {
        throw ValueError{"DeviceOptions::cache_bytes is " + std::to_string(options.cache_bytes) +
                         ", expected a number of bytes >= 0"};
    }
    if (options.threads == 0) {
        auto cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
        options.threads = threads_from_environment(cores);
    }
    if (name == "cuda" || name.starts_with("cuda:")) {
        accelerator = cuda::make_accelerator(cuda_ordinal(name), *this);
    }
    if (is_emulator()) {
        emulated = emulated_architecture(options.architecture);
        target = emit::host_cpu();
        pool = std::make_unique<Pool>(options.threads);
    }
    if (is_cpu()) {
        target = cpu_target(options.cpu);
        pool = std::make_unique<Pool>(options.threads);
    }
    if (is_cpu() || accelerator) {
        if (options.cache) {
            disk = tile::cache::ObjectCache::open(options.cache_directory, options.cache_bytes,
                                                  [this](const std::string &text) { warn(text); });
        }
    }
}

DeviceImpl::~DeviceImpl() {
    if (forked()) {
        // Its threads stayed in the parent process; there is nothing to wait for.
        static_cast<void>(pool.release());
    }
}

bool DeviceImpl::forked() const noexcept { return _generation != fork_generation(); }

void DeviceImpl::check_process(SourceLoc loc) const {
    if (forked()) {
        throw StateError{"device '" + name +
                             "' was created before this process was forked; create it in the child",
                         loc};
    }
}

std::unique_ptr<ShaderImpl> DeviceImpl::make_shader(const Kernel &kernel) {
    auto shader = std::make_unique<ShaderImpl>();
    shader->device = this;
    shader->module = module_of(kernel);
    shader->text = canonical_text(kernel);
    return shader;
}

ShaderImpl &DeviceImpl::entry(const Kernel &kernel) {
    const auto &text = canonical_text(kernel);
    auto hash = XXH3_64bits(text.data(), text.size());
    std::lock_guard lock{mutex};
    auto [first, last] = cache.equal_range(hash);
    for (; first != last; ++first) {
        if (first->second->text == text) {
            return *first->second;
        }
    }
    return *cache.emplace(hash, make_shader(kernel))->second;
}

std::shared_ptr<const ShaderImpl> DeviceImpl::compile(const std::shared_ptr<DeviceImpl> &self,
                                                      const Kernel &kernel,
                                                      const CompileOptions &compile_options) {
    self->check_process();
    if (!compile_options.cached) {
        struct Alone {
            std::shared_ptr<DeviceImpl> device;// outlives the shader below
            std::unique_ptr<ShaderImpl> shader;
        };
        auto alone = std::make_shared<Alone>(Alone{self, self->make_shader(kernel)});
        self->build(*alone->shader, false);
        return {alone, alone->shader.get()};
    }
    auto &shader = self->entry(kernel);
    std::lock_guard lock{shader.build_mutex};
    if (!shader.built) {
        self->build(shader, compile_options.disk);
        shader.built = true;
    }
    return {self, &shader};
}

std::shared_ptr<const compiler::CpuKernel> DeviceImpl::make_code(const ShaderImpl &shader,
                                                                 bool may_alias,
                                                                 bool use_disk) const {
    const char *choices = std::getenv("LUISA_TILE_PLAN");
    compiler::CpuOptions how{target, options.threads, may_alias, std::nullopt,
                             choices ? choices : ""};
    return disk && use_disk ? compiler::compile_cpu(*shader.module, shader.text, how, *disk)
                            : compiler::compile_cpu(*shader.module, how);
}

/// What compiling for the emulator gave.
static void note_emulated(const compiler::EmulatorKernel &code, ShaderMetadata &m) {
    m.plan = code.plan;
    for (const auto &phase : code.phases) {
        m.scratch_bytes = std::max(m.scratch_bytes, phase.scratch_bytes);
        m.shared_bytes = std::max(m.shared_bytes, phase.shared_bytes);
    }
    m.plan_ms = code.plan_ms;
    m.realize_ms = code.realize_ms;
    m.emit_ms = code.emit.build_ms + code.emit.optimise_ms;
    m.codegen_ms = code.emit.codegen_ms;
    m.link_ms = code.emit.link_ms;
}

void DeviceImpl::build(ShaderImpl &shader, bool use_disk) {
    shader.use_disk = use_disk;
    shader.words = 0;
    for (auto *parameter : shader.module->kernel()->body->arguments()) {
        shader.words += cpu::argument_words(*parameter->type());
    }
    for (auto *op : *shader.module->kernel()->body) {
        note_stores(*op, shader.stored);
    }
    if (accelerator) {
        shader.accelerated = accelerator->compile(shader, false, use_disk ? disk.get() : nullptr);
        shader.metadata = shader.accelerated->metadata();
        return;
    }
    if (is_emulator()) {
        shader.emulated = compiler::compile_emulator(*shader.module,
                                                     {false, options.validate, emulated});
        note_emulated(*shader.emulated, shader.metadata);
    }
    if (!is_cpu()) {
        return;
    }
    shader.code = make_code(shader, false, use_disk);
    auto &m = shader.metadata;
    const auto &code = *shader.code;
    m.plan = code.plan;
    m.scratch_bytes = code.scratch_bytes;
    m.shared_bytes = code.shared_bytes;
    m.plan_ms = code.plan_ms;
    m.realize_ms = code.realize_ms;
    m.emit_ms = code.emit.build_ms + code.emit.optimise_ms;
    m.codegen_ms = code.emit.codegen_ms;
    m.link_ms = code.emit.link_ms;
    m.disk = code.from_disk ? DiskCache::HIT : code.asked_disk ? DiskCache::MISS : DiskCache::OFF;
    m.disk_ms = code.disk_ms;
}

void DeviceImpl::note_stores(const ir::Operation &op, std::vector<const ir::Value *> &stored) {
    if (ir::writes_view(op) &&
        std::find(stored.begin(), stored.end(), op.operand(0)) == stored.end()) {
        stored.push_back(op.operand(0));
    }
    for (auto *region : op.regions()) {
        for (auto *inner : *region) {
            note_stores(*inner, stored);
        }
    }
}

void DeviceImpl::warn(const std::string &text) {
    static std::atomic<bool> said{false};
    if (options.warn) {
        options.warn(text);
    } else if (!said.exchange(true)) {
        auto line = "luisa-tile: " + text + "\n";
        std::fwrite(line.data(), 1, line.size(), stderr);
    }
}

void DeviceImpl::print_line(const std::string &line) {
    std::lock_guard lock{_print_mutex};
    if (options.print) {
        options.print(line);
        return;
    }
    auto text = line + "\n";
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

std::shared_ptr<const compiler::CpuKernel> ShaderImpl::alias_safe() const {
    std::lock_guard lock{alias_mutex};
    if (!alias_code) {
        alias_code = device->make_code(*this, true, use_disk);
    }
    return alias_code;
}

std::shared_ptr<const AcceleratorCode> ShaderImpl::accelerated_alias_safe() const {
    std::lock_guard lock{alias_mutex};
    if (!accelerated_alias_code) {
        accelerated_alias_code = device->accelerator->compile(
            *this, true, use_disk ? device->disk.get() : nullptr);
    }
    return accelerated_alias_code;
}

std::shared_ptr<const compiler::EmulatorKernel> ShaderImpl::emulated_alias_safe() const {
    std::lock_guard lock{alias_mutex};
    if (!alias_emulated) {
        alias_emulated = compiler::compile_emulator(
            *module, {true, device->options.validate, device->emulated});
    }
    return alias_emulated;
}

}// namespace runtime

Device Device::create(const std::string &name, DeviceOptions options) {
    bool cuda = name == "cuda" || name.starts_with("cuda:");
    if (name != "cpu" && name != "interpreter" && name != "cuda-emulator" && !cuda) {
        throw TargetError{"no device called '" + name +
                          "'; there are \"cpu\", \"interpreter\", \"cuda-emulator\", \"cuda\" and "
                          "\"cuda:1\", \"cuda:2\", … of several GPUs"};
    }
    Device device;
    device._impl = std::make_shared<runtime::DeviceImpl>(name, std::move(options));
    return device;
}

const std::shared_ptr<runtime::DeviceImpl> &Device::shared_impl() const {
    if (!_impl) {
        throw LifetimeError{"this Device is empty: Device::create(\"cpu\") makes one"};
    }
    return _impl;
}

const std::string &Device::name() const { return shared_impl()->name; }
int Device::threads() const { return shared_impl()->options.threads; }

Shader Device::compile(const Kernel &kernel, CompileOptions compile_options) const {
    return Shader{runtime::DeviceImpl::compile(shared_impl(), kernel, compile_options)};
}

CompileResult Device::try_compile(const Kernel &kernel, CompileOptions compile_options) const {
    try {
        return {compile(kernel, compile_options), std::nullopt};
    } catch (const Error &error) {
        return {{}, error};
    }
}

std::string Device::description() const {
    std::string text = shared_impl()->name;
    if (_impl->accelerator) {
        return _impl->accelerator->description();
    }
    hwloc_topology_t topology = nullptr;
    if (hwloc_topology_init(&topology) == 0 && hwloc_topology_load(topology) == 0) {
        auto cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
        text += ": " + _impl->target.cpu + ", " + std::to_string(std::max(cores, 1)) + " cores, " +
                std::to_string(_impl->options.threads) + " threads";
        for (auto [type, label] : {std::pair{HWLOC_OBJ_L1CACHE, "L1"},
                                   {HWLOC_OBJ_L2CACHE, "L2"},
                                   {HWLOC_OBJ_L3CACHE, "L3"}}) {
            if (auto *cache = hwloc_get_obj_by_type(topology, type, 0)) {
                text += std::string{", "} + label + " " +
                        std::to_string(cache->attr->cache.size / 1024) + " KiB";
            }
        }
    }
    if (topology) {
        hwloc_topology_destroy(topology);
    }
    return text;
}

const ShaderMetadata &Shader::metadata() const {
    if (!_impl) {
        throw LifetimeError{"this Shader is empty: compile a kernel first"};
    }
    return _impl->metadata;
}

}// namespace luisa::tile
