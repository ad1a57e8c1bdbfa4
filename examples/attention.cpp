// SPDX-License-Identifier: Apache-2.0
// Causal attention with online softmax, grouped queries (several query heads share a key head) and one compiled
// kernel for every sequence length.
#include "example.h"

using namespace example;

namespace {

constexpr int block_q = 64, block_k = 64, head = 64;

auto make_attention(int queries_per_key) {
    return tile_kernel([=](TensorView<const float, 3> Q, TensorView<const float, 3> K,
                           TensorView<const float, 3> V, TensorView<float, 3> O,
                           Scalar<float> scale) {
        auto q = axis("q", block_q), k = axis("k", block_k), d = axis("d", head),
             e = axis("e", head);
        for (auto &nest : parallel(shape(Q.extent(0), ceil_div(Q.extent(1), block_q)))) {
            auto h = nest.index(0), q0 = nest.index(1) * block_q;
            auto group = h / queries_per_key;
            auto query = reshape(Q[coord(h, q0, 0), shape(1, q, d)], shape(q, d)) * scale;
            auto row_max = full<float>(shape(q), -1e30f);
            auto row_sum = zeros<float>(shape(q));
            auto acc = zeros<float>(shape(q, e));
            for (auto &step :
                 nest.pipeline(range(0, minimum(q0 + block_q, K.extent(1)), block_k))) {
                auto k0 = step.index();
                auto key = reshape(K[coord(group, k0, 0), shape(1, k, d)], shape(k, d));
                auto value = reshape(V[coord(group, k0, 0), shape(1, k, e)], shape(k, e));
                auto scores = mma(query, key, zeros<float>(shape(q, k)));
                auto visible = iota(k) + k0 <= iota(q) + q0 && iota(k) + k0 < K.extent(1);
                scores = ite(visible, scores, -1e30f);
                auto new_max = maximum(row_max, reduce(scores, k, maximum));
                auto p = ite(visible, exp(scores - new_max), 0.0f);
                auto shrink = exp(row_max - new_max);
                row_sum = row_sum * shrink + reduce(p, k, add);
                acc = mma(p, value, acc * shrink);
                row_max = new_max;
            }
            O(coord(h, q0, 0), shape(1, q, e)).store(acc / row_sum);
        }
    });
}

double max_error(const Tensor<float, 3> &Q, const Tensor<float, 3> &K, const Tensor<float, 3> &V,
                 const Tensor<float, 3> &O, int group, double scale) {
    double worst = 0;
    for (int64_t h = 0; h < Q.extent(0); h += 3) {
        for (int64_t i = 0; i < Q.extent(1); i += 37) {
            std::vector<double> p(static_cast<size_t>(i) + 1);
            double top = -1e30, sum = 0;
            for (int64_t j = 0; j <= i; ++j) {
                double s = 0;
                for (int64_t d = 0; d < head; ++d) {
                    s += static_cast<double>(Q.at(h, i, d)) *
                         static_cast<double>(K.at(h / group, j, d));
                }
                p[static_cast<size_t>(j)] = s * scale;
                top = std::max(top, s * scale);
            }
            for (auto &x : p) {
                x = std::exp(x - top);
                sum += x;
            }
            for (int64_t d = 0; d < head; ++d) {
                double expected = 0;
                for (int64_t j = 0; j <= i; ++j) {
                    expected += p[static_cast<size_t>(j)] / sum *
                                static_cast<double>(V.at(h / group, j, d));
                }
                worst = std::max(worst, std::fabs(expected - static_cast<double>(O.at(h, i, d))));
            }
        }
    }
    return worst;
}

}// namespace

int main(int argc, char **argv) {
    constexpr int heads = 8, group = 2;
    auto s = dynamic("s");
    auto kernel = make_attention(group).capture(
        tensor_shape(heads, s, head), tensor_shape(heads / group, s, head),
        tensor_shape(heads / group, s, head), tensor_shape(heads, s, head));
    if (emit_tir(argc, argv)) {
        return print_tir({kernel});
    }
    Place place{argc, argv};
    auto &stream = place.stream();
    const auto &device = place.device(), &host = place.host();
    Report report{device};
    auto shader = device.compile(kernel);
    for (int64_t length : {64, 100, 333, 512}) {
        if (place.skips(heads * length * length * head)) {
            continue;
        }
        auto Q = make_tensor<float>(host, heads, length, head),
             O = make_tensor<float>(host, heads, length, head);
        auto K = make_tensor<float>(host, heads / group, length, head),
             V = make_tensor<float>(host, heads / group, length, head);
        fill(Q, 1);
        fill(K, 2);
        fill(V, 3);
        float scale = 1 / std::sqrt(static_cast<float>(head));
        auto seconds = best_seconds(
            [&] {
                stream << shader(place(Q), place(K), place(V), place(O), scale) << synchronize();
            },
            quick(argc, argv));
        place.fetch();
        // Half of the scores are masked.
        double work = 2.0 * heads * static_cast<double>(length) * static_cast<double>(length) *
                      head;
        report.row("causal attention 8x" + std::to_string(length) + "x64, gqa 2", shader, seconds,
                   work, "GFLOP/s", max_error(Q, K, V, O, group, static_cast<double>(scale)), 1e-5);
    }
    return report.status();
}
