// SPDX-License-Identifier: Apache-2.0
#include "target/cpu.h"

#include <unistd.h>
#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#endif

namespace luisa::tile::target {

namespace {

bool has(const std::string &features, const std::string &feature) {
    // Between commas, so that avx512f is not found in avx512fp16.
    return ("," + features + ",").find(",+" + feature + ",") != std::string::npos;
}

int64_t cache_bytes(int name, int64_t otherwise) {
    auto size = sysconf(name);
    return size > 0 ? size : otherwise;
}

#if defined(__x86_64__)
constexpr CpuLevel levels[] = {
    {"x86-64", "", [] { return true; }},
    {"x86-64-v3",
     "+avx,+avx2,+bmi,+bmi2,+cx16,+f16c,+fma,+lzcnt,+movbe,+popcnt,+sse3,+sse4.1,+sse4.2,+ssse3",
     [] {
         return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi2");
     }},
    {"x86-64-v4",
     "+avx,+avx2,+avx512bw,+avx512cd,+avx512dq,+avx512f,+avx512vl,+bmi,+bmi2,+cx16,+f16c,+fma,"
     "+lzcnt,+movbe,+popcnt,+sse3,+sse4.1,+sse4.2,+ssse3",
     [] {
         return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                __builtin_cpu_supports("avx512cd");
     }},
};
#endif

}// namespace

std::span<const CpuLevel> cpu_levels() noexcept {
#if defined(__x86_64__)
    return levels;
#else
    return {};
#endif
}

const CpuLevel *find_cpu_level(const std::string &name) noexcept {
    for (const auto &level : cpu_levels()) {
        if (name == level.name) {
            return &level;
        }
    }
    return nullptr;
}

std::string cpu_names(const std::string &host, bool runnable) {
    auto text = "\"" + host + "\" (this machine)";
    for (const auto &level : cpu_levels()) {
        if (!runnable || level.runs_here()) {
            text += std::string{", \""} + level.name + "\"";
        }
    }
    return text;
}

bool matrix_registers_granted() noexcept {
#if defined(__x86_64__) && defined(__linux__)
    constexpr long request_permission = 0x1023, tile_data = 18;// of arch_prctl
    static const bool granted = syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
    return granted;
#else
    return false;
#endif
}

CpuFacts cpu_facts(const std::string &features, int threads) {
    CpuFacts facts;
    facts.threads = threads;
    if (has(features, "avx512f") && has(features, "avx512vl") && has(features, "avx512bw")) {
        facts.vector_bytes = 64;
        facts.vector_registers = 32;
    } else if (has(features, "avx2")) {
        facts.vector_bytes = 32;
        facts.vector_registers = 16;
    } else {
        facts.vector_bytes = 16;
        facts.vector_registers = has(features, "neon") ? 32 : 16;
    }
    bool avx512 = facts.vector_bytes == 64;
    facts.dot_bf16 = avx512 && has(features, "avx512bf16");
    facts.dot_int8 = (avx512 && has(features, "avx512vnni")) ||
                     (facts.vector_bytes == 32 && has(features, "avxvnni"));
    facts.matrix_bf16 = avx512 && has(features, "amx-tile") && has(features, "amx-bf16");
    facts.matrix_int8 = avx512 && has(features, "amx-tile") && has(features, "amx-int8");
    facts.l1_bytes = cache_bytes(_SC_LEVEL1_DCACHE_SIZE, facts.l1_bytes);
    facts.l2_bytes = cache_bytes(_SC_LEVEL2_CACHE_SIZE, facts.l2_bytes);
    return facts;
}

}// namespace luisa::tile::target
