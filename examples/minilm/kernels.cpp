// SPDX-License-Identifier: Apache-2.0
#include "kernels.h"

#include <cmath>

namespace minilm {

using namespace luisa::tile;

namespace {

/// Kernels write to a workspace that they do not read.
KernelOptions named(const char *name) { return {.noalias = true, .name = name}; }

constexpr int64_t block_rows = 96;

/// A domain with one instance for each block of x's rows and each panel of weights.
IndexSpace blocks(const TensorView<const float, 2> &x, int64_t outputs) {
    return shape(ceil_div(x.extent(0), block_rows), outputs / panel);
}

/// x · weights + bias: the rows m of the instance's block, the columns n of its panel.
Tile<float> product(Nest &nest, const TensorView<const float, 2> &x,
                    const TensorView<const float, 2> &weights,
                    const TensorView<const float, 1> &bias, const Axis &m, const Axis &n) {
    constexpr int64_t depth = 32;
    auto k = axis("input", depth);
    auto first = nest.index(1) * x.extent(1);
    auto acc = zeros<float>(shape(m, n));
    for (auto &step : nest.pipeline(range(0, x.extent(1), depth))) {
        auto k0 = step.index();
        acc = mma(x[coord(nest.index(0) * block_rows, k0), shape(m, k)],
                  weights[coord(first + k0, 0), shape(k, n)], acc);
    }
    return acc + bias[coord(nest.index(1) * panel), shape(n)];
}

TensorMeta panels_shape(int64_t inputs, int64_t outputs) {
    return tensor_shape(outputs / panel * inputs, panel);
}

}// namespace

Kernel embed_kernel() {
    auto definition = tile_kernel(
        [](TensorView<const int32_t, 2> ids, TensorView<const float, 2> words,
           TensorView<const float, 2> positions, TensorView<const float, 2> kinds,
           TensorView<const float, 1> gain, TensorView<const float, 1> shift,
           TensorView<float, 3> out) {
            auto c = axis("channel", Sizes::hidden);
            for (auto &nest : parallel(shape(ids.extent(0), ids.extent(1)))) {
                auto sentence = nest.index(0), token = nest.index(1);
                auto id = cast<int64_t>(ids[coord(sentence, token)]);
                auto x = words[coord(id, 0), shape(1, c)] +
                         positions[coord(token, 0), shape(1, c)] + kinds[coord(0, 0), shape(1, c)];
                auto y = ops::layer_norm(reshape(x, shape(c)), c, gain[coord(0), shape(c)],
                                         shift[coord(0), shape(c)], Sizes::epsilon);
                out(coord(sentence, token, 0), shape(1, 1, c)).store(y);
            }
        },
        named("embed"));
    auto b = dynamic("sentences"), s = dynamic("tokens");
    return definition.capture(tensor_shape(b, s), tensor_shape(Sizes::words, Sizes::hidden),
                              tensor_shape(Sizes::positions, Sizes::hidden),
                              tensor_shape(Sizes::kinds, Sizes::hidden),
                              tensor_shape(Sizes::hidden), tensor_shape(Sizes::hidden),
                              tensor_shape(b, s, Sizes::hidden));
}

Kernel linear_kernel(int64_t inputs, int64_t outputs, bool through_gelu) {
    auto definition = tile_kernel(
        [=](TensorView<const float, 2> x, TensorView<const float, 2> weights,
            TensorView<const float, 1> bias, TensorView<float, 2> out) {
            auto m = axis("row", block_rows), n = axis("output", panel);
            for (auto &nest : parallel(blocks(x, outputs))) {
                auto y = product(nest, x, weights, bias, m, n);
                out(coord(nest.index(0) * block_rows, nest.index(1) * panel), shape(m, n))
                    .store(through_gelu ? gelu(y) : y);
            }
        },
        named(through_gelu ? "linear_gelu" : "linear"));
    auto t = dynamic("rows");
    return definition.capture(tensor_shape(t, inputs), panels_shape(inputs, outputs),
                              tensor_shape(outputs), tensor_shape(t, outputs));
}

Kernel linear_add_kernel(int64_t inputs, int64_t outputs) {
    auto definition = tile_kernel(
        [=](TensorView<const float, 2> x, TensorView<const float, 2> weights,
            TensorView<const float, 1> bias, TensorView<const float, 2> residual,
            TensorView<float, 2> out) {
            auto m = axis("row", block_rows), n = axis("output", panel);
            for (auto &nest : parallel(blocks(x, outputs))) {
                auto y = product(nest, x, weights, bias, m, n);
                auto place = coord(nest.index(0) * block_rows, nest.index(1) * panel);
                out(place, shape(m, n)).store(y + residual[place, shape(m, n)]);
            }
        },
        named("linear_add"));
    auto t = dynamic("rows");
    auto out = tensor_shape(t, outputs);
    return definition.capture(tensor_shape(t, inputs), panels_shape(inputs, outputs),
                              tensor_shape(outputs), out, out);
}

Kernel norm_kernel() {
    auto definition = tile_kernel(
        [](TensorView<const float, 2> x, TensorView<const float, 1> gain,
           TensorView<const float, 1> shift, TensorView<float, 2> out) {
            auto c = axis("channel", Sizes::hidden);
            for (auto &nest : parallel(shape(x.extent(0)))) {
                auto y = ops::layer_norm(x[coord(nest.index(), 0), shape(1, c)], c,
                                         gain[coord(0), shape(c)], shift[coord(0), shape(c)],
                                         Sizes::epsilon);
                out(coord(nest.index(), 0), shape(1, c)).store(y);
            }
        },
        named("norm"));
    auto t = dynamic("rows");
    auto matrix = tensor_shape(t, Sizes::hidden), vector = tensor_shape(Sizes::hidden);
    return definition.capture(matrix, vector, vector, matrix);
}

Kernel attention_kernel(int64_t block_q) {
    constexpr int64_t block_k = 32;
    auto definition = tile_kernel(
        [=](TensorView<const int64_t, 1> lengths, TensorView<const float, 3> qkv,
            TensorView<float, 3> out) {
            auto q = axis("query", block_q), k = axis("key", block_k),
                 d = axis("channel", Sizes::head), e = axis("value", Sizes::head);
            const auto scale = 1 / std::sqrt(static_cast<float>(Sizes::head));
            for (auto &nest :
                 parallel(shape(out.extent(0), Sizes::heads, ceil_div(out.extent(1), block_q)))) {
                auto sentence = nest.index(0), q0 = nest.index(2) * block_q;
                auto first = nest.index(1) * Sizes::head;
                auto length = lengths[coord(sentence)];
                auto query = reshape(qkv[coord(sentence, q0, first), shape(1, q, d)], shape(q, d)) *
                             scale;
                auto top = full<float>(shape(q), -1e30f);
                auto total = zeros<float>(shape(q));
                auto acc = zeros<float>(shape(q, e));
                for (auto &step : nest.pipeline(range(0, length, block_k))) {
                    auto k0 = step.index();
                    auto key = reshape(
                        qkv[coord(sentence, k0, Sizes::hidden + first), shape(1, k, d)],
                        shape(k, d));
                    auto value = reshape(
                        qkv[coord(sentence, k0, 2 * Sizes::hidden + first), shape(1, k, e)],
                        shape(k, e));
                    auto scores = mma(query, key, zeros<float>(shape(q, k)));
                    scores = ite(iota(k) + k0 < length, scores, -1e30f);
                    auto new_top = maximum(top, reduce(scores, k, maximum));
                    auto weight = exp(scores - new_top);
                    auto shrink = exp(top - new_top);
                    total = total * shrink + reduce(weight, k, add);
                    acc = mma(weight, value, acc * shrink);
                    top = new_top;
                }
                out(coord(sentence, q0, first), shape(1, q, e)).store(acc / total);
            }
        },
        named(block_q > block_k ? "long_attention" : "attention"));
    auto b = dynamic("sentences"), s = dynamic("tokens");
    return definition.capture(tensor_shape(b), tensor_shape(b, s, 3 * Sizes::hidden),
                              tensor_shape(b, s, Sizes::hidden));
}

Kernel pool_kernel() {
    auto definition = tile_kernel(
        [](TensorView<const int64_t, 1> lengths, TensorView<const float, 3> x,
           TensorView<float, 2> out) {
            auto c = axis("channel", Sizes::hidden);
            for (auto &nest : parallel(shape(out.extent(0)))) {
                auto sentence = nest.index();
                auto sum = zeros<float>(shape(c));
                auto length = lengths[coord(sentence)];
                for (auto &step : nest.serial(range(0, length, 1))) {
                    sum += reshape(x[coord(sentence, step.index(), 0), shape(1, 1, c)], shape(c));
                }
                auto mean = sum / cast<float>(length);
                out(coord(sentence, 0), shape(1, c))
                    .store(mean * rsqrt(reduce(mean * mean, c, add)));
            }
        },
        named("pool"));
    auto b = dynamic("sentences"), s = dynamic("tokens");
    return definition.capture(tensor_shape(b), tensor_shape(b, s, Sizes::hidden),
                              tensor_shape(b, Sizes::hidden));
}

Kernel panels_kernel(int64_t inputs, int64_t outputs) {
    auto definition = tile_kernel(
        [=](TensorView<const float, 2> weights, TensorView<float, 2> out) {
            auto k = axis("input", 32), n = axis("output", panel);
            for (auto &nest : parallel(shape(outputs / panel, inputs / 32))) {
                auto n0 = nest.index(0) * panel, k0 = nest.index(1) * 32;
                out(coord(nest.index(0) * inputs + k0, 0), shape(k, n))
                    .store(weights[coord(n0, k0), shape(n, k)]);
            }
        },
        named("panels"));
    return definition.capture(tensor_shape(outputs, inputs), panels_shape(inputs, outputs));
}

}// namespace minilm
