// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

namespace luisa::tile::target {

/// What the planner needs to know of a CPU.
struct CpuFacts {
    int vector_bytes = 64;    ///< widest vector that arithmetic runs at full speed on
    int vector_registers = 32;///< of that width
    int64_t l1_bytes = 32 << 10, l2_bytes = 1 << 20;///< data cache of one core
    int threads = 1;
};

/// Facts of a CPU from LLVM's feature string ("+avx512f,+fma,…"); caches are those of this machine.
[[nodiscard]] CpuFacts cpu_facts(const std::string &features, int threads);

}// namespace luisa::tile::target
