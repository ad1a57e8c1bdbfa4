// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/views.h"

#include <utility>

// Spellings of the language that other files do not use, with their values.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

template<class T> View counting(std::vector<int64_t> extents, T first = T{1}) {
    auto v = dense<T>(std::move(extents), std::vector<T>{});
    for (size_t i = 0; i < static_cast<size_t>(v.count()); ++i) {
        auto x = static_cast<T>(first + static_cast<T>(i));
        std::memcpy(v.bytes.data() + i * sizeof(T), &x, sizeof(T));
    }
    return v;
}

}// namespace

TEST(Compound, operators_on_integer_tiles_and_scalars) {
    auto kernel = tile_kernel([](TensorView<const int32_t, 1> X, TensorView<int32_t, 1> Y) {
                      auto i = axis("i", 16);
                      for (auto &nest : parallel(shape(ceil_div(X.extent(0), 16)))) {
                          auto place = coord(nest.index() * 16);
                          auto x = X[place, shape(i)];
                          auto s = X[coord(0)];
                          x %= 7;
                          x <<= 4;
                          x |= 3;
                          x &= 0x55;
                          s %= 5;
                          s <<= 1;
                          s ^= 9;
                          x ^= s;
                          x >>= 1;
                          Y(place, shape(i)).store(x);
                      }
                  }).capture(tensor_shape(37), tensor_shape(37));
    auto x = counting<int32_t>({37}, -18);
    auto y = run_both(kernel, {x, output_view<int32_t>({37})})[1];
    auto s = ((element<int32_t>(x, 0) % 5) * 2) ^ 9;
    for (size_t i = 0; i < 37; ++i) {
        auto expected = (((((element<int32_t>(x, i) % 7) * 16) | 3) & 0x55) ^ s) >> 1;
        ASSERT_EQ(element<int32_t>(y, i), expected) << i;
    }
}

TEST(Compound, operators_on_bool_tiles_and_in_loops) {
    auto kernel = tile_kernel([](TensorView<const float, 2> X, TensorView<bool, 1> Y) {
                      auto i = axis("i", 8);
                      auto all = full<bool>(shape(i), true), any = full<bool>(shape(i), false),
                           odd = full<bool>(shape(i), false);
                      for (auto &row : serial(shape(X.extent(0)))) {
                          auto positive = X[coord(row.index(), 0), shape(1, i)] > 0.0f;
                          all &= positive;
                          any |= positive;
                          odd ^= positive;
                      }
                      Y(coord(0), shape(i)).store(all);
                      Y(coord(8), shape(i)).store(any);
                      Y(coord(16), shape(i)).store(odd);
                  }).capture(tensor_shape(3, 8), tensor_shape(24));
    auto x = dense<float>(
        {3, 8}, {1, -1, 1, -1, 1, -1, 1, -1, 1, 1, -1, -1, 1, 1, -1, -1, 1, 1, 1, 1, 0, 0, 0, 0});
    auto out = output_view<uint8_t>({24});
    out.type = ScalarType::BOOL;
    auto y = run_both(kernel, {x, out})[1];
    for (size_t i = 0; i < 8; ++i) {
        int positive = 0;
        for (size_t r = 0; r < 3; ++r) {
            positive += element<float>(x, r * 8 + i) > 0;
        }
        EXPECT_EQ(element<bool>(y, i), positive == 3);
        EXPECT_EQ(element<bool>(y, 8 + i), positive > 0);
        EXPECT_EQ(element<bool>(y, 16 + i), positive % 2 == 1);
    }
}

TEST(Domain, of_two_dimensions_of_a_tile_folds_in_its_own_order) {
    // 2·s - x tells every order of the six contributions apart.
    for (bool swapped : {false, true}) {
        auto kernel = tile_kernel([=](TensorView<const float, 3> X, TensorView<float, 1> Y) {
                          auto i = axis("i", 2), j = axis("j", 4), k = axis("k", 3);
                          auto x = X[coord(0, 0, 0), shape(i, j, k)];
                          auto s = zeros<float>(x.shape().without(i).without(k));
                          for (auto &r : reduce(swapped ? x.domain(k, i) : x.domain(i, k),
                                                reduction::fold_left)) {
                              s = s * 2.0f - x.at(r);
                          }
                          Y(coord(0), shape(j)).store(s);
                      }).capture(tensor_shape(2, 4, 3), tensor_shape(4));
        auto x = counting<float>({2, 4, 3});
        auto y = run_both(kernel, {x, output_view({4})})[1];
        for (size_t j = 0; j < 4; ++j) {
            float s = 0;
            for (size_t r = 0; r < 6; ++r) {
                size_t i = swapped ? r % 2 : r / 3, k = swapped ? r / 2 : r % 3;
                s = s * 2 - element<float>(x, (i * 4 + j) * 3 + k);
            }
            EXPECT_EQ(element<float>(y, j), s) << swapped << " " << j;
        }
    }
}

TEST(Fold, keeps_the_side_of_the_element) {
    auto kernel = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y) {
                      auto k = axis("k", 3);
                      for (auto &nest : parallel(shape(1))) {
                          auto x = X[coord(0), shape(k)];
                          auto left = Scalar<float>{0.0f};
                          for (auto &r : nest.reduce(shape(k), reduction::fold_left)) {
                              left = left - x.at(r);
                          }
                          auto right = Scalar<float>{0.0f};
                          for (auto &r : nest.reduce(shape(k), reduction::fold_right)) {
                              right = x.at(r) - right;
                          }
                          Y(0).store(left);
                          Y(1).store(right);
                      }
                  }).capture(tensor_shape(3), tensor_shape(2));
    auto y = run_both(kernel, {counting<float>({3}), output_view({2})})[1];
    EXPECT_EQ(element<float>(y, 0), -6);
    EXPECT_EQ(element<float>(y, 1), 2);
}

TEST(ViewMap, streams_tiles_of_a_reduction_by_the_whole_path) {
    auto kernel = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 1> Y) {
                      auto row = axis("row", 4), column = axis("column", 8);
                      ViewMap tiles{shape(row, column), [](Scalar<int64_t> r, Scalar<int64_t> c) {
                                        return coord(r * 4, c * 8);
                                    }};
                      for (auto &nest : parallel(shape(ceil_div(X.extent(0), 4)))) {
                          auto sum = zeros<f32>(shape(row));
                          for (auto &part : nest.reduce(shape(ceil_div(X.extent(1), 8)))) {
                              auto x = X.tile(part, tiles, bounds::zero).load();
                              sum += reduce(x, x.dim<1>(), add);
                          }
                          Y(coord(nest.index() * 4), shape(row)).store(sum);
                      }
                  }).capture(tensor_shape(10, 21), tensor_shape(10));
    auto x = integer_view({10, 21}, 3);
    auto y = run_both(kernel, {x, output_view({10})})[1];
    for (size_t r = 0; r < 10; ++r) {
        float sum = 0;
        for (size_t c = 0; c < 21; ++c) {
            sum += element<float>(x, r * 21 + c);
        }
        EXPECT_EQ(element<float>(y, r), sum);
    }
}

TEST(Map, joins_tiles_and_scalars) {
    auto kernel =
        tile_kernel([](TensorView<const float, 1> A, TensorView<const float, 1> B,
                       TensorView<float, 2> C, TensorView<int32_t, 1> D, Scalar<float> s) {
            auto i = axis("i", 5), j = axis("j", 7);
            auto a = A[coord(0), shape(i)], b = B[coord(0), shape(j)];
            C(coord(0, 0), shape(i, j))
                .store(map(a, b, s, [](Scalar<float> x, Scalar<float> y, Scalar<float> z) {
                    return ite(x < y, x * z, y - z);
                }));
            D(coord(0), shape(i)).store(map(a, [](Scalar<float>) { return Scalar<int32_t>{7}; }));
        }).capture(tensor_shape(5), tensor_shape(7), tensor_shape(5, 7), tensor_shape(5));
    auto a = integer_view({5}, 1), b = integer_view({7}, 2);
    auto views = run_both(kernel, {a, b, output_view({5, 7}), output_view<int32_t>({5})},
                          {bits_of(3.0f)});
    for (size_t i = 0; i < 5; ++i) {
        for (size_t j = 0; j < 7; ++j) {
            auto x = element<float>(a, i), y = element<float>(b, j);
            EXPECT_EQ(element<float>(views[2], i * 7 + j), x < y ? x * 3 : y - 3);
        }
        EXPECT_EQ(element<int32_t>(views[3], i), 7);
    }
}

TEST(Assignment, of_pairs_is_simultaneous) {
    auto kernel = tile_kernel([](TensorView<int64_t, 1> Y) {
                      Scalar<int64_t> a = 0, b = 1;
                      for (auto &step : serial(shape(Y.extent(0)))) {
                          Y(step.index()).store(a);
                          std::tie(a, b) = std::pair{b, a + b};
                      }
                  }).capture(tensor_shape(20));
    auto y = run_both(kernel, {output_view<int64_t>({20})})[0];
    EXPECT_EQ(element<int64_t>(y, 10), 55);
    EXPECT_EQ(element<int64_t>(y, 19), 4181);
}

TEST(Bits, are_kept_by_bitcast_and_by_copies) {
    auto kernel = tile_kernel([](TensorView<const float, 1> X, TensorView<uint32_t, 1> U,
                                 TensorView<float, 1> Y, TensorView<float, 1> Z) {
                      auto i = axis("i", 6);
                      auto x = X[coord(0), shape(i)];
                      auto u = luisa::tile::bitcast<uint32_t>(x);
                      U(coord(0), shape(i)).store(u);
                      Y(coord(0), shape(i)).store(luisa::tile::bitcast<float>(u ^ 0x80000000u));
                      copy(X(coord(0), shape(i)), Z(coord(0), shape(i)));
                  }).capture(tensor_shape(6), tensor_shape(6), tensor_shape(6), tensor_shape(6));
    auto bits = dense<uint32_t>({6}, {0, 0x80000000u, 1, 0x7f800000u, 0x7fc01234u, 0xffc00001u});
    bits.type = ScalarType::FLOAT32;
    auto views = run_both(kernel,
                          {bits, output_view<uint32_t>({6}), output_view({6}), output_view({6})});
    for (size_t i = 0; i < 6; ++i) {
        auto expected = element<uint32_t>(bits, i);
        EXPECT_EQ(element<uint32_t>(views[1], i), expected);
        EXPECT_EQ(element<uint32_t>(views[2], i), expected ^ 0x80000000u);
        EXPECT_EQ(element<uint32_t>(views[3], i), expected);
    }
}

TEST(Rounding, of_a_narrowing_cast_survives_fusion) {
    auto kernel = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y) {
                      auto i = axis("i", 16);
                      auto x = X[coord(0), shape(i)];
                      Y(coord(0), shape(i)).store(cast<float>(cast<bf16>(x)) - x);
                  }).capture(tensor_shape(16), tensor_shape(16));
    auto x = random_view({16}, 9);
    auto y = run_both(kernel, {x, output_view({16})})[1];
    int rounded = 0;
    for (size_t i = 0; i < 16; ++i) {
        auto f = element<float>(x, i);
        EXPECT_EQ(element<float>(y, i), static_cast<float>(bf16{f}) - f);
        rounded += element<float>(y, i) != 0;
    }
    EXPECT_GT(rounded, 8);
}
