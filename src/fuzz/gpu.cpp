// SPDX-License-Identifier: Apache-2.0
#include "fuzz/gpu.h"

#include <luisa/tile/runtime.h>

#include "compile/arguments.h"
#include "compile/blocks.h"
#include "frontend/kernel_access.h"
#include "ir/clone.h"
#include "runtime/device.h"
#include "runtime/emulator/observer.h"
#include "runtime/emulator/team.h"

#include <algorithm>
#include <map>

namespace luisa::tile::fuzz {

namespace {

/// Blocks of a launch: fewer than there are instances now and then, so that some do two.
constexpr int64_t most_blocks = 7, unknown_blocks = 3;

void run_phases(const compiler::EmulatorKernel &kernel, const std::vector<uint64_t> &words,
                const std::vector<Input> &inputs) {
    for (size_t i = 0; i < kernel.phases.size(); ++i) {
        const auto &phase = kernel.phases[i];
        emulator::Observer observer;
        for (size_t v = 0; v < inputs.size(); ++v) {
            const auto &bytes = inputs[v].bytes;
            observer.add_memory(bytes.data(), bytes.size(), "parameter " + std::to_string(v), true);
        }
        emulator::Launch launch;
        launch.run = kernel.functions[i];
        launch.args = words.data();
        launch.blocks = phase.instances < 0 ? unknown_blocks
                                            : std::min<int64_t>(phase.instances, most_blocks);
        launch.threads = phase.threads;
        launch.shared_bytes = phase.shared_bytes;
        launch.observer = &observer;
        launch.seed = 1;
        // Memory without zeros, so that what is read before it is written shows in results, too.
        std::vector<uint8_t> scratch(phase.scratch_bytes * static_cast<size_t>(launch.blocks) + 256,
                                     0xfe);
        auto start = reinterpret_cast<uintptr_t>(scratch.data());
        launch.scratch = scratch.data() + (128 - start % 128);
        observer.begin_launch();
        observer.add_memory(scratch.data(), scratch.size(), "scratch memory", false);
        for (int64_t block = 0; block < launch.blocks; ++block) {
            emulator::run_block(launch, block);
        }
    }
}

}// namespace

void run_on_emulator(const Case &c, std::vector<Input> &inputs) {
    std::vector<std::shared_ptr<const compiler::EmulatorKernel>> compiled;
    for (const auto &kernel : c.kernels) {
        compiled.push_back(compiler::compile_emulator(*kernel, {c.settings.may_alias, true}));
    }
    auto words = compiler::words_of(arguments_of(inputs));
    for (const auto &kernel : compiled) {
        run_phases(*kernel, words, inputs);
    }
}

void run_on_gpu(const Case &c, std::vector<Input> &inputs, const std::string &name) {
    // Opening a GPU takes longer than a program: once a process.
    static std::map<std::string, Device> devices;
    auto device = devices.try_emplace(name, Device::create(name)).first->second;
    std::vector<Shader> shaders;
    std::vector<std::shared_ptr<const runtime::AcceleratorCode>> codes;
    for (const auto &kernel : c.kernels) {
        shaders.push_back(device.compile(make_kernel(ir::clone(*kernel)), {.cached = false}));
        const auto &shader = *shaders.back().impl();
        codes.push_back(c.settings.may_alias ? shader.accelerated_alias_safe()
                                             : shader.accelerated);
    }
    // The same words, with addresses on the device.
    Stream stream{device};
    auto moved = inputs;
    std::vector<Tensor<uint8_t, 1>> buffers(inputs.size());
    auto arguments = arguments_of(moved);
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i].is_view && inputs[i].alias < 0) {
            buffers[i] = make_tensor<uint8_t>(device, static_cast<int64_t>(inputs[i].bytes.size()));
            stream << buffers[i].copy_from(inputs[i].bytes);
        }
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i].is_view) {
            auto owner = inputs[i].alias < 0 ? i : static_cast<size_t>(inputs[i].alias);
            arguments[i].data = buffers[owner].data() +
                                inputs[i].origin * static_cast<int64_t>(size_of(inputs[i].type));
        }
    }
    stream << synchronize();
    auto words = compiler::words_of(arguments);
    auto queue = shaders.front().impl()->device->accelerator->make_queue();
    for (size_t k = 0; k < shaders.size(); ++k) {
        queue->launch(*shaders[k].impl(), codes[k], words, {}, {});
    }
    queue->synchronize();
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i].is_view && inputs[i].alias < 0) {
            stream << buffers[i].copy_to(inputs[i].bytes) << synchronize();
        }
    }
}

}// namespace luisa::tile::fuzz
