// SPDX-License-Identifier: Apache-2.0
#include "unit/runtime/support.h"

#include <cstdlib>

// Mistakes in making devices and tensors.

namespace luisa::tile::test {

namespace {

std::string refused_threads(const char *value) {
    setenv("LUISA_TILE_THREADS", value, 1);
    auto text = message_of<ValueError>([] { static_cast<void>(Device::create("cpu")); });
    unsetenv("LUISA_TILE_THREADS");
    return text;
}

void expect_part(const std::string &text, const char *part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

}// namespace

TEST(RuntimeDevice, unknown_names_list_the_known_ones) {
    auto text = message_of<TargetError>([] { static_cast<void>(Device::create("gpu")); });
    expect_part(text, "'gpu'");
    expect_part(text, "\"cpu\"");
    expect_part(text, "\"interpreter\"");
    expect_part(text, "\"cuda\"");
    setenv("LUISA_TILE_CUDA_DRIVER", "/nowhere/libcuda.so.1", 1);
    expect_part(message_of<DeviceUnavailable>([] { static_cast<void>(Device::create("cuda:0")); }),
                "which cannot be loaded; install NVIDIA's driver, or use \"cpu\"");
    unsetenv("LUISA_TILE_CUDA_DRIVER");
}

TEST(RuntimeDevice, the_thread_variable_is_read_strictly) {
    for (const char *bad : {"abc", "-1", "0", "1000000000", "99999999999999999999", "", " 2", "2 ",
                            "+2", "2x", "0x2", "1.5"}) {
        auto text = refused_threads(bad);
        expect_part(text, "LUISA_TILE_THREADS");
        expect_part(text, "from 1 to 4096");
    }
    setenv("LUISA_TILE_THREADS", "3", 1);
    EXPECT_EQ(Device::create("cpu").threads(), 3);
    EXPECT_EQ(Device::create("cpu", {.threads = 2}).threads(), 2);
    unsetenv("LUISA_TILE_THREADS");
    expect_part(
        message_of<ValueError>([] { static_cast<void>(Device::create("cpu", {.threads = -1})); }),
        "threads is -1");
}

TEST(RuntimeDevice, processors_that_this_machine_cannot_run_are_refused) {
    auto text = message_of<TargetError>(
        [] { static_cast<void>(Device::create("cpu", {.cpu = "pentium-of-tomorrow"})); });
    expect_part(text, "pentium-of-tomorrow");
    expect_part(text, "(this machine)");
}

TEST(RuntimeDevice, shaders_run_on_their_own_device) {
    auto one = Device::create("cpu", {.threads = 1}), other = Device::create("cpu", {.threads = 1});
    auto shader = hand_made(one, {}, one_phase(nullptr, 0));
    Stream stream{other};
    expect_part(message_of<DeviceError>([&] { stream << shader().dispatch(); }), "another device");
    expect_part(message_of<LifetimeError>([&] { stream << Shader{}().dispatch(); }), "empty");
}

TEST(RuntimeDevice, sizes_are_checked) {
    auto device = Device::create("cpu", {.threads = 1});
    expect_part(message_of<ValueError>([&] { static_cast<void>(make_tensor<float>(device, -1)); }),
                "runtime_device.cpp:");
    expect_part(message_of<ValueError>([&] { static_cast<void>(make_tensor<float>(device, -1)); }),
                "extent must be >= 0, got -1");
    auto huge = int64_t{1} << 40;
    expect_part(
        message_of<ValueError>([&] { static_cast<void>(make_tensor<float>(device, huge, huge)); }),
        "int64");
    expect_part(message_of<OutOfMemoryError>(
                    [&] { static_cast<void>(make_tensor<float>(device, huge, int64_t{1} << 20)); }),
                "no memory");
}

}// namespace luisa::tile::test
