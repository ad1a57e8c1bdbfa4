// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

namespace luisa::tile {

namespace {

/// Megabytes of this process in memory, shared libraries included.
double resident_mib() {
    std::ifstream file{"/proc/self/statm"};
    int64_t all = 0, resident = 0;
    file >> all >> resident;
    return static_cast<double>(resident * sysconf(_SC_PAGESIZE)) / (1 << 20);
}

Kernel product(int64_t columns) {
    auto definition = tile_kernel([](TensorView<const float, 2> A, TensorView<const float, 2> B,
                                     TensorView<float, 2> C) {
        auto m = axis("m", 32), n = axis("n", 64), k = axis("k", 16);
        for (auto &nest : parallel(shape(ceil_div(C.extent(0), 32), ceil_div(C.extent(1), 64)))) {
            auto m0 = nest.index(0) * 32, n0 = nest.index(1) * 64;
            auto sum = zeros<float>(shape(m, n));
            for (auto &step : nest.pipeline(range(0, A.extent(1), 16))) {
                auto k0 = step.index();
                sum = mma(A[coord(m0, k0), shape(m, k)], B[coord(k0, n0), shape(k, n)], sum);
            }
            C(coord(m0, n0), shape(m, n)).store(gelu(sum));
        }
    });
    return definition.capture(tensor_shape(67, 45), tensor_shape(45, columns),
                              tensor_shape(67, columns));
}

Kernel softmax(int64_t columns) {
    auto definition = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Y) {
        auto c = axis("c", X.extent(1));
        for (auto &nest : parallel(shape(X.extent(0)))) {
            auto x = X[coord(nest.index(), 0), shape(1, c)];
            auto e = exp(x - reduce(x, c, maximum));
            Y(coord(nest.index(), 0), shape(1, c)).store(e / reduce(e, c, add));
        }
    });
    return definition.capture(tensor_shape(9, columns), tensor_shape(9, columns));
}

}// namespace

TEST(Memory, two_hundred_compiled_kernels_fit_in_120_MiB) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer's own memory is in the count";
#endif
    auto device = Device::create("cpu", {.threads = 2});
    std::vector<Shader> shaders;
    for (int64_t i = 0; i < 100; ++i) {
        shaders.push_back(device.compile(product(100 + i)));
        shaders.push_back(device.compile(softmax(100 + i)));
    }
    EXPECT_NE(shaders[0].impl(), shaders[198].impl());
    auto mib = resident_mib();
    RecordProperty("resident_mib", std::to_string(mib));
    std::printf("%zu kernels, %.1f MiB\n", shaders.size(), mib);
    EXPECT_LT(mib, 120.0);
    // They are still there, and run.
    auto x = make_tensor<float>(device, 9, 100), y = make_tensor<float>(device, 9, 100);
    std::fill(x.data(), x.data() + x.size(), 1.0f);
    Stream stream{device};
    stream << shaders[1](x, y) << synchronize();
    EXPECT_NEAR(y.at(8, 99), 0.01f, 1e-6f);
}

}// namespace luisa::tile
