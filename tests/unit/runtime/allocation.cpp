// SPDX-License-Identifier: Apache-2.0
#include "support.h"

#include <luisa/tile/program.h>

#include <atomic>
#include <cstdlib>
#include <new>

// Counts every allocation of this program.
namespace {
std::atomic<int64_t> allocations{0};
}

void *operator new(size_t bytes) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    if (void *memory = std::malloc(bytes > 0 ? bytes : 1)) {
        return memory;
    }
    throw std::bad_alloc{};
}
void *operator new[](size_t bytes) { return operator new(bytes); }
// A sanitizer's own would not pair with the deletes below.
void *operator new(size_t bytes, const std::nothrow_t &) noexcept {
    allocations.fetch_add(1, std::memory_order_relaxed);
    return std::malloc(bytes > 0 ? bytes : 1);
}
void *operator new[](size_t bytes, const std::nothrow_t &tag) noexcept {
    return operator new(bytes, tag);
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete[](void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete[](void *memory, size_t) noexcept { std::free(memory); }

namespace luisa::tile::test {

TEST(Allocation, a_warm_dispatch_makes_none) {
    auto device = Device::create("cpu", {.threads = 3});
    Stream stream{device};
    auto any = ir::runtime_value;
    compiler::CpuKernel code = one_phase(
        [](const uint64_t *args, int64_t begin, int64_t end, void *, void *shared) {
            for (auto i = begin; i < end; ++i) {
                reinterpret_cast<float *>(args[5])[i] = 1;
                static_cast<char *>(shared)[i] = 1;
            }
        },
        64);
    code.scratch_bytes = 1 << 16;
    code.shared_bytes = 1 << 16;
    auto shader = hand_made(device,
                            {{ScalarType::FLOAT32, {any, any}, true, {any, any}, {"m", "n"}},
                             {ScalarType::FLOAT32, {any, any}, false, {any, any}, {"m", "n"}},
                             {}},
                            std::move(code));
    auto a = make_tensor<float>(device, 8, 8), b = make_tensor<float>(device, 8, 8);
    // Long enough for each worker to have taken part and made its scratch.
    for (int i = 0; i < 2000; ++i) {
        stream << shader(a, b, 1.0f).dispatch();
    }
    auto before = allocations.load();
    for (int i = 0; i < 1000; ++i) {
        stream << shader(a, b, 1.0f).dispatch() << synchronize();
    }
    EXPECT_EQ(allocations.load() - before, 0);
}

TEST(Allocation, a_warm_program_makes_none) {
    auto device = Device::create("cpu", {.threads = 2});
    Stream stream{device};
    auto twice = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        auto i = axis("i", 16);
        for (auto &nest : parallel(shape(ceil_div(X.extent(0), 16)))) {
            auto at = coord(nest.index(0) * 16);
            auto x = X[at, shape(i)];
            Y(at, shape(i)).store(x + x);
        }
    });
    auto four_times = device.jit(tile_program(
        [twice](Commands &run, ProgramTensor<const float, 1> x, ProgramTensor<float, 1> y) {
            auto t = run.temporary<float>(x.extent(0));
            run(twice)(x, t);
            run(twice)(t, y);
        }));
    auto x = make_tensor<float>(device, 40), y = make_tensor<float>(device, 40);
    x.at(39) = 5;
    for (int i = 0; i < 200; ++i) {
        stream << four_times(x, y).dispatch();
    }
    auto before = allocations.load();
    for (int i = 0; i < 100; ++i) {
        stream << four_times(x, y).dispatch() << synchronize();
    }
    EXPECT_EQ(allocations.load() - before, 0);
    EXPECT_EQ(y.at(39), 20);
}

TEST(Allocation, a_warm_call_of_a_jit_makes_none) {
    auto device = Device::create("cpu", {.threads = 2});
    Stream stream{device};
    auto twice = device.jit(tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        auto i = axis("i", 16);
        for (auto &nest : parallel(shape(ceil_div(X.extent(0), 16)))) {
            auto at = coord(nest.index(0) * 16);
            auto x = X[at, shape(i)];
            Y(at, shape(i)).store(x + x);
        }
    }));
    auto x = make_tensor<float>(device, 40), y = make_tensor<float>(device, 40);
    for (int i = 0; i < 40; ++i) {
        x.at(i) = static_cast<float>(i);
    }
    for (int i = 0; i < 500; ++i) {
        stream << twice(x, y).dispatch();
    }
    {
        Profiler profiler{stream};// one that has gone leaves nothing behind
        stream << twice(x, y).dispatch();
    }
    Event begin, end;
    auto before = allocations.load();
    for (int i = 0; i < 500; ++i) {
        stream << begin << twice(x, y).dispatch() << end << synchronize();
    }
    EXPECT_EQ(allocations.load() - before, 0);
    EXPECT_EQ(y.at(39), 78.0f);
}

}// namespace luisa::tile::test
