// SPDX-License-Identifier: Apache-2.0
#include "support/on_gpu.h"

#include <luisa/tile/runtime.h>

#include "compile/cuda.h"
#include "runtime/device.h"
#include "support/emulated.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace luisa::tile::test {

void check_ptx(const Kernel &kernel, const BothOptions &options) {
    const char *folder = std::getenv("LUISA_TILE_TEST_PTX");
    static int number = 0;
    auto which = std::to_string(number++);
    for (const char *name : {"sm_80", "sm_90a"}) {
        compiler::CudaOptions how;
        how.facts = *target::find_cuda(name);
        how.may_alias = options.may_alias;
        try {
            auto object = compiler::compile_cuda(*module_of(kernel), how);
            EXPECT_EQ(object.ptx.find(".local"), std::string::npos) << object.ptx << object.plan;
            if (folder) {
                auto shard = std::getenv("GTEST_SHARD_INDEX");
                std::ofstream{std::string{folder} + "/" + (shard ? shard : "0") + "_" + which +
                              "." + name + ".ptx"}
                    << object.ptx;
            }
        } catch (const UnsupportedError &error) {
            std::printf("ptx: %s\n", error.what());
            return;
        }
    }
}

namespace {

/// A view's buffer on the device, with the room around its elements.
struct OnDevice {
    Tensor<uint8_t, 1> buffer;
    explicit OnDevice(const Device &device, Stream &stream, const View &view)
        : buffer{make_tensor<uint8_t>(device, static_cast<int64_t>(view.bytes.size()))} {
        stream << buffer.copy_from(view.bytes);
    }
};

}// namespace

void check_gpu(const Kernel &kernel, const std::vector<View> &reference, std::vector<View> views,
               const std::vector<uint64_t> &scalars, const BothOptions &options) {
    static const auto device = Device::create("cuda");
    Shader shader;
    std::shared_ptr<const runtime::AcceleratorCode> code;
    try {
        shader = device.compile(kernel, {.cached = false});
        code = options.may_alias ? shader.impl()->accelerated_alias_safe()
                                 : shader.impl()->accelerated;
    } catch (const UnsupportedError &error) {
        std::printf("cuda: %s\n", error.what());
        return;
    }
    Stream stream{device};
    std::vector<OnDevice> buffers;
    std::vector<uint64_t> words;
    size_t view = 0, scalar = 0;
    for (auto *p : module_of(kernel)->kernel()->body->arguments()) {
        if (!p->type()->is_view()) {
            words.push_back(scalars.at(scalar++));
            continue;
        }
        auto &v = views.at(view++);
        buffers.emplace_back(device, stream, v);
        words.push_back(reinterpret_cast<uint64_t>(buffers.back().buffer.data()) +
                        static_cast<uint64_t>(v.origin) * size_of(v.type));
        for (const auto *list : {&v.extents, &v.strides}) {
            words.insert(words.end(), list->begin(), list->end());
        }
    }
    stream << synchronize();
    auto queue = shader.impl()->device->accelerator->make_queue();
    queue->launch(*shader.impl(), code, words, {}, {});
    queue->synchronize();
    for (size_t i = 0; i < buffers.size(); ++i) {
        stream << buffers[i].buffer.copy_to(views[i].bytes) << synchronize();
        EXPECT_TRUE(same(reference[i], views[i], options.tolerance, i))
            << kernel.ir_text() << code->metadata().plan;
    }
}

}// namespace luisa::tile::test
