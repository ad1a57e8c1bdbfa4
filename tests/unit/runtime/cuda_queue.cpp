// SPDX-License-Identifier: Apache-2.0
#include "fake_gpu.h"

#include <luisa/tile.h>

#include "runtime/cuda/queue.h"

#include <gmock/gmock.h>

#include <numeric>

// Loading, launching, copying and waiting, and what goes wrong in each.

namespace luisa::tile::runtime::cuda::test {

namespace {

const SourceLoc somewhere{"model.cpp", 12}, elsewhere{"model.cpp", 34};

/// A GPU with a kernel on it, as made from PTX by hand.
struct Bench {
    std::shared_ptr<const Context> context = std::make_shared<Context>(0);
    std::shared_ptr<MemoryPool> pool = std::make_shared<MemoryPool>(context);
    std::vector<std::string> printed;

    compiler::CudaObject object(simt::Phase phase = {"f", 10, 64, 0, 0}) {
        compiler::CudaObject made;
        made.ptx = ".version 8.0";
        made.argument_words = 1;
        made.phases = {std::move(phase)};
        return made;
    }
    std::shared_ptr<Code> load(compiler::CudaObject made) {
        return std::make_shared<Code>(context, made);
    }
    std::unique_ptr<Queue> queue(bool synchronous = false) {
        QueueOptions options;
        options.synchronous = synchronous;
        options.print = [this](const std::string &line) { printed.push_back(line); };
        return std::make_unique<Queue>(context, pool, std::move(options));
    }
};

constexpr uint64_t word = 77;

}// namespace

using CudaCode = FakeGpu;
using CudaQueue = FakeGpu;
using CudaCopy = FakeGpu;
using CudaStream = FakeGpu;

TEST_F(CudaCode, is_assembled_once_and_unloaded_with_its_last_holder) {
    Bench bench;
    auto object = bench.object();
    auto first = std::make_shared<Code>(bench.context, object);
    EXPECT_EQ(object.cubin.substr(0, 10), "fake cubin");
    auto second = std::make_shared<Code>(bench.context, object);
    EXPECT_EQ(calls("cuLinkComplete"), 1);
    EXPECT_EQ(live().modules, 2);
    first = second = nullptr;
    EXPECT_EQ(live().modules, 0);
    EXPECT_EQ(calls("cuLinkCreate_v2"), calls("cuLinkDestroy"));
}

TEST_F(CudaCode, assembler_errors_carry_its_log) {
    Bench bench;
    set_log("ptxas application ptx input, line 3; error : Unknown symbol 'x'");
    fail("cuLinkAddData_v2", INVALID_PTX);
    EXPECT_EQ(
        message_of<CompileError>([&] { bench.load(bench.object()); }),
        "the driver of cuda:0 does not assemble generated PTX for sm_90a: a PTX JIT compilation "
        "failed (CUDA_ERROR_INVALID_PTX)\nptxas application ptx input, line 3; error : Unknown "
        "symbol 'x'");
    set_log("");
    auto foreign = bench.object();
    foreign.cubin = "another architecture's";
    EXPECT_EQ(message_of<CompileError>([&] { bench.load(foreign); }),
              "code for sm_90a does not load on cuda:0: unknown error (200)");
    fail("cuModuleLoadData", OUT_OF_MEMORY);
    EXPECT_EQ(message_of<OutOfMemoryError>([&] { bench.load(bench.object()); }),
              "no memory on cuda:0 for a kernel of 11 bytes");
    EXPECT_EQ(live().modules, 0);
}

TEST_F(CudaCode, blocks_that_do_not_fit_are_refused) {
    Bench bench;
    EXPECT_EQ(message_of<ResourceError>([&] {
                  bench.load(bench.object({"f", 1, 64, 240000, 0}));
              }),
              "function 'f' needs 240000 bytes of shared memory a block, cuda:0 has 232448");
    EXPECT_EQ(message_of<ResourceError>([&] {
                  bench.load(bench.object({"f", 1, 2048, 0, 0}));
              }),
              "function 'f' has blocks of 2048 threads with 32 registers each, more than cuda:0 "
              "holds");
    EXPECT_EQ(live().modules, 0);
    bench.load(bench.object({"f", 1, 64, 100000, 0}));
    EXPECT_EQ(calls("cuFuncSetAttribute"), 1) << "more than a block has by default";
}

TEST_F(CudaQueue, launches_as_many_blocks_as_instances_or_as_fit) {
    Bench bench;
    auto queue = bench.queue();
    queue->run("f", bench.load(bench.object({"f", 10, 64, 128, 0})), {&word, 1}, somewhere);
    EXPECT_EQ(last_launch().grid, 10u);
    EXPECT_EQ(last_launch().threads, 64u);
    EXPECT_EQ(last_launch().shared, 128u);
    EXPECT_EQ(last_launch().first_word, 77u);
    EXPECT_EQ(last_launch().scratch, 0u);
    queue->run("f", bench.load(bench.object({"f", -1, 64, 0, 0})), {&word, 1}, somewhere);
    EXPECT_EQ(last_launch().grid, 4u * 32u) << "four multiprocessors of 32 blocks";
    queue->run("f", bench.load(bench.object({"f", 1000000, 64, 0, 256})), {&word, 1}, somewhere);
    EXPECT_EQ(last_launch().grid, 128u) << "each has scratch memory of its own";
    EXPECT_NE(last_launch().scratch, 0u);
    queue->run("f", bench.load(bench.object({"f", 0, 64, 0, 0})), {&word, 1}, somewhere);
    EXPECT_EQ(calls("cuLaunchKernel"), 3);
    queue = nullptr;
    EXPECT_EQ(live().streams, 0);
    EXPECT_EQ(live().modules, 0) << "what launches used goes when they are done";
    EXPECT_EQ(live().pushed, 0);
}

TEST_F(CudaQueue, what_launches_use_lives_until_they_are_done) {
    Bench bench;
    auto queue = bench.queue();
    auto code = bench.load(bench.object());
    std::weak_ptr<Code> watch = code;
    fail_device(NOT_READY);
    queue->run("f", std::move(code), {&word, 1}, somewhere);
    EXPECT_FALSE(watch.expired());
    fail_device(SUCCESS);
    queue->synchronize();
    EXPECT_TRUE(watch.expired());
    // Without ever waiting for the stream, marks tell what is over.
    for (int i = 0; i < 200; ++i) {
        queue->run("f", bench.load(bench.object()), {&word, 1}, somewhere);
    }
    EXPECT_LT(live().modules, 100);
}

TEST_F(CudaQueue, a_launch_that_does_not_start_says_what_it_asked_for) {
    Bench bench;
    auto queue = bench.queue();
    fail("cuLaunchKernel", LAUNCH_OUT_OF_RESOURCES);
    try {
        queue->run("softmax", bench.load(bench.object()), {&word, 1}, somewhere);
        ADD_FAILURE();
    } catch (const ResourceError &error) {
        EXPECT_EQ(
            error.message(),
            "kernel 'softmax' does not start on cuda:0: too many resources requested for launch "
            "(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES); 10 blocks of 64 threads with 0 bytes of "
            "shared memory");
        EXPECT_EQ(error.location().line, 12u);
    }
    queue->run("softmax", bench.load(bench.object()), {&word, 1}, somewhere);
    queue->synchronize();
}

TEST_F(CudaQueue, errors_of_the_device_name_kernel_and_dispatch_and_stay) {
    Bench bench;
    auto queue = bench.queue();
    queue->run("softmax", bench.load(bench.object()), {&word, 1}, somewhere);
    fail_device(ILLEGAL_ADDRESS);
    try {
        queue->synchronize();
        ADD_FAILURE();
    } catch (const DeviceError &error) {
        EXPECT_STREQ(
            error.what(),
            "model.cpp:12: DeviceError: kernel 'softmax' failed on cuda:0: an illegal memory "
            "access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)\n"
            "  note: kernel 'softmax' was dispatched here (model.cpp:12)");
    }
    auto gone =
        "cuda:0 cannot be used any more in this process: kernel 'softmax' failed on cuda:0: an "
        "illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)";
    EXPECT_EQ(message_of<StateError>([&] { queue->synchronize(); }), gone);
    EXPECT_EQ(message_of<StateError>([&] { static_cast<void>(bench.pool->allocate(1)); }), gone);
}

TEST_F(CudaQueue, of_several_launches_all_are_named) {
    Bench bench;
    auto queue = bench.queue();
    queue->run("a", bench.load(bench.object()), {&word, 1}, somewhere);
    queue->run("b", bench.load(bench.object()), {&word, 1}, elsewhere);
    fail_device(ILLEGAL_ADDRESS);
    try {
        queue->synchronize();
        ADD_FAILURE();
    } catch (const DeviceError &error) {
        EXPECT_STREQ(
            error.what(),
            "model.cpp:34: DeviceError: one of the 2 kernels since the last synchronization "
            "failed on cuda:0: an illegal memory access was encountered "
            "(CUDA_ERROR_ILLEGAL_ADDRESS); DeviceOptions::validate waits for each and tells "
            "which\n"
            "  note: kernel 'b' was dispatched here (model.cpp:34)\n"
            "  note: kernel 'a' was dispatched here (model.cpp:12)");
    }
}

TEST_F(CudaQueue, validating_queues_wait_for_each_launch) {
    Bench bench;
    auto queue = bench.queue(true);
    fail("cuStreamSynchronize", ILLEGAL_ADDRESS, 1);
    queue->run("a", bench.load(bench.object()), {&word, 1}, somewhere);
    EXPECT_EQ(message_of<DeviceError>([&] {
                  queue->run("b", bench.load(bench.object()), {&word, 1}, elsewhere);
              }),
              "kernel 'b' failed on cuda:0: an illegal memory access was encountered "
              "(CUDA_ERROR_ILLEGAL_ADDRESS)");
}

TEST_F(CudaQueue, reports_come_out_when_the_stream_is_waited_for) {
    Bench bench;
    auto queue = bench.queue();
    auto object = bench.object();
    read_reports();
    object.report_values = 1;
    object.reports.resize(2);
    object.reports[0].text = "i is {}";
    object.reports[0].types = {ScalarType::INT64};
    object.reports[1].text = "must hold";
    object.reports[1].is_assertion = true;
    object.reports[1].loc = elsewhere;
    queue->run("f", bench.load(object), {&word, 1}, somewhere);
    // What the kernel would write: after its own words comes the buffer.
    auto *buffer = reinterpret_cast<uint64_t *>(last_launch().report_buffer);
    ASSERT_NE(buffer, nullptr);
    EXPECT_EQ(buffer[0], 0u);
    EXPECT_EQ(buffer[1], 4096u);
    buffer[0] = 2;
    buffer[2] = 0;
    buffer[3] = 41;
    buffer[4] = 0;
    buffer[5] = 42;
    queue->synchronize();
    EXPECT_THAT(bench.printed, testing::ElementsAre("i is 41", "i is 42"));
    queue->run("f", bench.load(object), {&word, 1}, somewhere);
    buffer = reinterpret_cast<uint64_t *>(last_launch().report_buffer);
    buffer[0] = 1;
    buffer[2] = 1;
    EXPECT_EQ(message_of<AssertionError>([&] { queue->synchronize(); }),
              "assertion failed: must hold");
    queue->synchronize();
}

TEST_F(CudaCopy, of_dense_strided_reversed_and_large_tensors) {
    auto device = Device::create("cuda");
    Stream stream{device};
    auto whole = make_tensor<int>(device, 6, 8, 10);
    std::vector<int> numbers(480), back(480);
    std::iota(numbers.begin(), numbers.end(), 0);
    stream << whole.copy_from(numbers) << whole.copy_to(back);
    EXPECT_EQ(back, numbers);
    const Tensor<int, 3> views[] = {whole.slice(2, 2, 9),
                                    whole.slice(1, 0, 8, 3),
                                    whole.slice(0, 5, -1, -1),
                                    whole.slice(2, 9, -1, -2),
                                    whole.transposed(0, 2),
                                    whole.slice(0, 2, 3),
                                    whole.slice(2, 4, 5).slice(1, 1, 7)};
    for (const auto &view : views) {
        std::vector<int> part(static_cast<size_t>(view.size()));
        stream << view.copy_to(part);
        // The stand-in's memory is that of the host.
        Tensor<int, 3> seen{view.data(), view.extents(), view.strides()};
        size_t at = 0;
        for (int64_t i = 0; i < view.extent(0); ++i) {
            for (int64_t j = 0; j < view.extent(1); ++j) {
                for (int64_t k = 0; k < view.extent(2); ++k) {
                    ASSERT_EQ(part[at++], seen.at(i, j, k));
                }
            }
        }
        for (auto &x : part) {
            x += 1000;
        }
        stream << view.copy_from(part) << whole.copy_to(back);
        auto changed = std::count_if(back.begin(), back.end(), [](int x) { return x >= 1000; });
        EXPECT_EQ(changed, view.size());
        stream << whole.copy_from(numbers);
    }
    auto large = make_tensor<float>(device, 5000000);
    std::vector<float> from(5000000), to(5000000);
    std::iota(from.begin(), from.end(), 0.0f);
    stream << large.copy_from(from) << large.copy_to(to);
    EXPECT_EQ(from, to);
    auto none = make_tensor<float>(device, 0);
    stream << none.copy_from(std::vector<float>{}) << synchronize();
}

TEST_F(CudaCopy, failing_calls_are_named) {
    auto device = Device::create("cuda");
    Stream stream{device};
    auto tensor = make_tensor<int>(device, 4, 4);
    std::vector<int> host(16), part(8);
    fail("cuMemcpyHtoDAsync_v2", INVALID_VALUE);
    EXPECT_EQ(message_of<DeviceError>([&] { stream << tensor.copy_from(host); }),
              "cuMemcpyHtoDAsync on cuda:0: invalid argument (CUDA_ERROR_INVALID_VALUE)");
    fail("cuMemcpy2DAsync_v2", INVALID_VALUE);
    EXPECT_EQ(message_of<DeviceError>([&] { stream << tensor.slice(1, 1, 3).copy_to(part); }),
              "cuMemcpy2DAsync on cuda:0: invalid argument (CUDA_ERROR_INVALID_VALUE)");
    fail("cuStreamCreate", OUT_OF_MEMORY);
    EXPECT_EQ(message_of<DeviceError>([&] { Stream{device}; }),
              "cuStreamCreate on cuda:0: out of memory (CUDA_ERROR_OUT_OF_MEMORY)");
    Stream another{device};
    fail("cuMemHostAlloc", OUT_OF_MEMORY);
    EXPECT_EQ(message_of<OutOfMemoryError>([&] { another << tensor.copy_from(host); }),
              "no pinned memory of the host for 4194304 bytes: out of memory "
              "(CUDA_ERROR_OUT_OF_MEMORY)");
    another << tensor.copy_from(host) << synchronize();
}

TEST_F(CudaStream, events_order_streams_and_tell_times) {
    auto device = Device::create("cuda");
    for (bool async : {false, true}) {
        StreamOptions options;
        options.async = async;
        Stream a{device, options}, b{device, options};
        Event start, end;
        int called = 0;
        a << start;
        b << start.wait() << [&called] { ++called; } << end;
        b << synchronize();
        EXPECT_EQ(called, 1);
        end.synchronize();
        EXPECT_EQ(end.milliseconds_since(start), 0.0) << "the stand-in's clock counts launches";
        Stream cpu{Device::create("cpu")};
        cpu << end.wait() << synchronize();
        a << synchronize();
    }
    EXPECT_EQ(calls("cuStreamWaitEvent"), 2);
    EXPECT_EQ(live().events, 0);
    EXPECT_EQ(live().streams, 0);
}

TEST_F(CudaStream, a_profiler_reads_the_clock_of_the_device) {
    {
        auto device = Device::create("cuda", {.cache = false});
        auto twice = device.jit(tile_kernel(
            [](TensorView<const float, 1> X, TensorView<float, 1> Y) {
                auto i = axis("i", 32);
                for (auto &nest : parallel(shape(2))) {
                    auto at = coord(nest.index() * 32);
                    Y(at, shape(i)).store(X[at, shape(i)] * 2.0f);
                }
            },
            {.name = "twice"}));
        auto x = make_tensor<float>(device, 64), y = make_tensor<float>(device, 64);
        for (bool async : {false, true}) {
            Stream stream{device, {.async = async}};
            Profiler profiler{stream};
            stream << twice(x, y).dispatch() << twice(x, y).dispatch() << synchronize();
            auto records = profiler.records();
            ASSERT_EQ(records.size(), 2u);
            for (const auto &r : records) {
                EXPECT_EQ(r.kernel, "twice");
                EXPECT_TRUE(r.on_device);
                EXPECT_EQ(r.launches, 1);
                EXPECT_EQ(r.duration_ms, 1.0) << "the stand-in's clock counts launches";
                EXPECT_EQ(r.flops, 64);
            }
            EXPECT_NEAR(records[1].start_ms - records[0].start_ms, 1.0, 1e-6);
            EXPECT_NE(profiler.trace().find("\"tid\": 2, \"ts\""), std::string::npos);
        }
    }
    EXPECT_EQ(live().events, 0);
}

TEST_F(CudaStream, memory_of_the_host_is_no_argument_of_a_kernel) {
    auto device = Device::create("cuda");
    auto twice = device.jit(tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        auto i = axis("i", 8);
        Y(coord(0), shape(i)).store(X[coord(0), shape(i)] * 2.0f);
    }));
    std::vector<float> host(8, 1.0f);
    Tensor<float, 1> outside{host.data(), {8}};
    auto inside = make_tensor<float>(device, 8),
         of_cpu = make_tensor<float>(Device::create("cpu"), 8);
    Stream stream{device};
    for (auto &x : {outside, of_cpu}) {
        uint32_t line = 0;
        try {
            line = __LINE__ + 1;
            stream << twice(x, inside).dispatch();
            ADD_FAILURE() << "nothing was thrown";
        } catch (const ValueError &error) {
            EXPECT_EQ(error.message(),
                      "argument 0 is a tensor over memory of the host, which kernels of 'cuda' "
                      "cannot reach; give one that make_tensor(device, …) made and copy_from "
                      "filled, and get results with copy_to");
            EXPECT_EQ(error.location().line, line);
        }
    }
    // Another library's memory of the device is as good as our own.
    Tensor<float, 1> borrowed{inside.data(), {8}};
    auto other = make_tensor<float>(device, 8);
    stream << twice(borrowed, other).dispatch() << synchronize();
}

TEST_F(CudaStream, elements_in_memory_of_a_gpu_are_not_read_by_the_host) {
    auto device = Device::create("cuda");
    auto matrix = make_tensor<float>(device, 4, 8);
    Buffer<int> buffer{device, 8};
    auto moved = std::move(matrix);
    for (const auto &one : {moved, moved.slice(0, 1, 3), Tensor<float, 2>{}}) {
        if (!one.data()) {
            EXPECT_TRUE(one.host_reads());
            continue;
        }
        uint32_t line = 0;
        try {
            line = __LINE__ + 1;
            static_cast<void>(one.at(0, 1));
            ADD_FAILURE() << "nothing was thrown";
        } catch (const ValueError &error) {
            EXPECT_EQ(
                error.message(),
                "at: the tensor is in the memory of a GPU, which the host cannot read; copy_to "
                "a vector, and copy_from one to write");
            EXPECT_EQ(error.location().line, line);
        }
    }
    EXPECT_FALSE((Tensor<int, 2>{buffer, {2, 4}}.host_reads()));
    EXPECT_TRUE(make_tensor<float>(Device::create("cpu"), 2).host_reads());
}

}// namespace luisa::tile::runtime::cuda::test
