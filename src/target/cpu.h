// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace luisa::tile::target {

/// What the planner needs to know of a CPU.
struct CpuFacts {
    int vector_bytes = 64;    ///< widest vector that arithmetic runs at full speed on
    int vector_registers = 32;///< of that width
    int64_t l1_bytes = 32 << 10, l2_bytes = 1 << 20;///< data cache of one core
    int threads = 1;
    // Instructions that multiply groups of narrow elements and add the products to 32-bit sums.
    bool dot_bf16 = false, dot_int8 = false;///< lanes of vectors: two bf16, four 8-bit integers
    bool matrix_bf16 = false, matrix_int8 = false;///< rows of matrix registers of 16 × 64 bytes
};

/// Whether this process may use matrix registers: their state is big, and the system grants it on request. Asks once.
[[nodiscard]] bool matrix_registers_granted() noexcept;

/// Facts of a CPU from LLVM's feature string ("+avx512f,+fma,…"); caches are those of this machine.
[[nodiscard]] CpuFacts cpu_facts(const std::string &features, int threads);

/// A generic level of a processor family: what it means to LLVM, and whether this machine can run it.
struct CpuLevel {
    const char *name, *features;
    bool (*runs_here)();
};
/// The levels of the family that this library was built for; empty where there are none.
[[nodiscard]] std::span<const CpuLevel> cpu_levels() noexcept;
/// The level of this name, or null.
[[nodiscard]] const CpuLevel *find_cpu_level(const std::string &name) noexcept;
/// The names that a message lists: `"znver4" (this machine), "x86-64"`. With `runnable`, only levels that run here.
[[nodiscard]] std::string cpu_names(const std::string &host, bool runnable);

}// namespace luisa::tile::target
