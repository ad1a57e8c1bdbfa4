// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/both.h"

// What the language says of dimensions and shapes, where no other file checks it.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {}// namespace

TEST(DimensionsAndShapes, neither_equal_extents_nor_equal_labels_join) {
    auto def = tile_kernel(
        [](TensorView<const float, 1> X, TensorView<float, 2> Y, TensorView<float, 2> Z) {
            auto i = axis("i", 5), other = axis("i", 5);
            auto x = X[coord(0), shape(i)], y = X[coord(0), shape(other)];
            Y(coord(0, 0), shape(i, other)).store(x * 10.0f + y);// an outer sum
            Z(coord(0, 0), shape(i, other)).store(x - with_dims(y, {i}));
        });
    auto x = integer_view({5}, 4);
    auto out = run_both(def.capture(tensor_shape(5), tensor_shape(5, 5), tensor_shape(5, 5)),
                        {x, output_view({5, 5}), output_view({5, 5})});
    for (int64_t e = 0; e < 25; ++e) {
        EXPECT_EQ(at(out[1], e), at(x, e / 5) * 10 + at(x, e % 5));
        EXPECT_EQ(at(out[2], e), 0);
    }
}
TEST(DimensionsAndShapes, a_joined_shape_has_the_left_dimensions_and_then_new_ones_of_the_right) {
    auto def = tile_kernel(
        [](TensorView<const float, 2> X, TensorView<const float, 2> Z, TensorView<int64_t, 1> E) {
            auto a = axis("a", 2), b = axis("b", 3), c = axis("c", 4);
            auto x = X[coord(0, 0), shape(b, a)];
            auto z = Z[coord(0, 0), shape(c, b)];
            auto put = [&](int64_t place, const Tile<float> &t) {
                for (int d = 0; d < 3; ++d) {
                    E(place + d).store(t.axis(d).extent);
                }
            };
            put(0, x + z);
            put(3, z + x);
            put(6, ite(x > 0.0f, z, 0.0f));
        });
    auto out = run_both(def.capture(tensor_shape(3, 2), tensor_shape(4, 3), tensor_shape(9)),
                        {random_view({3, 2}, 1), random_view({4, 3}, 2),
                         dense<int64_t>({9}, std::vector<int64_t>{-1})});
    const int64_t expected[] = {3, 2, 4, 4, 3, 2, 3, 2, 4};
    for (int64_t i = 0; i < 9; ++i) {
        EXPECT_EQ(at(out[2], i), static_cast<double>(expected[i])) << i;
    }
}
TEST(DimensionsAndShapes, an_integer_names_its_position_also_after_without_and_reductions) {
    auto def = tile_kernel(
        [](TensorView<const float, 2> X, TensorView<float, 2> Y, TensorView<float, 2> Z) {
            auto x = X[coord(0, 0), shape(4, 6)];
            // Rows have position 0 and columns position 1, also where the other has gone.
            auto rows = reduce(x, x.dim<1>(), add), columns = reduce(x, x.dim<0>(), add);
            Y(coord(0, 0), shape(4, 6)).store(x + rows + columns * 100.0f);
            auto ones_of_columns = ones<float>(x.shape().without(x.dim<0>()));
            Z(coord(0, 0), shape(4, 6)).store(rows + ones_of_columns * columns);
        });
    auto x = integer_view({4, 6}, 3);
    auto out = run_both(def.capture(tensor_shape(4, 6), tensor_shape(4, 6), tensor_shape(4, 6)),
                        {x, output_view({4, 6}), output_view({4, 6})});
    for (int64_t e = 0; e < 24; ++e) {
        double row = 0, column = 0;
        for (int64_t q = 0; q < 6; ++q) {
            row += at(x, e / 6 * 6 + q);
        }
        for (int64_t q = 0; q < 4; ++q) {
            column += at(x, q * 6 + e % 6);
        }
        EXPECT_EQ(at(out[1], e), at(x, e) + row + 100 * column);
        EXPECT_EQ(at(out[2], e), row + column);
    }
}
TEST(DimensionsAndShapes, axes_and_integers_mix) {
    auto def = tile_kernel([](TensorView<const float, 3> X, TensorView<float, 3> Y) {
        auto j = axis("j", 5);
        auto x = X[coord(0, 0, 0), shape(2, j, 3)];
        auto by_row = reduce(x, j, maximum);
        auto scaled = x * (cast<float>(iota(j)) + 1.0f) - by_row;
        Y(coord(0, 0, 0), shape(2, j, 3)).store(scaled);
    });
    auto x = integer_view({2, 5, 3}, 3);
    auto out = run_both(def.capture(tensor_shape(2, 5, 3), tensor_shape(2, 5, 3)),
                        {x, output_view({2, 5, 3})});
    for (int64_t e = 0; e < 30; ++e) {
        auto a = e / 15, b = e / 3 % 5, c = e % 3;
        double high = -99;
        for (int64_t q = 0; q < 5; ++q) {
            high = std::max(high, at(x, a * 15 + q * 3 + c));
        }
        EXPECT_EQ(at(out[1], e), at(x, e) * static_cast<double>(b + 1) - high);
    }
}
TEST(DimensionsAndShapes, extents_of_one_and_missing_dimensions_are_broadcast) {
    auto def = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Y) {
        auto i = axis("i", 3), j = axis("j", 7);
        auto x = X[coord(0, 0), shape(i, j)];
        auto row = X[coord(1, 0), shape(axis(i.dim, 1), j)];
        auto column = X[coord(0, 2), shape(i, axis(j.dim, 1))];
        auto corner = X[coord(0, 0), shape(axis(i.dim, 1), axis(j.dim, 1))];
        Y(coord(0, 0), shape(i, j)).store(x + row * 10.0f + column * 100.0f + corner * 1000.0f);
        Y(coord(3, 0), shape(i, j)).store(row + column);// neither is whole
    });
    auto x = integer_view({3, 7}, 3);
    auto out = run_both(def.capture(tensor_shape(3, 7), tensor_shape(6, 7)),
                        {x, output_view({6, 7})});
    for (int64_t e = 0; e < 21; ++e) {
        auto row = at(x, 7 + e % 7), column = at(x, e / 7 * 7 + 2);
        EXPECT_EQ(at(out[1], e), at(x, e) + 10 * row + 100 * column + 1000 * at(x, 0));
        EXPECT_EQ(at(out[1], 21 + e), row + column);
    }
}
TEST(DimensionsAndShapes, labels_are_only_shown) {
    auto labelled = [](const char *first, const char *second) {
        return tile_kernel([=](TensorView<const float, 2> X, TensorView<float, 2> Y) {
                   auto i = axis(first, 3), j = axis(second, 4);
                   auto x = X[coord(0, 0), shape(i, j)];
                   Y(coord(0, 0), shape(i, j)).store(x - reduce(x, j, add));
               })
            .capture(tensor_shape(3, 4), tensor_shape(3, 4));
    };
    auto x = integer_view({3, 4}, 3);
    auto run = [&](const Kernel &k) { return run_both(k, {x, output_view({3, 4})})[1].bytes; };
    auto expected = run(labelled("row", "column"));
    EXPECT_EQ(run(labelled("column", "row")), expected);
    EXPECT_EQ(run(labelled("same", "same")), expected);
}
TEST(DimensionsAndShapes, a_range_has_indices_begin_plus_multiples_of_its_step) {
    auto def = tile_kernel(
        [](TensorView<int64_t, 1> Y, Scalar<int64_t> begin, Scalar<int64_t> end) {
            Scalar<int64_t> place = 0;
            for (auto &s : serial(range(begin, end, 3))) {
                Y(place).store(s.index());
                place += 1;
            }
            for (auto &s : serial(range(begin, -begin, -5))) {
                Y(place).store(s.index());
                place += 1;
            }
            Y(19).store(place);
        });
    auto out = run_both(def.capture(tensor_shape(20)),
                        {dense<int64_t>({20}, std::vector<int64_t>{-1})},
                        {bits_of(int64_t{7}), bits_of(int64_t{15})});
    const int64_t expected[] = {7, 10, 13, 7, 2, -3};
    for (int64_t i = 0; i < 6; ++i) {
        EXPECT_EQ(at(out[0], i), static_cast<double>(expected[i])) << i;
    }
    EXPECT_EQ(at(out[0], 19), 6);
}
TEST(DimensionsAndShapes, extents_of_zero_mean_no_elements) {
    auto def = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Y) {
        auto i = axis("i", 0), j = axis("j", 3), k = axis("k", 0);
        auto x = X[coord(0, 0), shape(i, j)];
        Y(coord(0, 0), shape(1, j)).store(reduce(x + 1.0f, i, add));
        Y(coord(1, 0), shape(1, j)).store(reduce(concat(i, x, x), axis(i.dim, 0), add));
        Y(coord(2, 0), shape(i, j)).store(transpose(transpose(x, {j, i}), {i, j}));
        for (auto &nest : parallel(shape(3, 0))) {
            Y(nest.index(0), nest.index(1)).store(1.0f);
        }
        auto b = X[coord(0, 0), shape(k, j)];
        auto product = mma(full<float>(shape(k), 2.0f), b, full<float>(shape(j), 5.0f));
        Y(coord(2, 0), shape(1, j)).store(product);
    });
    auto out = run_both(def.capture(tensor_shape(4, 3), tensor_shape(3, 3)),
                        {random_view({4, 3}, 1), output_view({3, 3})});
    for (int64_t e = 0; e < 9; ++e) {
        EXPECT_EQ(at(out[1], e), e < 6 ? 0 : 5);
    }
}
