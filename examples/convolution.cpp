// SPDX-License-Identifier: Apache-2.0
// A padded 3×3 convolution with stride 2 as nine matrix products over shifted views, then 2×2 max pooling.
#include "example.h"

#include <limits>

using namespace example;

namespace {

constexpr int block_out = 16, block_x = 32, block_in = 16;

// X: [in, height, width], W: [3, 3, out, in], Y: [out, height / 2, width / 2].
auto convolution = tile_kernel([](TensorView<const float, 3> X, TensorView<const float, 4> W,
                                  TensorView<float, 3> Y) {
    auto o = axis("out", block_out), x = axis("x", block_x), c = axis("in", block_in);
    auto wide = axis("wide", 2 * block_x + 1);
    for (auto &nest : parallel(shape(ceil_div(Y.extent(0), block_out), Y.extent(1),
                                     ceil_div(Y.extent(2), block_x)))) {
        auto o0 = nest.index(0) * block_out, row = nest.index(1), x0 = nest.index(2) * block_x;
        auto acc = zeros<float>(shape(o, x));
        for (auto &step : nest.serial(range(0, X.extent(0), block_in))) {
            auto c0 = step.index();
            for (int ky = 0; ky < 3; ++ky) {
                auto line = reshape(X[coord(c0, row * 2 + (ky - 1), x0 * 2 - 1), shape(c, 1, wide)],
                                    shape(c, wide));
                for (int kx = 0; kx < 3; ++kx) {
                    auto taps = reindex(
                        line, shape(c, x),
                        [&](Scalar<int64_t> i, Scalar<int64_t> j) { return coord(i, j * 2 + kx); });
                    auto weights = reshape(W[coord(ky, kx, o0, c0), shape(1, 1, o, c)],
                                           shape(o, c));
                    acc = mma(weights, taps, acc);
                }
            }
        }
        Y(coord(o0, row, x0), shape(o, 1, x)).store(acc);
    }
});

// 2×2 maximum; outside of the input is minus infinity.
auto max_pool = tile_kernel([](TensorView<const float, 3> X, TensorView<float, 3> Y) {
    auto x = axis("x", block_x), wide = axis("wide", 2 * block_x);
    for (auto &nest : parallel(shape(Y.extent(0), Y.extent(1), ceil_div(Y.extent(2), block_x)))) {
        auto channel = nest.index(0), row = nest.index(1), x0 = nest.index(2) * block_x;
        auto best = full<float>(shape(x), -std::numeric_limits<float>::infinity());
        for (int dy = 0; dy < 2; ++dy) {
            auto line = reshape(X(coord(channel, row * 2 + dy, x0 * 2), shape(1, 1, wide))
                                    .load(-std::numeric_limits<float>::infinity()),
                                shape(wide));
            for (int dx = 0; dx < 2; ++dx) {
                best = maximum(best, reindex(line, shape(x),
                                             [&](Scalar<int64_t> j) { return coord(j * 2 + dx); }));
            }
        }
        Y(coord(channel, row, x0), shape(1, 1, x)).store(best);
    }
});

double convolution_error(const Tensor<float, 3> &X, const Tensor<float, 4> &W,
                         const Tensor<float, 3> &Y) {
    double worst = 0;
    for (int64_t o = 0; o < Y.extent(0); o += 5) {
        for (int64_t i = 0; i < Y.extent(1); i += 3) {
            for (int64_t j = 0; j < Y.extent(2); ++j) {
                double sum = 0;
                for (int64_t c = 0; c < X.extent(0); ++c) {
                    for (int64_t ky = 0; ky < 3; ++ky) {
                        for (int64_t kx = 0; kx < 3; ++kx) {
                            auto y = i * 2 + ky - 1, x = j * 2 + kx - 1;
                            if (y >= 0 && y < X.extent(1) && x >= 0 && x < X.extent(2)) {
                                sum += static_cast<double>(X.at(c, y, x)) *
                                       static_cast<double>(W.at(ky, kx, o, c));
                            }
                        }
                    }
                }
                worst = std::max(worst, std::fabs(sum - static_cast<double>(Y.at(o, i, j))));
            }
        }
    }
    return worst;
}

double pool_error(const Tensor<float, 3> &X, const Tensor<float, 3> &Y) {
    double worst = 0;
    for (int64_t c = 0; c < Y.extent(0); ++c) {
        for (int64_t i = 0; i < Y.extent(1); ++i) {
            for (int64_t j = 0; j < Y.extent(2); ++j) {
                float best = -std::numeric_limits<float>::infinity();
                for (int64_t y = 2 * i; y < std::min(2 * i + 2, X.extent(1)); ++y) {
                    for (int64_t x = 2 * j; x < std::min(2 * j + 2, X.extent(2)); ++x) {
                        best = std::max(best, X.at(c, y, x));
                    }
                }
                worst = std::max(worst, std::fabs(static_cast<double>(best - Y.at(c, i, j))));
            }
        }
    }
    return worst;
}

}// namespace

int main(int argc, char **argv) {
    if (emit_tir(argc, argv)) {
        auto image = tensor_shape(24, 57, 38);
        return print_tir(
            {convolution.capture(tensor_shape(3, 113, 75), tensor_shape(3, 3, 24, 3), image),
             max_pool.capture(image, tensor_shape(24, 29, 19))});
    }
    Place place{argc, argv};
    auto &stream = place.stream();
    const auto &device = place.device(), &host = place.host();
    Report report{device};
    auto conv = device.jit(convolution);
    auto pool = device.jit(max_pool);
    for (auto [in, out, height, width] :
         {std::array<int64_t, 4>{64, 64, 56, 56}, {3, 24, 113, 75}}) {
        auto X = make_tensor<float>(host, in, height, width);
        auto W = make_tensor<float>(host, 3, 3, out, in);
        auto Y = make_tensor<float>(host, out, (height + 1) / 2, (width + 1) / 2);
        auto Z = make_tensor<float>(host, out, (Y.extent(1) + 1) / 2, (Y.extent(2) + 1) / 2);
        if (place.skips(9 * in * Y.size())) {
            continue;
        }
        fill(X, 1);
        fill(W, 2);
        auto size = std::to_string(in) + "x" + std::to_string(height) + "x" + std::to_string(width);
        auto seconds = best_seconds(
            [&] { stream << conv(place(X), place(W), place(Y)) << synchronize(); },
            quick(argc, argv));
        place.fetch();
        report.row("conv 3x3 stride 2 " + size + " to " + std::to_string(out), conv.shader(X, W, Y),
                   seconds, 18.0 * static_cast<double>(in * Y.size()), "GFLOP/s",
                   convolution_error(X, W, Y), 1e-4);
        seconds = best_seconds([&] { stream << pool(place(Y), place(Z)) << synchronize(); },
                               quick(argc, argv));
        place.fetch();
        report.row("max pool 2x2 of that", pool.shader(Y, Z), seconds,
                   4.0 * static_cast<double>(Y.size() + Z.size()), "GB/s", pool_error(Y, Z), 0);
    }
    return report.status();
}
