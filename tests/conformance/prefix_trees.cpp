// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/views.h"

// Balanced trees along lines that several threads of a GPU share, whole or up to an end: operands are not small
// integers, so any other tree gives other bits.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

const std::vector<int64_t> tree_lengths{1, 2, 24, 40, 56, 72, 100, 127, 1000, 4096};

template<class T> void check_rows_of_trees(int64_t rows, int64_t n) {
    auto def = tile_kernel([=](TensorView<const T, 2> X, TensorView<T, 1> Y, TensorView<T, 1> Z) {
        auto i = axis("i", n);
        for (auto &nest : parallel(shape(X.extent(0)))) {
            auto x = X[coord(nest.index(), 0), shape(1, i)];
            Y(coord(nest.index()), shape(1)).store(reduce(x, i, add, reduction::balanced_tree));
            Z(coord(nest.index()), shape(1))
                .store(reduce(x, i, multiply, reduction::balanced_tree));
        }
    });
    run_both(def.capture(tensor_shape(rows, n), tensor_shape(rows), tensor_shape(rows)),
             {random_view<T>({rows, n}, 1), output_view<T>({rows}), output_view<T>({rows})});
}

/// Blocks of `block` elements of a line of n, each up to the end of the line and up to `most` elements.
template<class T> void check_blocks_of_trees(int64_t n, int64_t block, int64_t most) {
    auto def = tile_kernel([=](TensorView<const T, 1> X, TensorView<T, 1> Y, TensorView<T, 1> Z,
                               Scalar<int64_t> limit) {
        auto i = axis("i", block);
        for (auto &nest : parallel(shape(Y.extent(0)))) {
            auto first = nest.index() * block;
            auto x = X(coord(first), shape(i)).load();
            ReduceOptions inside, few;
            inside.mask = iota<int64_t>(i) + first < Scalar<int64_t>{X.extent(0)};
            few.mask = limit > iota<int64_t>(i);
            Y(nest.index()).store(reduce(x, i, add, reduction::balanced_tree, inside));
            Z(nest.index()).store(reduce(x, i, minimum, reduction::balanced_tree, few));
        }
    });
    auto blocks = (n + block - 1) / block + 1;
    auto meta = tensor_shape(dynamic("n")).with_strides({1});
    run_both(def.capture(meta, tensor_shape(blocks), tensor_shape(blocks)),
             {random_view<T>({n}, 3), output_view<T>({blocks}), output_view<T>({blocks})},
             {bits_of(most)});
}

}// namespace

TEST(PrefixTrees, whole_lines) {
    for (auto n : tree_lengths) {
        check_rows_of_trees<float>(3, n);
    }
    check_rows_of_trees<half>(2, 127);
    check_rows_of_trees<double>(2, 1000);
}

TEST(PrefixTrees, lines_up_to_an_end) {
    for (auto n : tree_lengths) {
        check_blocks_of_trees<float>(n, 64, n / 2);
        check_blocks_of_trees<float>(n, 1024, n);
    }
    for (int64_t n : {0, 1, 4095, 4096, 4097, 9000}) {
        check_blocks_of_trees<float>(n, 4096, n - 1);
    }
    check_blocks_of_trees<half>(300, 128, 7);
    check_blocks_of_trees<double>(300, 128, 0);
    check_blocks_of_trees<int32_t>(300, 128, 5);
}

TEST(PrefixTrees, zeros_keep_their_signs) {
    auto def = tile_kernel([=](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        auto i = axis("i", 64);
        for (auto &nest : parallel(shape(2))) {
            auto first = nest.index() * 64;
            ReduceOptions inside;
            inside.mask = iota<int64_t>(i) + first < Scalar<int64_t>{X.extent(0)};
            auto x = X(coord(first), shape(i)).load();
            Y(nest.index()).store(reduce(x, i, add, reduction::balanced_tree, inside));
        }
    });
    for (int64_t n : {1, 37, 64}) {
        run_both(def.capture(tensor_shape(dynamic("n")), tensor_shape(2)),
                 {dense<float>({n}, {-0.0f}), output_view({2})});
    }
}
