// SPDX-License-Identifier: Apache-2.0
// Attention forward in f32 with online softmax: the source of examples/attention.cpp, one instance a head and a block of
// queries. `-causal`: no query sees later keys; blocks of keys that none sees are not visited.
#include "suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

namespace bench {

namespace {

using namespace luisa::tile;

constexpr int64_t heads = 8;
constexpr int block_q = 64;

struct Size {
    int64_t length;
    int width;
    bool causal;
};

auto source(int width, int block_k, bool causal) {
    return tile_kernel([=](TensorView<const float, 3> Q, TensorView<const float, 3> K,
                           TensorView<const float, 3> V, TensorView<float, 3> O,
                           Scalar<float> scale) {
        auto q = axis("q", block_q), k = axis("k", block_k), d = axis("d", width),
             e = axis("e", width);
        for (auto &nest : parallel(shape(Q.extent(0), ceil_div(Q.extent(1), block_q)))) {
            auto h = nest.index(0), q0 = nest.index(1) * block_q;
            auto query = reshape(Q[coord(h, q0, 0), shape(1, q, d)], shape(q, d)) * scale;
            auto row_max = full<float>(shape(q), -1e30f);
            auto row_sum = zeros<float>(shape(q));
            auto acc = zeros<float>(shape(q, e));
            auto attend = [&](const Scalar<int64_t> &k0, auto &&visible) {
                auto key = reshape(K[coord(h, k0, 0), shape(1, k, d)], shape(k, d));
                auto value = reshape(V[coord(h, k0, 0), shape(1, k, e)], shape(k, e));
                auto scores = visible(mma(query, key, zeros<float>(shape(q, k))), -1e30f);
                auto new_max = maximum(row_max, reduce(scores, k, maximum));
                auto p = visible(exp(scores - new_max), 0.0f);
                auto shrink = exp(row_max - new_max);
                row_sum = row_sum * shrink + reduce(p, k, add);
                acc = mma(p, value, acc * shrink);
                row_max = new_max;
            };
            auto all = [](const Tile<float> &x, float) { return x; };
            // Blocks of which every query sees every key come first, then those that are cut.
            auto whole = causal ? q0 / block_k * block_k : K.extent(1) / block_k * block_k;
            for (auto &step : nest.pipeline(range(0, whole, block_k))) {
                attend(step.index(), all);
            }
            auto end = causal ? minimum(q0 + block_q, K.extent(1)) : K.extent(1) + 0;
            for (auto &step : nest.pipeline(range(whole, end, block_k))) {
                auto k0 = step.index();
                attend(k0, [&](const Tile<float> &x, float hidden) {
                    auto inside = iota(k) + k0 < K.extent(1);
                    return causal ? ite(inside && iota(k) + k0 <= iota(q) + q0, x, hidden)
                                  : ite(inside, x, hidden);
                });
            }
            O(coord(h, q0, 0), shape(1, q, e)).store(acc / row_sum);
        }
    });
}

struct Arrays {
    Mirror<float, 3> q, k, v, o;
};

/// Some rows of some heads in f64, and the same elements as they stand.
double error_of(const Arrays &t, const Size &s) {
    t.o.pull();
    double worst = 0, largest = 0;
    auto row = [&](const Mirror<float, 3> &x, int64_t h, int64_t i) {
        return x.host() + (h * s.length + i) * s.width;
    };
    for (int64_t h = 0; h < heads; h += 5) {
        for (int64_t i = s.length - 1; i >= 0; i -= std::max<int64_t>(1, s.length / 7)) {
            auto count = s.causal ? i + 1 : s.length;
            std::vector<double> p(static_cast<size_t>(count));
            for (int64_t j = 0; j < count; ++j) {
                for (int d = 0; d < s.width; ++d) {
                    p[static_cast<size_t>(j)] += static_cast<double>(row(t.q, h, i)[d]) *
                                                 static_cast<double>(row(t.k, h, j)[d]) /
                                                 std::sqrt(static_cast<double>(s.width));
                }
            }
            auto top = *std::max_element(p.begin(), p.end());
            double sum = 0;
            for (auto &x : p) {
                sum += x = std::exp(x - top);
            }
            for (int d = 0; d < s.width; ++d) {
                double expected = 0;
                for (int64_t j = 0; j < count; ++j) {
                    expected += p[static_cast<size_t>(j)] / sum *
                                static_cast<double>(row(t.v, h, j)[d]);
                }
                auto error = std::fabs(expected - static_cast<double>(row(t.o, h, i)[d]));
                worst = error <= worst ? worst : std::isnan(error) ? HUGE_VAL : error;
                largest = std::max(largest, std::fabs(expected));
            }
        }
    }
    return worst / largest;
}

Subject prepare(const Device &device, const Size &s, int block_k) {
    Arrays t{Mirror<float, 3>{device, heads, s.length, s.width},
             Mirror<float, 3>{device, heads, s.length, s.width},
             Mirror<float, 3>{device, heads, s.length, s.width},
             Mirror<float, 3>{device, heads, s.length, s.width}};
    fill(t.q, 1);
    fill(t.k, 2);
    fill(t.v, 3);
    auto scale = 1 / std::sqrt(static_cast<float>(s.width));
    auto subject = make_subject(device, source(s.width, block_k, s.causal), t.q.tensor(),
                                t.k.tensor(), t.v.tensor(), t.o.tensor(), scale);
    AttentionProblem problem{heads,      s.length,   s.width,    s.causal,  scale,
                             t.q.host(), t.k.host(), t.v.host(), t.o.host()};
    subject.peer = [=](Peer &peer) { return peer.call(problem); };
    subject.error = [t, s] { return error_of(t, s); };
    subject.poison = [t] { fill_nan(t.o); };
    return subject;
}

std::vector<Case> cases() {
    std::vector<Case> all;
    for (int width : {64, 128}) {
        for (bool causal : {false, true}) {
            for (int64_t length : {128, 333, 512, 2048, 4096}) {
                for (int block_k : {64, 192}) {
                    auto work = static_cast<double>(4 * heads * width) *
                                static_cast<double>(length) * static_cast<double>(length);
                    Size s{length, width, causal};
                    all.push_back(
                        {.name = fmt::format("{}x{}x{}{}-k{}", heads, length, width,
                                             causal ? "-causal" : "", block_k),
                         .dtype = "f32",
                         .work = {.flops = causal ? work / 2 : work,
                                  .bytes = static_cast<double>(16 * heads * length * width)},
                         .tolerance = 1e-5,
                         .prepare = [=](const Device &device) {
                             return prepare(device, s, block_k);
                         }});
                }
            }
        }
    }
    return all;
}

const Registered attention{{"attention", "attention forward with online softmax", cases}};

}// namespace

}// namespace bench
