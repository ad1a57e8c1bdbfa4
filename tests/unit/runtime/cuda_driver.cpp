// SPDX-License-Identifier: Apache-2.0
#include "fake_gpu.h"

#include <luisa/tile/runtime.h>

#include "runtime/cuda/context.h"
#include "runtime/cuda/memory.h"

// Finding the driver and its devices, and memory: what goes wrong and what is said.

namespace luisa::tile::runtime::cuda::test {

namespace {

std::string error_of_create(const std::string &name) {
    return message_of<Error>([&] { static_cast<void>(Device::create(name)); });
}

}// namespace

using CudaDriver = FakeGpu;
using CudaMemory = FakeGpu;

TEST_F(CudaDriver, none_is_said_with_what_to_do) {
    setenv("LUISA_TILE_CUDA_DRIVER", "/nowhere/libcuda.so.1", 1);
    EXPECT_EQ(
        error_of_create("cuda"),
        "Device::create(\"cuda\"): LUISA_TILE_CUDA_DRIVER names '/nowhere/libcuda.so.1', which "
        "cannot be loaded; install NVIDIA's driver, or use \"cpu\"");
    unsetenv("LUISA_TILE_CUDA_DRIVER");
    if (!dlopen("libcuda.so.1", RTLD_LAZY)) {
        EXPECT_EQ(error_of_create("cuda:1"),
                  "Device::create(\"cuda\"): no NVIDIA driver: libcuda.so.1 not found; install "
                  "NVIDIA's driver, or use \"cpu\"");
    }
}

TEST_F(CudaDriver, a_library_without_the_functions_is_an_old_driver) {
    setenv("LUISA_TILE_CUDA_DRIVER", "libm.so.6", 1);
    EXPECT_EQ(error_of_create("cuda"),
              "Device::create(\"cuda\"): libm.so.6 has no cuDriverGetVersion: this driver is older "
              "than CUDA 11.0; install a newer one, or use \"cpu\"");
    auto another_name = std::string{"/proc/self/root"} + FAKE_CUDA;
    setenv("LUISA_TILE_CUDA_DRIVER", another_name.c_str(), 1);
    set_machine(10020, 2, 90);
    EXPECT_EQ(
        error_of_create("cuda"),
        "Device::create(\"cuda\"): the NVIDIA driver is for CUDA 10.2, expected 11.0 or later; "
        "install a newer one, or use \"cpu\"");
    set_machine(13000, 0, 90);
    EXPECT_EQ(
        error_of_create("cuda"),
        "Device::create(\"cuda\"): no NVIDIA GPU: the driver finds no device; check nvidia-smi "
        "and CUDA_VISIBLE_DEVICES, or use \"cpu\"");
    set_machine(13000, 2, 90);
    fail("cuInit", 999);
    EXPECT_EQ(
        error_of_create("cuda"),
        "Device::create(\"cuda\"): the NVIDIA driver does not start: unknown error (999); check "
        "nvidia-smi, or use \"cpu\"");
}

TEST_F(CudaDriver, devices_have_numbers) {
    EXPECT_EQ(error_of_create("cuda:2"), "Device::create(\"cuda:2\"): this machine has 2 NVIDIA "
                                         "GPUs; they have numbers from 0");
    EXPECT_EQ(error_of_create("cuda:x"),
              "no device called 'cuda:x'; a GPU is \"cuda\" or \"cuda:\" "
              "and its number, such as \"cuda:1\"");
    EXPECT_EQ(error_of_create("cuda1"),
              "no device called 'cuda1'; there are \"cpu\", \"interpreter\", \"cuda-emulator\", "
              "\"cuda\" and \"cuda:1\", \"cuda:2\", … of several GPUs");
    auto device = Device::create("cuda:1");
    EXPECT_EQ(device.name(), "cuda:1");
    EXPECT_EQ(device.description(),
              "cuda:1: Fake GPU, sm_90a, 4 multiprocessors, 1024 MiB, L2 50 MiB, shared memory 227 "
              "KiB a block, driver for CUDA 13.0");
}

TEST_F(CudaDriver, old_architectures_and_drivers_are_refused) {
    set_machine(13000, 1, 75);
    EXPECT_EQ(error_of_create("cuda"), "Device::create(\"cuda:0\"): Fake GPU is of architecture "
                                       "sm_75, expected sm_80 or later");
    set_machine(13000, 1, 86);
    EXPECT_NE(Device::create("cuda").description().find("sm_80"), std::string::npos);
}

TEST_F(CudaDriver, every_failing_call_is_named_and_leaves_nothing) {
    auto before = live();
    for (const char *name :
         {"cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName", "cuDeviceTotalMem_v2",
          "cuDeviceGetAttribute", "cuDevicePrimaryCtxRetain"}) {
        fail(name, INVALID_VALUE);
        auto text = error_of_create("cuda");
        auto plain = std::string{name};
        plain = plain.substr(0, plain.find("_v2"));
        EXPECT_EQ(text, plain + " on cuda:0: invalid argument (CUDA_ERROR_INVALID_VALUE)");
        EXPECT_EQ(live().contexts, before.contexts) << name;
    }
    auto context = std::make_shared<Context>(0);
    fail("cuCtxPushCurrent_v2", INVALID_VALUE);
    EXPECT_EQ(message_of<DeviceError>([&] { Context::Current current{*context}; }),
              "cuCtxPushCurrent on cuda:0: invalid argument (CUDA_ERROR_INVALID_VALUE)");
    EXPECT_EQ(live().pushed, 0);
}

TEST_F(CudaMemory, is_kept_for_the_next_request_of_its_size) {
    EXPECT_EQ(rounded_bytes(0), 512u);
    EXPECT_EQ(rounded_bytes(513), 1024u);
    EXPECT_EQ(rounded_bytes(1 << 20), size_t{1} << 20);
    EXPECT_EQ(rounded_bytes((1 << 20) + 1), size_t{9} << 17);
    auto pool = std::make_shared<MemoryPool>(std::make_shared<Context>(0));
    auto first = pool->allocate(1000);
    auto *address = first.get();
    first = nullptr;
    EXPECT_EQ(pool->kept_bytes(), 1024u);
    EXPECT_EQ(pool->allocate(1024).get(), address);
    EXPECT_EQ(calls("cuMemAlloc_v2"), 1);
    pool->trim();
    EXPECT_EQ(live().blocks, 0u);
}

TEST_F(CudaMemory, shortage_gives_back_what_is_kept_and_then_says_what_is_free) {
    set_memory(4096);
    auto pool = std::make_shared<MemoryPool>(std::make_shared<Context>(0));
    pool->allocate(2048).reset();
    pool->allocate(1024).reset();
    auto large = pool->allocate(4096);
    EXPECT_EQ(live().bytes, 4096u);
    std::shared_ptr<void> held = std::move(large);
    int id = pool->add_holder([&] { held = nullptr; });
    EXPECT_NE(pool->allocate(3000), nullptr) << "a holder let go";
    pool->remove_holder(id);
    EXPECT_EQ(message_of<OutOfMemoryError>([&] { static_cast<void>(pool->allocate(5000)); }),
              "no memory on cuda:0 for 5000 bytes: 4096 of 4096 bytes are free");
    EXPECT_EQ(message_of<OutOfMemoryError>(
                  [] { static_cast<void>(make_tensor<float>(Device::create("cuda"), 1 << 20)); }),
              "no memory on cuda:0 for 4194304 bytes: 4096 of 4096 bytes are free");
}

}// namespace luisa::tile::runtime::cuda::test
