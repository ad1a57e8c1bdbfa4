// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile.h>

#include <array>
#include <utility>
#include <vector>

// Small whole programs, each using a few features in earnest. Tests of capture, of the text form and of
// back ends share them.

namespace luisa::tile::test::programs {

inline Kernel gemm_bias(int64_t m_extent, Extent n_extent, Extent k_extent) {
    struct {
        int bm = 16, bn = 32, bk = 8;
    } cfg;
    auto definition = tile_kernel(
        [=](TensorView<const half, 2> A, TensorView<const half, 2> B,
            TensorView<const float, 1> bias, TensorView<half, 2> C, Scalar<float> alpha) {
            auto m = axis("m", cfg.bm), n = axis("n", cfg.bn), k = axis("k", cfg.bk);
            auto rows = ceil_div(C.extent(0), cfg.bm), columns = ceil_div(C.extent(1), cfg.bn);
            for (auto &nest : parallel(shape(rows, columns))) {
                auto m0 = nest.index(0) * cfg.bm, n0 = nest.index(1) * cfg.bn;
                auto acc = zeros<float>(shape(m, n));
                for (auto &step : nest.pipeline(range(0, A.extent(1), cfg.bk),
                                                PipelinePolicy{.max_in_flight = 3})) {
                    auto k0 = step.index();
                    step.stage("load");
                    auto a = A[coord(m0, k0), shape(m, k)];
                    auto b = B[coord(k0, n0), shape(k, n)];
                    step.stage("compute");
                    acc = mma(a, b, acc);
                }
                auto shift = bias[coord(n0), shape(n)];
                C(coord(m0, n0), shape(m, n)).store(cast<half>(gelu(acc * alpha + shift)));
            }
        },
        {.name = "gemm_bias"});
    return definition.capture(tensor_shape(m_extent, k_extent), tensor_shape(k_extent, n_extent),
                              tensor_shape(n_extent), tensor_shape(m_extent, n_extent));
}

inline Kernel softmax(int64_t rows, int64_t columns) {
    return tile_kernel(
               [](TensorView<const float, 2> X, TensorView<float, 2> Y) {
                   auto r = axis("row", 2), c = axis("col", X.extent(1));
                   for (auto &nest : parallel(shape(ceil_div(X.extent(0), 2)))) {
                       auto r0 = nest.index() * 2;
                       auto x = X[coord(r0, 0), shape(r, c)];
                       auto e = exp(x - reduce(x, c, maximum));
                       Y(coord(r0, 0), shape(r, c)).store(e / reduce(e, c, add));
                   }
               },
               {.name = "softmax"})
        .capture(tensor_shape(rows, columns), tensor_shape(rows, columns));
}

inline Kernel layernorm(int64_t rows, int64_t columns) {
    return tile_kernel(
               [](TensorView<const float, 2> X, TensorView<const float, 1> gain,
                  TensorView<float, 2> Y, Scalar<float> epsilon) {
                   auto r = axis("row", 4), f = axis("feature", X.extent(1));
                   auto scale = 1.0f / static_cast<float>(int64_t(X.extent(1)));
                   for (auto &nest : parallel(shape(ceil_div(X.extent(0), 4)))) {
                       auto r0 = nest.index() * 4;
                       auto x = X[coord(r0, 0), shape(r, f)];
                       auto mean = reduce(x, f, add) * scale;
                       auto d = x - mean;
                       auto variance = reduce(d * d, f, add, reduction::balanced_tree) * scale;
                       auto g = gain[coord(0), shape(f)];
                       Y(coord(r0, 0), shape(r, f)).store(d * rsqrt(variance + epsilon) * g);
                   }
               },
               {.name = "layernorm"})
        .capture(tensor_shape(rows, columns), tensor_shape(columns), tensor_shape(rows, columns));
}

inline Kernel causal_attention(Extent length) {
    return tile_kernel(
               [](TensorView<const float, 2> Q, TensorView<const float, 2> K,
                  TensorView<const float, 2> V, TensorView<float, 2> O, Scalar<float> scale) {
                   const int block = 8, width = 4;
                   auto q = axis("q", block), k = axis("k", block), d = axis("d", width),
                        e = axis("e", width);
                   for (auto &nest : parallel(shape(ceil_div(Q.extent(0), block)))) {
                       auto q0 = nest.index() * block;
                       auto query = Q[coord(q0, 0), shape(q, d)];
                       auto row_max = full<float>(shape(q), -1e30f);
                       auto row_sum = zeros<float>(shape(q));
                       auto acc = zeros<float>(shape(q, e));
                       auto last = minimum(q0 + block, K.extent(0));
                       for (auto &step : nest.pipeline(range(0, last, block))) {
                           auto k0 = step.index();
                           auto key = K[coord(k0, 0), shape(k, d)];
                           auto scores = mma(query, key, zeros<float>(shape(q, k))) * scale;
                           auto visible = iota(k) + k0 <= iota(q) + q0 &&
                                          iota(k) + k0 < K.extent(0);
                           scores = ite(visible, scores, -1e30f);
                           auto new_max = maximum(row_max, reduce(scores, k, maximum));
                           auto p = ite(visible, exp(scores - new_max), 0.0f);
                           auto correction = exp(row_max - new_max);
                           row_sum = row_sum * correction + reduce(p, k, add);
                           auto value = V[coord(k0, 0), shape(k, e)];
                           acc = mma(p, value, acc * correction);
                           row_max = new_max;
                       }
                       O(coord(q0, 0), shape(q, e)).store(acc / row_sum);
                   }
               },
               {.name = "attention"})
        .capture(tensor_shape(length, 4), tensor_shape(length, 4), tensor_shape(length, 4),
                 tensor_shape(length, 4));
}

/// A tile updated by the instances of two nested `parallel`, a flag updated once, a snapshot kept.
inline Kernel ancestor_updates() {
    return tile_kernel(
               [](TensorView<const float, 2> X, TensorView<float, 2> Y, TensorView<float, 2> Z) {
                   auto i = axis("i", 4), j = axis("j", 6);
                   for (auto &nest : parallel(shape(ceil_div(X.extent(0), 4)))) {
                       auto r0 = nest.index() * 4;
                       auto y = X[coord(r0, 0), shape(i, j)];
                       auto before = y;
                       auto flag = zeros<float>(shape(i));
                       for (auto &row : nest.parallel(shape(i))) {
                           auto own = y.at(row);
                           for (auto &cell : row.parallel(shape(j))) {
                               own = insert(own, cell, own.at(cell) * 10.0f);
                           }
                           y = insert(y, row, own);
                           flag = flag + 1.0f;
                       }
                       Y(coord(r0, 0), shape(i, j)).store(y + flag);
                       Z(coord(r0, 0), shape(i, j)).store(before);
                   }
               },
               {.name = "ancestors"})
        .capture(tensor_shape(7, 6), tensor_shape(7, 6), tensor_shape(7, 6));
}

/// Both strict folds, the balanced tree and a tree, in region form.
inline Kernel folds() {
    return tile_kernel(
               [](TensorView<const float, 1> X, TensorView<float, 1> Y) {
                   auto k = axis("k", 5);
                   auto x = X[coord(0), shape(k)];
                   Scalar<float> left = 0.5f, right = 0.5f, tree = 0.5f, balanced = 0.5f;
                   for (auto &r : reduce(shape(k), reduction::fold_left)) {
                       left = left - x.at(r);
                   }
                   for (auto &r : reduce(shape(k), reduction::fold_right)) {
                       right = x.at(r) - right;
                   }
                   for (auto &r : reduce(shape(k))) {
                       tree += x.at(r);
                   }
                   for (auto &r : reduce(shape(k), reduction::balanced_tree)) {
                       balanced += x.at(r);
                   }
                   Y(0).store(left);
                   Y(1).store(right);
                   Y(2).store(tree);
                   Y(3).store(balanced);
               },
               {.name = "folds"})
        .capture(tensor_shape(5), tensor_shape(4));
}

/// serial around pipeline around reduce; simultaneous updates; a swap; a loop that never runs.
inline Kernel nested_loops() {
    return tile_kernel(
               [](TensorView<const float, 2> X, TensorView<float, 1> Y, Scalar<int64_t> count) {
                   auto i = axis("i", 3), j = axis("j", 4);
                   auto x = X[coord(0, 0), shape(i, j)];
                   Scalar<float> total = 0.0f, rounds = 0.0f;
                   for (auto &outer : serial(range(0, count))) {
                       for (auto &row : outer.pipeline(range(0, 3))) {
                           Scalar<float> sum = 0.0f;
                           for (auto &column : row.reduce(shape(j))) {
                               sum += x.at(coord(row.index(), column.index()));
                           }
                           total += sum;
                       }
                       rounds += 1.0f;
                   }
                   Y(0).store(total);
                   Y(1).store(rounds);
                   Scalar<float> a = 0.0f, b = 1.0f;
                   for ([[maybe_unused]] auto &step : serial(range(0, 7))) {
                       auto next = a + b;
                       a = b;
                       b = next;
                   }
                   Y(2).store(a);
                   Scalar<float> c = 1.0f, d = 2.0f;
                   for ([[maybe_unused]] auto &step : serial(range(0, 3))) {
                       std::swap(c, d);
                   }
                   Y(3).store(c * 10.0f + d);
                   Scalar<float> kept = 5.0f;
                   for (auto &step : serial(range(5, 3))) {
                       kept += cast<float>(step.index());
                   }
                   Y(4).store(kept);
                   Scalar<float> down = 0.0f;
                   for (auto &step : serial(range(9, 0, -4))) {
                       down = down * 10.0f + cast<float>(step.index());
                   }
                   Y(5).store(down);
               },
               {.name = "loops"})
        .capture(tensor_shape(3, 4), tensor_shape(6));
}

/// Data-dependent control: nested while_, if_ with and without an else branch.
inline Kernel control() {
    return tile_kernel(
               [](TensorView<float, 1> Y, Scalar<int64_t> limit) {
                   Scalar<float> w = 0.0f;
                   Scalar<int64_t> outer = 0, total = 0;
                   while_([&] { return outer < limit; },
                          [&] {
                              Scalar<int64_t> inner = 0;
                              while_([&] { return inner <= outer; },
                                     [&] {
                                         inner += 1;
                                         total += inner;
                                     });
                              outer += 1;
                          });
                   if_(
                       total >= 4, [&] { w = cast<float>(total); }, [&] { w = w - 1.0f; });
                   if_(outer == 0, [&] {
                       w = w * 100.0f;
                       Y(1).store(w);
                   });
                   Y(0).store(w);
               },
               {.name = "control"})
        .capture(tensor_shape(2));
}

/// A prefix sum by gathers, with a host loop that doubles the distance.
inline Kernel prefix_sum(int64_t length) {
    return tile_kernel(
               [](TensorView<const int32_t, 1> X, TensorView<int32_t, 1> Y) {
                   auto c = axis("c", X.extent(0));
                   auto prefix = X[coord(0), shape(c)];
                   for (int64_t distance = 1; distance < X.extent(0); distance *= 2) {
                       auto left = gather(prefix, iota(c) - distance, c, 0);
                       prefix = left + prefix;
                   }
                   Y(coord(0), shape(c)).store(prefix);
               },
               {.name = "prefix_sum"})
        .capture(tensor_shape(length), tensor_shape(length));
}

/// The ways to relate dimensions: transpose, with_dims, reshape, reindex, concat, broadcast, map.
inline Kernel relations() {
    return tile_kernel(
               [](TensorView<const float, 2> X, TensorView<float, 2> Y, TensorView<float, 1> Z) {
                   auto i = axis("i", 4), j = axis("j", 4), k = axis("k", 16), l = axis("l", 8);
                   auto x = X[coord(0, 0), shape(i, j)];
                   auto mirrored = with_dims(transpose(x, {j, i}), {i, j});
                   auto squared = map(x, [](Scalar<float> v) { return v * v + 1.0f; });
                   auto flipped = reindex(x, shape(i, j), [](Scalar<int64_t> p, Scalar<int64_t> q) {
                       return coord(3 - p, q);
                   });
                   auto row = broadcast(x.at(coord(1)), shape(i, j));
                   Y(coord(0, 0), shape(i, j)).store(mirrored + squared * flipped - row);
                   auto flat = reshape(x, shape(k));
                   auto doubled = concat(l, gather(flat, iota(l) * 2, k, 0.0f),
                                         gather(flat, iota(l) * 2 + 1, k, 0.0f));
                   Z(coord(0), shape(axis(l.dim, 16))).store(doubled);
               },
               {.name = "relations"})
        .capture(tensor_shape(4, 4), tensor_shape(4, 4), tensor_shape(16));
}

/// The dims of a value come out in another order than the variable's; positional ones of extent one.
inline Kernel reordered() {
    return tile_kernel(
               [](TensorView<const float, 2> X, TensorView<float, 2> Y, TensorView<float, 1> Z) {
                   auto m = axis("m", 3), n = axis("n", 5);
                   auto x = X[coord(0, 0), shape(m, n)];
                   auto below = iota(n) <= iota(m);
                   x = ite(below, x, 0.0f);
                   auto sum = zeros<float>(shape(n));
                   for (auto &step : serial(range(0, 3))) {
                       sum += X[coord(step.index(), 0), shape(1, n)];
                   }
                   Y(coord(0, 0), shape(m, n)).store(x);
                   Z(coord(0), shape(n)).store(sum);
               },
               {.name = "reordered"})
        .capture(tensor_shape(3, 5), tensor_shape(3, 5), tensor_shape(5));
}

/// Host containers of tiles as loop state.
struct Moments {
    Tile<float> sum, squares;
};
inline Kernel containers() {
    return tile_kernel(
               [](TensorView<const float, 2> X, TensorView<float, 2> Y) {
                   auto n = axis("n", 8);
                   std::vector<Tile<float>> rows;
                   for (int r = 0; r < 3; ++r) {
                       rows.push_back(zeros<float>(shape(n)));
                   }
                   Moments moments{zeros<float>(shape(n)), zeros<float>(shape(n))};
                   for (auto &step : serial(range(0, X.extent(0)))) {
                       auto x = X[coord(step.index(), 0), shape(1, n)];
                       for (auto &row : rows) {
                           row += x;
                       }
                       moments = {moments.sum + x, moments.squares + x * x};
                       std::swap(rows[0], rows[1]);
                       std::tie(rows[1], rows[2]) = std::pair(rows[2], rows[1] + x);
                   }
                   for (int r = 0; r < 3; ++r) {
                       Y(coord(r, 0), shape(1, n)).store(rows[static_cast<size_t>(r)]);
                   }
                   Y(coord(3, 0), shape(1, n)).store(moments.sum);
                   Y(coord(4, 0), shape(1, n)).store(moments.squares);
               },
               {.name = "containers"})
        .capture(tensor_shape(4, 8), tensor_shape(5, 8));
}

/// Masked reductions, positions, and integer arithmetic.
inline Kernel reductions() {
    return tile_kernel(
               [](TensorView<const int32_t, 2> X, TensorView<int32_t, 1> Y,
                  TensorView<int64_t, 1> P) {
                   auto r = axis("r", 4), c = axis("c", 6);
                   auto x = X[coord(0, 0), shape(r, c)];
                   auto odd = x % 2 != 0;
                   auto sum = reduce(x, c, add, reduction::fold_left, {.mask = odd});
                   auto top = reduce(x, {r, c}, maximum);
                   auto bits = reduce(x & 255, c, bit_xor) << 1;
                   Y(coord(0), shape(r)).store(sum + top * bits);
                   P(coord(0), shape(r)).store(reduce(x, c, argmax));
                   P(4).store(cast<int64_t>(reduce(ite(odd, x, 0), {r, c}, add)));
               },
               {.name = "reductions"})
        .capture(tensor_shape(4, 6), tensor_shape(4), tensor_shape(5));
}

/// Two root nests in order, a copy, fallbacks and the other bounds.
inline Kernel phases(Extent length) {
    return tile_kernel(
               [](TensorView<const float, 1> X, TensorView<float, 1> Y, TensorView<float, 1> Z) {
                   auto n = axis("n", 16);
                   for (auto &nest : parallel(shape(ceil_div(X.extent(0), 16)))) {
                       auto n0 = nest.index() * 16;
                       auto left = X(coord(n0 - 1), shape(n)).load(1.0f);
                       auto right = X[coord(n0 + 1), shape(n), bounds::zero];
                       Y(coord(n0), shape(n)).store(left + right);
                   }
                   for (auto &nest : parallel(shape(ceil_div(X.extent(0), 16)), exec::block)) {
                       auto box = shape(n);
                       auto chunk = ViewMap{box, [](Scalar<int64_t> i) { return coord(i * 16); }};
                       copy(Y.tile(nest, chunk), Z.tile(coord(nest.index() * 16), box));
                   }
               },
               {.name = "phases"})
        .capture(tensor_shape(length), tensor_shape(length), tensor_shape(length));
}

struct Program {
    const char *name;
    Kernel (*capture)();
};

inline std::vector<Program> all() {
    return {{"gemm", [] { return gemm_bias(33, Extent{40}, Extent{20}); }},
            {"gemm_dynamic", [] { return gemm_bias(33, dynamic("n"), dynamic("k")); }},
            {"softmax", [] { return softmax(5, 37); }},
            {"layernorm", [] { return layernorm(6, 19); }},
            {"attention", [] { return causal_attention(Extent{21}); }},
            {"attention_dynamic", [] { return causal_attention(dynamic("s")); }},
            {"ancestors", ancestor_updates},
            {"folds", folds},
            {"loops", nested_loops},
            {"control", control},
            {"prefix_sum", [] { return prefix_sum(11); }},
            {"relations", relations},
            {"reordered", reordered},
            {"containers", containers},
            {"reductions", reductions},
            {"phases", [] { return phases(dynamic("s")); }}};
}

}// namespace luisa::tile::test::programs
