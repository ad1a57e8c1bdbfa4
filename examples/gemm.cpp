// SPDX-License-Identifier: Apache-2.0
// C = gelu(A · B + bias): a matrix product whose epilogue runs on the accumulators.
#include "example.h"

using namespace example;

namespace {

auto make_gemm(int bm, int bn, int bk) {
    return tile_kernel([=](TensorView<const float, 2> A, TensorView<const float, 2> B,
                           TensorView<const float, 1> bias, TensorView<float, 2> C) {
        auto m = axis("m", bm), n = axis("n", bn), k = axis("k", bk);
        for (auto &nest : parallel(shape(ceil_div(C.extent(0), bm), ceil_div(C.extent(1), bn)))) {
            auto m0 = nest.index(0) * bm, n0 = nest.index(1) * bn;
            auto acc = zeros<float>(shape(m, n));
            for (auto &step : nest.pipeline(range(0, A.extent(1), bk))) {
                auto k0 = step.index();
                step.stage("load");
                auto a = A[coord(m0, k0), shape(m, k)];
                auto b = B[coord(k0, n0), shape(k, n)];
                step.stage("compute");
                acc = mma(a, b, acc);
            }
            C(coord(m0, n0), shape(m, n)).store(gelu(acc + bias[coord(n0), shape(n)]));
        }
    });
}

double max_error(const Tensor<float, 2> &A, const Tensor<float, 2> &B, const Tensor<float, 1> &bias,
                 const Tensor<float, 2> &C) {
    std::mt19937 engine{1};
    double worst = 0;
    for (int sample = 0; sample < 2000; ++sample) {
        auto i = static_cast<int64_t>(engine()) % C.extent(0),
             j = static_cast<int64_t>(engine()) % C.extent(1);
        double sum = bias.at(j);
        for (int64_t k = 0; k < A.extent(1); ++k) {
            sum += static_cast<double>(A.at(i, k)) * static_cast<double>(B.at(k, j));
        }
        double expected = 0.5 * sum * std::erfc(-sum / std::sqrt(2.0));
        worst = std::max(worst, std::fabs(expected - static_cast<double>(C.at(i, j))) /
                                    std::max(1.0, std::fabs(expected)));
    }
    return worst;
}

}// namespace

int main(int argc, char **argv) {
    if (emit_tir(argc, argv)) {
        return print_tir({make_gemm(128, 128, 32)
                              .capture(tensor_shape(1000, 500), tensor_shape(500, 193),
                                       tensor_shape(193), tensor_shape(1000, 193))});
    }
    Place place{argc, argv};
    auto &stream = place.stream();
    const auto &device = place.device(), &host = place.host();
    Report report{device};
    auto gemm = device.jit(make_gemm(128, 128, 32));
    for (auto [M, N, K] : {std::array<int64_t, 3>{256, 256, 256},
                           {1000, 1000, 1000},
                           {1024, 1024, 1024},
                           {127, 193, 61}}) {
        if (place.skips(M * N * K)) {
            continue;
        }
        auto A = make_tensor<float>(host, M, K), B = make_tensor<float>(host, K, N),
             C = make_tensor<float>(host, M, N);
        auto bias = make_tensor<float>(host, N);
        fill(A, 1);
        fill(B, 2);
        fill(bias, 3);
        auto seconds = best_seconds(
            [&] { stream << gemm(place(A), place(B), place(bias), place(C)) << synchronize(); },
            quick(argc, argv));
        place.fetch();
        report.row("gemm+bias+gelu " + std::to_string(M) + "x" + std::to_string(N) + "x" +
                       std::to_string(K),
                   gemm.shader(A, B, bias, C), seconds, 2.0 * static_cast<double>(M * N * K),
                   "GFLOP/s", max_error(A, B, bias, C), 1e-4);
    }
    return report.status();
}
