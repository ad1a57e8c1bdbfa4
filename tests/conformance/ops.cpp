// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/both.h"

#include <functional>
#include <limits>

// Library functions against their formulas in f64 on the host: random, ragged, single and special values.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

using Row = std::vector<double>;
constexpr double INF = std::numeric_limits<double>::infinity();

/// Captures y = f(x, k) over rows of T, runs both back ends and compares every row with `formula`.
template<class T, class F>
void check_rows(int64_t rows, int64_t columns, View input, double tolerance, const F &f,
                const std::function<Row(const Row &)> &formula) {
    auto def = tile_kernel([=](TensorView<const T, 2> X, TensorView<T, 2> Y) {
        auto k = axis("k", columns);
        for (auto &nest : parallel(shape(rows))) {
            auto x = X[coord(nest.index(), 0), shape(1, k)];
            Y(coord(nest.index(), 0), shape(1, k)).store(f(x, k));
        }
    });
    auto views = run_both(def.capture(tensor_shape(rows, columns), tensor_shape(rows, columns)),
                          {std::move(input), output_view<T>({rows, columns})}, {},
                          {tolerance, false});
    for (int64_t r = 0; r < rows; ++r) {
        Row row;
        for (int64_t c = 0; c < columns; ++c) {
            row.push_back(element_value(views[0], static_cast<size_t>(r * columns + c)));
        }
        auto expected = formula(row);
        for (int64_t c = 0; c < columns; ++c) {
            auto e = expected[static_cast<size_t>(c)];
            auto got = element_value(views[1], static_cast<size_t>(r * columns + c));
            if (std::isnan(e) || std::isinf(e)) {
                ASSERT_TRUE(std::isnan(e) ? std::isnan(got) : got == e)
                    << r << ", " << c << ": " << got;
            } else {
                ASSERT_NEAR(got, e, tolerance * std::max(1.0, std::fabs(e))) << r << ", " << c;
            }
        }
    }
}

double sum_of(const Row &x, const std::function<double(double)> &f) {
    double sum = 0;
    for (auto v : x) {
        sum += f(v);
    }
    return sum;
}
Row each(const Row &x, const std::function<double(double)> &f) {
    Row y;
    for (auto v : x) {
        y.push_back(f(v));
    }
    return y;
}
double largest(const Row &x) {
    double top = -INF;
    for (auto v : x) {
        top = v > top || std::isnan(v) ? v : top;
        if (std::isnan(v)) {
            return v;
        }
    }
    return top;
}
Row softmax_of(const Row &x) {
    auto m = largest(x);
    auto total = sum_of(x, [=](double v) { return std::exp(v - m); });
    return each(x, [=](double v) { return std::exp(v - m) / total; });
}
Row log_softmax_of(const Row &x) {
    auto m = largest(x);
    auto total = std::log(sum_of(x, [=](double v) { return std::exp(v - m); }));
    return each(x, [=](double v) { return v - m - total; });
}
Row rms_of(const Row &x) {
    auto mean = sum_of(x, [](double v) { return v * v; }) / static_cast<double>(x.size());
    return each(x, [=](double v) { return v / std::sqrt(mean + 1e-6); });
}
Row layer_of(const Row &x) {
    auto n = static_cast<double>(x.size());
    auto mean = sum_of(x, [](double v) { return v; }) / n;
    auto variance = sum_of(x, [=](double v) { return (v - mean) * (v - mean); }) / n;
    return each(x, [=](double v) { return (v - mean) / std::sqrt(variance + 1e-5); });
}

class Rows : public ::testing::TestWithParam<std::pair<int64_t, int64_t>> {
protected:
    template<class F> void check(const F &f, const std::function<Row(const Row &)> &formula) {
        auto [rows, columns] = GetParam();
        check_rows<float>(rows, columns, random_view({rows, columns}, 7), 2e-6, f, formula);
        check_rows<half>(rows, columns, random_view<half>({rows, columns}, 8), 2e-3, f, formula);
        check_rows<double>(rows, columns, random_view<double>({rows, columns}, 9), 1e-13, f,
                           formula);
    }
};
}// namespace

TEST_P(Rows, softmax) {
    check([](const auto &x, Axis k) { return ops::softmax(x, k); }, softmax_of);
}
TEST_P(Rows, log_softmax) {
    check([](const auto &x, Axis k) { return ops::log_softmax(x, k); }, log_softmax_of);
}
TEST_P(Rows, rms_norm) {
    check([](const auto &x, Axis k) { return ops::rms_norm(x, k); }, rms_of);
}
TEST_P(Rows, layer_norm) {
    check([](const auto &x, Axis k) { return ops::layer_norm(x, k); }, layer_of);
}
INSTANTIATE_TEST_SUITE_P(
    Extents, Rows,
    ::testing::Values(std::pair<int64_t, int64_t>{3, 1}, std::pair<int64_t, int64_t>{2, 37},
                      std::pair<int64_t, int64_t>{4, 128}, std::pair<int64_t, int64_t>{2, 1009},
                      std::pair<int64_t, int64_t>{0, 5}, std::pair<int64_t, int64_t>{5, 0}));

TEST(Softmax, special_values) {
    auto inf = std::numeric_limits<float>::infinity(),
         nan = std::numeric_limits<float>::quiet_NaN();
    auto x = dense<float>(
        {5, 3}, {-inf, 0, 1, -inf, -inf, -inf, inf, 0, 0, nan, 1, 2, 1e38f, -1e38f, 1e38f});
    check_rows<float>(
        5, 3, x, 1e-6, [](const auto &v, Axis k) { return ops::softmax(v, k); }, softmax_of);
    check_rows<float>(
        5, 3, x, 1e-6, [](const auto &v, Axis k) { return ops::log_softmax(v, k); },
        log_softmax_of);
}

TEST(Norms, weights_and_biases) {
    auto scaled = [](const auto &x, Axis k) {
        auto w = cast<float>(iota(k)) + 1.0f;
        return ops::layer_norm(x, k, w, -w) + ops::rms_norm(x, k, w);
    };
    check_rows<float>(3, 29, random_view({3, 29}, 4), 1e-5, scaled, [](const Row &x) {
        auto layer = layer_of(x), rms = rms_of(x);
        Row y;
        for (size_t i = 0; i < x.size(); ++i) {
            auto w = static_cast<double>(i) + 1;
            y.push_back(layer[i] * w - w + rms[i] * w);
        }
        return y;
    });
}

TEST(Activations, gated) {
    auto gated = [](const auto &x, Axis) { return ops::swiglu(x, x * 2.0f) + ops::geglu(x, x); };
    check_rows<float>(3, 29, random_view({3, 29}, 4), 1e-5, gated, [](const Row &x) {
        return each(x, [](double v) {
            return v / (1 + std::exp(-v)) * 2 * v + v * v * 0.5 * std::erfc(-v / std::sqrt(2.0));
        });
    });
}

TEST(Rope, rotates_pairs) {
    for (int64_t h : {1, 3, 16, 33}) {
        for (bool split : {true, false}) {
            auto f = [=](const auto &x, Axis k) {
                auto half = axis("half", h);
                auto angle = ops::rope_frequencies(half) * 3.0f;
                return split ? ops::rope_half_split(x, k, cos(angle), sin(angle), half)
                             : ops::rope_interleaved(x, k, cos(angle), sin(angle), half);
            };
            auto formula = [=](const Row &x) {
                Row y(x.size());
                for (int64_t i = 0; i < h; ++i) {
                    auto t = 3 *
                             std::pow(10000.0, -static_cast<double>(i) / static_cast<double>(h));
                    auto a = static_cast<size_t>(split ? i : 2 * i);
                    auto b = static_cast<size_t>(split ? i + h : 2 * i + 1);
                    y[a] = x[a] * std::cos(t) - x[b] * std::sin(t);
                    y[b] = x[b] * std::cos(t) + x[a] * std::sin(t);
                }
                return y;
            };
            check_rows<float>(2, 2 * h, random_view({2, 2 * h}, 5), 2e-6, f, formula);
            check_rows<bf16>(2, 2 * h, random_view<bf16>({2, 2 * h}, 5), 1e-2, f, formula);
        }
    }
}

TEST(CrossEntropy, picks_the_label_and_ignores) {
    constexpr int64_t rows = 6, classes = 37;
    const int64_t labels[rows] = {0, 36, 5, -100, 37, -1};
    auto def = tile_kernel(
        [=](TensorView<const float, 2> X, TensorView<const int64_t, 1> L, TensorView<float, 1> Y) {
            auto i = axis("row", rows), c = axis("class", classes);
            auto x = X[coord(0, 0), shape(i, c)];
            Y(coord(0), shape(i)).store(ops::cross_entropy(x, L[coord(0), shape(i)], c));
        });
    auto logits = random_view({rows, classes}, 3);
    auto nan = std::numeric_limits<float>::quiet_NaN();
    std::memcpy(logits.bytes.data() + 3 * classes * sizeof(float), &nan, sizeof nan);
    auto views = run_both(
        def.capture(tensor_shape(rows, classes), tensor_shape(rows), tensor_shape(rows)),
        {logits, dense<int64_t>({rows}, {labels, labels + rows}), output_view({rows})}, {},
        {1e-6, false});
    for (int64_t r = 0; r < rows; ++r) {
        auto got = element_value(views[2], static_cast<size_t>(r));
        Row row;
        for (int64_t c = 0; c < classes; ++c) {
            row.push_back(element_value(views[0], static_cast<size_t>(r * classes + c)));
        }
        auto label = labels[r];
        if (label == -100) {
            EXPECT_EQ(got, 0);
        } else if (label < 0 || label >= classes) {
            EXPECT_TRUE(std::isnan(got)) << r;
        } else {
            EXPECT_NEAR(got, -log_softmax_of(row)[static_cast<size_t>(label)], 1e-6) << r;
        }
    }
}

namespace {
struct PoolCase {
    int64_t extent;
    ops::Window window;
};
class Pool : public ::testing::TestWithParam<PoolCase> {};
}// namespace
TEST_P(Pool, windows_of_one_axis) {
    auto [n, w] = GetParam();
    auto out = w.count(n);
    auto def = tile_kernel([n = n, w = w, out](TensorView<const float, 2> X, TensorView<float, 2> A,
                                               TensorView<float, 2> B, TensorView<float, 2> C) {
        auto i = axis("i", n), c = axis("c", 3), o = axis(i.dim, out);
        auto x = X[coord(0, 0), shape(i, c)];
        A(coord(0, 0), shape(o, c)).store(ops::max_pool(x, {i, w}));
        B(coord(0, 0), shape(o, c)).store(ops::avg_pool(x, {i, w}));
        C(coord(0, 0), shape(o, c)).store(ops::avg_pool(x, {i, w}, ops::PoolDivisor::ELEMENTS));
    });
    auto outputs = tensor_shape(out, 3);
    auto views = run_both(def.capture(tensor_shape(n, 3), outputs, outputs, outputs),
                          {random_view({n, 3}, 2), output_view({out, 3}), output_view({out, 3}),
                           output_view({out, 3})},
                          {}, {1e-6, false});
    for (int64_t o = 0; o < out; ++o) {
        for (int64_t c = 0; c < 3; ++c) {
            Row inside;
            for (int64_t p = 0; p < w.size; ++p) {
                auto at = o * w.stride - w.padding + p;
                if (at >= 0 && at < n) {
                    inside.push_back(element_value(views[0], static_cast<size_t>(at * 3 + c)));
                }
            }
            auto sum = sum_of(inside, [](double v) { return v; });
            auto got = [&](size_t view) {
                return element_value(views[view], static_cast<size_t>(o * 3 + c));
            };
            EXPECT_EQ(got(1), largest(inside));
            EXPECT_NEAR(got(2), sum / static_cast<double>(w.size), 1e-6);
            if (!inside.empty()) {
                EXPECT_NEAR(got(3), sum / static_cast<double>(inside.size()), 1e-6);
            }
        }
    }
}
INSTANTIATE_TEST_SUITE_P(Windows, Pool,
                         ::testing::Values(PoolCase{8, {2, 2, 0}}, PoolCase{13, {3, 2, 1}},
                                           PoolCase{7, {7, 1, 0}}, PoolCase{5, {1, 1, 0}},
                                           PoolCase{37, {5, 3, 2}}, PoolCase{2, {3, 1, 0}},
                                           PoolCase{1, {3, 1, 1}}));

TEST(Pool2, a_picture) {
    auto def = tile_kernel([](TensorView<const int32_t, 2> X, TensorView<int32_t, 2> Y) {
        auto i = axis("i", 9), j = axis("j", 11);
        auto x = X[coord(0, 0), shape(i, j)];
        auto y = ops::max_pool(x, {i, {3, 2, 1}}, {j, {2, 2, 0}});
        Y(coord(0, 0), shape(axis(i.dim, 5), axis(j.dim, 5))).store(y);
    });
    auto views = run_both(def.capture(tensor_shape(9, 11), tensor_shape(5, 5)),
                          {integer_view<int32_t>({9, 11}, 2, 500), output_view<int32_t>({5, 5})});
    for (int64_t a = 0; a < 5; ++a) {
        for (int64_t b = 0; b < 5; ++b) {
            double top = -INF;
            for (int64_t i = std::max<int64_t>(2 * a - 1, 0); i < std::min<int64_t>(2 * a + 2, 9);
                 ++i) {
                for (int64_t j = 2 * b; j < 2 * b + 2; ++j) {
                    top = std::max(top, element_value(views[0], static_cast<size_t>(i * 11 + j)));
                }
            }
            EXPECT_EQ(element_value(views[1], static_cast<size_t>(a * 5 + b)), top);
        }
    }
}
