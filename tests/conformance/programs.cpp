// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/both.h"

// Whole small programs: pooling, overlapping arguments, cancelling sums, rows far from zero.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

/// Both arguments of `kernel` are views of one buffer, `distance` elements apart.
std::vector<float> run_overlapping(const Kernel &kernel, int64_t n, int64_t distance) {
    std::vector<float> expected(static_cast<size_t>(n + distance));
    for (size_t i = 0; i < expected.size(); ++i) {
        expected[i] = static_cast<float>(i + 1);
    }
    auto got = expected;
    auto arguments = [&](std::vector<float> &buffer) {
        KernelArgument x, y;
        x.data = buffer.data(), y.data = buffer.data() + distance;
        x.extents = y.extents = {n};
        x.strides = y.strides = {1};
        return std::vector<KernelArgument>{x, y};
    };
    interpreter::run(*module_of(kernel), arguments(expected));
    run_cpu(*compiler::compile_cpu(*module_of(kernel), {emit::host_cpu(), 1, true}),
            arguments(got));
    EXPECT_EQ(expected, got) << kernel.ir_text();
    return expected;
}

}// namespace

TEST(Pooling, takes_its_border_from_the_fallback) {
    // 3 x 3 windows, stride 1, padding 1, over negative numbers.
    for (float fill : {0.0f, -INFINITY}) {
        auto def = tile_kernel([=](TensorView<const float, 2> X, TensorView<float, 2> Y) {
            auto i = axis("i", 4), j = axis("j", 8);
            for (auto &nest : parallel(shape(2, 2))) {
                auto r = nest.index(0) * 4, c = nest.index(1) * 8;
                auto best = full<float>(shape(i, j), -INFINITY);
                for (int64_t dr = -1; dr <= 1; ++dr) {
                    for (int64_t dc = -1; dc <= 1; ++dc) {
                        best = maximum(best, X(coord(r + dr, c + dc), shape(i, j)).load(fill));
                    }
                }
                Y(coord(r, c), shape(i, j)).store(best);
            }
        });
        auto x = random_view({7, 11}, 3);
        for (int64_t e = 0; e < 77; ++e) {
            auto v = static_cast<float>(at(x, e)) - 2.0f;
            std::memcpy(x.bytes.data() + e * 4, &v, 4);
        }
        auto out = run_both(def.capture(tensor_shape(7, 11), tensor_shape(7, 11)),
                            {x, output_view({7, 11})});
        for (int64_t e = 0; e < 77; ++e) {
            double best = -INFINITY;
            for (int64_t dr = -1; dr <= 1; ++dr) {
                for (int64_t dc = -1; dc <= 1; ++dc) {
                    auto r = e / 11 + dr, c = e % 11 + dc;
                    auto in = r >= 0 && r < 7 && c >= 0 && c < 11;
                    best = std::max(best, in ? at(x, r * 11 + c) : static_cast<double>(fill));
                }
            }
            ASSERT_EQ(at(out[1], e), best) << e;
        }
    }
}
TEST(Overlap, a_tile_is_read_whole_before_it_is_stored) {
    for (int64_t distance : {0, 1, 3, 17}) {
        auto def = tile_kernel([](TensorView<float, 1> X, TensorView<float, 1> Y) {
            auto i = axis("i", 40);
            Y(coord(0), shape(i)).store(X[coord(0), shape(i)] * 10.0f);
        });
        auto out = run_overlapping(def.capture(tensor_shape(40), tensor_shape(40)), 40, distance);
        EXPECT_EQ(out[static_cast<size_t>(distance) + 39], 400);
        EXPECT_EQ(out[static_cast<size_t>(distance)], 10);
    }
}
TEST(Overlap, a_load_after_a_store_sees_it_through_the_other_view) {
    auto def = tile_kernel([](TensorView<float, 1> X, TensorView<float, 1> Y) {
        auto i = axis("i", 16);
        auto before = X[coord(16), shape(i)];
        Y(coord(0), shape(i)).store(full<float>(shape(i), 7.0f));
        auto after = X[coord(16), shape(i)];
        Y(coord(16), shape(i)).store(before * 100.0f + after);
    });
    auto out = run_overlapping(def.capture(tensor_shape(40), tensor_shape(40)), 40, 12);
    // X[16 … 31] is Y[4 … 19]: the first twelve are sevens when they are read again.
    EXPECT_EQ(out[28], 1707);
    EXPECT_EQ(out[39], 2807);
    EXPECT_EQ(out[40], 2929);
}
TEST(Overlap, an_instance_may_read_and_write_its_own_element_through_both_views) {
    auto def = tile_kernel([](TensorView<float, 1> X, TensorView<float, 1> Y) {
        for (auto &nest : parallel(shape(X.extent(0)))) {
            Y(nest.index()).store(X(nest.index()).load() + 1.0f);
            X(nest.index()).store(Y(nest.index()).load() * 2.0f);
        }
    });
    auto out = run_overlapping(def.capture(tensor_shape(9), tensor_shape(9)), 9, 0);
    EXPECT_EQ(out[8], 20);
}
TEST(Overlap, a_recurrence_through_two_views_runs_in_order) {
    auto def = tile_kernel([](TensorView<float, 1> X, TensorView<float, 1> Y) {
        for (auto &s : serial(range(0, X.extent(0)))) {
            Y(s.index()).store(X(s.index()).load() + Y(s.index()).load());
        }
    });
    auto out = run_overlapping(def.capture(tensor_shape(20), tensor_shape(20)), 20, 1);
    EXPECT_EQ(out[20], 21 * 22 / 2);
}
TEST(Ordered, products_of_cancelling_data_have_the_bits_of_the_ascending_order) {
    for (int64_t n : {1, 17, 40}) {
        auto def = tile_kernel([=](TensorView<const float, 2> A, TensorView<const float, 2> B,
                                   TensorView<float, 2> C) {
            auto m = axis("m", 5), j = axis("n", n), k = axis("k", 16);
            for ([[maybe_unused]] auto &nest : parallel(shape(1))) {
                auto acc = zeros<float>(shape(m, j));
                for (auto &s : nest.pipeline(range(0, A.extent(1), 16))) {
                    acc = mma(A[coord(0, s.index()), shape(m, k)],
                              B[coord(s.index(), 0), shape(k, j)], acc,
                              {.allow_reassociation = false});
                }
                C(coord(0, 0), shape(m, j)).store(acc);
            }
        });
        std::vector<float> values;
        for (int i = 0; i < 97; ++i) {
            values.push_back((i % 2 ? -1.0f : 1.0f) *
                             std::ldexp(1.0f + static_cast<float>(i) / 97, i * 7 % 40 - 20));
        }
        auto a = dense<float>({5, 64}, values), b = dense<float>({64, n}, values);
        auto out = run_both(
            def.capture(tensor_shape(5, 64), tensor_shape(64, n), tensor_shape(5, n)),
            {a, b, output_view({5, n})});
        for (int64_t e = 0; e < 5 * n; ++e) {
            float sum = 0;
            for (int64_t q = 0; q < 64; ++q) {
                sum = std::fma(static_cast<float>(at(a, e / n * 64 + q)),
                               static_cast<float>(at(b, q * n + e % n)), sum);
            }
            ASSERT_EQ(at(out[2], e), sum);
        }
    }
}
TEST(Statistics, of_rows_far_from_zero_keep_their_variance) {
    auto def = tile_kernel([](TensorView<const double, 2> X, TensorView<double, 2> Y) {
        for (auto &nest : parallel(shape(X.extent(0)))) {
            Scalar<double> count = 0.0, mean = 0.0, square = 0.0;
            for (auto &r : nest.serial(range(0, X.extent(1)))) {
                auto x = X(nest.index(), r.index()).load();
                count += 1.0;
                auto delta = x - mean;
                mean += delta / count;
                square += delta * (x - mean);
            }
            Y(nest.index(), 0).store(mean);
            Y(nest.index(), 1).store(square / count);
        }
    });
    const int64_t n = 1000;
    std::vector<double> values;
    for (int64_t i = 0; i < n; ++i) {
        values.push_back(1e8 + static_cast<double>(i % 7) - 3.0);
    }
    auto out = run_both(def.capture(tensor_shape(1, n), tensor_shape(1, 2)),
                        {dense<double>({1, n}, values), dense<double>({1, 2}, {-1})});
    double mean = 0, variance = 0;
    for (auto v : values) {
        mean += (v - 1e8) / static_cast<double>(n);
    }
    for (auto v : values) {
        variance += std::pow(v - 1e8 - mean, 2) / static_cast<double>(n);
    }
    EXPECT_NEAR(at(out[1], 0), 1e8 + mean, 1e-6);
    // c · n · u · sqrt(1 + mean² / variance) with c = 1.
    EXPECT_NEAR(at(out[1], 1), variance,
                variance * 1000 * std::exp2(-53.0) * std::sqrt(1 + 1e16 / variance));
}
