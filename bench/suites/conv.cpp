// SPDX-License-Identifier: Apache-2.0
// Padded convolutions in f32 as matrix products over shifted boxes of the picture: one instance a row of results and a
// block of outputs, one product a tap. `-nhwc`: channels last. Our weights are [tap, tap, channel, output].
#include "suite.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>

namespace bench {

namespace {

using namespace luisa::tile;

struct Arrays {
    Mirror<float, 4> x, w, y, ours;///< `w` as the peer has it, `ours` as we have it
};

auto nhwc_source(ConvProblem p, int block_x, int block_o, int block_c) {
    return tile_kernel([=](TensorView<const float, 4> X, TensorView<const float, 4> W,
                           TensorView<float, 4> Y) {
        auto x = axis("x", block_x), o = axis("o", block_o), c = axis("c", block_c);
        for (auto &nest : parallel(shape(Y.extent(0), Y.extent(1), ceil_div(Y.extent(2), block_x),
                                         ceil_div(Y.extent(3), block_o)))) {
            auto b = nest.index(0), row = nest.index(1), x0 = nest.index(2) * block_x,
                 o0 = nest.index(3) * block_o;
            auto acc = zeros<float>(shape(x, o));
            auto wide = axis("wide", block_x * p.stride);
            for (auto &down : nest.serial(range(0, p.taps))) {
                auto ky = down.index(), from = row * p.stride + ky - p.padding;
                for (auto &along : down.serial(range(0, p.taps))) {
                    auto kx = along.index(), left = x0 * p.stride + kx - p.padding;
                    for (auto &step : along.serial(range(0, X.extent(3), block_c))) {
                        auto c0 = step.index();
                        auto line = reshape(X[coord(b, from, left, c0), shape(1, 1, wide, c)],
                                            shape(wide, c));
                        auto taps = reindex(line, shape(x, c),
                                            [&](Scalar<int64_t> i, Scalar<int64_t> j) {
                                                return coord(i * p.stride, j);
                                            });
                        auto weight = reshape(W[coord(ky, kx, c0, o0), shape(1, 1, c, o)],
                                              shape(c, o));
                        acc = mma(taps, weight, acc);
                    }
                }
            }
            Y(coord(b, row, x0, o0), shape(1, 1, x, o)).store(acc);
        }
    });
}

auto nchw_source(ConvProblem p, int block_x, int block_o, int block_c) {
    return tile_kernel(
        [=](TensorView<const float, 4> X, TensorView<const float, 4> W, TensorView<float, 4> Y) {
            auto x = axis("x", block_x), o = axis("o", block_o), c = axis("c", block_c);
            for (auto &nest : parallel(shape(Y.extent(0), ceil_div(Y.extent(1), block_o),
                                             Y.extent(2), ceil_div(Y.extent(3), block_x)))) {
                auto b = nest.index(0), o0 = nest.index(1) * block_o, row = nest.index(2),
                     x0 = nest.index(3) * block_x;
                auto acc = zeros<float>(shape(o, x));
                auto wide = axis("wide", block_x * p.stride);
                for (auto &down : nest.serial(range(0, p.taps))) {
                    auto ky = down.index(), from = row * p.stride + ky - p.padding;
                    for (auto &along : down.serial(range(0, p.taps))) {
                        auto kx = along.index(), left = x0 * p.stride + kx - p.padding;
                        for (auto &step : along.serial(range(0, X.extent(1), block_c))) {
                            auto c0 = step.index();
                            auto line = reshape(X[coord(b, c0, from, left), shape(1, c, 1, wide)],
                                                shape(c, wide));
                            auto taps = reindex(line, shape(c, x),
                                                [&](Scalar<int64_t> i, Scalar<int64_t> j) {
                                                    return coord(i, j * p.stride);
                                                });
                            auto weight = reshape(W[coord(ky, kx, c0, o0), shape(1, 1, c, o)],
                                                  shape(c, o));
                            acc = mma(weight, taps, acc);
                        }
                    }
                }
                Y(coord(b, o0, row, x0), shape(1, o, 1, x)).store(acc);
            }
        });
}

/// Some results in f64, against what stands there.
double error_of(const Arrays &t, const ConvProblem &p) {
    t.y.pull();
    auto at = [&](int64_t n, int64_t c, int64_t h, int64_t w, int64_t channels, int64_t height,
                  int64_t width) {
        return p.channels_last ? ((n * height + h) * width + w) * channels + c
                               : ((n * channels + c) * height + h) * width + w;
    };
    double worst = 0, largest = 0;
    for (int64_t i = 0; i < p.batch * p.outputs * p.rows() * p.columns(); i += 997) {
        auto column = i % p.columns(), row = i / p.columns() % p.rows(),
             o = i / p.columns() / p.rows() % p.outputs, n = i / p.columns() / p.rows() / p.outputs;
        double sum = 0;
        for (int64_t ky = 0; ky < p.taps; ++ky) {
            for (int64_t kx = 0; kx < p.taps; ++kx) {
                auto h = row * p.stride + ky - p.padding, w = column * p.stride + kx - p.padding;
                for (int64_t c = 0;
                     c < p.channels && h >= 0 && w >= 0 && h < p.height && w < p.width; ++c) {
                    sum += static_cast<double>(
                               t.x.host()[at(n, c, h, w, p.channels, p.height, p.width)]) *
                           static_cast<double>(
                               t.w.host()[at(o, c, ky, kx, p.channels, p.taps, p.taps)]);
                }
            }
        }
        auto got = static_cast<double>(
            t.y.host()[at(n, o, row, column, p.outputs, p.rows(), p.columns())]);
        auto error = std::fabs(sum - got);
        worst = error <= worst ? worst : std::isnan(error) ? HUGE_VAL : error;
        largest = std::max(largest, std::fabs(sum));
    }
    return worst / largest;
}

Subject prepare(const Device &device, ConvProblem p) {
    auto picture = [&](int64_t n, int64_t c, int64_t h, int64_t w) {
        return p.channels_last ? Mirror<float, 4>{device, n, h, w, c}
                               : Mirror<float, 4>{device, n, c, h, w};
    };
    Arrays t{picture(p.batch, p.channels, p.height, p.width),
             picture(p.outputs, p.channels, p.taps, p.taps),
             picture(p.batch, p.outputs, p.rows(), p.columns()),
             Mirror<float, 4>{device, p.taps, p.taps, p.channels, p.outputs}};
    fill(t.x, 1);
    fill(t.w, 2);
    auto taps = p.taps * p.taps;
    for (int64_t i = 0; i < taps * p.channels * p.outputs; ++i) {
        auto o = i % p.outputs, c = i / p.outputs % p.channels, tap = i / p.outputs / p.channels;
        t.ours.host()[i] = t.w.host()[p.channels_last ? (o * taps + tap) * p.channels + c
                                                      : (o * p.channels + c) * taps + tap];
    }
    t.ours.push();
    auto block = [](int64_t extent, int64_t most) {
        auto blocks = (extent + most - 1) / most;
        return static_cast<int>((extent + blocks - 1) / blocks);
    };
    int o = block(p.outputs, 64), c = block(p.channels, 64), x = block(p.columns(), 64);
    const auto &xt = t.x.tensor(), &wt = t.ours.tensor(), &yt = t.y.tensor();
    auto subject = p.channels_last ? make_subject(device, nhwc_source(p, x, o, c), xt, wt, yt)
                                   : make_subject(device, nchw_source(p, x, o, c), xt, wt, yt);
    p.x = t.x.host();
    p.w = t.w.host();
    p.y = t.y.host();
    subject.peer = [=](Peer &peer) { return peer.call(p); };
    subject.error = [t, p] { return error_of(t, p); };
    subject.poison = [t] { fill_nan(t.y); };
    return subject;
}

std::vector<Case> cases() {
    static const ConvProblem shapes[] = {
        {.batch = 1,
         .channels = 64,
         .height = 56,
         .width = 56,
         .outputs = 64,
         .taps = 3,
         .padding = 1},
        {.batch = 1,
         .channels = 256,
         .height = 14,
         .width = 14,
         .outputs = 256,
         .taps = 3,
         .padding = 1},
        {.batch = 1, .channels = 64, .height = 56, .width = 56, .outputs = 64},
        {.batch = 1, .channels = 256, .height = 56, .width = 56, .outputs = 64},
        {.batch = 1,
         .channels = 3,
         .height = 224,
         .width = 224,
         .outputs = 64,
         .taps = 7,
         .stride = 2,
         .padding = 3},
    };
    std::vector<Case> all;
    for (auto p : shapes) {
        for (bool last : {false, true}) {
            p.channels_last = last;
            auto results = static_cast<double>(p.batch * p.outputs * p.rows() * p.columns());
            auto inputs = static_cast<double>(p.batch * p.channels * p.height * p.width);
            auto weights = static_cast<double>(p.outputs * p.channels * p.taps * p.taps);
            all.push_back({.name = fmt::format("{}x{}x{}x{}-{}-{}x{}s{}{}", p.batch, p.channels,
                                               p.height, p.width, p.outputs, p.taps, p.taps,
                                               p.stride, last ? "-nhwc" : "-nchw"),
                           .dtype = "f32",
                           .work = {.flops = 2 * results * weights / static_cast<double>(p.outputs),
                                    .bytes = 4 * (results + inputs + weights)},
                           .tolerance = 1e-5,
                           .prepare = [=](const Device &device) { return prepare(device, p); }});
        }
    }
    return all;
}

const Registered conv{{"conv", "convolutions as products over shifted boxes", cases}};

}// namespace

}// namespace bench
