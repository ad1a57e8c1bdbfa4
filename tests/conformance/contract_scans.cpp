// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/contract_scan.h>
#include <luisa/tile/contracts.h>

#include "support/both.h"

// Scans by contracts and segmented scans against sequential loops, on both back ends.

using namespace luisa;
using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

int32_t as_int32(const View &v, size_t i) {
    int32_t x = 0;
    std::memcpy(&x, v.bytes.data() + 4 * i, 4);
    return x;
}

struct Affine {
    uint32_t scale = 1, offset = 0;
};
/// (a, b) ∘ (c, d): the left one is applied last.
Affine compose(Affine l, Affine r) { return {l.scale * r.scale, l.scale * r.offset + l.offset}; }

struct Flags {
    bool exclusive, reverse, seed, mask;
};

void affine_scan(int64_t rows, int64_t n, Flags flags, ReductionPolicy policy) {
    auto definition = tile_kernel([=](TensorView<const int32_t, 2> A,
                                      TensorView<const int32_t, 2> B, TensorView<int32_t, 2> P,
                                      TensorView<int32_t, 2> Q, TensorView<int32_t, 2> F) {
        for ([[maybe_unused]] auto &root : parallel(shape(1))) {
            Axis row = axis("row", rows), item = axis("item", n);
            auto a = A(coord(0, 0), shape(row, item)).load();
            auto b = B(coord(0, 0), shape(row, item)).load();
            AffineState<int32_t> last;
            ContractScanOptions<AffineState<int32_t>> options;
            options.exclusive = flags.exclusive;
            options.reverse = flags.reverse;
            options.policy = policy;
            options.with_final = &last;
            if (flags.seed) {
                options.seed = AffineState<int32_t>{Scalar<int32_t>{3}, Scalar<int32_t>{-4}};
            }
            if (flags.mask) {
                options.mask = a != 3;
            }
            auto maps = scan(AffineState<int32_t>{a, b}, item, affine_composition, options);
            P(coord(0, 0), shape(row, item)).store(maps.scale);
            Q(coord(0, 0), shape(row, item)).store(maps.offset);
            F(coord(0, 0), shape(row, 1)).store(last.scale);
            F(coord(0, 1), shape(row, 1)).store(last.offset);
        }
    });
    auto kernel = definition.capture(tensor_shape(rows, n), tensor_shape(rows, n),
                                     tensor_shape(rows, n), tensor_shape(rows, n),
                                     tensor_shape(rows, 2));
    // Odd: products never become zero.
    auto a = dense<int32_t>({rows, n}, std::vector<int32_t>{1, -3, 5, 3, -1, 7, -5, 3, 3, -7, -1});
    auto b = integer_view<int32_t>({rows, n}, 4);
    auto left = run_both(kernel,
                         {a, b, output_view<int32_t>({rows, n}), output_view<int32_t>({rows, n}),
                          output_view<int32_t>({rows, 2})});
    for (int64_t r = 0; r < rows; ++r) {
        Affine state = flags.seed ? Affine{3, static_cast<uint32_t>(-4)} : Affine{};
        for (int64_t step = 0; step < n; ++step) {
            auto i = static_cast<size_t>(r * n + (flags.reverse ? n - 1 - step : step));
            Affine own{static_cast<uint32_t>(as_int32(a, i)),
                       static_cast<uint32_t>(as_int32(b, i))};
            auto before = state;
            if (!flags.mask || own.scale != 3) {
                state = compose(state, own);
            }
            auto expected = flags.exclusive ? before : state;
            ASSERT_EQ(as_int32(left[2], i), static_cast<int32_t>(expected.scale)) << n << " " << i;
            ASSERT_EQ(as_int32(left[3], i), static_cast<int32_t>(expected.offset)) << n << " " << i;
        }
        EXPECT_EQ(as_int32(left[4], static_cast<size_t>(2 * r)), static_cast<int32_t>(state.scale));
        EXPECT_EQ(as_int32(left[4], static_cast<size_t>(2 * r + 1)),
                  static_cast<int32_t>(state.offset));
    }
}

/// S1 and S2: a noncommutative merge, in the order of the elements or against it.
TEST(ContractScans, AffineRecurrence) {
    for (int64_t n : {1, 31, 32, 33, 127, 128, 129, 1000}) {
        affine_scan(1, n, {false, false, false, false}, reduction::ordered_tree);
        affine_scan(1, n, {false, true, false, false}, reduction::fold_left);
    }
}
TEST(ContractScans, Options) {
    for (int i = 0; i < 16; ++i) {
        affine_scan(3, 10, {(i & 1) != 0, (i & 2) != 0, (i & 4) != 0, (i & 8) != 0},
                    reduction::ordered_tree);
    }
    // Long lines go by blocks of neighbours.
    for (int i = 0; i < 16; ++i) {
        for (int64_t n : {63, 64, 65, 130}) {
            affine_scan(i % 3 + 1, n, {(i & 1) != 0, (i & 2) != 0, (i & 4) != 0, (i & 8) != 0},
                        reduction::ordered_tree);
        }
    }
    affine_scan(2, 0, {false, false, true, false}, reduction::ordered_tree);
    affine_scan(0, 4, {false, false, true, false}, reduction::ordered_tree);
}

/// Elements of a tile are lifted: running means.
TEST(ContractScans, RunningMean) {
    auto definition = tile_kernel([](TensorView<const double, 1> X, TensorView<double, 1> Y) {
        for ([[maybe_unused]] auto &root : parallel(shape(1))) {
            auto x = X(coord(0), shape(100)).load();
            Y(coord(0), shape(100)).store(scan(x, x.axis(0), welford).mean);
        }
    });
    std::vector<double> values(100);
    for (size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<double>((i * 29) % 31) + 1e6;
    }
    auto kernel = definition.capture(tensor_shape(100), tensor_shape(100));
    auto left = run_both(kernel, {dense<double>({100}, values), output_view<double>({100})}, {},
                         {1e-12, false, {}});
    double sum = 0;
    for (size_t i = 0; i < values.size(); ++i) {
        sum += values[i];
        EXPECT_NEAR(element_value(left[1], i), sum / static_cast<double>(i + 1), 1e-6);
    }
}

void segments(int64_t rows, int64_t n, bool exclusive, bool reverse, bool masked) {
    auto definition = tile_kernel([=](TensorView<const int32_t, 2> X, TensorView<int32_t, 2> Y) {
        for ([[maybe_unused]] auto &root : parallel(shape(1))) {
            Axis row = axis("row", rows), item = axis("item", n);
            auto x = X(coord(0, 0), shape(row, item)).load();
            SegmentedScanOptions options{exclusive, reverse, {}};
            if (masked) {
                options.mask = x != 2;
            }
            Y(coord(0, 0), shape(row, item))
                .store(segmented_scan(x, x % 3 == 0, item, add, options));
        }
    });
    auto kernel = definition.capture(tensor_shape(rows, n), tensor_shape(rows, n));
    auto x = integer_view<int32_t>({rows, n}, 8, 5);
    auto left = run_both(kernel, {x, output_view<int32_t>({rows, n})});
    for (int64_t r = 0; r < rows; ++r) {
        int32_t state = 0;
        for (int64_t step = 0; step < n; ++step) {
            auto i = static_cast<size_t>(r * n + (reverse ? n - 1 - step : step));
            auto own = as_int32(x, i);
            auto before = own % 3 == 0 ? 0 : state;
            state = before + (masked && own == 2 ? 0 : own);
            ASSERT_EQ(as_int32(left[1], i), exclusive ? before : state) << n << " " << i;
        }
    }
}
TEST(ContractScans, Segments) {
    for (int64_t n : {0, 1, 7, 64, 300}) {
        for (int i = 0; i < 8; ++i) {
            segments(i % 3 + 1, n, (i & 1) != 0, (i & 2) != 0, (i & 4) != 0);
        }
    }
}

/// Doubles and floats whose merges depend on no grouping, by blocks of other widths; signs of zero and NaN.
TEST(ContractScans, SegmentsOfFloats) {
    for (bool exclusive : {false, true}) {
        for (bool reverse : {false, true}) {
            for (int64_t n : {31, 32, 100, 257}) {
                auto definition = tile_kernel([=](TensorView<const double, 2> X,
                                                  TensorView<double, 2> Y, TensorView<float, 2> Z) {
                    for ([[maybe_unused]] auto &root : parallel(shape(1))) {
                        Axis row = axis("row", 2), item = axis("item", n);
                        auto x = X(coord(0, 0), shape(row, item)).load();
                        auto heads = x == 2.0;
                        SegmentedScanOptions options{exclusive, reverse, {}};
                        Y(coord(0, 0), shape(row, item))
                            .store(segmented_scan(x, heads, item, maximum, options));
                        Z(coord(0, 0), shape(row, item))
                            .store(segmented_scan(cast<float>(x), heads, item, luisa::tile::fmin,
                                                  options));
                    }
                });
                auto kernel = definition.capture(tensor_shape(2, n), tensor_shape(2, n),
                                                 tensor_shape(2, n));
                std::vector<double> values{-0.0, 0.0, -1, 2, -0.0, NAN, 5, 3, 2, -7, -0.0, 0.0, 1};
                auto out = run_both(kernel, {dense<double>({2, n}, values),
                                             output_view<double>({2, n}), output_view({2, n})});
                double state = 0;
                bool some = false;
                for (int64_t step = 0; step < n; ++step) {
                    auto i = static_cast<size_t>(reverse ? n - 1 - step : step);
                    auto own = element_value(out[0], i);
                    some = some && own != 2;
                    auto before = some ? state : -INFINITY;
                    bool nan = std::isnan(own) || (some && std::isnan(state));
                    state = nan ? NAN : some ? std::max(state, own) : own;
                    some = true;
                    auto expected = exclusive ? before : state;
                    auto got = element_value(out[1], i);
                    ASSERT_TRUE(std::isnan(expected) ? std::isnan(got) : got == expected)
                        << n << " " << i << ": " << got << ", expected " << expected;
                }
            }
        }
    }
}

/// A mask or heads of one element along the axis hold for all of it.
TEST(ContractScans, FlagsOfOneElement) {
    for (bool on : {false, true}) {
        auto definition = tile_kernel(
            [=](TensorView<const int32_t, 1> X, TensorView<int32_t, 2> Y) {
                for ([[maybe_unused]] auto &root : parallel(shape(1))) {
                    Axis item = axis("item", 9), one = axis(item.dim, 1);
                    auto x = X(coord(0), shape(item)).load();
                    auto flag = full<int32_t>(shape(one), on ? 1 : 0) > 0, off = !flag && flag;
                    SegmentedScanOptions masked;
                    masked.mask = flag;
                    Y(coord(0, 0), shape(1, item)).store(segmented_scan(x, flag, item, add));
                    Y(coord(1, 0), shape(1, item)).store(segmented_scan(x, off, item, add, masked));
                }
            });
        auto kernel = definition.capture(tensor_shape(9), tensor_shape(2, 9));
        auto x = std::vector<int32_t>{1, 2, 3, 4, 5, 6, 7, 8, 9};
        auto left = run_both(kernel, {dense<int32_t>({9}, x), output_view<int32_t>({2, 9})});
        for (size_t i = 0; i < 9; ++i) {
            auto sum = static_cast<int32_t>((i + 1) * (i + 2) / 2);
            EXPECT_EQ(as_int32(left[1], i), on ? x[i] : sum);
            EXPECT_EQ(as_int32(left[1], 9 + i), on ? sum : 0);
        }
    }
}

}// namespace
