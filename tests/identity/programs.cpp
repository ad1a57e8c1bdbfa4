// SPDX-License-Identifier: Apache-2.0
// Prints the TileIR of every shared program with its source lines, and on stderr the standard that
// this file was compiled as.
#include "unit/frontend/programs.h"

#include <cstdio>

int main() {
    std::fprintf(stderr, "%ld\n", static_cast<long>(__cplusplus));
    for (const auto &program : luisa::tile::test::programs::all()) {
        std::printf("%s\n%s\n", program.name, program.capture().ir_text(true).c_str());
    }
    return 0;
}
