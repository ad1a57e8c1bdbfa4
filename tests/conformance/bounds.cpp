// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/both.h"

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

std::vector<float> counting(size_t n) {
    std::vector<float> v(n);
    for (size_t i = 0; i < n; ++i) {
        v[i] = static_cast<float>(i + 1);
    }
    return v;
}
struct Place {
    const char *name;
    int64_t row, column, rows, columns;
    bool inside() const {
        return row >= 0 && column >= 0 && row + rows <= 7 && column + columns <= 9;
    }
};
class Places : public ::testing::TestWithParam<Place> {};
const auto places = ::testing::Values(
    Place{"inside", 1, 2, 3, 4}, Place{"whole", 0, 0, 7, 9}, Place{"past_the_end", 5, 6, 4, 8},
    Place{"negative_row", -2, 0, 5, 9}, Place{"negative_column", 0, -3, 7, 5},
    Place{"negative_both", -1, -1, 16, 17}, Place{"outside_above", -9, 0, 4, 4},
    Place{"outside_right", 0, 9, 3, 16}, Place{"outside_below", 7, 0, 3, 9},
    Place{"outside_far", 1000000007, -1000000007, 3, 5}, Place{"no_rows", 2, 2, 0, 4});

/// X at a place that the launch gives, or that capture knows, into Y.
void load_at(Place p, bool runtime, int fallback) {
    auto def = tile_kernel([=](TensorView<const float, 2> X, TensorView<float, 2> Y,
                               Scalar<int64_t> r, Scalar<int64_t> c) {
        auto i = axis("i", p.rows), j = axis("j", p.columns);
        auto box = runtime ? X(coord(r, c), shape(i, j)) : X(coord(p.row, p.column), shape(i, j));
        Y(coord(0, 0), shape(i, j))
            .store(fallback ? box.load(static_cast<float>(fallback)) : box.load());
    });
    auto out = run_both(def.capture(tensor_shape(7, 9), tensor_shape(p.rows, p.columns)),
                        {dense<float>({7, 9}, counting(63)), output_view({p.rows, p.columns})},
                        {bits_of(p.row), bits_of(p.column)});
    for (int64_t a = 0; a < p.rows; ++a) {
        for (int64_t b = 0; b < p.columns; ++b) {
            auto y = a + p.row, x = b + p.column;
            auto in = y >= 0 && y < 7 && x >= 0 && x < 9;
            ASSERT_EQ(at(out[1], a * p.columns + b),
                      in ? static_cast<float>(y * 9 + x + 1) : static_cast<float>(fallback));
        }
    }
}
TEST_P(Places, a_load_gives_zero_outside) { load_at(GetParam(), false, 0); }
TEST_P(Places, a_load_gives_its_fallback_outside) { load_at(GetParam(), false, -99); }
TEST_P(Places, a_runtime_origin_gives_zero_outside) { load_at(GetParam(), true, 0); }
TEST_P(Places, a_runtime_origin_gives_its_fallback_outside) { load_at(GetParam(), true, -99); }
TEST_P(Places, a_store_writes_only_inside) {
    auto p = GetParam();
    for (auto bound : {Bounds::ZERO, Bounds::PREDICATE}) {
        auto def = tile_kernel([=](TensorView<float, 2> Y, Scalar<int64_t> r) {
            auto i = axis("i", p.rows), j = axis("j", p.columns);
            Y(coord(r, p.column), shape(i, j), bound).store(full<float>(shape(i, j), 5.0f));
        });
        auto out = run_both(def.capture(tensor_shape(7, 9)), {output_view({7, 9})},
                            {bits_of(p.row)});
        for (int64_t y = 0; y < 7; ++y) {
            for (int64_t x = 0; x < 9; ++x) {
                auto in = y >= p.row && y < p.row + p.rows && x >= p.column &&
                          x < p.column + p.columns;
                ASSERT_EQ(at(out[0], y * 9 + x), in ? 5 : -77);
            }
        }
    }
}
TEST_P(Places, assume_and_predicate_agree_inside) {
    auto p = GetParam();
    if (!p.inside()) {
        GTEST_SKIP() << "outside";
    }
    for (auto bound : {Bounds::ASSUME, Bounds::PREDICATE}) {
        auto def = tile_kernel([=](TensorView<const float, 2> X, TensorView<float, 2> Y) {
            auto i = axis("i", p.rows), j = axis("j", p.columns);
            Y(coord(p.row, p.column), shape(i, j), bound)
                .store(X[coord(p.row, p.column), shape(i, j), bound]);
        });
        run_both(def.capture(tensor_shape(7, 9), tensor_shape(7, 9)),
                 {dense<float>({7, 9}, counting(63)), output_view({7, 9})});
    }
}
INSTANTIATE_TEST_SUITE_P(Boxes, Places, places,
                         [](const auto &i) { return std::string(i.param.name); });

struct Layout {
    const char *name;
    std::vector<int64_t> strides;
    int64_t origin, elements;
};
class Strides : public ::testing::TestWithParam<Layout> {};
View laid_out(const Layout &l) {
    auto v = dense<float>({l.elements}, counting(static_cast<size_t>(l.elements)));
    v.extents = {7, 9}, v.strides = l.strides, v.origin = l.origin;
    return v;
}
TEST_P(Strides, a_load_reads_the_right_elements) {
    auto l = GetParam();
    auto def = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Y) {
        auto i = axis("i", 8), j = axis("j", 16);
        Y(coord(0, 0), shape(i, j)).store(X[coord(-1, 0), shape(i, j)]);
    });
    auto out = run_both(
        def.capture(tensor_shape(7, 9).with_strides(l.strides), tensor_shape(8, 16)),
        {laid_out(l), output_view({8, 16})});
    for (int64_t a = 0; a < 8; ++a) {
        for (int64_t b = 0; b < 16; ++b) {
            auto e = a > 0 && b < 9 ? static_cast<float>(l.origin + (a - 1) * l.strides[0] +
                                                         b * l.strides[1] + 1)
                                    : 0.0f;
            ASSERT_EQ(at(out[1], a * 16 + b), e) << a << ", " << b;
        }
    }
}
TEST_P(Strides, an_in_place_update_leaves_the_padding) {
    auto l = GetParam();
    if (l.strides[0] == 0 || l.strides[1] == 0) {
        GTEST_SKIP() << "elements share memory";
    }
    auto def = tile_kernel([](TensorView<float, 2> X) {
        auto i = axis("i", 4), j = axis("j", 16);
        for (auto &nest : parallel(shape(ceil_div(X.extent(0), 4)))) {
            auto x = X[coord(nest.index() * 4, 0), shape(i, j)];
            X(coord(nest.index() * 4, 0), shape(i, j)).store(x * 2.0f);
        }
    });
    auto out = run_both(def.capture(tensor_shape(7, 9).with_strides(l.strides)), {laid_out(l)});
    double sum = 0, expected = 0;
    for (int64_t e = 0; e < l.elements; ++e) {
        sum += at(out[0], e), expected += static_cast<double>(e + 1);
    }
    for (int64_t y = 0; y < 7; ++y) {
        for (int64_t x = 0; x < 9; ++x) {
            expected += static_cast<double>(l.origin + y * l.strides[0] + x * l.strides[1] + 1);
        }
    }
    EXPECT_EQ(sum, expected);
}
INSTANTIATE_TEST_SUITE_P(Views, Strides,
                         ::testing::Values(Layout{"dense", {9, 1}, 0, 63},
                                           Layout{"column_major", {1, 7}, 0, 63},
                                           Layout{"padded_pitch", {16, 1}, 3, 128},
                                           Layout{"every_second_column", {18, 2}, 0, 126},
                                           Layout{"broadcast_rows", {0, 1}, 2, 16},
                                           Layout{"broadcast_columns", {1, 0}, 0, 16},
                                           Layout{"one_element", {0, 0}, 3, 8},
                                           Layout{"rows_reversed", {-9, 1}, 54, 63},
                                           Layout{"columns_reversed", {9, -1}, 8, 63},
                                           Layout{"both_reversed", {-9, -1}, 62, 63}),
                         [](const auto &i) { return std::string(i.param.name); });

TEST(Snapshot, a_tile_loaded_before_a_store_keeps_the_old_value) {
    auto def = tile_kernel([](TensorView<float, 1> X, TensorView<float, 1> Y) {
        auto i = axis("i", 17);
        auto x = X[coord(0), shape(i)];
        X(coord(0), shape(i)).store(x + 100.0f);
        Y(coord(0), shape(i)).store(x);
    });
    for (bool alias : {false, true}) {
        auto out = run_both(def.capture(tensor_shape(17), tensor_shape(17)),
                            {dense<float>({17}, counting(17)), output_view({17})}, {}, {0, alias});
        EXPECT_EQ(at(out[1], 16), 17);
        EXPECT_EQ(at(out[0], 16), 117);
    }
}
TEST(Snapshot, a_shifted_copy_within_a_view_reads_everything_first) {
    for (int64_t shift : {-3, -1, 1, 3}) {
        auto def = tile_kernel([=](TensorView<float, 1> X) {
            auto i = axis("i", 40);
            X(coord(shift), shape(i)).store(X[coord(0), shape(i)]);
        });
        auto out = run_both(def.capture(tensor_shape(40)), {dense<float>({40}, counting(40))});
        EXPECT_EQ(at(out[0], 20), static_cast<float>(21 - shift));
    }
}
TEST(Order, a_store_is_seen_by_a_load_under_another_shape) {
    auto def = tile_kernel([](TensorView<float, 1> X, TensorView<float, 1> Y) {
        auto i = axis("i", 16), j = axis("j", 5);
        X(coord(0), shape(i)).store(cast<float>(iota(i)) * 3.0f);
        Y(coord(0), shape(j)).store(X[coord(9), shape(j)]);
    });
    auto out = run_both(def.capture(tensor_shape(16), tensor_shape(5)),
                        {output_view({16}), output_view({5})});
    EXPECT_EQ(at(out[1], 4), 39);
}
TEST(Offsets, past_two_to_the_31_elements_are_64_bits_wide) {
    // Opposite strides: the index arithmetic is wide, the elements touched are near.
    const int64_t big = int64_t{1} << 33;
    auto def = tile_kernel([=](TensorView<const float, 2> X, TensorView<float, 1> Y) {
        auto i = axis("i", 1), j = axis("j", 5);
        for (auto &nest : parallel(shape(3))) {
            auto x = X[coord(nest.index() * big, big * 3 - nest.index() * big), shape(i, j)];
            Y(coord(nest.index() * 5), shape(j)).store(reduce(x, i, add));
        }
    });
    auto v = dense<float>({64}, counting(64));
    v.extents = {big * 4, big * 4}, v.strides = {1, 1}, v.origin = -3 * big;
    auto out = run_both(
        def.capture(tensor_shape(big * 4, big * 4).with_strides({1, 1}), tensor_shape(15)),
        {v, output_view({15})});
    for (int64_t e = 0; e < 15; ++e) {
        EXPECT_EQ(at(out[1], e), static_cast<float>(e % 5 + 1));
    }
}

}// namespace
