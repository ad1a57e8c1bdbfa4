// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/both.h"
#include "unit/frontend/programs.h"

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

auto gemm_kernel(int bm, int bn, int bk) {
    return tile_kernel([=](TensorView<const float, 2> A, TensorView<const float, 2> B,
                           TensorView<float, 2> C, Scalar<float> alpha) {
        auto m = axis("m", bm), n = axis("n", bn), k = axis("k", bk);
        for (auto &nest : parallel(shape(ceil_div(C.extent(0), bm), ceil_div(C.extent(1), bn)))) {
            auto m0 = nest.index(0) * bm, n0 = nest.index(1) * bn;
            auto acc = zeros<float>(shape(m, n));
            for (auto &step : nest.pipeline(range(0, A.extent(1), bk))) {
                auto k0 = step.index();
                step.stage("load");
                auto a = A[coord(m0, k0), shape(m, k)];
                auto b = B[coord(k0, n0), shape(k, n)];
                step.stage("compute");
                acc = mma(a, b, acc);
            }
            C(coord(m0, n0), shape(m, n)).store(acc * alpha);
        }
    });
}

}// namespace

TEST(Gemm, ragged_shapes_are_exact_on_integers) {
    for (auto [M, N, K] : {std::array<int64_t, 3>{1, 1, 1},
                           {3, 17, 5},
                           {16, 16, 16},
                           {33, 65, 130},
                           {64, 17, 64},
                           {5, 130, 3},
                           {0, 4, 4},
                           {4, 4, 0}}) {
        auto kernel = gemm_kernel(16, 32, 8).capture(tensor_shape(M, K), tensor_shape(K, N),
                                                     tensor_shape(M, N));
        run_both(kernel, {integer_view({M, K}, 1), integer_view({K, N}, 2), output_view({M, N})},
                 {bits_of(1.0f)});
    }
}

TEST(Gemm, a_runtime_contraction_extent_is_one_kernel) {
    auto kernel = gemm_kernel(16, 32, 8).capture(
        tensor_shape(33, dynamic("k")), tensor_shape(dynamic("k"), 65), tensor_shape(33, 65));
    for (int64_t K : {0, 1, 7, 8, 9, 40}) {
        run_both(kernel,
                 {integer_view({33, K}, 1), integer_view({K, 65}, 2), output_view({33, 65})},
                 {bits_of(2.0f)});
    }
}

TEST(Softmax, rows_agree) {
    auto def = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Y) {
        auto r = axis("row", 4), c = axis("col", X.extent(1));
        for (auto &nest : parallel(shape(ceil_div(X.extent(0), 4)))) {
            auto r0 = nest.index() * 4;
            auto x = X[coord(r0, 0), shape(r, c)];
            auto e = exp(x - reduce(x, c, maximum));
            Y(coord(r0, 0), shape(r, c)).store(e / reduce(e, c, add));
        }
    });
    for (int64_t cols : {1, 7, 16, 17, 64, 127, 300}) {
        auto kernel = def.capture(tensor_shape(6, cols), tensor_shape(6, cols));
        run_both(kernel, {random_view({6, cols}, 3), output_view({6, cols})}, {}, {1e-6});
    }
}

TEST(Attention, causal_online_softmax) {
    const int bq = 16, bk = 16, hd = 8;
    auto def = tile_kernel([=](TensorView<const float, 2> Q, TensorView<const float, 2> K,
                               TensorView<const float, 2> V, TensorView<float, 2> O) {
        auto q = axis("q", bq), k = axis("k", bk), d = axis("d", hd), e = axis("e", hd);
        for (auto &nest : parallel(shape(ceil_div(Q.extent(0), bq)))) {
            auto q0 = nest.index() * bq;
            auto query = Q[coord(q0, 0), shape(q, d)];
            auto row_max = full<float>(shape(q), -1e30f);
            auto row_sum = zeros<float>(shape(q));
            auto acc = zeros<float>(shape(q, e));
            auto last = minimum(q0 + bq, K.extent(0));
            for (auto &step : nest.pipeline(range(0, last, bk))) {
                auto k0 = step.index();
                auto key = K[coord(k0, 0), shape(k, d)];
                auto scores = mma(query, key, zeros<float>(shape(q, k)));
                auto visible = iota(k) + k0 <= iota(q) + q0 && iota(k) + k0 < K.extent(0);
                scores = ite(visible, scores, -1e30f);
                auto new_max = maximum(row_max, reduce(scores, k, maximum));
                auto p = ite(visible, exp(scores - new_max), 0.0f);
                auto scale = exp(row_max - new_max);
                row_sum = row_sum * scale + reduce(p, k, add);
                acc = mma(p, V[coord(k0, 0), shape(k, e)], acc * scale);
                row_max = new_max;
            }
            O(coord(q0, 0), shape(q, e)).store(acc / row_sum);
        }
    });
    auto kernel = def.capture(tensor_shape(dynamic("s"), hd), tensor_shape(dynamic("s"), hd),
                              tensor_shape(dynamic("s"), hd), tensor_shape(dynamic("s"), hd));
    for (int64_t n : {1, 10, 16, 33}) {
        run_both(kernel,
                 {random_view({n, hd}, 1), random_view({n, hd}, 2), random_view({n, hd}, 5),
                  output_view({n, hd})},
                 {}, {1e-5});
    }
}

TEST(States, swaps_rotations_and_zero_trips) {
    auto kernel = programs::nested_loops();
    for (int64_t n : {0, 2}) {
        auto out = run_both(kernel, {integer_view({3, 4}, 1), output_view({6})}, {bits_of(n)});
        EXPECT_EQ(element_value(out[1], 1), static_cast<double>(n));
        EXPECT_EQ(element_value(out[1], 2), 13);
        EXPECT_EQ(element_value(out[1], 3), 21);
        EXPECT_EQ(element_value(out[1], 4), 5);
        EXPECT_EQ(element_value(out[1], 5), 951);
    }
}

TEST(States, of_while_branches_and_tiles) {
    auto def = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 1> Y) {
        auto i = axis("i", 3), j = axis("j", 4);
        auto x = X[coord(0, 0), shape(i, j)];
        Scalar<float> w = 0.0f;
        Scalar<int64_t> outer = 0, inner_total = 0;
        while_([&] { return outer < 2; },
               [&] {
                   Scalar<int64_t> inner = 0;
                   while_([&] { return inner < 2; },
                          [&] {
                              inner += 1;
                              inner_total += 1;
                          });
                   outer += 1;
               });
        if_(
            inner_total == 4, [&] { w = 1.0f; }, [&] { w = w - 1.0f; });
        if_(outer == 3, [&] { w = 100.0f; });
        Y(0).store(w);
        auto sq = map(x, [](auto v) { return v * v + 1.0f; });
        Y(1).store(sq.at(coord(1, 1)));
        auto u = x, v = x + 1.0f;
        for ([[maybe_unused]] auto &s : serial(range(0, 3))) {
            std::swap(u, v);
        }
        Y(2).store(u.at(coord(2, 3)));
    });
    auto out = run_both(def.capture(tensor_shape(3, 4), tensor_shape(3)),
                        {integer_view({3, 4}, 1), output_view({3})});
    EXPECT_EQ(element_value(out[1], 0), 1);
    EXPECT_EQ(element_value(out[1], 2), element_value(out[0], 11) + 1);
}

TEST(Ancestor, updates_are_collective_or_inserted_and_snapshots_stay) {
    auto def = tile_kernel(
        [](TensorView<const float, 1> X, TensorView<float, 1> Y, TensorView<float, 1> Z) {
            auto m = axis("m", 6);
            for ([[maybe_unused]] auto &nest : parallel(shape(1))) {
                auto y = X[coord(0), shape(m)];
                auto before = y;
                auto flag = zeros<float>(shape(m));
                for (auto &child : nest.parallel(shape(m))) {
                    auto v = y.at(child) * 10.0f;
                    y = insert(y, child, v);
                    flag = flag + 1.0f;
                }
                Y(coord(0), shape(m)).store(y + flag);
                Z(coord(0), shape(m)).store(before);
            }
        });
    auto kernel = def.capture(tensor_shape(6), tensor_shape(6), tensor_shape(6));
    auto out = run_both(kernel, {integer_view({6}, 1), output_view({6}), output_view({6})});
    EXPECT_EQ(element_value(out[1], 2), element_value(out[0], 2) * 10 + 1);
}

TEST(Scan, by_gather_chain) {
    auto def = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        auto columns = axis("c", 45);
        auto prefix = X[coord(0), shape(columns)];
        for (int64_t distance = 1; distance < X.extent(0); distance *= 2) {
            auto left = gather(prefix, iota(columns) - distance, columns, 0.0f);
            prefix = left + prefix;
        }
        Y(coord(0), shape(columns)).store(prefix);
    });
    run_both(def.capture(tensor_shape(45), tensor_shape(45)),
             {integer_view({45}, 9), output_view({45})});
}

TEST(Ancestor, inserts_two_nests_deep_land_in_the_outermost_tile) {
    auto def = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Y) {
        auto m = axis("m", 5), n = axis("n", 7);
        for ([[maybe_unused]] auto &nest : parallel(shape(1))) {
            auto y = X[coord(0, 0), shape(m, n)];
            for (auto &row : nest.parallel(shape(m))) {
                for (auto &column : row.parallel(shape(n))) {
                    auto v = y.at(coord(row.index(), column.index())) * 2.0f +
                             cast<float>(row.index());
                    y = insert(y, coord(row.index(), column.index()), v);
                }
            }
            Y(coord(0, 0), shape(m, n)).store(y);
        }
    });
    auto out = run_both(def.capture(tensor_shape(5, 7), tensor_shape(5, 7)),
                        {integer_view({5, 7}, 1), output_view({5, 7})});
    EXPECT_EQ(element_value(out[1], 8), element_value(out[0], 8) * 2 + 1);
}

TEST(Gemm, a_product_stored_over_its_own_operand_reads_it_first) {
    auto def = tile_kernel([](TensorView<float, 2> X, TensorView<const float, 2> W) {
        auto m = axis("m", 32), n = axis("n", 128), k = axis("k", 16);
        for ([[maybe_unused]] auto &nest : parallel(shape(1))) {
            auto acc = zeros<float>(shape(m, n));
            for (auto &step : nest.serial(range(0, 128, 16))) {
                auto a = X[coord(0, step.index()), shape(m, k)];
                acc = mma(a, W[coord(step.index(), 0), shape(k, n)], acc);
            }
            X(coord(0, 0), shape(m, n)).store(acc);
        }
    });
    run_both(def.capture(tensor_shape(32, 128), tensor_shape(128, 128)),
             {integer_view({32, 128}, 1), integer_view({128, 128}, 2)});
}
