// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/views.h"

// Balanced trees: over what a mask leaves, over the iterations of a nest. The operands are not small
// integers, so any other tree gives other bits.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

template<class T> using In = TensorView<const T, 1>;
template<class T> using Out = TensorView<T, 1>;

template<class T> void check_masked(int64_t rows, int64_t columns, unsigned percent) {
    auto def = tile_kernel([=](TensorView<const T, 2> X, TensorView<const bool, 2> M,
                               TensorView<T, 1> Y, TensorView<T, 1> Z, TensorView<T, 1> W) {
        auto i = axis("i", rows), j = axis("j", columns);
        auto x = X[coord(0, 0), shape(i, j)];
        auto m = M[coord(0, 0), shape(i, j)];
        ReduceOptions options;
        options.mask = m;
        Y(coord(0), shape(i)).store(reduce(x, j, add, reduction::balanced_tree, options));
        Z(coord(0), shape(j)).store(reduce(x, i, multiply, reduction::balanced_tree, options));
        W(0).store(reduce(x, {i.dim, j.dim}, add, reduction::balanced_tree, options));
        W(1).store(reduce(x, {j.dim, i.dim}, add, reduction::balanced_tree, options));
        W(2).store(reduce(x, {j.dim, i.dim}, add, reduction::fold_left, options));
    });
    run_both(def.capture(tensor_shape(rows, columns), tensor_shape(rows, columns),
                         tensor_shape(rows), tensor_shape(columns), tensor_shape(3)),
             {random_view<T>({rows, columns}, 1), flags({rows, columns}, 2, percent),
              output_view<T>({rows}), output_view<T>({columns}), output_view<T>({3})});
}

}// namespace

TEST(BalancedTree, pairs_what_a_mask_leaves) {
    for (auto [rows, columns] : {std::pair<int64_t, int64_t>{1, 1}, {3, 37}, {5, 64}, {2, 0}}) {
        for (unsigned percent : {0u, 40u, 90u, 100u}) {
            check_masked<float>(rows, columns, percent);
        }
    }
    check_masked<half>(3, 21, 60);
    check_masked<double>(3, 21, 60);
}

namespace {

template<class T> void check_nest(int64_t n, ReductionPolicy policy = reduction::balanced_tree) {
    auto def = tile_kernel([=](TensorView<const T, 2> X, TensorView<T, 1> Y, TensorView<T, 1> Z) {
        auto k = axis("k", 19);
        auto row = Y[coord(0), shape(k)];
        Scalar<T> sum = Z[coord(0)], product = Z[coord(1)], most = Z[coord(2)];
        for (auto &step : reduce(shape(X.extent(0)), policy)) {
            auto x = X[coord(step.index(), 0), shape(1, k)];
            auto flat = reshape(x, shape(k));
            row = row + flat;
            sum = X[coord(step.index(), 3)] + sum;
            product = product * X[coord(step.index(), 5)];
            most = maximum(most, X[coord(step.index(), 7)]);
        }
        Y(coord(0), shape(k)).store(row);
        Z(0).store(sum);
        Z(1).store(product);
        Z(2).store(most);
    });
    std::vector<View> views{random_view<T>({n, 19}, 1), random_view<T>({19}, 2),
                            random_view<T>({3}, 3)};
    run_both(def.capture(tensor_shape(n, 19), tensor_shape(19), tensor_shape(3)), views);
    run_both(def.capture(tensor_shape(dynamic("n"), 19), tensor_shape(19), tensor_shape(3)), views);
}

}// namespace

TEST(BalancedTree, pairs_the_iterations_of_a_nest) {
    for (int64_t n : {0, 1, 2, 3, 7, 8, 100}) {
        check_nest<float>(n);
    }
    check_nest<half>(13);
    check_nest<double>(13);
}

TEST(BalancedTree, goes_over_ranges_and_several_axes) {
    auto def = tile_kernel([](In<float> X, Out<float> Y) {
        Scalar<float> a = 0.5f, b = -0.0f;
        for (auto &step : reduce(range(40, 3, -3), reduction::balanced_tree)) {
            a = a + X[coord(step.index())];
        }
        for (auto &step : reduce(shape(3, 7), reduction::balanced_tree)) {
            b = b + X[coord(step.index(0) * 7 + step.index(1))];
        }
        Y(0).store(a);
        Y(1).store(b);
    });
    run_both(def.capture(tensor_shape(50), tensor_shape(2)),
             {random_view({50}, 1), output_view({2})});
}

TEST(BalancedTree, merges_products) {
    auto def = tile_kernel(
        [](TensorView<const float, 2> A, TensorView<const float, 2> B, TensorView<float, 2> C) {
            auto m = axis("m", 9), n = axis("n", 18), k = axis("k", 4);
            auto acc = C[coord(0, 0), shape(m, n)];
            for (auto &step : reduce(range(0, 28, 4), reduction::balanced_tree)) {
                auto a = A[coord(0, step.index()), shape(m, k)];
                auto b = B[coord(step.index(), 0), shape(k, n)];
                acc = mma(a, b, acc, {.allow_reassociation = false});
            }
            C(coord(0, 0), shape(m, n)).store(acc);
        });
    run_both(def.capture(tensor_shape(9, 28), tensor_shape(28, 18), tensor_shape(9, 18)),
             {random_view({9, 28}, 1), random_view({28, 18}, 2), random_view({9, 18}, 3)});
}

TEST(BalancedTree, takes_integers_and_truth_values) {
    auto def = tile_kernel([](TensorView<const int32_t, 1> X, TensorView<int32_t, 1> Y) {
        auto k = axis("k", 5);
        auto all = X[coord(0), shape(k)] > 0, any = X[coord(0), shape(k)] > 0;
        auto bits = X[coord(0), shape(k)];
        for (auto &step : reduce(shape(11), reduction::balanced_tree)) {
            auto x = X[coord(step.index()), shape(k)];
            all = all & (x > -3);
            any = any | (x > 2);
            bits = bits ^ x;
        }
        Y(coord(0), shape(k)).store(bits + cast<int32_t>(all) * 2 + cast<int32_t>(any));
    });
    run_both(def.capture(tensor_shape(16), tensor_shape(5)),
             {integer_view<int32_t>({16}, 1), output_view<int32_t>({5})});
}
