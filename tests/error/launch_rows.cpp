// SPDX-License-Identifier: Apache-2.0
// Mistakes with devices and memory, with the whole text that the user reads; addresses differ from run to run and stand
// as ADDRESS.
#include <luisa/tile.h>

#include "error/reading.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>

namespace luisa::tile::test {
namespace {

int line = 0;///< where the mistake stands: `AT, statement` on one line

#define AT line = __LINE__

/// A function, because a macro's arguments all have one line.
void expect(const std::function<void()> &mistake, const std::string &whole) {
    auto text = read_by_user("launch_rows.cpp", line, mistake);
    EXPECT_EQ(std::regex_replace(text, std::regex{"0x[0-9a-f]+"}, "ADDRESS"), whole);
}

auto copying(KernelOptions options = {}) {
    return tile_kernel(
        [](TensorView<const float, 1> X, TensorView<float, 1> Y) {
            auto i = axis("i", 8);
            Y(coord(0), shape(i)).store(X[coord(0), shape(i)] * 2.0f);
        },
        options);
}

}// namespace

TEST(LaunchRows, memory_that_is_gone_or_lies_at_no_element) {
    auto device = Device::create("cpu", {.threads = 1});
    Stream stream{device};
    auto copy = device.jit(copying());
    auto x = make_tensor<float>(device, 8), y = make_tensor<float>(device, 8);
    auto moved = std::move(x);
    expect([&] { AT, stream << copy(x, y).dispatch(); },
           "@+0: LifetimeError: argument 0 is a tensor that was moved from, freed or never made");
    moved.free();
    expect([&] { AT, stream << copy(moved, y).dispatch(); },
           "@+0: LifetimeError: argument 0 is a tensor that was moved from, freed or never made");
    std::vector<char> bytes(100);
    Tensor<float, 1> odd{reinterpret_cast<float *>(bytes.data() + 1), {8}};
    expect([&] { AT, stream << copy(odd, y).dispatch(); },
           "@+0: AlignmentError: argument 0 is at address ADDRESS, which is a multiple of 1, not "
           "of the "
           "4 bytes of one f32");
}

TEST(LaunchRows, views_that_overlap_although_the_caller_promised) {
    auto device = Device::create("interpreter", {.threads = 1, .validate = true});
    Stream stream{device};
    auto copy = device.jit(copying({.noalias = true}));
    auto x = make_tensor<float>(device, 12);
    auto low = x.slice(0, 0, 8), high = x.slice(0, 4, 12);
    expect([&] { AT, stream << copy(low, high).dispatch(); },
           "@+0: AliasError: arguments 1 at [ADDRESS, ADDRESS) and 0 at [ADDRESS, ADDRESS) "
           "overlap, but "
           "the kernel promises noalias");
}

TEST(LaunchRows, devices_that_are_none) {
    expect([] { (void)Device::create("gpu"); },
           "TargetError: no device called 'gpu'; there are \"cpu\", \"interpreter\", "
           "\"cuda-emulator\", \"cuda\" and \"cuda:1\", \"cuda:2\", … of several GPUs");
    expect([] { (void)Device::create("cpu", {.threads = -1}); },
           "ValueError: DeviceOptions::threads is -1, expected 0 (all cores) to 4096");
    setenv("LUISA_TILE_THREADS", "abc", 1);
    expect([] { (void)Device::create("cpu"); },
           "ValueError: LUISA_TILE_THREADS is 'abc', expected a number of threads from 1 to 4096");
    unsetenv("LUISA_TILE_THREADS");
}

TEST(LaunchRows, positions_that_a_gather_has_not) {
    auto device = Device::create("interpreter", {.threads = 1, .validate = true});
    Stream stream{device};
    auto gathered = device.jit(tile_kernel(
        [](TensorView<const float, 1> X, TensorView<const int64_t, 1> I, TensorView<float, 1> Y) {
            auto i = axis("i", 8), k = axis("k", 3);
            auto x = X[coord(0), shape(i)];
            auto at = I[coord(0), shape(k)];
            AT, Y(coord(0), shape(k)).store(reindex(x, shape(k), [&](auto j) {
                return coord(at.at(coord(j)));
            }));
        }));
    auto x = make_tensor<float>(device, 8), y = make_tensor<float>(device, 3);
    auto index = make_tensor<int64_t>(device, 3);
    index.at(0) = 1, index.at(1) = 9, index.at(2) = 0;
    expect(
        [&] { stream << gathered(x, index, y).dispatch(); },
        "@+0: BoundsError: extract: coordinate 9 is outside axis 0 of [8]; guard it with ite, or "
        "give a fallback");
}

}// namespace luisa::tile::test
