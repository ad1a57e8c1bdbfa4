// SPDX-License-Identifier: Apache-2.0
#include "unit/runtime/support.h"

#include <atomic>
#include <barrier>
#include <memory>
#include <numeric>
#include <thread>

// One device used by many threads and streams at once.

namespace luisa::tile::test {

namespace {

/// y = x · factor, by rows of 64.
auto scaled(float factor) {
    return tile_kernel([=](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        auto i = axis("i", 64);
        for (auto &nest : parallel(shape(ceil_div(X.extent(0), 64)))) {
            auto at = coord(nest.index() * 64);
            Y(at, shape(i)).store(X[at, shape(i)] * factor);
        }
    });
}

std::vector<float> counted(int64_t n) {
    std::vector<float> v(static_cast<size_t>(n));
    std::iota(v.begin(), v.end(), 1.0f);
    return v;
}

/// Elements that are not factor · (1, 2, …).
size_t wrong(const Tensor<float, 1> &y, float factor) {
    size_t count = 0;
    for (int64_t i = 0; i < y.extent(0); ++i) {
        count += y.at(i) != factor * static_cast<float>(i + 1);
    }
    return count;
}

/// Runs `body(t)` on `count` threads that start together.
void on_threads(int count, const std::function<void(int)> &body) {
    std::barrier start{count};
    std::vector<std::thread> threads;
    for (int t = 0; t < count; ++t) {
        threads.emplace_back([&, t] {
            start.arrive_and_wait();
            body(t);
        });
    }
    for (auto &thread : threads) {
        thread.join();
    }
}

class Concurrency : public ::testing::TestWithParam<const char *> {
protected:
    Device device = Device::create(GetParam(), {.threads = 3});
};

}// namespace

INSTANTIATE_TEST_SUITE_P(Runtime, Concurrency, ::testing::Values("cpu", "interpreter"),
                         [](const auto &info) { return std::string{info.param}; });

TEST_P(Concurrency, one_kernel_from_many_threads_is_compiled_once) {
    constexpr int threads = 32;
    auto f = device.jit(scaled(3));
    std::atomic<size_t> errors{0};
    std::vector<const runtime::ShaderImpl *> shaders(threads);
    on_threads(threads, [&](int t) {
        Stream stream{device};
        auto x = make_tensor<float>(device, 1000), y = make_tensor<float>(device, 1000);
        auto host = counted(1000);
        shaders[static_cast<size_t>(t)] = f.shader(x, y).impl();
        stream << x.copy_from(host);
        for (int i = 0; i < 20; ++i) {
            stream << f(x, y).dispatch();
        }
        errors += wrong(y, 3);
    });
    EXPECT_EQ(errors, 0u);
    for (const auto *shader : shaders) {
        EXPECT_EQ(shader, shaders[0]);
    }
}

TEST_P(Concurrency, different_kernels_compile_at_the_same_time) {
    constexpr int threads = 6, each = 4;
    std::atomic<size_t> errors{0};
    on_threads(threads, [&](int t) {
        Stream stream{device};
        auto x = make_tensor<float>(device, 200), y = make_tensor<float>(device, 200);
        stream << x.copy_from(counted(200));
        for (int k = 0; k < each; ++k) {
            auto factor = static_cast<float>(1 + (t * each + k) % 9);// some of them equal
            stream << device.jit(scaled(factor))(x, y).dispatch();
            errors += wrong(y, factor);
        }
    });
    EXPECT_EQ(errors, 0u);
}

TEST_P(Concurrency, many_streams_share_a_device) {
    auto f = device.jit(scaled(2));
    constexpr size_t count = 24;
    std::vector<std::unique_ptr<Stream>> streams;
    std::vector<Tensor<float, 1>> results;
    for (size_t i = 0; i < count; ++i) {
        streams.push_back(std::make_unique<Stream>(device, StreamOptions{.async = i % 2 == 0}));
        auto x = make_tensor<float>(device, 500);
        results.push_back(make_tensor<float>(device, 500));
        auto host = counted(500);
        *streams.back() << x.copy_from(host) << synchronize() << f(x, results.back()).dispatch()
                        << f(x, results.back()).dispatch();
    }
    for (size_t i = 0; i < count; i += 3) {
        streams[i].reset();// early: waits for its own commands only
    }
    for (auto &stream : streams) {
        if (stream) {
            stream->synchronize();
        }
    }
    for (const auto &y : results) {
        EXPECT_EQ(wrong(y, 2), 0u);
    }
}

TEST_P(Concurrency, failing_callbacks_do_not_disturb_other_streams) {
    auto f = device.jit(scaled(5));
    std::atomic<size_t> errors{0}, caught{0};
    on_threads(8, [&](int t) {
        Stream stream{device, {.async = t % 2 == 0}};
        auto x = make_tensor<float>(device, 300), y = make_tensor<float>(device, 300);
        auto host = counted(300);
        stream << x.copy_from(host) << synchronize();
        for (int round = 0; round < 10; ++round) {
            try {
                stream << [] { throw std::runtime_error{"of the user"}; };
                stream.synchronize();
            } catch (const std::runtime_error &) {
                ++caught;
            }
            stream << f(x, y).dispatch() << synchronize();
            errors += wrong(y, 5);
        }
    });
    EXPECT_EQ(caught, 80u);
    EXPECT_EQ(errors, 0u);
}

TEST_P(Concurrency, devices_come_and_go_while_others_work) {
    std::atomic<size_t> errors{0};
    on_threads(4, [&](int t) {
        for (int round = 0; round < 5; ++round) {
            Tensor<float, 1> y;
            {
                auto own = Device::create(GetParam(), {.threads = 1 + t % 3});
                Stream stream{own, {.async = round % 2 == 0}};
                auto x = make_tensor<float>(own, 200);
                auto host = counted(200);
                y = make_tensor<float>(own, 200);
                auto f = own.jit(scaled(4));
                own = {};// stream and function keep it
                stream << x.copy_from(host) << f(x, y).dispatch() << synchronize();
            }
            errors += wrong(y, 4);// the tensor outlives its device
        }
    });
    EXPECT_EQ(errors, 0u);
}

TEST_P(Concurrency, overlapping_views_are_seen_by_each_thread_for_itself) {
    auto kernel = scaled(2).capture(tensor_shape(256), tensor_shape(256));
    auto shader = device.compile(kernel);
    std::atomic<size_t> errors{0};
    on_threads(8, [&](int t) {
        Stream stream{device};
        for (int round = 0; round < 10; ++round) {
            auto x = make_tensor<float>(device, 256), y = make_tensor<float>(device, 256);
            stream << x.copy_from(counted(256));
            auto &to = (t + round) % 2 ? x : y;// in place every other time
            stream << shader(x, to).dispatch();
            errors += wrong(to, 2);
        }
    });
    EXPECT_EQ(errors, 0u);
}

}// namespace luisa::tile::test
