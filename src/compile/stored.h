// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "cache/object_cache.h"
#include "compile/cpu.h"

#include <string>
#include <string_view>

namespace luisa::tile::compiler {

/// Everything that the code and the plan of a kernel depend on, as lines of text: the program with its
/// locations, every option, the target, the compiler. Equal in every process.
[[nodiscard]] std::string key_text(const ir::Module &candidate, const std::string &canonical_text,
                                   const CpuOptions &options);

/// What is kept of a kernel, and back. `from_bytes` gives false for what `to_bytes` did not write.
[[nodiscard]] std::string to_bytes(const CpuObject &object);
[[nodiscard]] bool from_bytes(std::string_view bytes, CpuObject &object);

/// `compile_cpu` with a cache on disk asked first and told afterwards.
[[nodiscard]] std::shared_ptr<const CpuKernel> compile_cpu(const ir::Module &candidate,
                                                           const std::string &canonical_text,
                                                           const CpuOptions &options,
                                                           cache::ObjectCache &cache);

}// namespace luisa::tile::compiler
