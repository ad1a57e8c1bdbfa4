// SPDX-License-Identifier: Apache-2.0
// Row-wise kernels: softmax, LayerNorm, RMSNorm. One row an instance.
#include "example.h"

using namespace example;

namespace {

auto softmax = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Y) {
    auto c = axis("col", X.extent(1));
    for (auto &nest : parallel(shape(X.extent(0)))) {
        auto row = nest.index();
        auto x = X[coord(row, 0), shape(1, c)];
        auto e = exp(x - reduce(x, c, maximum));
        Y(coord(row, 0), shape(1, c)).store(e / reduce(e, c, add));
    }
});

auto layernorm = tile_kernel([](TensorView<const float, 2> X, TensorView<const float, 1> gain,
                                TensorView<const float, 1> shift, TensorView<float, 2> Y,
                                Scalar<float> epsilon) {
    auto c = axis("col", X.extent(1));
    const float n = static_cast<float>(int64_t(X.extent(1)));
    for (auto &nest : parallel(shape(X.extent(0)))) {
        auto row = nest.index();
        auto x = X[coord(row, 0), shape(1, c)];
        auto centred = x - reduce(x, c, add) / n;
        auto variance = reduce(centred * centred, c, add) / n;
        auto g = gain[coord(0), shape(c)], s = shift[coord(0), shape(c)];
        Y(coord(row, 0), shape(1, c)).store(centred * rsqrt(variance + epsilon) * g + s);
    }
});

auto rmsnorm = tile_kernel([](TensorView<const float, 2> X, TensorView<const float, 1> gain,
                              TensorView<float, 2> Y, Scalar<float> epsilon) {
    auto c = axis("col", X.extent(1));
    const float n = static_cast<float>(int64_t(X.extent(1)));
    for (auto &nest : parallel(shape(X.extent(0)))) {
        auto row = nest.index();
        auto x = X[coord(row, 0), shape(1, c)];
        auto scale = rsqrt(reduce(x * x, c, add) / n + epsilon);
        Y(coord(row, 0), shape(1, c)).store(x * scale * gain[coord(0), shape(c)]);
    }
});

enum class Kind { SOFTMAX, LAYERNORM, RMSNORM };

double max_error(Kind kind, const Tensor<float, 2> &X, const Tensor<float, 1> &gain,
                 const Tensor<float, 1> &shift, const Tensor<float, 2> &Y) {
    double worst = 0;
    auto n = static_cast<double>(X.extent(1));
    for (int64_t r = 0; r < X.extent(0); r += 7) {
        double top = -1e30, sum = 0, squares = 0, exps = 0, spread = 0;
        for (int64_t c = 0; c < X.extent(1); ++c) {
            double x = X.at(r, c);
            top = std::max(top, x);
            sum += x;
            squares += x * x;
        }
        for (int64_t c = 0; c < X.extent(1); ++c) {
            double x = X.at(r, c);
            exps += std::exp(x - top);
            spread += (x - sum / n) * (x - sum / n);
        }
        for (int64_t c = 0; c < X.extent(1); ++c) {
            double x = X.at(r, c), g = gain.at(c);
            double expected = kind == Kind::SOFTMAX ? std::exp(x - top) / exps
                              : kind == Kind::LAYERNORM
                                  ? (x - sum / n) / std::sqrt(spread / n + 1e-5) * g +
                                        static_cast<double>(shift.at(c))
                                  : x / std::sqrt(squares / n + 1e-5) * g;
            worst = std::max(worst, std::fabs(expected - static_cast<double>(Y.at(r, c))));
        }
    }
    return worst;
}

}// namespace

int main(int argc, char **argv) {
    if (emit_tir(argc, argv)) {
        auto matrix = tensor_shape(257, 1538), vector = tensor_shape(1538);
        return print_tir({softmax.capture(matrix, matrix),
                          layernorm.capture(matrix, vector, vector, matrix),
                          rmsnorm.capture(matrix, vector, matrix)});
    }
    Place place{argc, argv};
    auto &stream = place.stream();
    const auto &device = place.device(), &host = place.host();
    Report report{device};
    auto soft = device.jit(softmax);
    auto layer = device.jit(layernorm);
    auto rms = device.jit(rmsnorm);
    bool fast = quick(argc, argv);
    for (auto [rows, columns] : {std::array<int64_t, 2>{257, 1538}, {1024, 4097}, {17, 65}}) {
        // Some eight operations an element.
        if (place.skips(8 * rows * columns)) {
            continue;
        }
        auto X = make_tensor<float>(host, rows, columns),
             Y = make_tensor<float>(host, rows, columns);
        auto gain = make_tensor<float>(host, columns), shift = make_tensor<float>(host, columns);
        fill(X, 1);
        fill(gain, 2);
        fill(shift, 3);
        auto size = std::to_string(rows) + "x" + std::to_string(columns);
        double bytes = 8.0 * static_cast<double>(rows * columns);
        auto seconds = best_seconds([&] { stream << soft(place(X), place(Y)) << synchronize(); },
                                    fast);
        place.fetch();
        report.row("softmax " + size, soft.shader(X, Y), seconds, bytes, "GB/s",
                   max_error(Kind::SOFTMAX, X, gain, shift, Y), 1e-6);
        seconds = best_seconds(
            [&] {
                stream << layer(place(X), place(gain), place(shift), place(Y), 1e-5f)
                       << synchronize();
            },
            fast);
        place.fetch();
        report.row("layernorm " + size, layer.shader(X, gain, shift, Y), seconds, bytes, "GB/s",
                   max_error(Kind::LAYERNORM, X, gain, shift, Y), 1e-5);
        seconds = best_seconds(
            [&] { stream << rms(place(X), place(gain), place(Y), 1e-5f) << synchronize(); }, fast);
        place.fetch();
        report.row("rmsnorm " + size, rms.shader(X, gain, Y), seconds, bytes, "GB/s",
                   max_error(Kind::RMSNORM, X, gain, shift, Y), 1e-5);
    }
    return report.status();
}
