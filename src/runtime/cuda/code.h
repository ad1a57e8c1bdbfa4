// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compile/cuda.h"
#include "runtime/accelerator.h"
#include "runtime/cuda/context.h"

#include <memory>
#include <string>
#include <vector>

namespace luisa::tile::runtime::cuda {

/// A launch that is ready.
struct LoadedPhase {
    FunctionHandle function = nullptr;
    int64_t instances = 1;///< -1: known at launch only
    int64_t blocks = 0;   ///< that the device holds at once
    int threads = 0;
    size_t shared_bytes = 0, scratch_bytes = 0;///< a block
};

/// A kernel loaded on one GPU; unloaded when the last holder goes.
class Code : public AcceleratorCode {
public:
    /// Assembles the PTX unless there is a cubin, which is then kept in `object`. CompileError with the
    /// assembler's log, ResourceError for a block that the device cannot hold.
    Code(std::shared_ptr<const Context> context, compiler::CudaObject &object);
    ~Code() override;
    Code(const Code &) = delete;
    Code &operator=(const Code &) = delete;
    [[nodiscard]] const ShaderMetadata &metadata() const noexcept override { return about; }
    [[nodiscard]] int launches() const noexcept override { return static_cast<int>(phases.size()); }

    std::vector<LoadedPhase> phases;
    std::vector<ir::Report> reports;
    size_t argument_words = 0, report_values = 0;
    ShaderMetadata about;

private:
    void assemble_and_load(compiler::CudaObject &object);
    void check_loaded(int result, size_t bytes) const;
    LoadedPhase prepare(const simt::Phase &phase);

    std::shared_ptr<const Context> _context;
    ModuleHandle _module = nullptr;
};

/// What the driver makes of PTX for its device. CompileError with the log.
[[nodiscard]] std::string assemble(const Context &context, const std::string &ptx);

}// namespace luisa::tile::runtime::cuda
