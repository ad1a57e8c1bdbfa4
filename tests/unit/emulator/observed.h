// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "emit/llvm/jit.h"
#include "realize/simt/program.h"
#include "runtime/emulator/observer.h"
#include "runtime/emulator/team.h"

#include <luisa/tile/error.h>

#include <string>
#include <vector>

// Runs of Machine code whose every access is followed, for tests that put faults into it.

namespace luisa::tile::test {

/// What following a block's accesses found; no error: nothing.
struct Finding {
    std::string error;
    ErrorKind kind{};
    uint32_t line = 0;///< of the program's text
};

/// Runs block 0 of a phase on the argument words, in memory of its own besides what `observer` knows.
inline Finding run_observed(const ir::Module &machine, const simt::Phase &phase,
                            const std::vector<uint64_t> &words, emulator::Observer &observer) {
    auto target = emit::host_cpu();
    target.observed = true;
    auto code = emit::compile(machine, target);
    std::vector<char> scratch(phase.scratch_bytes + 128);
    observer.add_memory(scratch.data(), scratch.size(), "scratch memory", false);
    emulator::Launch launch;
    launch.run = reinterpret_cast<emulator::KernelFunction>(
        reinterpret_cast<void (*)()>(code->function(phase.function)));
    launch.args = words.data();
    launch.scratch = scratch.data();
    launch.threads = phase.threads;
    launch.shared_bytes = phase.shared_bytes;
    launch.observer = &observer;
    launch.seed = 5;
    try {
        emulator::run_block(launch, 0);
    } catch (const Error &e) {
        return {e.what(), e.kind(), e.location().line};
    }
    return {};
}

inline void find_all(const ir::Region &region, ir::Opcode opcode,
                     std::vector<ir::Operation *> &found) {
    for (auto *op : region) {
        if (op->opcode() == opcode) {
            found.push_back(op);
        }
        for (auto *inner : op->regions()) {
            find_all(*inner, opcode, found);
        }
    }
}

/// All operations of a kind, in program order.
inline std::vector<ir::Operation *> all_of(const ir::Module &machine, ir::Opcode opcode) {
    std::vector<ir::Operation *> found;
    find_all(*machine.functions().front().body, opcode, found);
    return found;
}

}// namespace luisa::tile::test
