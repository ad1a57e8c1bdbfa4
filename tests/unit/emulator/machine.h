// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "emit/llvm/jit.h"
#include "ir/text.h"
#include "runtime/emulator/observer.h"
#include "runtime/emulator/team.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

// Machine text that runs on the emulator.

namespace luisa::tile::test {

/// A kernel of one view of 32-bit words, argument word 0, with memory for it.
struct TeamProgram {
    explicit TeamProgram(const std::string &body, size_t elements = 64, bool observed = false)
        : memory(elements, 0) {
        module = ir::parse("machine @k(%args: ptr, %scratch: ptr) {\n" + body + "\n}\n");
        auto target = emit::host_cpu();
        target.observed = observed;
        code = emit::compile(*module, target);
        launch.run = reinterpret_cast<emulator::KernelFunction>(
            reinterpret_cast<void (*)()>(code->function("k")));
        words.push_back(reinterpret_cast<uint64_t>(memory.data()));
        launch.args = words.data();
        launch.shared_bytes = 1024;
        observer.add_memory(memory.data(), memory.size() * 4, "view A", true);
        launch.observer = observed ? &observer : nullptr;
    }
    void run() {
        observer.begin_launch();
        for (int64_t block = 0; block < launch.blocks; ++block) {
            emulator::run_block(launch, block);
        }
    }

    std::unique_ptr<ir::Module> module;
    std::unique_ptr<emit::CompiledModule> code;
    std::vector<uint32_t> memory;
    std::vector<uint64_t> words;
    emulator::Launch launch;
    emulator::Observer observer;
};

}// namespace luisa::tile::test
