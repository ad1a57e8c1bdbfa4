// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/views.h"

// Rows and blocks of many lengths, at addresses and strides of all kinds: how threads share them must not be seen.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

const std::vector<int64_t> lengths{1, 3, 24, 40, 56, 72, 100, 127, 128, 255, 600, 1024};

/// The same elements, the first at element `origin`, rows `stride` apart.
View placed(const View &dense, int64_t stride, int64_t origin) {
    auto rows = dense.extents[0], columns = dense.extents[1];
    auto size = static_cast<size_t>(size_of(dense.type));
    View view = dense;
    view.strides = {stride, 1};
    view.origin = origin;
    view.bytes.assign(static_cast<size_t>(origin + rows * stride + 16) * size, 0x5a);
    for (int64_t r = 0; r < rows; ++r) {
        std::memcpy(view.bytes.data() + static_cast<size_t>(origin + r * stride) * size,
                    dense.bytes.data() + static_cast<size_t>(r * columns) * size,
                    static_cast<size_t>(columns) * size);
    }
    return view;
}

template<class T> auto softmax_of(int64_t rows, int64_t columns) {
    return tile_kernel([=](TensorView<const T, 2> X, TensorView<T, 2> Y) {
        auto r = axis("r", rows), c = axis("c", columns);
        for (auto &nest : parallel(shape(ceil_div(X.extent(0), rows)))) {
            auto at = coord(nest.index() * rows, 0);
            auto x = cast<float>(X[at, shape(r, c)]);
            auto e = exp(x - reduce(x, c, maximum));
            Y(at, shape(r, c)).store(cast<T>(e / reduce(e, c, add)));
        }
    });
}

}// namespace

TEST(SharedLines, softmax_of_rows_of_every_length) {
    for (auto n : lengths) {
        for (int64_t rows : {1, 3, 8}) {
            auto def = softmax_of<float>(rows, n);
            run_both(def.capture(tensor_shape(2 * rows + 1, n), tensor_shape(2 * rows + 1, n)),
                     {random_view({2 * rows + 1, n}, 1), output_view({2 * rows + 1, n})}, {},
                     {.tolerance = 1e-5});
        }
    }
}

TEST(SharedLines, views_that_lie_anywhere) {
    auto def = softmax_of<float>(2, 100);
    auto narrow = softmax_of<half>(2, 100);
    for (int64_t stride : {100, 101, 104, 128}) {
        for (int64_t origin : {0, 1, 2, 4}) {
            auto meta = tensor_shape(dynamic("m"), dynamic("n")).with_strides({stride, 1});
            auto kernel = def.capture(meta, meta);
            run_both(kernel,
                     {placed(random_view({5, 100}, 2), stride, origin),
                      placed(output_view({5, 100}), stride, 4 - origin)},
                     {}, {.tolerance = 1e-5});
            auto halves = narrow.capture(meta, meta);
            run_both(halves,
                     {placed(random_view<half>({5, 100}, 2), stride, origin),
                      placed(output_view<half>({5, 100}), stride, origin)},
                     {}, {.tolerance = 1e-2});
        }
    }
}

TEST(SharedLines, tiles_that_pass_the_ends_of_their_views) {
    for (int64_t n : {1, 24, 57, 100, 127}) {
        for (int64_t columns : {32, 128}) {
            auto def = tile_kernel([=](TensorView<const float, 2> X, TensorView<float, 2> Y,
                                       TensorView<float, 1> Sums) {
                auto r = axis("r", 4), c = axis("c", columns);
                for (auto &nest :
                     parallel(shape(ceil_div(X.extent(0), 4), ceil_div(X.extent(1), columns)))) {
                    auto at = coord(nest.index(0) * 4, nest.index(1) * columns);
                    auto x = X[at, shape(r, c)];
                    Y(at, shape(r, c)).store(x * 2.0f + 1.0f);
                    Sums(coord(nest.index(1) * columns), shape(c)).store(reduce(x, r, maximum));
                }
            });
            run_both(def.capture(tensor_shape(4, n), tensor_shape(4, n), tensor_shape(n)),
                     {integer_view({4, n}, 3), output_view({4, n}), output_view({n})});
        }
    }
}

TEST(SharedLines, sums_of_columns_and_of_whole_tiles) {
    for (int64_t rows : {1, 7, 64}) {
        for (auto n : lengths) {
            auto def = tile_kernel([=](TensorView<const float, 2> X, TensorView<float, 1> C,
                                       TensorView<float, 1> R, TensorView<float, 1> A) {
                auto r = axis("r", rows), c = axis("c", n);
                auto x = X[coord(0, 0), shape(r, c)];
                C(coord(0), shape(c)).store(reduce(x, r, add));
                R(coord(0), shape(r)).store(reduce(x, c, add));
                A(coord(0)).store(reduce(reduce(x, c, add), r, add));
            });
            run_both(def.capture(tensor_shape(rows, n), tensor_shape(n), tensor_shape(rows),
                                 tensor_shape(1)),
                     {integer_view({rows, n}, 4), output_view({n}), output_view({rows}),
                      output_view({1})});
        }
    }
}

TEST(SharedLines, transposed_blocks) {
    for (auto [m, n] : {std::pair<int64_t, int64_t>{32, 32}, {24, 40}, {56, 72}, {100, 127}}) {
        for (int64_t tile : {16, 32, 64}) {
            auto def = tile_kernel([=](TensorView<const float, 2> X, TensorView<float, 2> Y) {
                auto a = axis("a", tile), b = axis("b", tile);
                for (auto &nest :
                     parallel(shape(ceil_div(X.extent(0), tile), ceil_div(X.extent(1), tile)))) {
                    auto p = nest.index(0) * tile, q = nest.index(1) * tile;
                    auto t = X[coord(p, q), shape(a, b)];
                    Y(coord(q, p), shape(b, a)).store(t + 1.0f);
                }
            });
            run_both(def.capture(tensor_shape(m, n), tensor_shape(n, m)),
                     {integer_view({m, n}, 5, 1000), output_view({n, m})});
        }
    }
}

TEST(SharedLines, prefixes_along_rows) {
    for (auto n : lengths) {
        auto def = tile_kernel([=](TensorView<const float, 2> X, TensorView<float, 2> Y,
                                   TensorView<float, 2> Z, TensorView<int32_t, 2> W,
                                   TensorView<float, 2> E, TensorView<int32_t, 2> F) {
            auto r = axis("r", 2), c = axis("c", n);
            for (auto &nest : parallel(shape(2))) {
                auto at = coord(nest.index() * 2, 0);
                auto x = X[at, shape(r, c)];
                Y(at, shape(r, c)).store(scan(x, c, add) * 2.0f);
                Z(at, shape(r, c)).store(scan(x, c, maximum, {.reverse = true}));
                W(at, shape(r, c)).store(scan(cast<int32_t>(x), c, add));
                E(at, shape(r, c)).store(scan(x, c, add, {.exclusive = true}));
                F(at, shape(r, c))
                    .store(
                        scan(cast<int32_t>(x), c, minimum, {.exclusive = true, .reverse = true}));
            }
        });
        run_both(def.capture(tensor_shape(4, n), tensor_shape(4, n), tensor_shape(4, n),
                             tensor_shape(4, n), tensor_shape(4, n), tensor_shape(4, n)),
                 {integer_view({4, n}, 6), output_view({4, n}), output_view({4, n}),
                  output_view<int32_t>({4, n}), output_view({4, n}), output_view<int32_t>({4, n})});
    }
}

TEST(SharedLines, balanced_trees_over_rows_have_one_shape) {
    for (auto n : lengths) {
        for (int64_t rows : {1, 3}) {
            auto def = tile_kernel([=](TensorView<const float, 2> X, TensorView<float, 1> Y) {
                auto r = axis("r", rows), c = axis("c", n);
                for (auto &nest : parallel(shape(2))) {
                    auto x = X[coord(nest.index() * rows, 0), shape(r, c)];
                    Y(coord(nest.index() * rows), shape(r))
                        .store(reduce(x, c, add, reduction::balanced_tree));
                }
            });
            run_both(def.capture(tensor_shape(2 * rows, n), tensor_shape(2 * rows)),
                     {random_view({2 * rows, n}, 7), output_view({2 * rows})});
        }
    }
}
