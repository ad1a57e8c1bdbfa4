// SPDX-License-Identifier: Apache-2.0
// Lesson 6: a matrix product with an epilogue.
#include "lesson.h"

using namespace lesson;

int main(int argc, char **argv) {
    // [kernel]
    constexpr int bm = 64, bn = 64, bk = 64;
    auto gemm = tile_kernel([=](TensorView<const float, 2> A, TensorView<const float, 2> B,
                                TensorView<const float, 1> Bias, TensorView<float, 2> C) {
        auto m = axis("m", bm), n = axis("n", bn), k = axis("k", bk);
        for (auto &nest : parallel(shape(ceil_div(C.extent(0), bm), ceil_div(C.extent(1), bn)))) {
            auto m0 = nest.index(0) * bm, n0 = nest.index(1) * bn;
            auto acc = zeros<float>(shape(m, n));
            for (auto &step : nest.pipeline(range(0, A.extent(1), bk))) {
                auto a = A[coord(m0, step.index()), shape(m, k)];
                auto b = B[coord(step.index(), n0), shape(k, n)];
                acc = mma(a, b, acc);
            }
            auto bias = Bias[coord(n0), shape(n)];
            C(coord(m0, n0), shape(m, n)).store(maximum(acc + bias, 0.0f));
        }
    });
    // [end]

    if (emit_tir(argc, argv)) {
        return print_tir({gemm.capture(tensor_shape(150, 200), tensor_shape(200, 130),
                                       tensor_shape(130), tensor_shape(150, 130))});
    }
    auto device = Device::create("cpu");
    Stream stream{device};
    constexpr int M = 150, N = 130, K = 200;
    auto a = make_tensor<float>(device, M, K), b = make_tensor<float>(device, K, N),
         c = make_tensor<float>(device, M, N);
    auto bias = make_tensor<float>(device, N);
    for (int i = 0; i < M; ++i) {
        for (int k = 0; k < K; ++k) {
            a.at(i, k) = static_cast<float>((i + 2 * k) % 7 - 3);
        }
    }
    for (int j = 0; j < N; ++j) {
        bias.at(j) = static_cast<float>(j % 3);
        for (int k = 0; k < K; ++k) {
            b.at(k, j) = static_cast<float>((k * j) % 5 - 2);
        }
    }
    stream << device.jit(gemm)(a, b, bias, c).dispatch() << synchronize();

    // Small integers: every product and sum is exact, so the order of the sums cannot show.
    int wrong = 0;
    for (int i = 0; i < M; ++i) {
        for (int j = 0; j < N; ++j) {
            float sum = bias.at(j);
            for (int k = 0; k < K; ++k) {
                sum += a.at(i, k) * b.at(k, j);
            }
            wrong += c.at(i, j) != std::fmax(sum, 0.0f);
        }
    }
    Check check;
    check.number("wrong elements", wrong, 0);
    return check.status();
}
