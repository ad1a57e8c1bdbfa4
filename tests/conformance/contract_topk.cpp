// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/topk_contract.h>

#include "support/both.h"

#include <numeric>

// The K largest values as a reduction, on both back ends: ties, NaNs, fewer values than places.

using namespace luisa;
using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

template<class T, int K> void top(int64_t rows, int64_t n, const std::vector<T> &values) {
    auto definition = tile_kernel(
        [=](TensorView<const T, 2> X, TensorView<T, 2> V, TensorView<int64_t, 2> I) {
            for (auto &row : parallel(shape(rows))) {
                auto best = topk_identity<T, K>();
                for (auto &i : row.reduce(shape(n), topk_merge<K>)) {
                    auto item = indexed_value(X[coord(row.index(), i.index())], i.index());
                    best = topk_insert<K>(best, item);
                }
                for (int k = 0; k < K; ++k) {
                    V(row.index(), k).store(best.values[static_cast<size_t>(k)]);
                    I(row.index(), k).store(best.indices[static_cast<size_t>(k)]);
                }
            }
        });
    auto kernel = definition.capture(tensor_shape(rows, n), tensor_shape(rows, K),
                                     tensor_shape(rows, K));
    auto left = run_both(kernel, {dense<T>({rows, n}, values), output_view<T>({rows, K}),
                                  output_view<int64_t>({rows, K})});
    for (int64_t r = 0; r < rows; ++r) {
        std::vector<int64_t> order(static_cast<size_t>(n));
        std::iota(order.begin(), order.end(), 0);
        auto at = [&](int64_t i) {
            return static_cast<double>(values[static_cast<size_t>(r * n + i) % values.size()]);
        };
        std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
            return std::isnan(at(b)) ? !std::isnan(at(a)) : at(a) > at(b);
        });
        for (int64_t k = 0; k < K; ++k) {
            auto slot = static_cast<size_t>(r * K + k);
            auto expected = k < n ? order[static_cast<size_t>(k)] : -1;
            EXPECT_EQ(element_value(left[2], slot), static_cast<double>(expected)) << n << " " << k;
            auto value = k < n ? at(expected) : 0.0;
            auto got = element_value(left[1], slot);
            EXPECT_TRUE(got == value || (std::isnan(got) && std::isnan(value))) << n << " " << k;
        }
    }
}

TEST(ContractTopK, TiesAndFewValues) {
    std::vector<int32_t> values(301);
    for (size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<int32_t>((i * 37) % 23) - 11;
    }
    for (int64_t n : {0, 1, 2, 3, 5, 16, 33, 100}) {
        top<int32_t, 3>(2, n, values);
    }
    top<int32_t, 1>(1, 70, values);
}
TEST(ContractTopK, NaNsAreLast) {
    std::vector<float> values{1, NAN, -3, INFINITY, NAN, 1, -0.0f, 0.0f, -INFINITY};
    top<float, 4>(1, 9, values);
    top<float, 4>(3, 64, values);
}
TEST(ContractTopK, OfEveryType) {
    auto run = [](auto one) {
        using T = decltype(one);
        std::vector<T> values;
        for (int i = 0; i < 64; ++i) {
            values.push_back(small_integer<T>((i * 29) % 31));
        }
        top<T, 3>(2, 31, values);
    };
    run(half{});
    run(bf16{});
    run(double{});
    run(int8_t{});
    run(int16_t{});
    run(int64_t{});
    run(uint8_t{});
    run(uint16_t{});
    run(uint32_t{});
    run(uint64_t{});
}
TEST(ContractTopK, TheOrderMayBeWrittenOut) {
    auto text = [](bool written) {
        return tile_kernel([=](TensorView<const float, 1> X, TensorView<int64_t, 1> Y) {
                   auto best = written ? topk_identity<float, 2>(descending, tie::lowest_index,
                                                                 nan::last)
                                       : topk_identity<float, 2>();
                   for (auto &i : reduce(range(0, X.extent(0)), topk_merge<2>)) {
                       best = topk_insert<2>(best, indexed_value(X[coord(i.index())], i.index()));
                   }
                   Y(0).store(best.indices[0]);
               })
            .capture(tensor_shape(9), tensor_shape(1))
            .ir_text();
    };
    EXPECT_EQ(text(true), text(false));
}

/// States that have a dimension of their own, over a tile's items.
TEST(ContractTopK, OfRows) {
    constexpr int K = 2;
    auto definition = tile_kernel(
        [](TensorView<const float, 2> X, TensorView<float, 2> V, TensorView<int64_t, 2> I) {
            for ([[maybe_unused]] auto &root : parallel(shape(1))) {
                Axis row = axis("row", 6), item = axis("item", 11);
                auto x = X(coord(0, 0), shape(row, item)).load();
                auto best = full<TopKState<float, K>>(shape(row), topk_identity<float, K>());
                for (auto &i : root.reduce(x.domain(item), topk_merge<K>)) {
                    best = topk_insert<K>(best, indexed_value(x.at(i), i.index()));
                }
                for (int k = 0; k < K; ++k) {
                    V(coord(0, k), shape(row, 1)).store(best.values[static_cast<size_t>(k)]);
                    I(coord(0, k), shape(row, 1)).store(best.indices[static_cast<size_t>(k)]);
                }
            }
        });
    auto kernel = definition.capture(tensor_shape(6, 11), tensor_shape(6, K), tensor_shape(6, K));
    auto x = random_view({6, 11}, 13);
    auto left = run_both(kernel, {x, output_view({6, K}), output_view<int64_t>({6, K})});
    for (size_t r = 0; r < 6; ++r) {
        auto at = [&](int64_t i) { return element_value(x, 11 * r + static_cast<size_t>(i)); };
        std::vector<int64_t> order(11);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(),
                         [&](int64_t a, int64_t b) { return at(a) > at(b); });
        for (size_t k = 0; k < K; ++k) {
            EXPECT_EQ(element_value(left[2], r * K + k), static_cast<double>(order[k]));
            EXPECT_EQ(element_value(left[1], r * K + k), at(order[k]));
        }
    }
}

}// namespace
