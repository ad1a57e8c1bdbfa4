// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>
#include <luisa/tile/ops/block_scaled.h>
#include <luisa/tile/packed.h>

#include "support/both.h"
#include "support/views.h"

// Products of blocks of 32 with an e8m0 scale each, against the sum in ascending order on the host.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

constexpr int64_t BLOCK = 32;

/// Values whose magnitudes differ a lot from block to block.
View scaled_view(int64_t rows, int64_t blocks, uint32_t seed) {
    auto v = random_view({rows, blocks, BLOCK}, seed);
    for (int64_t i = 0; i < v.count(); ++i) {
        float x = 0;
        auto *at = v.bytes.data() + static_cast<size_t>(i) * 4;
        std::memcpy(&x, at, 4);
        x = std::ldexp(x, static_cast<int>((i / BLOCK * 7) % 31) - 15);
        x = i / BLOCK % 5 == 4 ? 0.0f : x;
        std::memcpy(at, &x, 4);
    }
    return v;
}
double power(int code) { return std::ldexp(1.0, code - 127); }

/// Quantizes both operands in blocks, stores their values and scales, and multiplies them.
template<class U> void check(int64_t rows, int64_t columns, int64_t blocks) {
    auto def = tile_kernel([=](TensorView<const float, 3> X, TensorView<const float, 3> W,
                               TensorView<float, 3> XQ, TensorView<float, 3> WQ,
                               TensorView<uint8_t, 2> XS, TensorView<uint8_t, 2> WS,
                               TensorView<float, 2> Z) {
        auto m = axis("m", 4), n = axis("n", 8), g = axis("g", 2), k = axis("k", BLOCK);
        for (auto &nest : parallel(shape((rows + 3) / 4, (columns + 7) / 8))) {
            auto i = nest.index(0) * 4, j = nest.index(1) * 8;
            auto sum = zeros<float>(shape(m, n));
            for (auto &step : serial(range(0, blocks, 2))) {
                auto at = step.index();
                auto x = X[coord(i, at, 0), shape(m, g, k)];
                auto w = W[coord(j, at, 0), shape(n, g, k)];
                auto xs = ops::block_scale<U>(x, k), ws = ops::block_scale<U>(w, k);
                auto xscale = ops::power_scale(xs), wscale = ops::power_scale(ws);
                auto xq = quantize<U>(x / xscale, rounding::nearest_even, overflow::saturate);
                auto wq = quantize<U>(w / wscale, rounding::nearest_even, overflow::saturate);
                sum = ops::block_scaled_mma(xq, xscale, wq, wscale, sum,
                                            {.allow_reassociation = false});
                if_(nest.index(1) == 0, [&] {
                    XQ(coord(i, at, 0), shape(m, g, k)).store(cast<float>(xq));
                    XS(coord(i, at), shape(m, g)).store(xs);
                });
                if_(nest.index(0) == 0, [&] {
                    WQ(coord(j, at, 0), shape(n, g, k)).store(cast<float>(wq));
                    WS(coord(j, at), shape(n, g)).store(ws);
                });
            }
            Z(coord(i, j), shape(m, n)).store(sum);
        }
    });
    auto t = [](auto... e) { return tensor_shape(e...); };
    auto out = run_both(def.capture(t(rows, blocks, BLOCK), t(columns, blocks, BLOCK),
                                    t(rows, blocks, BLOCK), t(columns, blocks, BLOCK),
                                    t(rows, blocks), t(columns, blocks), t(rows, columns)),
                        {scaled_view(rows, blocks, 1), scaled_view(columns, blocks, 2),
                         output_of<float>({rows, blocks, BLOCK}),
                         output_of<float>({columns, blocks, BLOCK}),
                         output_of<uint8_t>({rows, blocks}), output_of<uint8_t>({columns, blocks}),
                         output_of<float>({rows, columns})});
    auto value = [&](size_t view, int64_t i) {
        return element_value(out[view], static_cast<size_t>(i));
    };
    auto scaled = [&](size_t values, int64_t row, int64_t k) {
        auto scale = static_cast<int>(value(values + 2, row * blocks + k / BLOCK));
        return static_cast<float>(value(values, row * blocks * BLOCK + k) * power(scale));
    };
    // The largest value that a block has room for: what is quantized is close to the input.
    auto step = std::same_as<U, float4_e2m1> ? 0.26 : std::same_as<U, float8_e4m3fn> ? 0.13 : 0.26;
    for (int64_t i = 0; i < rows * blocks * BLOCK; ++i) {
        auto row = i / (blocks * BLOCK), k = i % (blocks * BLOCK), first = i / BLOCK * BLOCK;
        double largest = 0;
        for (int64_t e = first; e < first + BLOCK; ++e) {
            largest = std::max(largest, std::fabs(value(0, e)));
        }
        ASSERT_NEAR(static_cast<double>(scaled(2, row, k)), value(0, i), step * largest) << i;
    }
    for (int64_t i = 0; i < rows * columns; ++i) {
        float sum = 0;
        for (int64_t k = 0; k < blocks * BLOCK; ++k) {
            sum = std::fma(scaled(2, i / columns, k), scaled(3, i % columns, k), sum);
        }
        ASSERT_EQ(value(6, i), static_cast<double>(sum)) << i;
    }
}

}// namespace

TEST(BlockScaled, products_equal_their_expansion) {
    for (auto [rows, columns, blocks] :
         {std::array<int64_t, 3>{4, 8, 4}, {5, 9, 3}, {1, 1, 1}, {7, 3, 5}, {2, 4, 0}}) {
        check<float4_e2m1>(rows, columns, blocks);
        check<float8_e4m3fn>(rows, columns, blocks);
        check<float8_e5m2>(rows, columns, blocks);
    }
}
TEST(BlockScaled, every_scale_is_a_power_of_two) {
    auto def = tile_kernel([](TensorView<const uint8_t, 1> S, TensorView<float, 1> Y) {
        auto i = axis("i", 256);
        Y(coord(0), shape(i)).store(ops::power_scale(S[coord(0), shape(i)]));
    });
    std::vector<uint8_t> codes(256);
    for (size_t i = 0; i < 256; ++i) {
        codes[i] = static_cast<uint8_t>(i);
    }
    auto out = run_both(def.capture(tensor_shape(256), tensor_shape(256)),
                        {dense<uint8_t>({256}, codes), output_of<float>({256})});
    for (int i = 0; i < 255; ++i) {
        ASSERT_EQ(element_value(out[1], static_cast<size_t>(i)), power(i)) << i;
    }
    EXPECT_TRUE(std::isnan(element_value(out[1], 255)));
}
