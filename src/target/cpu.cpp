// SPDX-License-Identifier: Apache-2.0
#include "target/cpu.h"

#include <unistd.h>

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

}// namespace

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
    facts.l1_bytes = cache_bytes(_SC_LEVEL1_DCACHE_SIZE, facts.l1_bytes);
    facts.l2_bytes = cache_bytes(_SC_LEVEL2_CACHE_SIZE, facts.l2_bytes);
    return facts;
}

}// namespace luisa::tile::target
