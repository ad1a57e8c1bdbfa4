// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/views.h"

#include <cmath>

// dot, outer, and the names that <cmath> has as well.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

template<class A, class B> void check_vectors(int64_t m, int64_t n) {
    using C = ProductAccumulator<A, B>;
    auto def = tile_kernel([=](TensorView<const A, 1> X, TensorView<const B, 1> Y,
                               TensorView<C, 1> D, TensorView<C, 2> O) {
        auto i = axis("i", m), j = axis("j", n), first = axis("first", std::min(m, n)),
             second = axis("second", std::min(m, n));
        D(0).store(dot(X[coord(0), shape(first)], Y[coord(0), shape(second)]));
        D(1).store(dot(X[coord(0), shape(first)], Y[coord(0), shape(first)],
                       {.allow_reassociation = false}));
        auto o = outer(X[coord(0), shape(i)], Y[coord(0), shape(j)]);
        O(coord(0, 0), shape(i, j)).store(o);
    });
    auto x = integer_view<A>({m}, 1), y = integer_view<B>({n}, 2);
    auto out = run_both(
        def.capture(tensor_shape(m), tensor_shape(n), tensor_shape(2), tensor_shape(m, n)),
        {x, y, output_of<C>({2}), output_of<C>({m, n})});
    float sum = 0;
    for (int64_t e = 0; e < std::min(m, n); ++e) {
        sum += at(x, e) * at(y, e);
    }
    EXPECT_EQ(at(out[2], 0), sum) << m << ", " << n;
    EXPECT_EQ(at(out[2], 1), sum) << m << ", " << n;
    for (int64_t e = 0; e < m * n; ++e) {
        ASSERT_EQ(at(out[3], e), at(x, e / n) * at(y, e % n)) << m << ", " << n << ", " << e;
    }
}

}// namespace

TEST(Vectors, dot_and_outer_are_exact_on_integers) {
    for (auto [m, n] : {std::pair<int64_t, int64_t>{1, 1}, {0, 3}, {5, 5}, {33, 40}, {128, 7}}) {
        check_vectors<float, float>(m, n);
        check_vectors<half, half>(m, n);
        check_vectors<bf16, half>(m, n);
        check_vectors<double, double>(m, n);
        check_vectors<int8_t, int8_t>(m, n);
        check_vectors<int64_t, int64_t>(m, n);
    }
}

TEST(Vectors, positional_dimensions_are_related_by_place) {
    auto def = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 2> Y) {
        auto x = X[coord(0), shape(3)];
        auto o = outer(x, x + 1.0f);
        EXPECT_EQ(o.rank(), 2);
        Y(coord(0, 0), shape(3, 3)).store(o);
        Y(3, 0).store(dot(x, x));
    });
    auto out = run_both(def.capture(tensor_shape(3), tensor_shape(4, 3)),
                        {counting({3}), output_view({4, 3})});
    for (int64_t e = 0; e < 9; ++e) {
        EXPECT_EQ(at(out[1], e), static_cast<float>((e / 3 + 1) * (e % 3 + 2)));
    }
    EXPECT_EQ(at(out[1], 9), 14);
}

// Unqualified, after `using namespace luisa::tile` and <cmath>: function, reducer, and the functions of numbers.
TEST(Names, fmin_and_fmax_stand_beside_those_of_cmath) {
    auto def = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 1> Y) {
        auto i = axis("i", 2), j = axis("j", 3);
        auto x = X[coord(0, 0), shape(i, j)];
        Y(0).store(reduce(reduce(x, j, fmin), i, fmax));
        Y(1).store(reduce(fmax(x, 2.0f), {i, j}, fmin));
        Y(2).store(scan(x, j, fmax).at(coord(1, 2)));
        Scalar<float> low = 100.0f;
        for (auto &step : reduce(range(0, 3), fmin)) {
            low = fmin(low, X[coord(0, step.index())]);
        }
        Y(3).store(low + static_cast<float>(fmin(1.0, 2.0)));
        auto to = full<float>(shape(j), 9.0f);
        Y(4).store(scatter(to, j, iota(j) * 0, x.at(coord(1)), fmin).at(coord(0)));
    });
    auto out = run_both(def.capture(tensor_shape(2, 3), tensor_shape(5)),
                        {dense<float>({2, 3}, {NAN, 4, 3, 1, NAN, 7}), output_view({5})});
    const float expected[] = {3, 2, 7, 4, 1};
    for (int64_t e = 0; e < 5; ++e) {
        EXPECT_EQ(at(out[1], e), expected[e]) << e;
    }
}

TEST(Names, bit_operations_of_truth_values_fold_scan_and_scatter) {
    auto def = tile_kernel([](TensorView<const bool, 1> X, TensorView<bool, 2> Y) {
        auto i = axis("i", 37);
        auto x = X[coord(0), shape(i)];
        Y(coord(0, 0), shape(1, i)).store(scan(x, i, luisa::tile::bit_xor));
        Y(coord(1, 0), shape(1, i)).store(scan(x, i, luisa::tile::bit_or));
        Y(coord(2, 0), shape(1, i)).store(scan(x, i, luisa::tile::bit_and));
        Y(3, 0).store(reduce(x, i, luisa::tile::bit_xor));
        Y(3, 1).store(reduce(x, i, luisa::tile::bit_or));
        Y(3, 2).store(reduce(x, i, luisa::tile::bit_and));
        auto none = full<bool>(shape(i), false);
        Y(coord(4, 0), shape(1, i)).store(scatter(none, i, iota(i) % 5, x, luisa::tile::bit_xor));
    });
    auto x = flags({37}, 3, 60);
    x.bytes[0] = 1;
    auto y = flags({5, 37}, 1, 0);
    auto out = run_both(def.capture(tensor_shape(37), tensor_shape(5, 37)), {x, y});
    uint8_t odd = 0, any = 0, all = 1, parity[5] = {};
    for (size_t e = 0; e < 37; ++e) {
        auto v = x.bytes[e];
        odd ^= v, any |= v, all &= v, parity[e % 5] ^= v;
        EXPECT_EQ(out[1].bytes[e], odd) << e;
        EXPECT_EQ(out[1].bytes[37 + e], any) << e;
        EXPECT_EQ(out[1].bytes[74 + e], all) << e;
    }
    EXPECT_EQ(out[1].bytes[111], odd);
    EXPECT_EQ(out[1].bytes[112], any);
    EXPECT_EQ(out[1].bytes[113], all);
    for (size_t e = 0; e < 5; ++e) {
        EXPECT_EQ(out[1].bytes[4 * 37 + e], parity[e]) << e;
    }
}
