// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/runtime.h>

#include "compile/cpu.h"
#include "ir/module.h"
#include "realize/cpu/program.h"
#include "runtime/cpu/pool.h"

#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace luisa::tile::runtime {

struct ShaderImpl {
    std::shared_ptr<DeviceImpl> device;
    std::shared_ptr<const ir::Module> module;
    std::string text;
    size_t words = 0;                        ///< of the argument block
    std::vector<const ir::Value *> stored;   ///< parameters that are written
    std::shared_ptr<const compiler::CpuKernel> code;///< null on the interpreter
    ShaderMetadata metadata;

    /// The variant for views that overlap a written one; compiled when first needed.
    [[nodiscard]] std::shared_ptr<const compiler::CpuKernel> alias_safe() const;

private:
    mutable std::mutex alias_mutex;
    mutable std::shared_ptr<const compiler::CpuKernel> alias_code;
};

struct DeviceImpl {
    DeviceImpl(std::string name, DeviceOptions options);
    [[nodiscard]] bool is_cpu() const noexcept { return name == "cpu"; }
    std::shared_ptr<const ShaderImpl> compile(const std::shared_ptr<DeviceImpl> &self,
                                              const Kernel &kernel);

    std::string name;
    DeviceOptions options;
    emit::CpuTarget target;
    std::unique_ptr<Pool> pool;
    std::mutex mutex;///< of the cache
    // The cache holds its shaders weakly: a shader keeps its device.
    std::unordered_multimap<uint64_t, std::shared_ptr<const ShaderImpl>> cache;

private:
    static void note_stores(const ir::Operation &op, std::vector<const ir::Value *> &stored);
};

}// namespace luisa::tile::runtime
