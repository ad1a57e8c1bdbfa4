// SPDX-License-Identifier: Apache-2.0
#include "kernels.h"

#include <cmath>

namespace minilm {

using namespace luisa::tile;

namespace {

/// Kernels write to a workspace that they do not read.
KernelOptions named(const char *name) { return {.noalias = true, .name = name}; }

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
    constexpr int64_t rows = 48, columns = 192, depth = 32;
    auto definition = tile_kernel(
        [=](TensorView<const float, 2> x, TensorView<const float, 2> weights,
            TensorView<const float, 1> bias, TensorView<float, 2> out) {
            auto m = axis("row", rows), n = axis("output", columns), k = axis("input", depth);
            for (auto &nest :
                 parallel(shape(ceil_div(out.extent(1), columns), ceil_div(x.extent(0), rows)))) {
                auto n0 = nest.index(0) * columns, m0 = nest.index(1) * rows;
                auto acc = zeros<float>(shape(m, n));
                for (auto &step : nest.pipeline(range(0, inputs, depth))) {
                    auto k0 = step.index();
                    acc = mma(x[coord(m0, k0), shape(m, k)], weights[coord(k0, n0), shape(k, n)],
                              acc);
                }
                auto y = acc + bias[coord(n0), shape(n)];
                out(coord(m0, n0), shape(m, n)).store(through_gelu ? gelu(y) : y);
            }
        },
        named(through_gelu ? "linear_gelu" : "linear"));
    auto t = dynamic("rows");
    return definition.capture(tensor_shape(t, inputs), tensor_shape(inputs, outputs),
                              tensor_shape(outputs), tensor_shape(t, outputs));
}

Kernel linear_norm_kernel(int64_t inputs) {
    constexpr int64_t rows = 48, depth = 32;
    auto definition = tile_kernel(
        [=](TensorView<const float, 2> x, TensorView<const float, 2> weights,
            TensorView<const float, 1> bias, TensorView<const float, 2> residual,
            TensorView<const float, 1> gain, TensorView<const float, 1> shift,
            TensorView<float, 2> out) {
            auto m = axis("row", rows), n = axis("output", Sizes::hidden), k = axis("input", depth);
            for (auto &nest : parallel(shape(ceil_div(x.extent(0), rows)))) {
                auto m0 = nest.index() * rows;
                auto acc = zeros<float>(shape(m, n));
                for (auto &step : nest.pipeline(range(0, inputs, depth))) {
                    auto k0 = step.index();
                    acc = mma(x[coord(m0, k0), shape(m, k)], weights[coord(k0, 0), shape(k, n)],
                              acc);
                }
                auto y = acc + bias[coord(0), shape(n)] + residual[coord(m0, 0), shape(m, n)];
                out(coord(m0, 0), shape(m, n))
                    .store(ops::layer_norm(y, n, gain[coord(0), shape(n)],
                                           shift[coord(0), shape(n)], Sizes::epsilon));
            }
        },
        named("linear_norm"));
    auto t = dynamic("rows");
    auto vector = tensor_shape(Sizes::hidden), matrix = tensor_shape(t, Sizes::hidden);
    return definition.capture(tensor_shape(t, inputs), tensor_shape(inputs, Sizes::hidden), vector,
                              matrix, vector, vector, matrix);
}

Kernel attention_kernel() {
    constexpr int64_t block_q = 32, block_k = 32;
    auto definition = tile_kernel(
        [](TensorView<const int64_t, 1> lengths, TensorView<const float, 3> qkv,
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
        named("attention"));
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

Kernel transpose_kernel(int64_t inputs, int64_t outputs) {
    auto definition = tile_kernel(
        [](TensorView<const float, 2> weights, TensorView<float, 2> out) {
            auto i = axis("input", 64), o = axis("output", 64);
            for (auto &nest :
                 parallel(shape(ceil_div(out.extent(0), 64), ceil_div(out.extent(1), 64)))) {
                auto i0 = nest.index(0) * 64, o0 = nest.index(1) * 64;
                out(coord(i0, o0), shape(i, o)).store(weights[coord(o0, i0), shape(o, i)]);
            }
        },
        named("transpose"));
    return definition.capture(tensor_shape(outputs, inputs), tensor_shape(inputs, outputs));
}

}// namespace minilm
