// SPDX-License-Identifier: Apache-2.0
#include "ptx.h"

#include "ir/text.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace luisa::tile::emit::test {

GpuCode ptx_of(const std::string &text, const std::string &architecture, size_t words, int threads,
               int isa) {
    auto module = ir::parse(text, "test.tir");
    GpuOptions options;
    options.target = target::find_cuda(architecture);
    options.ptx_isa = isa;
    options.argument_words = words;
    for (const auto &function : module->functions()) {
        options.kernels.push_back({function.name, threads});
    }
    return generate_ptx(*module, options);
}

int count(const std::string &text, const std::string &what) {
    int found = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
        ++found;
    }
    return found;
}

const std::string &assembler() {
    static const std::string path = [] {
        for (const char *candidate : {"/usr/local/cuda/bin/ptxas", "/usr/bin/ptxas"}) {
            if (access(candidate, X_OK) == 0) {
                return std::string{candidate};
            }
        }
        return std::string{};
    }();
    return path;
}

std::string assemble(const std::string &ptx, const std::string &architecture) {
    char name[] = "/tmp/luisa-tile-ptx-XXXXXX";
    int file = mkstemp(name);
    EXPECT_GE(file, 0);
    close(file);
    std::ofstream{name} << ptx;
    auto command = assembler() + " -v -arch=" + architecture + " -o /dev/null " + name + " 2>&1";
    auto *pipe = popen(command.c_str(), "r");
    std::string said;
    char line[1024];
    while (pipe && std::fgets(line, sizeof line, pipe)) {
        said += line;
    }
    auto status = pipe ? pclose(pipe) : -1;
    std::remove(name);
    EXPECT_EQ(status, 0) << said << ptx;
    EXPECT_EQ(count(said, " 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"),
              count(said, "bytes stack frame"))
        << said << ptx;
    return said;
}

}// namespace luisa::tile::emit::test
