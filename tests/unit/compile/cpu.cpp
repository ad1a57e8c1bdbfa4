// SPDX-License-Identifier: Apache-2.0
#include "kernels.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>

namespace luisa::tile::test {

namespace {

compiler::CpuOptions host() { return {emit::host_cpu(), 1, false}; }

std::vector<float> random_floats(size_t n, uint32_t seed) {
    std::mt19937 engine{seed};
    std::uniform_real_distribution<float> d{-1, 1};
    std::vector<float> v(n);
    for (auto &x : v) {
        x = d(engine);
    }
    return v;
}

void check_gemm(int64_t M, int64_t N, int64_t K, int64_t bm, int64_t bn, int64_t bk, bool bt) {
    auto module = gemm(M, N, K, bm, bn, bk, bt);
    auto kernel = compiler::compile_cpu(*module, host());
    auto a = random_floats(static_cast<size_t>(M * K), 1),
         b = random_floats(static_cast<size_t>(K * N), 2);
    std::vector<float> c(static_cast<size_t>(M * N), NAN);
    std::vector<int64_t> bs = bt ? std::vector<int64_t>{1, K} : std::vector<int64_t>{};
    launch(*kernel, {{a.data(), {M, K}, {}}, {b.data(), {K, N}, bs}, {c.data(), {M, N}, {}}});
    for (int64_t i = 0; i < M; ++i) {
        for (int64_t j = 0; j < N; ++j) {
            double sum = 0, size = 1e-30;
            for (int64_t k = 0; k < K; ++k) {
                double p = double(a[static_cast<size_t>(i * K + k)]) *
                           double(b[static_cast<size_t>(bt ? j * K + k : k * N + j)]);
                sum += p;
                size += std::fabs(p);
            }
            ASSERT_NEAR(c[static_cast<size_t>(i * N + j)], sum, 16 * size * 0x1p-24)
                << i << "," << j << " of " << M << "x" << N << "x" << K;
        }
    }
}

}// namespace

TEST(CpuGemm, edges_of_tiles_and_register_blocks_are_right) {
    check_gemm(64, 64, 64, 64, 64, 32, false);
    check_gemm(100, 100, 100, 128, 128, 32, false);
    check_gemm(127, 193, 61, 128, 128, 32, false);
    check_gemm(33, 77, 129, 32, 48, 16, false);
    check_gemm(1, 17, 5, 16, 16, 8, false);
    check_gemm(130, 131, 20, 96, 160, 48, true);
}

TEST(CpuSoftmax, rows_sum_to_one) {
    int64_t rows = 7, columns = 1003;
    auto module = softmax(rows, columns);
    auto kernel = compiler::compile_cpu(*module, host());
    auto x = random_floats(static_cast<size_t>(rows * columns), 3);
    std::vector<float> y(x.size());
    launch(*kernel, {{x.data(), {rows, columns}, {}}, {y.data(), {rows, columns}, {}}});
    for (int64_t r = 0; r < rows; ++r) {
        double sum = 0;
        for (int64_t c = 0; c < columns; ++c) {
            sum += std::exp(double(x[static_cast<size_t>(r * columns + c)]));
        }
        for (int64_t c = 0; c < columns; ++c) {
            auto at = static_cast<size_t>(r * columns + c);
            EXPECT_NEAR(y[at], std::exp(double(x[at])) / sum, 1e-8);
        }
    }
}

}// namespace luisa::tile::test
