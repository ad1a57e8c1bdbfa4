// SPDX-License-Identifier: Apache-2.0
// luisa-tile-bench: measures tile kernels against the libraries that one would use instead.
#include "options.h"
#include "runner.h"

#include <cstdio>
#include <cstdlib>
#include <exception>

int main(int argc, char **argv) {
    // OpenBLAS must choose its kernels for this machine, as it does for a user.
    unsetenv("OPENBLAS_CORETYPE");
    unsetenv("OPENBLAS_L2_SIZE");
    try {
        bench::Options options;
        if (!bench::parse_options(argc, argv, options)) {
            return 0;
        }
        return bench::run(options);
    } catch (const std::exception &error) {
        std::fflush(stdout);
        std::fprintf(stderr, "luisa-tile-bench: %s\n", error.what());
        return 2;
    }
}
