// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/views.h"

#include <functional>

// Convolutions and losses against their formulas in f64 on the host: random, ragged, empty and special values.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

struct Line {
    int64_t n, taps, stride, padding, dilation;
};
class Conv : public ::testing::TestWithParam<Line> {};

/// x over (batch, place, channel), weight over (tap, channel, out).
template<class A, class B> void check_line(Line c, double tolerance) {
    using C = ProductAccumulator<A, B>;
    constexpr int64_t batches = 2, channels = 3, outputs = 5;
    auto windows = ops::Window{c.taps, c.stride, c.padding, c.dilation}.count(c.n);
    auto def = tile_kernel(
        [=](TensorView<const A, 3> X, TensorView<const B, 3> W, TensorView<C, 3> Y) {
            auto b = axis("b", batches), i = axis("i", c.n), ch = axis("c", channels),
                 t = axis("t", c.taps), o = axis("o", outputs);
            auto x = X[coord(0, 0, 0), shape(b, i, ch)];
            auto w = W[coord(0, 0, 0), shape(t, ch, o)];
            auto y = ops::conv(x, w, ch, {i, t, c.stride, c.padding, c.dilation});
            Y(coord(0, 0, 0), shape(b, axis(i.dim, windows), o)).store(y);
        });
    auto x = random_view<A>({batches, c.n, channels}, 1);
    auto w = random_view<B>({c.taps, channels, outputs}, 2);
    if constexpr (std::is_integral_v<A>) {
        x = integer_view<A>({batches, c.n, channels}, 1, 100);
        w = integer_view<B>({c.taps, channels, outputs}, 2, 100);
    }
    auto out = run_both(def.capture(tensor_shape(batches, c.n, channels),
                                    tensor_shape(c.taps, channels, outputs),
                                    tensor_shape(batches, windows, outputs)),
                        {x, w, output_of<C>({batches, windows, outputs})}, {}, {tolerance, false});
    for (int64_t e = 0; e < out[2].count(); ++e) {
        auto o = e % outputs, place = e / outputs % windows, b = e / outputs / windows;
        double sum = 0;
        for (int64_t t = 0; t < c.taps; ++t) {
            auto i = place * c.stride - c.padding + t * c.dilation;
            for (int64_t k = 0; k < channels && i >= 0 && i < c.n; ++k) {
                sum += element_value(x, static_cast<size_t>((b * c.n + i) * channels + k)) *
                       element_value(w, static_cast<size_t>((t * channels + k) * outputs + o));
            }
        }
        ASSERT_NEAR(element_value(out[2], static_cast<size_t>(e)), sum, tolerance) << e;
    }
}

}// namespace

TEST_P(Conv, of_one_axis) {
    check_line<float, float>(GetParam(), 1e-5);
    check_line<half, half>(GetParam(), 1e-5);
    check_line<double, double>(GetParam(), 1e-13);
    check_line<int8_t, int8_t>(GetParam(), 0);
}
INSTANTIATE_TEST_SUITE_P(Windows, Conv,
                         ::testing::Values(Line{8, 1, 1, 0, 1}, Line{13, 3, 1, 1, 1},
                                           Line{13, 3, 2, 1, 1}, Line{17, 4, 3, 2, 1},
                                           Line{17, 3, 1, 2, 2}, Line{20, 5, 2, 8, 3},
                                           Line{2, 3, 1, 0, 1}, Line{0, 3, 1, 0, 1},
                                           Line{1, 3, 1, 1, 1}, Line{64, 7, 1, 3, 1}));

// A picture of groups: each group of channels has weights of its own; one channel a group is depthwise.
TEST(ConvForms, two_axes_with_groups) {
    for (int64_t channels : {1, 4}) {
        auto def = tile_kernel([=](TensorView<const float, 4> X, TensorView<const float, 5> W,
                                   TensorView<float, 4> Y) {
            auto h = axis("h", 9), w = axis("w", 11), g = axis("g", 3), c = axis("c", channels),
                 o = axis("o", 2), p = axis("p", 3), q = axis("q", 2);
            auto x = X[coord(0, 0, 0, 0), shape(h, w, g, c)];
            auto weight = W[coord(0, 0, 0, 0, 0), shape(g, o, p, q, c)];
            auto y = ops::conv(x, weight, c, {h, p, 2, 1}, {w, q});
            Y(coord(0, 0, 0, 0), shape(axis(h.dim, 5), axis(w.dim, 10), g, o)).store(y);
        });
        auto x = integer_view({9, 11, 3, channels}, 1), w = integer_view({3, 2, 3, 2, channels}, 2);
        auto out = run_both(def.capture(tensor_shape(9, 11, 3, channels),
                                        tensor_shape(3, 2, 3, 2, channels),
                                        tensor_shape(5, 10, 3, 2)),
                            {x, w, output_view({5, 10, 3, 2})});
        for (int64_t e = 0; e < out[2].count(); ++e) {
            auto o = e % 2, g = e / 2 % 3, j = e / 6 % 10, i = e / 60;
            float sum = 0;
            for (int64_t t = 0; t < 6 * channels; ++t) {
                auto c = t % channels, q = t / channels % 2, p = t / channels / 2;
                auto r = i * 2 - 1 + p;
                if (r >= 0 && r < 9) {
                    sum += at(x, ((r * 11 + j + q) * 3 + g) * channels + c) *
                           at(w, (((g * 2 + o) * 3 + p) * 2 + q) * channels + c);
                }
            }
            ASSERT_EQ(at(out[2], e), sum) << channels << ", " << e;
        }
    }
}

TEST(ConvForms, without_channels_is_a_filter_and_zero_pads_keep_nan) {
    auto def = tile_kernel(
        [](TensorView<const float, 1> X, TensorView<const float, 1> W, TensorView<float, 1> Y) {
            auto i = axis("i", 6), t = axis("t", 3);
            Y(coord(0), shape(i))
                .store(ops::filter(X[coord(0), shape(i)], W[coord(0), shape(t)], {i, t, 1, 1}));
        });
    auto out = run_both(def.capture(tensor_shape(6), tensor_shape(3), tensor_shape(6)),
                        {dense<float>({6}, {1, 2, NAN, 4, 5, 6}), dense<float>({3}, {1, 10, 100}),
                         output_view({6})});
    const float expected[] = {210, NAN, NAN, NAN, 654, 65};
    for (int64_t e = 0; e < 6; ++e) {
        auto got = at(out[2], e);
        EXPECT_TRUE(std::isnan(expected[e]) ? std::isnan(got) : got == expected[e])
            << e << ": " << got;
    }
}

TEST(Pooling, of_dilated_windows_counts_what_is_inside) {
    for (auto w : {ops::Window{3, 2, 2, 2}, ops::Window{2, 1, 4, 5}, ops::Window{4, 3, 0, 3}}) {
        constexpr int64_t n = 14;
        auto count = w.count(n);
        auto def = tile_kernel([=](TensorView<const float, 1> X, TensorView<float, 2> Y) {
            auto i = axis("i", n), o = axis(i.dim, count);
            auto x = X[coord(0), shape(i)];
            Y(coord(0, 0), shape(1, o)).store(ops::max_pool(x, {i, w}));
            Y(coord(1, 0), shape(1, o)).store(ops::avg_pool(x, {i, w}));
            Y(coord(2, 0), shape(1, o)).store(ops::avg_pool(x, {i, w}, ops::PoolDivisor::ELEMENTS));
        });
        auto x = random_view({n}, 3);
        auto out = run_both(def.capture(tensor_shape(n), tensor_shape(3, count)),
                            {x, output_view({3, count})}, {}, {1e-6, false});
        for (int64_t o = 0; o < count; ++o) {
            double top = -INFINITY, sum = 0, inside = 0;
            for (int64_t p = 0; p < w.size; ++p) {
                auto i = o * w.stride - w.padding + p * w.dilation;
                if (i >= 0 && i < n) {
                    top = std::max<double>(top, at(x, i)), sum += at(x, i), ++inside;
                }
            }
            EXPECT_EQ(at(out[1], o), top);
            EXPECT_NEAR(at(out[1], count + o), sum / static_cast<double>(w.size), 1e-6);
            EXPECT_NEAR(at(out[1], 2 * count + o), sum / inside, 1e-6);
        }
    }
}

namespace {

/// f(x, y) of rows of T against `formula`, element by element.
template<class T, class F>
void check_losses(const std::vector<T> &a, const std::vector<T> &b, double tolerance, const F &f,
                  const std::function<double(double, double)> &formula) {
    using C = ops::Compute<T>;
    auto n = static_cast<int64_t>(a.size());
    auto def = tile_kernel(
        [=](TensorView<const T, 1> A, TensorView<const T, 1> B, TensorView<C, 1> Y) {
            auto i = axis("i", n);
            Y(coord(0), shape(i)).store(f(A[coord(0), shape(i)], B[coord(0), shape(i)]));
        });
    auto out = run_both(def.capture(tensor_shape(n), tensor_shape(n), tensor_shape(n)),
                        {dense<T>({n}, a), dense<T>({n}, b), output_of<C>({n})});
    for (int64_t e = 0; e < n; ++e) {
        auto i = static_cast<size_t>(e);
        auto right = formula(static_cast<double>(static_cast<float>(a[i])),
                             static_cast<double>(static_cast<float>(b[i])));
        auto got = element_value(out[2], i);
        if (std::isnan(right) || std::isinf(right)) {
            EXPECT_TRUE(std::isnan(right) ? std::isnan(got) : got == right) << e << ": " << got;
        } else {
            EXPECT_NEAR(got, right, tolerance * std::max(1.0, std::fabs(right))) << e;
        }
    }
}
template<class T, class F>
void check_losses(const F &f, const std::function<double(double, double)> &formula) {
    auto x = random_view<T>({37}, 1), y = random_view<T>({37}, 2);
    std::vector<T> a, b;
    for (int64_t e = 0; e < 37; ++e) {
        a.push_back(static_cast<T>(4 * at(x, e))), b.push_back(static_cast<T>(at(y, e)));
    }
    check_losses<T>(a, b, 4e-7, f, formula);
    const float inf = INFINITY, nan = NAN;
    std::vector<T> s, t;
    for (float u : {0.0f, -0.0f, 100.0f, -100.0f, 60000.0f, -60000.0f, inf, -inf, nan}) {
        for (float v : {0.0f, 1.0f, 0.5f, inf, nan}) {
            s.push_back(static_cast<T>(u)), t.push_back(static_cast<T>(v));
        }
    }
    check_losses<T>(s, t, 4e-7, f, formula);
}

double cross_entropy_of(double x, double t) {
    return std::max(x, 0.0) + (std::isnan(x) ? x : 0.0) - x * t +
           std::log1p(std::exp(-std::fabs(x)));
}
double huber_of(double x, double y) {
    auto d = std::fabs(x - y);
    return d <= 0.5 ? 0.5 * d * d : 0.5 * (d - 0.25);
}

}// namespace

TEST(Losses, of_two_values) {
    auto run = [](auto one) {
        using T = decltype(one);
        check_losses<T>([](auto x, auto y) { return ops::binary_cross_entropy(x, y); },
                        cross_entropy_of);
        check_losses<T>([](auto x, auto y) { return ops::huber(x, y, 0.5); }, huber_of);
        check_losses<T>([](auto x, auto y) { return ops::squared_error(x, y); },
                        [](double x, double y) { return (x - y) * (x - y); });
    };
    run(0.0f);
    run(half(0.0f));
    run(bf16(0.0f));
}

TEST(Losses, divergence_of_distributions) {
    for (int64_t n : {0, 1, 5, 37}) {
        auto def = tile_kernel([=](TensorView<const float, 2> P, TensorView<const float, 2> Q,
                                   TensorView<float, 1> Y) {
            auto r = axis("r", 3), i = axis("i", n);
            Y(coord(0), shape(r))
                .store(ops::kl_divergence(P[coord(0, 0), shape(r, i)], Q[coord(0, 0), shape(r, i)],
                                          i));
        });
        auto p = random_view({3, n}, 1), q = random_view({3, n}, 2);
        auto none = -INFINITY;
        if (n > 2) {
            std::memcpy(p.bytes.data() + 4, &none, 4);
            std::memcpy(q.bytes.data() + 4, &none, 4);
            std::memcpy(q.bytes.data() + 4 * static_cast<size_t>(n), &none, 4);
        }
        auto out = run_both(def.capture(tensor_shape(3, n), tensor_shape(3, n), tensor_shape(3)),
                            {p, q, output_view({3})}, {}, {1e-6, false});
        for (int64_t r = 0; r < 3; ++r) {
            double sum = 0;
            for (int64_t i = 0; i < n; ++i) {
                double a = at(p, r * n + i), b = at(q, r * n + i);
                sum += std::exp(a) == 0 ? 0 : std::exp(a) * (a - b);
            }
            if (std::isinf(sum)) {
                EXPECT_EQ(at(out[2], r), sum);
            } else {
                EXPECT_NEAR(at(out[2], r), sum, 1e-5) << n;
            }
        }
    }
}
