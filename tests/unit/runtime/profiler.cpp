// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

// What a profiler tells of a stream's kernels.

namespace luisa::tile {

namespace {

auto profiled_scale() {
    return tile_kernel(
        [](TensorView<const float, 1> X, TensorView<float, 1> Y, Scalar<float> alpha) {
            auto i = axis("i", 64);
            for (auto &nest : parallel(shape(ceil_div(X.extent(0), 64)))) {
                auto at = coord(nest.index() * 64);
                Y(at, shape(i)).store(X[at, shape(i)] * alpha + 1.0f);
            }
        },
        {.name = "scale"});
}

class ProfilerOn : public testing::TestWithParam<const char *> {
protected:
    Device device = Device::create(GetParam(), {.threads = 2, .cache = false});
    Tensor<float, 1> x = make_tensor<float>(device, 1000), y = make_tensor<float>(device, 1000);
    Shader shader = device.compile(
        profiled_scale().capture(tensor_shape(1000), tensor_shape(1000)));
};

}// namespace

TEST_P(ProfilerOn, each_dispatch_is_a_record) {
    Stream stream{device};
    stream << shader(x, y, 2.0f).dispatch();
    Profiler profiler{stream};
    uint32_t line = __LINE__ + 1;
    stream << shader(x, y, 2.0f).dispatch();
    stream << shader(x, y, 3.0f).dispatch() << synchronize();
    auto records = profiler.records();
    ASSERT_EQ(records.size(), 2u);
    double end = 0;
    for (const auto &r : records) {
        EXPECT_EQ(r.kernel, "scale");
        EXPECT_EQ(r.program, "");
        EXPECT_EQ(r.location.line, line++);
        EXPECT_EQ(r.launches, 1);
        EXPECT_EQ(r.bytes, 8000);
        EXPECT_EQ(r.flops, 2000);
        EXPECT_FALSE(r.on_device);
        EXPECT_GT(r.duration_ms, 0);
        EXPECT_GE(r.start_ms, end);
        end = r.start_ms + r.duration_ms;
    }
    profiler.clear();
    EXPECT_TRUE(profiler.records().empty());
    profiler.stop();
    stream << shader(x, y, 2.0f).dispatch() << synchronize();
    EXPECT_TRUE(profiler.records().empty());
}

TEST_P(ProfilerOn, an_asynchronous_stream_has_them_when_it_is_done) {
    auto stream = std::make_unique<Stream>(device, StreamOptions{.async = true});
    Profiler profiler{*stream};
    for (int i = 0; i < 5; ++i) {
        *stream << shader(x, y, 2.0f).dispatch();
    }
    stream->synchronize();
    EXPECT_EQ(profiler.records().size(), 5u);
    Stream moved = std::move(*stream);
    moved << shader(x, y, 2.0f).dispatch() << synchronize();
    stream.reset();
    EXPECT_EQ(profiler.records().size(), 6u);
}

INSTANTIATE_TEST_SUITE_P(HostDevices, ProfilerOn,
                         testing::Values("cpu", "interpreter", "cuda-emulator"),
                         [](const auto &info) {
                             std::string name = info.param;
                             return name.substr(name.rfind('-') + 1);
                         });

TEST(ProfilerTable, sums_up_calls_of_a_line) {
    auto device = Device::create("cpu", {.threads = 1, .cache = false});
    auto f = device.jit(profiled_scale());
    auto x = make_tensor<float>(device, 128), y = make_tensor<float>(device, 128);
    Stream stream{device};
    Profiler profiler{stream};
    EXPECT_EQ(profiler.table(), "kernel   calls     total ms     mean us    least us   share    "
                                "GFLOP/s      GB/s  dispatched at\n");
    for (int i = 0; i < 3; ++i) {
        stream << f(x, y, 1.0f).dispatch();
    }
    auto table = profiler.table();
    EXPECT_NE(table.find("\nscale        3  "), std::string::npos) << table;
    EXPECT_NE(table.find(" 100.0%  "), std::string::npos) << table;
    EXPECT_NE(table.find("  profiler.cpp:"), std::string::npos) << table;
}

TEST(ProfilerTrace, is_json_with_an_event_a_record) {
    auto device = Device::create("cpu", {.threads = 1, .cache = false});
    auto f = device.jit(profiled_scale());
    auto x = make_tensor<float>(device, 128), y = make_tensor<float>(device, 128);
    Stream stream{device};
    Profiler profiler{stream};
    stream << f(x, y, 1.0f).dispatch() << f(x, y, 2.0f).dispatch();
    auto trace = nlohmann::json::parse(profiler.trace());
    std::vector<nlohmann::json> kernels;
    for (const auto &event : trace.at("traceEvents")) {
        if (event.at("ph") == "X") {
            kernels.push_back(event);
        }
    }
    ASSERT_EQ(kernels.size(), 2u);
    EXPECT_EQ(kernels[0].at("name"), "scale");
    EXPECT_EQ(kernels[0].at("args").at("bytes"), 1024);
    EXPECT_EQ(kernels[0].at("args").at("flops"), 256);
    EXPECT_GT(kernels[0].at("dur").get<double>(), 0);
    EXPECT_GE(kernels[1].at("ts").get<double>(),
              kernels[0].at("ts").get<double>() + kernels[0].at("dur").get<double>() - 0.01);
}

TEST(ProfilerOfPrograms, commands_are_records) {
    auto device = Device::create("cpu", {.threads = 1, .cache = false});
    auto twice = tile_program(
        [](Commands &run, ProgramTensor<const float, 1> x, ProgramTensor<float, 1> y) {
            auto between = run.temporary<float>(x.extent(0));
            run(profiled_scale())(x, between, 2.0f);
            run(profiled_scale())(between, y, 3.0f);
        },
        {.name = "twice"});
    auto f = device.jit(twice);
    auto x = make_tensor<float>(device, 100), y = make_tensor<float>(device, 100);
    Stream stream{device};
    Profiler profiler{stream};
    stream << f(x, y).dispatch() << synchronize();
    auto records = profiler.records();
    ASSERT_EQ(records.size(), 2u);
    EXPECT_EQ(records[0].program, "twice");
    EXPECT_EQ(records[1].kernel, "scale");
    EXPECT_NE(profiler.table().find("twice/scale"), std::string::npos);
}

TEST(ProfilerOfStreams, one_at_a_time) {
    auto device = Device::create("cpu", {.threads = 1, .cache = false});
    Stream stream{device};
    {
        Profiler first{stream};
        EXPECT_THROW(Profiler{stream}, StateError);
    }
    EXPECT_NO_THROW(Profiler{stream});
    auto moved = std::move(stream);
    EXPECT_THROW(Profiler{stream}, LifetimeError);
}

TEST(ProfilerRecords, flops_that_data_decides_are_left_out) {
    auto device = Device::create("cpu", {.threads = 1, .cache = false});
    auto halve = device.jit(tile_kernel([](TensorView<float, 1> Y) {
        for (auto &nest : parallel(shape(Y.extent(0)))) {
            Scalar<float> y = Y(nest.index()).load();
            while_([&] { return y > 1.0f; }, [&] { y = y * 0.5f; });
            Y(nest.index()).store(y);
        }
    }));
    auto y = make_tensor<float>(device, 4);
    Stream stream{device};
    Profiler profiler{stream};
    stream << halve(y).dispatch();
    ASSERT_EQ(profiler.records().size(), 1u);
    EXPECT_FALSE(profiler.records()[0].flops.has_value());
    EXPECT_NE(profiler.table().find("  -  "), std::string::npos);
}

}// namespace luisa::tile
