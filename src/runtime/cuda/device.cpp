// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/device.h"

#include "runtime/cuda/queue.h"
#include "runtime/device.h"

#include <chrono>
#include <optional>

namespace luisa::tile::runtime::cuda {

namespace {

double now_ms() {
    return std::chrono::duration<double, std::milli>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

}// namespace

GpuDevice::GpuDevice(int ordinal, DeviceImpl &owner)
    : _owner{owner}, _context{std::make_shared<Context>(ordinal)}, _pool{
                                                                       std::make_shared<MemoryPool>(
                                                                           _context)} {}

std::string GpuDevice::description() const {
    const auto &f = _context->facts;
    return _context->name + ": " + _context->product + ", " + f.name + ", " +
           std::to_string(f.multiprocessors) + " multiprocessors, " +
           std::to_string(_context->memory_bytes >> 20) + " MiB, L2 " +
           std::to_string(f.l2_bytes >> 20) + " MiB, shared memory " +
           std::to_string(f.shared_per_block >> 10) + " KiB a block, driver for CUDA " +
           std::to_string(_context->cu.version / 1000) + "." +
           std::to_string(_context->cu.version % 1000 / 10);
}

std::shared_ptr<void> GpuDevice::allocate(size_t bytes) { return _pool->allocate(bytes); }

std::unique_ptr<AcceleratorQueue> GpuDevice::make_queue(std::optional<void *> native) {
    QueueOptions options;
    options.native = native;
    options.synchronous = _owner.options.validate;
    options.print = [owner = &_owner](const std::string &line) { owner->print_line(line); };
    return std::make_unique<Queue>(_context, _pool, std::move(options));
}

/// The kernel in an entry, or null: one that passed its checks and still does not load is not used either.
std::shared_ptr<Code> GpuDevice::find(tile::cache::ObjectCache &disk,
                                      const tile::cache::Key &key) const {
    auto bytes = disk.find(key);
    if (!bytes) {
        return nullptr;
    }
    compiler::CudaObject object;
    if (!compiler::from_bytes(*bytes, object) || object.cubin.empty()) {
        disk.reject(key, "its payload is not a kernel");
        return nullptr;
    }
    try {
        return std::make_shared<Code>(_context, object);
    } catch (const CompileError &error) {
        disk.reject(key, error.message());
        return nullptr;
    }
}

std::shared_ptr<const AcceleratorCode> GpuDevice::compile(const ShaderImpl &shader, bool may_alias,
                                                          tile::cache::ObjectCache *disk) {
    compiler::CudaOptions options;
    options.facts = _context->facts;
    options.ptx_isa = _context->ptx_isa;
    options.may_alias = may_alias;
    options.driver_version = _context->cu.version;
    auto start = now_ms();
    std::optional<tile::cache::Key> key;
    if (disk) {
        key.emplace(compiler::key_text(*shader.module, shader.text, options));
        if (auto code = find(*disk, *key)) {
            code->about.disk = DiskCache::HIT;
            code->about.disk_ms = now_ms() - start;
            return code;
        }
    }
    auto disk_ms = now_ms() - start;
    compiler::CudaTimes times;
    auto object = compiler::compile_cuda(*shader.module, options, &times);
    start = now_ms();
    auto code = std::make_shared<Code>(_context, object);
    auto &about = code->about;
    about.link_ms = now_ms() - start;
    about.plan_ms = times.plan_ms;
    about.realize_ms = times.realize_ms;
    about.emit_ms = times.emit.build_ms;
    about.codegen_ms = times.emit.codegen_ms;
    if (disk) {
        start = now_ms();
        if (!object.cubin.empty()) {
            disk->keep(*key, compiler::to_bytes(object));
        }
        about.disk = DiskCache::MISS;
        about.disk_ms = disk_ms + now_ms() - start;
    }
    return code;
}

std::unique_ptr<Accelerator> make_accelerator(int ordinal, DeviceImpl &owner) {
    return std::make_unique<GpuDevice>(ordinal, owner);
}

}// namespace luisa::tile::runtime::cuda
