// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/runtime.h>

#include "compile/blocks.h"
#include "compile/stored.h"
#include "ir/module.h"
#include "realize/cpu/program.h"
#include "runtime/accelerator.h"
#include "runtime/cpu/pool.h"

#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace luisa::tile::runtime {

/// Owned by its device's cache. Handles share the ownership of the device, so that neither can die
/// before the other and no cycle keeps both.
struct ShaderImpl {
    DeviceImpl *device = nullptr;
    std::shared_ptr<const ir::Module> module;
    std::string text;
    size_t words = 0;                                        ///< of the argument block
    std::vector<const ir::Value *> stored;                   ///< parameters that are written
    std::shared_ptr<const compiler::CpuKernel> code;         ///< of the CPU
    std::shared_ptr<const AcceleratorCode> accelerated;      ///< of an accelerator
    std::shared_ptr<const compiler::EmulatorKernel> emulated;///< on the emulator
    ShaderMetadata metadata;
    bool use_disk = true;

    /// The variant for views that overlap a written one; compiled when first needed.
    [[nodiscard]] std::shared_ptr<const compiler::CpuKernel> alias_safe() const;
    [[nodiscard]] std::shared_ptr<const AcceleratorCode> accelerated_alias_safe() const;
    [[nodiscard]] std::shared_ptr<const compiler::EmulatorKernel> emulated_alias_safe() const;

    std::mutex build_mutex;///< held by the thread that compiles
    bool built = false;

private:
    mutable std::mutex alias_mutex;
    mutable std::shared_ptr<const compiler::CpuKernel> alias_code;
    mutable std::shared_ptr<const AcceleratorCode> accelerated_alias_code;
    mutable std::shared_ptr<const compiler::EmulatorKernel> alias_emulated;
};

struct DeviceImpl {
    DeviceImpl(std::string name, DeviceOptions options);
    ~DeviceImpl();
    DeviceImpl(const DeviceImpl &) = delete;
    DeviceImpl &operator=(const DeviceImpl &) = delete;
    /// True in a process forked after the device was made.
    [[nodiscard]] bool forked() const noexcept;
    /// StateError in a process forked after the device was made: its workers are not there.
    void check_process(SourceLoc loc = {}) const;
    [[nodiscard]] bool is_cpu() const noexcept { return name == "cpu"; }
    [[nodiscard]] bool is_emulator() const noexcept { return name == "cuda-emulator"; }
    /// Says what does not stop the work but should be known.
    void warn(const std::string &text);
    /// Compiles a kernel, or finds it on disk if that is allowed.
    [[nodiscard]] std::shared_ptr<const compiler::CpuKernel> make_code(const ShaderImpl &shader,
                                                                       bool may_alias,
                                                                       bool use_disk) const;
    /// Hands a line of a kernel's print to the device's receiver, one line at a time.
    void print_line(const std::string &line);
    /// Programs of equal text are compiled once; different ones at the same time.
    static std::shared_ptr<const ShaderImpl> compile(const std::shared_ptr<DeviceImpl> &self,
                                                     const Kernel &kernel,
                                                     const CompileOptions &options);

    std::string name;
    DeviceOptions options;
    emit::CpuTarget target;
    const target::CudaFacts *emulated =
        nullptr;///< what the emulator stands for; null: its own choice
    std::unique_ptr<Pool> pool;
    std::unique_ptr<Accelerator> accelerator;      ///< null on the CPU and the interpreter
    std::unique_ptr<tile::cache::ObjectCache> disk;///< null when there is none
    std::mutex mutex;                              ///< of the cache
    std::unordered_multimap<uint64_t, std::unique_ptr<ShaderImpl>> cache;///< by hash of the text

private:
    std::unique_ptr<ShaderImpl> make_shader(const Kernel &kernel);
    ShaderImpl &entry(const Kernel &kernel);
    void build(ShaderImpl &shader, bool use_disk);
    std::mutex _print_mutex;
    uint32_t _generation;///< of the process, see fork_generation
    static void note_stores(const ir::Operation &op, std::vector<const ir::Value *> &stored);
};

/// `dispatch` of device.h on a queue of the shader's device: checks, then starts. Null: on the host.
void dispatch(const ShaderImpl &shader, const Argument *arguments, int count, SourceLoc loc,
              AcceleratorQueue *queue);

}// namespace luisa::tile::runtime
