// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/views.h"

// Library functions that take several axes at once: convolutions and filters of volumes and pictures, means of
// windows of two axes. Integers that sum exactly, so that every order has the same bits.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

/// Calls `f` with every place within `extents`.
template<class F> void at_each_place(const std::vector<int64_t> &extents, const F &f) {
    int64_t count = 1;
    for (auto e : extents) {
        count *= e;
    }
    std::vector<int64_t> place(extents.size());
    for (int64_t n = 0; n < count; ++n) {
        auto rest = n;
        for (size_t d = extents.size(); d-- > 0;) {
            place[d] = rest % extents[d], rest /= extents[d];
        }
        f(n, place);
    }
}

}// namespace

TEST(ConvForms, of_volumes_with_a_window_of_its_own_for_each_axis) {
    for (int64_t depth : {5, 2, 0}) {
        constexpr int64_t channels = 2, outputs = 3;
        const ops::Window a{2, 1, 1, 1}, b{3, 2, 2, 1}, c{2, 1, 0, 3};
        auto na = a.count(depth), nb = b.count(6), nc = c.count(7);
        auto def = tile_kernel([=](TensorView<const float, 4> X, TensorView<const float, 5> W,
                                   TensorView<float, 4> Y) {
            auto x = axis("x", depth), y = axis("y", 6), z = axis("z", 7), ch = axis("c", channels),
                 p = axis("p", 2), q = axis("q", 3), r = axis("r", 2), o = axis("o", outputs);
            auto volume = X[coord(0, 0, 0, 0), shape(x, y, z, ch)];
            auto weight = W[coord(0, 0, 0, 0, 0), shape(o, p, q, r, ch)];
            auto result = ops::conv(volume, weight, ch, {x, p, a.stride, a.padding},
                                    {y, q, b.stride, b.padding},
                                    {z, r, c.stride, c.padding, c.dilation});
            Y(coord(0, 0, 0, 0), shape(axis(x.dim, na), axis(y.dim, nb), axis(z.dim, nc), o))
                .store(result);
        });
        auto x = integer_view({depth, 6, 7, channels}, 1);
        auto w = integer_view({outputs, 2, 3, 2, channels}, 2);
        auto out = run_both(def.capture(tensor_shape(depth, 6, 7, channels),
                                        tensor_shape(outputs, 2, 3, 2, channels),
                                        tensor_shape(na, nb, nc, outputs)),
                            {x, w, output_view({na, nb, nc, outputs})});
        at_each_place({na, nb, nc, outputs}, [&](int64_t n, const std::vector<int64_t> &at_place) {
            double sum = 0;
            at_each_place({2, 3, 2, channels}, [&](int64_t tap, const std::vector<int64_t> &t) {
                auto i = at_place[0] - 1 + t[0], j = 2 * at_place[1] - 2 + t[1],
                     k = at_place[2] + 3 * t[2];
                if (i >= 0 && i < depth && j >= 0 && j < 6 && k >= 0 && k < 7) {
                    sum += at(x, ((i * 6 + j) * 7 + k) * channels + t[3]) *
                           at(w, at_place[3] * 12 * channels + tap);
                }
            });
            ASSERT_EQ(at(out[2], n), sum) << depth << ", " << n;
        });
    }
}

TEST(ConvForms, filters_of_pictures_keep_each_channel_apart) {
    constexpr int64_t h = 7, w = 10, channels = 3;
    auto def = tile_kernel(
        [](TensorView<const float, 3> X, TensorView<const float, 3> W, TensorView<float, 3> Y) {
            auto i = axis("i", h), j = axis("j", w), c = axis("c", channels), p = axis("p", 3),
                 q = axis("q", 2);
            auto picture = X[coord(0, 0, 0), shape(i, j, c)];
            auto weight = W[coord(0, 0, 0), shape(p, q, c)];
            Y(coord(0, 0, 0), shape(i, axis(j.dim, 5), c))
                .store(ops::filter(picture, weight, {i, p, 1, 1}, {j, q, 2}));
        });
    auto x = integer_view({h, w, channels}, 3), f = integer_view({3, 2, channels}, 4);
    auto out = run_both(def.capture(tensor_shape(h, w, channels), tensor_shape(3, 2, channels),
                                    tensor_shape(h, 5, channels)),
                        {x, f, output_view({h, 5, channels})});
    at_each_place({h, 5, channels}, [&](int64_t n, const std::vector<int64_t> &at_place) {
        double sum = 0;
        at_each_place({3, 2}, [&](int64_t tap, const std::vector<int64_t> &t) {
            auto i = at_place[0] - 1 + t[0], j = 2 * at_place[1] + t[1];
            if (i >= 0 && i < h) {
                sum += at(x, (i * w + j) * channels + at_place[2]) *
                       at(f, tap * channels + at_place[2]);
            }
        });
        ASSERT_EQ(at(out[2], n), sum) << n;
    });
}

TEST(Pool2, means_of_windows_of_two_axes) {
    for (auto divisor : {ops::PoolDivisor::WINDOW, ops::PoolDivisor::ELEMENTS}) {
        auto def = tile_kernel([=](TensorView<const half, 2> X, TensorView<half, 2> Y) {
            auto i = axis("i", 6), j = axis("j", 9);
            auto x = X[coord(0, 0), shape(i, j)];
            auto y = ops::avg_pool(x, {i, {2, 2, 1}}, {j, {4, 4, 2}}, divisor);
            Y(coord(0, 0), shape(axis(i.dim, 4), axis(j.dim, 3))).store(y);
        });
        // Small integers and windows of powers of two: every mean of a whole window is exact.
        auto x = integer_view<half>({6, 9}, 7, 8);
        auto out = run_both(def.capture(tensor_shape(6, 9), tensor_shape(4, 3)),
                            {x, output_view<half>({4, 3})});
        at_each_place({4, 3}, [&](int64_t n, const std::vector<int64_t> &at_place) {
            double sum = 0, inside = 0;
            at_each_place({2, 4}, [&](int64_t, const std::vector<int64_t> &t) {
                auto i = 2 * at_place[0] - 1 + t[0], j = 4 * at_place[1] - 2 + t[1];
                if (i >= 0 && i < 6 && j >= 0 && j < 9) {
                    sum += at(x, i * 9 + j), ++inside;
                }
            });
            auto mean = sum / (divisor == ops::PoolDivisor::WINDOW ? 8 : inside);
            EXPECT_NEAR(at(out[1], n), mean, 0.004) << n;
        });
    }
}
