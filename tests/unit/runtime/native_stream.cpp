// SPDX-License-Identifier: Apache-2.0
#include "fake_gpu.h"

#include <luisa/tile.h>

// Streams around those that others made.

namespace luisa::tile::runtime::cuda::test {

namespace {

auto storing() {
    return tile_kernel([](TensorView<float, 1> Y) {
        for (auto &nest : parallel(shape(Y.extent(0)))) {
            Y(coord(nest.index()), shape(1)).store(zeros<float>(shape(1)));
        }
    });
}

}// namespace

class NativeStream : public FakeGpu {};

TEST_F(NativeStream, is_neither_made_nor_destroyed_nor_waited_for_after_its_owner) {
    auto device = Device::create("cuda", {.cache = false});
    auto made = calls("cuStreamCreate"), waited = calls("cuStreamSynchronize");
    {
        int owned = 0;
        Stream stream{device, {.native = &owned}};
        auto y = make_tensor<float>(device, 4);
        auto shader = device.compile(storing().capture(y.meta()));
        auto argument = y.argument();
        stream.dispatch(shader, {&argument, 1});
        EXPECT_EQ(calls("cuLaunchKernel"), 1);
        EXPECT_EQ(last_launch().first_word, reinterpret_cast<uint64_t>(y.data()));
        EXPECT_EQ(calls("cuStreamSynchronize"), waited);
        stream << synchronize();
        EXPECT_EQ(calls("cuStreamSynchronize"), waited + 1);
    }
    EXPECT_EQ(calls("cuStreamCreate"), made);
    EXPECT_EQ(calls("cuStreamDestroy_v2"), 0);
    EXPECT_EQ(calls("cuStreamSynchronize"), waited + 1);
    EXPECT_EQ(calls("cuCtxSynchronize"), 1);
}

TEST_F(NativeStream, is_left_alone_when_the_device_is_broken) {
    auto device = Device::create("cuda:1", {.cache = false});
    {
        Stream stream{device, {.native = nullptr}};
        // No memory of the device's own, which a broken context would keep.
        float numbers[4];
        lend(numbers, sizeof numbers);
        Tensor<float, 1> y{numbers, {4}};
        stream << device.jit(storing())(y).dispatch();
        fail_device(ILLEGAL_ADDRESS);
        EXPECT_THROW(stream << synchronize(), DeviceError);
        fail_device(0);
        EXPECT_THROW(stream << device.jit(storing())(y).dispatch(), StateError);
    }
    EXPECT_EQ(calls("cuStreamDestroy_v2"), 0);
}

TEST_F(NativeStream, waits_for_kernels_that_print_or_check) {
    auto device = Device::create("cuda", {.cache = false});
    read_reports();
    Stream stream{device, {.native = nullptr}};
    auto checked = tile_kernel([](TensorView<float, 1> Y) {
        for (auto &nest : parallel(shape(Y.extent(0)))) {
            assert_(nest.index() >= 0, "an index");
            Y(coord(nest.index()), shape(1)).store(zeros<float>(shape(1)));
        }
    });
    auto y = make_tensor<float>(device, 4);
    stream << device.jit(checked)(y).dispatch();
    EXPECT_EQ(calls("cuStreamSynchronize"), 2) << "for the kernel, and for what it said";
}

TEST_F(NativeStream, is_of_cuda_and_asynchronous_by_itself) {
    EXPECT_EQ(message_of<ValueError>([] {
                  Stream stream{Device::create("cpu", {.threads = 1, .cache = false}),
                                {.native = nullptr}};
              }),
              "StreamOptions::native is a stream of CUDA; device 'cpu' has none, leave it out");
    EXPECT_EQ(message_of<ValueError>([] {
                  Stream stream{Device::create("cuda", {.cache = false}),
                                {.async = true, .native = nullptr}};
              }),
              "StreamOptions::native with async: a native stream is asynchronous by itself, leave "
              "async out");
}

}// namespace luisa::tile::runtime::cuda::test
