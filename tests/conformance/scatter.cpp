// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/views.h"

#include <map>

// Values that go to places that data decides, against plain loops on the host.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

/// Indices in [-2, n + 2): some outside.
View random_places(int64_t count, int64_t n, uint32_t seed) {
    std::mt19937 engine{seed};
    std::vector<int64_t> at(static_cast<size_t>(count));
    for (auto &x : at) {
        x = static_cast<int64_t>(engine() % static_cast<uint32_t>(n + 4)) - 2;
    }
    return dense<int64_t>({count}, at);
}

}// namespace

TEST(Scatter, into_a_vector_follows_its_rule) {
    for (int64_t count : {0, 1, 5, 64, 200}) {
        for (int64_t n : {1, 7, 40}) {
            auto def = tile_kernel([=](TensorView<const float, 1> X, TensorView<const int64_t, 1> I,
                                       TensorView<const float, 1> V, TensorView<float, 2> Y) {
                auto a = axis("a", n), i = axis("i", count);
                auto x = X[coord(0), shape(a)];
                auto at = I[coord(0), shape(i)];
                auto v = V[coord(0), shape(i)];
                Y(coord(0, 0), shape(1, a)).store(scatter(x, a, at, v, add));
                Y(coord(1, 0), shape(1, a)).store(scatter(x, a, at, v, luisa::tile::last));
                Y(coord(2, 0), shape(1, a)).store(scatter(x, a, at, v, maximum));
                Y(coord(3, 0), shape(1, a)).store(x);
            });
            auto x = random_view({n}, 1), v = random_view({count}, 2);
            auto at = random_places(count, n, 3);
            auto out = run_both(def.capture(tensor_shape(n), tensor_shape(count),
                                            tensor_shape(count), tensor_shape(4, n)),
                                {x, at, v, output_view({4, n})});
            auto sum = elements<float>(x), set = sum, most = sum;
            for (int64_t i = 0; i < count; ++i) {
                auto to = element<int64_t>(at, static_cast<size_t>(i));
                auto value = element<float>(v, static_cast<size_t>(i));
                if (to >= 0 && to < n) {
                    sum[static_cast<size_t>(to)] += value;
                    set[static_cast<size_t>(to)] = value;
                    most[static_cast<size_t>(to)] = std::max(most[static_cast<size_t>(to)], value);
                }
            }
            for (size_t j = 0; j < static_cast<size_t>(n); ++j) {
                auto row = static_cast<size_t>(n);
                ASSERT_EQ(element<float>(out[3], j), sum[j]) << count << " " << n << " " << j;
                ASSERT_EQ(element<float>(out[3], row + j), set[j]);
                ASSERT_EQ(element<float>(out[3], 2 * row + j), most[j]);
                ASSERT_EQ(element<float>(out[3], 3 * row + j), element<float>(x, j));
            }
        }
    }
}

// Rows of a table that words name: the part of each contribution is a row.
TEST(Scatter, adds_rows) {
    constexpr int64_t words = 11, width = 37, tokens = 50;
    auto def = tile_kernel([](TensorView<const int32_t, 1> I, TensorView<const float, 2> G,
                              TensorView<float, 2> Y) {
        auto word = axis("word", words), e = axis("e", width), t = axis("t", tokens);
        auto table = zeros<float>(shape(word, e));
        Y(coord(0, 0), shape(word, e))
            .store(scatter(table, word, I[coord(0), shape(t)], G[coord(0, 0), shape(t, e)], add));
    });
    auto g = random_view({tokens, width}, 5);
    std::vector<int32_t> at;
    for (int32_t t = 0; t < tokens; ++t) {
        at.push_back(t * 7 % 13 - 1);
    }
    auto out = run_both(
        def.capture(tensor_shape(tokens), tensor_shape(tokens, width), tensor_shape(words, width)),
        {dense<int32_t>({tokens}, at), g, output_view({words, width})});
    for (int64_t w = 0; w < words; ++w) {
        for (int64_t e = 0; e < width; ++e) {
            float sum = 0;
            for (int64_t t = 0; t < tokens; ++t) {
                sum += at[static_cast<size_t>(t)] == w
                           ? element<float>(g, static_cast<size_t>(t * width + e))
                           : 0.0f;
            }
            ASSERT_EQ(element<float>(out[2], static_cast<size_t>(w * width + e)), sum);
        }
    }
}

// What put_along_axis does: the index has the dimensions of the tile, the scattered one included.
TEST(Scatter, matches_dimensions_that_index_and_tile_share) {
    constexpr int64_t rows = 6, columns = 9;
    auto def = tile_kernel(
        [](TensorView<const int64_t, 2> I, TensorView<const float, 2> V, TensorView<float, 2> Y) {
            auto r = axis("r", rows), c = axis("c", columns);
            auto x = full<float>(shape(r, c), -1.0f);
            Y(coord(0, 0), shape(r, c))
                .store(scatter(x, c, I[coord(0, 0), shape(r, c)], V[coord(0, 0), shape(r, c)],
                               luisa::tile::unique));
        });
    std::vector<int64_t> at;
    for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < columns; ++c) {
            at.push_back((c * 4 + r) % columns + (c == 3 ? 100 : 0));
        }
    }
    auto v = random_view({rows, columns}, 6);
    auto out = run_both(def.capture(tensor_shape(rows, columns), tensor_shape(rows, columns),
                                    tensor_shape(rows, columns)),
                        {dense<int64_t>({rows, columns}, at), v, output_view({rows, columns})});
    std::vector<float> expected(rows * columns, -1.0f);
    for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < columns; ++c) {
            auto from = static_cast<size_t>(r * columns + c);
            if (at[from] < columns) {
                expected[static_cast<size_t>(r * columns + at[from])] = element<float>(v, from);
            }
        }
    }
    EXPECT_EQ(elements<float>(out[2]), expected);
}

TEST(ScatterToViews, follows_its_rule) {
    constexpr int64_t count = 60, n = 7;
    auto def = tile_kernel([](TensorView<const int64_t, 1> I, TensorView<const float, 1> V,
                              TensorView<float, 1> Sum, TensorView<float, 1> Set,
                              TensorView<int32_t, 1> Count, TensorView<float, 1> Loose) {
        auto i = axis("i", count);
        auto at = I[coord(0), shape(i)];
        auto v = V[coord(0), shape(i)];
        scatter(Sum, at, v, add);
        scatter(Set, at, v, luisa::tile::last);
        scatter(Count, at, Scalar<int32_t>(1), add);
        scatter(Loose, at, cast<float>(cast<int32_t>(v * 100.0f)), add, {.atomic = true});
    });
    auto at = random_places(count, n, 12);
    auto v = random_view({count}, 13);
    auto out = run_both(def.capture(tensor_shape(count), tensor_shape(count), tensor_shape(n),
                                    tensor_shape(n), tensor_shape(n), tensor_shape(n)),
                        {at, v, dense<float>({n}, {0.5f}), dense<float>({n}, {0.5f}),
                         dense<int32_t>({n}, {10}), dense<float>({n}, {0.0f})});
    std::vector<float> sum(n, 0.5f), set(n, 0.5f), loose(n, 0);
    std::vector<int32_t> counted(n, 10);
    for (size_t i = 0; i < count; ++i) {
        auto to = element<int64_t>(at, i);
        if (to >= 0 && to < n) {
            auto value = element<float>(v, i);
            sum[static_cast<size_t>(to)] += value;
            set[static_cast<size_t>(to)] = value;
            counted[static_cast<size_t>(to)] += 1;
            loose[static_cast<size_t>(to)] += static_cast<float>(
                static_cast<int32_t>(value * 100.0f));
        }
    }
    EXPECT_EQ(elements<float>(out[2]), sum);
    EXPECT_EQ(elements<float>(out[3]), set);
    EXPECT_EQ(elements<int32_t>(out[4]), counted);
    EXPECT_EQ(elements<float>(out[5]), loose);
}

// Rows and columns of a matrix; dimensions of indices and values are joined.
TEST(ScatterToViews, takes_an_index_a_dimension) {
    constexpr int64_t rows = 5, columns = 8;
    auto def = tile_kernel([](TensorView<const int64_t, 1> I, TensorView<float, 2> Y) {
        auto r = axis("r", rows), c = axis("c", columns);
        auto at = I[coord(0), shape(c)];
        scatter(Y, {iota<int64_t>(r), at + iota<int64_t>(r)}, cast<float>(iota<int64_t>(c)),
                luisa::tile::unique);
        scatter(Y, {2, iota<int32_t>(c)}, 5.0f, add);
    });
    run_both(def.capture(tensor_shape(columns), tensor_shape(rows, columns)),
             {dense<int64_t>({columns}, {3, 1, 4, 0, 5, 7, 2, 6}),
              dense<float>({rows, columns}, {-1.0f})});
}

// Dimensions of the values that no index has are the last ones of the view.
TEST(ScatterToViews, puts_rows) {
    constexpr int64_t rows = 7, width = 37, tokens = 30;
    auto def = tile_kernel([](TensorView<const int32_t, 1> I, TensorView<const float, 2> G,
                              TensorView<float, 2> Sum, TensorView<float, 2> Set,
                              TensorView<int32_t, 2> Count) {
        auto t = axis("t", tokens), e = axis("e", width);
        auto ids = I[coord(0), shape(t)];
        auto g = G[coord(0, 0), shape(t, e)];
        scatter(Sum, ids, g, add);
        scatter(Set, ids, g, luisa::tile::last);
        scatter(Count, ids, cast<int32_t>(g * 8.0f), add);
    });
    std::vector<int32_t> ids;
    for (int32_t t = 0; t < tokens; ++t) {
        ids.push_back(t * 4 % 9 - 1);
    }
    auto g = random_view({tokens, width}, 31);
    auto out = run_both(def.capture(tensor_shape(tokens), tensor_shape(tokens, width),
                                    tensor_shape(rows, width), tensor_shape(rows, width),
                                    tensor_shape(rows, width)),
                        {dense<int32_t>({tokens}, ids), g, dense<float>({rows, width}, {0.25f}),
                         dense<float>({rows, width}, {0.25f}), dense<int32_t>({rows, width}, {5})});
    for (int64_t r = 0; r < rows; ++r) {
        for (int64_t e = 0; e < width; ++e) {
            float sum = 0.25f, set = 0.25f;
            int32_t count = 5;
            for (int64_t t = 0; t < tokens; ++t) {
                auto value = element<float>(g, static_cast<size_t>(t * width + e));
                bool here = ids[static_cast<size_t>(t)] == r;
                sum += here ? value : 0.0f;
                set = here ? value : set;
                count += here ? static_cast<int32_t>(value * 8.0f) : 0;
            }
            auto at = static_cast<size_t>(r * width + e);
            ASSERT_EQ(element<float>(out[2], at), sum);
            ASSERT_EQ(element<float>(out[3], at), set);
            ASSERT_EQ(element<int32_t>(out[4], at), count);
        }
    }
}

TEST(ScatterToViews, is_a_snapshot_of_what_it_reads) {
    constexpr int64_t n = 20;
    auto def = tile_kernel([](TensorView<float, 1> Y) {
        auto i = axis("i", n);
        auto y = Y[coord(0), shape(i)];
        scatter(Y, iota<int64_t>(i) + 1, y, luisa::tile::unique);
    });
    auto out = run_both(def.capture(tensor_shape(n)), {random_view({n}, 9)});
    auto before = random_view({n}, 9);
    EXPECT_EQ(element<float>(out[0], 0), element<float>(before, 0));
    for (size_t i = 1; i < n; ++i) {
        EXPECT_EQ(element<float>(out[0], i), element<float>(before, i - 1));
    }
}
