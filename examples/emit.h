// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/kernel.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <initializer_list>

// The kernels of an example as text: what `luisa-tile explain --example` reads.

namespace example {

/// True if the kernels' text is asked for, not their run.
inline bool emit_tir(int argc, char **argv) {
    return std::any_of(argv, argv + argc,
                       [](const char *a) { return !std::strcmp(a, "--emit-tir"); });
}

/// Prints the canonical TileIR of kernels with their source lines; on stderr, the C++ standard that
/// the example was compiled as. The exit status.
inline int print_tir(std::initializer_list<luisa::tile::Kernel> kernels) {
    for (const auto &kernel : kernels) {
        std::printf("%s\n", kernel.ir_text(true).c_str());
    }
    std::fprintf(stderr, "%ld\n", static_cast<long>(__cplusplus));
    return 0;
}

}// namespace example
