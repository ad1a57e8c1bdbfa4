// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/views.h"

#include <limits>

using namespace luisa::tile;
using namespace luisa::tile::test;

// Case S6: values outside the bins, and a tile that reaches past the end of its view.
TEST(Histogram, counts_neither_values_outside_nor_padding) {
    constexpr int64_t bins = 6;
    for (int64_t n : {0, 1, 5, 31, 100}) {
        auto def = tile_kernel([=](TensorView<const int32_t, 1> X, TensorView<int64_t, 2> H) {
            auto b = axis("bin", bins), i = axis("i", 32);
            auto by_fallback = zeros<int64_t>(shape(b)), by_mask = zeros<int64_t>(shape(b));
            for (auto &nest : serial(range(0, n, 32))) {
                auto from = nest.index();
                by_fallback += histogram(X(coord(from), shape(i)).load(-1), b);
                by_mask += histogram(X[coord(from), shape(i)], b, iota<int64_t>(i) + from < n);
            }
            H(coord(0, 0), shape(1, b)).store(by_fallback);
            H(coord(1, 0), shape(1, b)).store(by_mask);
        });
        auto x = integer_view<int32_t>({n}, 4, 8);
        auto out = run_both(def.capture(tensor_shape(n), tensor_shape(2, bins)),
                            {x, output_view<int64_t>({2, bins})});
        std::vector<int64_t> counts(bins, 0);
        for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
            auto v = element<int32_t>(x, i);
            if (v >= 0 && v < bins) {
                ++counts[static_cast<size_t>(v)];
            }
        }
        for (size_t b = 0; b < bins; ++b) {
            EXPECT_EQ(element<int64_t>(out[1], b), counts[b]);
            EXPECT_EQ(element<int64_t>(out[1], bins + b), counts[b]);
        }
    }
}

TEST(Histogram, of_floats_covers_a_half_open_range) {
    const float inf = std::numeric_limits<float>::infinity(),
                nan = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> values{-0.0f, 0.0f, 0.99f, 1.0f, 3.9999998f, 4.0f,      -1e-30f,
                              inf,   -inf, nan,   2.5f, 2.0f,       1.9999999f};
    auto n = static_cast<int64_t>(values.size());
    auto def = tile_kernel([=](TensorView<const float, 1> X, TensorView<int64_t, 1> H) {
        auto b = axis("bin", 4), i = axis("i", n);
        H(coord(0), shape(b)).store(histogram(X[coord(0), shape(i)], b, 0.0f, 4.0f));
    });
    auto out = run_both(def.capture(tensor_shape(n), tensor_shape(4)),
                        {dense<float>({n}, values), output_view<int64_t>({4})});
    EXPECT_EQ(element<int64_t>(out[1], 0), 3);
    EXPECT_EQ(element<int64_t>(out[1], 1), 2);
    EXPECT_EQ(element<int64_t>(out[1], 2), 2);
    EXPECT_EQ(element<int64_t>(out[1], 3), 1);
}

// A whole tensor: each instance counts its part, and adds that to the result.
TEST(Histogram, of_a_tensor_merges_those_of_its_parts) {
    constexpr int64_t n = 100000, part = 1024, bins = 10;
    auto def = tile_kernel([](TensorView<const int32_t, 1> X, TensorView<int64_t, 1> H) {
        auto b = axis("bin", bins), i = axis("i", part);
        for (auto &nest : parallel(range(0, n, part))) {
            auto mine = histogram(X(coord(nest.index()), shape(i)).load(-1), b);
            scatter(H, iota<int64_t>(b), mine, add);
        }
    });
    std::vector<int32_t> values(n);
    std::vector<int64_t> counts(bins, 0);
    for (size_t i = 0; i < n; ++i) {
        values[i] = static_cast<int32_t>((i * 2654435761u >> 7) % 13) - 1;
        if (values[i] >= 0 && values[i] < bins) {
            ++counts[static_cast<size_t>(values[i])];
        }
    }
    for (int threads : {1, 2, 7}) {
        auto device = Device::create("cpu", {.threads = threads});
        Stream stream{device};
        auto x = make_tensor<int32_t>(device, n);
        auto h = make_tensor<int64_t>(device, bins);
        auto f = device.jit(def);
        std::vector<int64_t> got(bins);
        stream << x.copy_from(values) << h.copy_from(std::vector<int64_t>(bins, 0))
               << f(x, h).dispatch() << h.copy_to(got) << synchronize();
        EXPECT_EQ(got, counts);
    }
}

TEST(SegmentedReduce, folds_each_segment_from_the_left) {
    constexpr int64_t n = 40, width = 5, segments = 7;
    auto def = tile_kernel(
        [](TensorView<const float, 2> X, TensorView<const int32_t, 1> S, TensorView<float, 3> Y) {
            auto i = axis("i", n), e = axis("e", width), s = axis("segment", segments);
            auto x = X[coord(0, 0), shape(i, e)];
            auto ids = S[coord(0), shape(i)];
            auto put = [&](int64_t row, const Tile<float> &tile) {
                Y(coord(row, 0, 0), shape(1, s, e)).store(tile);
            };
            put(0, segmented_reduce(x, i, ids, s, add));
            put(1, segmented_reduce(x, i, ids, s, maximum));
            put(2, segmented_reduce(x, i, ids, s, luisa::tile::fmin));
            put(3, segmented_reduce(x, i, ids, s, multiply));
        });
    std::vector<int32_t> ids;
    for (int32_t i = 0; i < n; ++i) {
        ids.push_back(i * 5 % 9 - 1);// -1 and 7 are outside; 3 has none below
        ids.back() = ids.back() == 3 ? -5 : ids.back();
    }
    auto x = random_view({n, width}, 21);
    auto out = run_both(
        def.capture(tensor_shape(n, width), tensor_shape(n), tensor_shape(4, segments, width)),
        {x, dense<int32_t>({n}, ids), output_view({4, segments, width})});
    for (int64_t s = 0; s < segments; ++s) {
        for (int64_t e = 0; e < width; ++e) {
            float sum = -0.0f;
            bool any = false;
            for (int64_t i = 0; i < n; ++i) {
                if (ids[static_cast<size_t>(i)] == s) {
                    sum += element<float>(x, static_cast<size_t>(i * width + e));
                    any = true;
                }
            }
            auto got = element<float>(out[2], static_cast<size_t>(s * width + e));
            EXPECT_EQ(got, any ? sum : 0.0f);
            EXPECT_EQ(std::signbit(got), any && std::signbit(sum));
        }
    }
    EXPECT_EQ(element<float>(out[2], (1 * segments + 3) * width),
              -std::numeric_limits<float>::infinity());
    EXPECT_EQ(element<float>(out[2], (2 * segments + 3) * width),
              std::numeric_limits<float>::infinity());
}
