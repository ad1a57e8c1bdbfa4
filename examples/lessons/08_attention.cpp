// SPDX-License-Identifier: Apache-2.0
// Lesson 8: causal attention, without the matrix of scores.
#include "lesson.h"

#include <vector>

using namespace lesson;

int main(int argc, char **argv) {
    // [kernel]
    constexpr int block = 32, head = 32;
    auto attention = tile_kernel([=](TensorView<const float, 2> Q, TensorView<const float, 2> K,
                                     TensorView<const float, 2> V, TensorView<float, 2> O,
                                     Scalar<float> scale) {
        auto q = axis("q", block), k = axis("k", block), d = axis("d", head), e = axis("e", head);
        for (auto &nest : parallel(shape(ceil_div(Q.extent(0), block)))) {
            auto q0 = nest.index() * block;
            auto query = Q[coord(q0, 0), shape(q, d)] * scale;
            auto top = full<float>(shape(q), -1e30f);// largest score so far
            auto sum = zeros<float>(shape(q));       // of exp(score - top)
            auto acc = zeros<float>(shape(q, e));    // of exp(score - top) * value
            // A query sees no key behind it, so blocks beyond its own are not visited.
            for (auto &step : nest.pipeline(range(0, minimum(q0 + block, K.extent(0)), block))) {
                auto k0 = step.index();
                auto key = K[coord(k0, 0), shape(k, d)];
                auto value = V[coord(k0, 0), shape(k, e)];
                auto visible = iota(k) + k0 <= iota(q) + q0 && iota(k) + k0 < K.extent(0);
                auto score = ite(visible, mma(query, key, zeros<float>(shape(q, k))), -1e30f);
                auto new_top = maximum(top, reduce(score, k, maximum));
                auto p = ite(visible, exp(score - new_top), 0.0f);
                auto shrink = exp(top - new_top);
                sum = sum * shrink + reduce(p, k, add);
                acc = mma(p, value, acc * shrink);
                top = new_top;
            }
            O(coord(q0, 0), shape(q, e)).store(acc / sum);
        }
    });
    // [end]

    if (emit_tir(argc, argv)) {
        return print_tir({attention.capture(tensor_shape(75, head), tensor_shape(75, head),
                                            tensor_shape(75, head), tensor_shape(75, head))});
    }
    auto device = Device::create("cpu");
    Stream stream{device};
    constexpr int length = 75;
    auto q = make_tensor<float>(device, length, head), k = make_tensor<float>(device, length, head),
         v = make_tensor<float>(device, length, head), o = make_tensor<float>(device, length, head);
    for (int i = 0; i < length; ++i) {
        for (int d = 0; d < head; ++d) {
            q.at(i, d) = static_cast<float>((i * 5 + d * 3) % 11 - 5) / 4;
            k.at(i, d) = static_cast<float>((i * 7 + d) % 13 - 6) / 4;
            v.at(i, d) = static_cast<float>((i + d * 9) % 17 - 8) / 4;
        }
    }
    float scale = 1 / std::sqrt(static_cast<float>(head));
    stream << device.jit(attention)(q, k, v, o, scale).dispatch() << synchronize();

    double worst = 0;
    for (int i = 0; i < length; ++i) {
        std::vector<double> out(head);
        double sum = 0;
        for (int j = 0; j <= i; ++j) {
            double score = 0;
            for (int d = 0; d < head; ++d) {
                score += static_cast<double>(q.at(i, d)) * static_cast<double>(k.at(j, d));
            }
            double p = std::exp(score * static_cast<double>(scale));
            sum += p;
            for (int d = 0; d < head; ++d) {
                out[static_cast<size_t>(d)] += p * static_cast<double>(v.at(j, d));
            }
        }
        for (int d = 0; d < head; ++d) {
            double expected = out[static_cast<size_t>(d)] / sum;
            worst = std::fmax(worst, std::fabs(static_cast<double>(o.at(i, d)) - expected));
        }
    }
    Check check;
    check.that("every element within 2e-6", worst < 2e-6);
    return check.status();
}
