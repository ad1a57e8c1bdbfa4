// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "emit/llvm/ptx.h"
#include "ir/module.h"
#include "ir/report.h"
#include "realize/simt/program.h"
#include "target/cuda.h"

#include <string>
#include <string_view>
#include <vector>

namespace luisa::tile::compiler {

/// A kernel that another process can load: PTX, and what a driver assembled of it for one architecture.
struct CudaObject {
    std::string ptx;
    std::string cubin;///< empty: not assembled yet
    std::vector<simt::Phase> phases;
    std::vector<ir::Report> reports;///< by site
    size_t argument_words = 0;
    size_t report_values = 0;///< of the longest report
    std::string plan;
};

struct CudaOptions {
    target::CudaFacts facts;
    int ptx_isa = 0;       ///< of the PTX; 0: the oldest that has the architecture
    bool may_alias = false;///< views may overlap: loads are taken before later stores
    int driver_version = 0;///< of what assembles it; part of the key of a cubin alone
};

struct CudaTimes {
    double plan_ms = 0, realize_ms = 0;
    emit::EmitTimes emit;
};

/// The whole pipeline to PTX on a verified Candidate module. UnsupportedError names the operation and its line
/// when there is no realization. Thread safe.
[[nodiscard]] CudaObject compile_cuda(const ir::Module &candidate, const CudaOptions &options,
                                      CudaTimes *times = nullptr);

/// A kernel in Machine form and its launches as what a driver loads.
[[nodiscard]] CudaObject make_cuda_object(const ir::Module &machine,
                                          std::vector<simt::Phase> phases, size_t argument_words,
                                          const CudaOptions &options,
                                          emit::EmitTimes *times = nullptr);

/// How the functions of a kernel's launches are emitted; `facts` must outlive the result.
[[nodiscard]] emit::GpuOptions gpu_options(const std::vector<simt::Phase> &phases,
                                           size_t argument_words, const target::CudaFacts &facts,
                                           int ptx_isa);

/// Words of an argument block for the parameters of a kernel.
[[nodiscard]] size_t argument_words(const ir::Module &candidate);

/// All that the PTX and the cubin of a program depend on, as lines of text. Equal in every process.
[[nodiscard]] std::string key_text(const ir::Module &candidate, const std::string &canonical_text,
                                   const CudaOptions &options);

/// What is kept of a kernel, and back. `from_bytes` gives false for what `to_bytes` did not write.
[[nodiscard]] std::string to_bytes(const CudaObject &object);
[[nodiscard]] bool from_bytes(std::string_view bytes, CudaObject &object);

}// namespace luisa::tile::compiler
