// SPDX-License-Identifier: Apache-2.0
#include "support.h"

#include <atomic>
#include <cmath>
#include <numeric>
#include <thread>

#include <pmmintrin.h>

namespace luisa::tile::test {

namespace {

using runtime::Argument;

/// y[i] = alpha·x[i] + y[i]; A: view x, B: view y, C: alpha. Sixteen elements a task.
void axpy(const uint64_t *args, int64_t begin, int64_t end, void *, void *) {
    auto *x = reinterpret_cast<const float *>(args[0]);
    auto n = static_cast<int64_t>(args[1]), sx = static_cast<int64_t>(args[2]);
    auto *y = reinterpret_cast<float *>(args[3]);
    auto sy = static_cast<int64_t>(args[5]);
    float alpha;
    std::memcpy(&alpha, &args[6], sizeof alpha);
    for (auto i = begin * 16; i < std::min(end * 16, n); ++i) {
        y[i * sy] += alpha * x[i * sx];
    }
}

std::vector<Parameter> axpy_parameters(int64_t n) {
    auto any = ir::runtime_value;
    return {{ScalarType::FLOAT32, {n}, true, {any}}, {ScalarType::FLOAT32, {n}, false, {any}}, {}};
}

}// namespace

TEST(Dispatch, strided_views_and_scalars_arrive) {
    for (int threads : {1, 2, 3, 7}) {
        auto device = Device::create("cpu", {.threads = threads});
        Stream stream{device};
        constexpr int64_t n = 1000;
        auto x = make_tensor<float>(device, n, 3);
        auto y = make_tensor<float>(device, n);
        std::vector<float> hx(3 * n), hy(n), out(n);
        std::iota(hx.begin(), hx.end(), 0.0f);
        std::iota(hy.begin(), hy.end(), 5.0f);
        auto shader = hand_made(device, axpy_parameters(n), one_phase(axpy, (n + 15) / 16, 2));
        Tensor<float, 1> column{x.data() + 1, {n}, {3}};
        stream << x.copy_from(hx) << y.copy_from(hy) << shader(column, y, 0.5f).dispatch()
               << y.copy_to(out) << synchronize();
        for (int64_t i = 0; i < n; ++i) {
            auto at = static_cast<size_t>(i);
            ASSERT_EQ(out[at], hy[at] + 0.5f * hx[3 * at + 1]) << i << " with " << threads;
        }
    }
}

TEST(Dispatch, phases_run_in_order_with_shared_memory_and_counts_of_the_launch) {
    auto device = Device::create("cpu", {.threads = 4});
    compiler::CpuKernel code;
    code.shared_bytes = 4096 * sizeof(int64_t);
    code.phases.push_back({[](const uint64_t *, int64_t begin, int64_t end, void *, void *shared) {
                               for (auto i = begin; i < end; ++i) {
                                   static_cast<int64_t *>(shared)[i] = i * i;
                               }
                           },
                           nullptr, 4096, 3, 0});
    code.phases.push_back(
        {[](const uint64_t *args, int64_t begin, int64_t end, void *, void *shared) {
             for (auto i = begin; i < end; ++i) {
                 reinterpret_cast<int64_t *>(args[0])[i] = static_cast<int64_t *>(shared)[4095 - i];
             }
         },
         [](const uint64_t *args, int64_t, int64_t, void *scratch, void *) {
             *static_cast<int64_t *>(scratch) = static_cast<int64_t>(args[1]);
         },
         0, 5, 0});
    auto shader = hand_made(device, {{ScalarType::INT64, {ir::runtime_value}, false, {}, {"n"}}},
                            std::move(code));
    Stream stream{device};
    for (int64_t n : {0, 1, 77, 4096}) {
        std::vector<int64_t> out(4096, -1);
        stream << shader(Tensor<int64_t, 1>{out.data(), {n}}).dispatch();
        for (int64_t i = 0; i < 4096; ++i) {
            ASSERT_EQ(out[static_cast<size_t>(i)], i < n ? (4095 - i) * (4095 - i) : -1);
        }
    }
}

TEST(Dispatch, scratch_is_aligned_and_private_to_a_thread) {
    auto device = Device::create("cpu", {.threads = 4});
    compiler::CpuKernel code = one_phase(
        [](const uint64_t *args, int64_t begin, int64_t end, void *scratch, void *) {
            auto *own = static_cast<std::atomic<int64_t> *>(scratch);
            auto *bad = reinterpret_cast<int32_t *>(args[0]);
            for (auto i = begin; i < end; ++i) {
                own[0] = i;
                own[1000] = i;
                std::this_thread::yield();
                bad[i] = own[0] != i || own[1000] != i ||
                         reinterpret_cast<uintptr_t>(own) % 64 != 0;
            }
        },
        2000);
    code.scratch_bytes = 1001 * sizeof(int64_t);
    auto shader = hand_made(device, {{ScalarType::INT32, {2000}}}, std::move(code));
    std::vector<int32_t> bad(2000, 7);
    Stream stream{device};
    stream << shader(Tensor<int32_t, 1>{bad.data(), {2000}}).dispatch();
    EXPECT_EQ(std::accumulate(bad.begin(), bad.end(), 0), 0);
}

TEST(Dispatch, kernels_run_in_the_default_float_environment_and_the_callers_comes_back) {
    auto device = Device::create("cpu", {.threads = 3});
    auto shader = hand_made(
        device, {{ScalarType::UINT32, {64}}},
        one_phase(
            [](const uint64_t *args, int64_t begin, int64_t end, void *, void *) {
                for (auto i = begin; i < end; ++i) {
                    reinterpret_cast<uint32_t *>(args[0])[i] = _mm_getcsr();
                }
            },
            64));
    std::vector<uint32_t> seen(64);
    auto before = _mm_getcsr();
    // Toward zero, subnormals flushed, all exceptions masked.
    _mm_setcsr(0xffc0);
    Stream stream{device};
    stream << shader(Tensor<uint32_t, 1>{seen.data(), {64}}).dispatch();
    auto after = _mm_getcsr();
    _mm_setcsr(before);
    EXPECT_EQ(after, 0xffc0u);
    for (auto s : seen) {
        EXPECT_EQ(s & 0xffc0u, 0x1f80u);
    }
}

TEST(Dispatch, several_threads_share_a_shader) {
    auto device = Device::create("cpu", {.threads = 2});
    constexpr int64_t n = 4096;
    auto shader = hand_made(device, axpy_parameters(n), one_phase(axpy, n / 16, 4));
    std::vector<std::thread> threads;
    std::atomic<bool> right{true};
    for (int t = 0; t < 8; ++t) {
        threads.emplace_back([&, t] {
            Stream stream{device};
            std::vector<float> x(n, 1.0f), y(n, 0.0f);
            for (int i = 0; i < 200; ++i) {
                stream << shader(Tensor<float, 1>{x.data(), {n}}, Tensor<float, 1>{y.data(), {n}},
                                 static_cast<float>(t))
                              .dispatch();
            }
            for (auto v : y) {
                right = right && v == 200.0f * static_cast<float>(t);
            }
        });
    }
    for (auto &thread : threads) {
        thread.join();
    }
    EXPECT_TRUE(right.load());
}

TEST(Dispatch, results_do_not_depend_on_threads_or_repetition) {
    constexpr int64_t n = 3000;
    std::vector<float> x(n), first;
    for (size_t i = 0; i < x.size(); ++i) {
        x[i] = std::sin(static_cast<float>(i));
    }
    for (int threads : {1, 2, 3, 7}) {
        auto device = Device::create("cpu", {.threads = threads});
        auto shader = hand_made(device, axpy_parameters(n), one_phase(axpy, (n + 15) / 16, 1));
        Stream stream{device};
        for (int i = 0; i < 20; ++i) {
            std::vector<float> y(n, 0.25f);
            stream << shader(Tensor<float, 1>{x.data(), {n}}, Tensor<float, 1>{y.data(), {n}}, 0.3f)
                          .dispatch();
            if (first.empty()) {
                first = y;
            }
            ASSERT_EQ(std::memcmp(first.data(), y.data(), n * sizeof(float)), 0);
        }
    }
}

TEST(Dispatch, kernels_with_many_arguments_work) {
    auto device = Device::create("cpu", {.threads = 1});
    std::vector<Parameter> parameters(12, {ScalarType::INT32, {1, 1, 1, 1, 1, 1}, false, {}, {}});
    auto shader = hand_made(device, parameters,
                            one_phase(
                                [](const uint64_t *args, int64_t, int64_t, void *, void *) {
                                    for (int i = 0; i < 12; ++i) {
                                        *reinterpret_cast<int32_t *>(args[13 * i]) = i;
                                    }
                                },
                                1));
    int32_t out[12] = {};
    auto t = [&](int i) { return Tensor<int32_t, 6>{out + i, {1, 1, 1, 1, 1, 1}}; };
    Stream stream{device};
    stream << shader(t(0), t(1), t(2), t(3), t(4), t(5), t(6), t(7), t(8), t(9), t(10), t(11))
                  .dispatch();
    for (int i = 0; i < 12; ++i) {
        EXPECT_EQ(out[i], i);
    }
}

TEST(Stream, callbacks_and_events_come_in_order) {
    auto device = Device::create("cpu", {.threads = 1});
    Stream stream{device};
    Event begin, end;
    int steps = 0;
    auto t = make_tensor<float>(device, 4, 5);
    std::vector<float> in(20), out(20);
    std::iota(in.begin(), in.end(), 1.0f);
    stream << begin << [&] { EXPECT_EQ(steps++, 0); } << t.copy_from(in)
           << [&] { EXPECT_EQ(t.at(3, 4), 20.0f); } << t.copy_to(out) << end << synchronize();
    EXPECT_EQ(in, out);
    EXPECT_GE(end.milliseconds_since(begin), 0.0);
    EXPECT_THROW(
        stream << [] { throw std::runtime_error{"callback"}; }, std::runtime_error);
    EXPECT_THROW(static_cast<void>(end.milliseconds_since(Event{})), StateError);
}

TEST(Tensor, copies_go_through_views) {
    auto device = Device::create("interpreter");
    Stream stream{device};
    auto t = make_tensor<int32_t>(device, 4, 6);
    std::vector<int32_t> in(24), out(24, -1), part(6, -1);
    std::iota(in.begin(), in.end(), 0);
    stream << t.copy_from(in) << t.transposed(0, 1).copy_to(out)
           << t.slice(0, 1, 3).slice(1, 5, -1, -2).copy_to(part);
    for (int32_t i = 0; i < 6; ++i) {
        for (int32_t j = 0; j < 4; ++j) {
            EXPECT_EQ(out[static_cast<size_t>(4 * i + j)], 6 * j + i);
        }
    }
    EXPECT_EQ(part, (std::vector<int32_t>{11, 9, 7, 17, 15, 13}));
    stream << t.slice(0, 2, 3).repeated(0, 4).copy_to(out);
    EXPECT_EQ(out[0], 12);
    EXPECT_EQ(out[23], 17);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(t.data()) % 64, 0u);
}

TEST(Tensor, memory_outlives_its_tensor_as_long_as_a_view_or_call_uses_it) {
    auto device = Device::create("cpu", {.threads = 1});
    Stream stream{device};
    auto shader = hand_made(device, axpy_parameters(16), one_phase(axpy, 1));
    auto y = make_tensor<float>(device, 16);
    stream << y.copy_from(std::vector<float>(16, 1.0f));
    auto call = [&] {
        auto x = make_tensor<float>(device, 16);
        stream << x.copy_from(std::vector<float>(16, 2.0f));
        return shader(x, y, 3.0f);
    }();
    auto view = y.slice(0, 0, 16);
    y.free();
    stream << call.dispatch();
    EXPECT_EQ(view.at(7), 7.0f);
}

}// namespace luisa::tile::test
