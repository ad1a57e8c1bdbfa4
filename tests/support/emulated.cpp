// SPDX-License-Identifier: Apache-2.0
#include "support/emulated.h"

#include "compile/arguments.h"
#include "compile/blocks.h"
#include "ir/text.h"
#include "runtime/emulator/observer.h"
#include "runtime/emulator/team.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace luisa::tile::test {

bool tests_device(std::string_view name) {
    const char *text = std::getenv("LUISA_TILE_TEST_DEVICES");
    std::string_view list = text ? text : "cpu";
    for (size_t begin = 0; begin <= list.size();) {
        auto end = std::min(list.find(',', begin), list.size());
        if (list.substr(begin, end - begin) == name) {
            return true;
        }
        begin = end + 1;
    }
    return false;
}

const target::CudaFacts *tested_architecture() {
    const char *name = std::getenv("LUISA_TILE_TEST_SM");
    return name ? target::find_cuda(name) : nullptr;
}

/// Runs the phases on the calling thread, block after block, from scratch memory that holds no zeros.
static void run_emulator(const compiler::EmulatorKernel &kernel, const std::vector<uint64_t> &words,
                         emulator::Observer *observer) {
    for (size_t i = 0; i < kernel.phases.size(); ++i) {
        const auto &phase = kernel.phases[i];
        emulator::Launch launch;
        launch.run = kernel.functions[i];
        launch.args = words.data();
        // Two instances a block now and then, as where there are more instances than blocks fit.
        launch.blocks = phase.instances < 0 ? 3 : std::min<int64_t>(phase.instances, 7);
        launch.threads = phase.threads;
        launch.shared_bytes = phase.shared_bytes;
        std::vector<uint8_t> scratch(phase.scratch_bytes * static_cast<size_t>(launch.blocks) + 256,
                                     0xfe);
        auto start = reinterpret_cast<uintptr_t>(scratch.data());
        launch.scratch = scratch.data() + (128 - start % 128);
        launch.observer = observer;
        launch.seed = observer ? 1 : 0;
        if (observer) {
            observer->begin_launch();
            observer->add_memory(scratch.data(), scratch.size(), "scratch memory", false);
        }
        for (int64_t block = 0; block < launch.blocks; ++block) {
            emulator::run_block(launch, block);
        }
    }
}

void check_emulator(const ir::Module &module, const std::vector<View> &reference,
                    std::vector<View> views, const std::vector<uint64_t> &scalars,
                    const BothOptions &options, bool checked, const target::CudaFacts *gpu) {
    std::shared_ptr<const compiler::EmulatorKernel> compiled;
    try {
        compiled = compiler::compile_emulator(module, {options.may_alias, checked, gpu});
    } catch (const UnsupportedError &error) {
        std::printf("emulator: %s\n", error.what());
        return;
    }
    auto words = compiler::words_of(arguments_of(module, views, scalars));
    emulator::Observer observer;
    for (const auto &view : views) {
        observer.add_memory(view.bytes.data(), view.bytes.size(), "a view", true);
    }
    try {
        run_emulator(*compiled, words, checked ? &observer : nullptr);
    } catch (const Error &error) {
        ADD_FAILURE() << error.what() << "\n" << ir::print(module) << compiled->plan;
    }
    for (size_t i = 0; i < views.size(); ++i) {
        EXPECT_TRUE(same(reference[i], views[i], options.tolerance, i))
            << "on the emulator\n"
            << ir::print(module) << compiled->plan;
    }
}

std::string run_emulated(const char *architecture, const Kernel &kernel, std::vector<View> views,
                         const std::vector<uint64_t> &scalars, BothOptions options) {
    const auto &module = *module_of(kernel);
    const auto *gpu = target::find_cuda(architecture);
    auto reference = run_both(kernel, views, scalars, options);
    for (bool checked : {false, true}) {
        check_emulator(module, reference, views, scalars, options, checked, gpu);
    }
    return compiler::realize_blocks(module, {options.may_alias, false, gpu}).plan;
}

}// namespace luisa::tile::test
