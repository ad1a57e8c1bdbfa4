// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>
#include <luisa/tile/sort.h>

#include "support/both.h"

// What the language says of reductions, scans and orderings, where no other file checks it.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

/// Running state of (a, b) ∘ (c, d) = (a·c, a·d + b), in the integers modulo 2^32.
struct Affine {
    uint32_t scale = 1, offset = 0;
    void then_inner(uint32_t a, uint32_t b) { offset += scale * b, scale *= a; }
};

}// namespace

TEST(ReductionsScansOrdering,
     ordered_trees_of_a_noncommutative_contract_are_the_left_fold_at_every_length) {
    // The contract is not commutative, so the default, which may permute, keeps the order too.
    auto def = tile_kernel([](TensorView<const int32_t, 2> X, TensorView<int32_t, 2> Y) {
        auto maps = std::array{scalar(AffineState<int32_t>::identity()),
                               scalar(AffineState<int32_t>::identity())};
        for (auto &r : reduce(range(0, X.extent(1)), affine_composition)) {
            AffineState<int32_t> x{X(0, r.index()).load(), X(1, r.index()).load()};
            maps[0] = x.then(maps[0]);
        }
        for (auto &r : reduce(range(0, X.extent(1)), affine_composition, reduction::ordered_tree)) {
            AffineState<int32_t> x{X(0, r.index()).load(), X(1, r.index()).load()};
            maps[1] = x.then(maps[1]);
        }
        for (int64_t m = 0; m < 2; ++m) {
            Y(m, 0).store(maps[static_cast<size_t>(m)].scale);
            Y(m, 1).store(maps[static_cast<size_t>(m)].offset);
        }
    });
    auto kernel = def.capture(tensor_shape(2, dynamic("n")), tensor_shape(2, 2));
    for (int64_t n = 1; n <= 130; ++n) {
        auto x = integer_view<int32_t>({2, n}, static_cast<uint32_t>(n), 1000);
        auto out = run_both(kernel, {x, output_view<int32_t>({2, 2})});
        Affine fold;
        for (int64_t i = 0; i < n; ++i) {
            fold.then_inner(static_cast<uint32_t>(static_cast<int32_t>(at(x, i))),
                            static_cast<uint32_t>(static_cast<int32_t>(at(x, n + i))));
        }
        for (int64_t m = 0; m < 2; ++m) {
            EXPECT_EQ(at(out[1], 2 * m), static_cast<int32_t>(fold.scale)) << n;
            EXPECT_EQ(at(out[1], 2 * m + 1), static_cast<int32_t>(fold.offset)) << n;
        }
    }
}
TEST(ReductionsScansOrdering, a_narrow_sum_rounds_at_every_step_under_every_policy) {
    // 2048 + 1 is no half and rounds back to 2048: a wider hidden accumulator would give 2055.
    std::vector<half> values(8, half(1.0f));
    values[0] = half(2048.0f);
    for (auto policy : {reduction::fold_left, reduction::ordered_tree, reduction::balanced_tree}) {
        auto def = tile_kernel([=](TensorView<const half, 1> X, TensorView<half, 1> Y) {
            auto i = axis("i", 8);
            auto x = X[coord(0), shape(i)];
            Y(0).store(Scalar<half>(reduce(x, i, add, policy)));
            Y(1).store(Scalar<half>(cast<half>(reduce(cast<float>(x), i, add, policy))));
        });
        auto out = run_both(def.capture(tensor_shape(8), tensor_shape(2)),
                            {dense<half>({8}, values), output_view<half>({2})});
        EXPECT_EQ(at(out[1], 1), 2056);
        if (policy == reduction::fold_left) {
            EXPECT_EQ(at(out[1], 0), 2048);
        } else if (policy == reduction::balanced_tree) {
            // ((2048 + 1) + (1 + 1)) + (2 + 2), where the first sum is 2048.
            EXPECT_EQ(at(out[1], 0), 2054);
        }
    }
}
TEST(ReductionsScansOrdering, a_policy_of_one_reduction_leaves_the_others_theirs) {
    auto x = random_view({777}, 8);
    auto run = [&](bool with_fold) {
        auto def = tile_kernel([=](TensorView<const float, 1> X, TensorView<float, 1> Y) {
            auto i = axis("i", 777);
            auto t = X[coord(0), shape(i)];
            Y(0).store(Scalar<float>(reduce(t, i, add, reduction::balanced_tree)));
            Y(1).store(with_fold ? Scalar<float>(reduce(t, i, add, reduction::fold_left))
                                 : Scalar<float>(0.0f));
            Scalar<float> right = 0.0f;
            for (auto &r : reduce(shape(i), reduction::fold_right)) {
                right = t.at(r) + right;
            }
            Y(2).store(right);
        });
        return run_both(def.capture(tensor_shape(777), tensor_shape(3)), {x, output_view({3})})[1];
    };
    auto with = run(true), without = run(false);
    float left = 0, right = 0;
    for (int64_t i = 0; i < 777; ++i) {
        left += static_cast<float>(at(x, i));
        right = static_cast<float>(at(x, 776 - i)) + right;
    }
    EXPECT_EQ(at(with, 0), at(without, 0));
    EXPECT_EQ(at(with, 1), left);
    EXPECT_EQ(at(with, 2), right);
    EXPECT_NE(at(with, 0), left) << "data that do not tell the policies apart";
}
TEST(ReductionsScansOrdering, source_order_is_lexicographic_in_the_axes_of_the_domain) {
    auto def = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 1> Y) {
        auto i = axis("i", 3), j = axis("j", 4);
        auto x = X[coord(0, 0), shape(i, j)];
        Scalar<float> rows = 0.0f, columns = 0.0f;
        for (auto &r : reduce(x.domain(i, j), reduction::fold_left)) {
            rows = rows * 0.5f + x.at(r);
        }
        for (auto &r : reduce(x.domain(j, i), reduction::fold_left)) {
            columns = columns * 0.5f + x.at(r);
        }
        Y(0).store(rows);
        Y(1).store(columns);
    });
    auto x = integer_view({3, 4}, 5);
    auto out = run_both(def.capture(tensor_shape(3, 4), tensor_shape(2)), {x, output_view({2})});
    double rows = 0, columns = 0;
    for (int64_t e = 0; e < 12; ++e) {
        rows = rows * 0.5 + at(x, e);
        columns = columns * 0.5 + at(x, e % 3 * 4 + e / 3);
    }
    EXPECT_EQ(at(out[1], 0), rows);
    EXPECT_EQ(at(out[1], 1), columns);
}
TEST(ReductionsScansOrdering, what_is_masked_is_skipped_and_repeats_the_prefix_in_a_scan) {
    // NaN at masked places: replaced by an identity or not, they must not show.
    std::vector<float> values{1, NAN, 2, NAN, NAN, 3, -0.0f};
    auto def = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 2> Y) {
        auto i = axis("i", 7);
        auto x = X[coord(0), shape(i)];
        auto whole = x == x;
        Y(coord(0, 0), shape(1, i)).store(scan(x, i, add, {.mask = whole}));
        Y(coord(1, 0), shape(1, i)).store(scan(x, i, add, {.exclusive = true, .mask = whole}));
        Y(coord(2, 0), shape(1, i)).store(scan(x, i, add, {.reverse = true, .mask = whole}));
        Y(3, 0).store(Scalar<float>(reduce(x, i, add, {.mask = whole})));
        Y(3, 1).store(Scalar<float>(reduce(x, i, maximum, {.mask = whole})));
        Y(3, 2).store(Scalar<float>(reduce(x, i, add, {.mask = x == -0.0f && iota(i) > 5})));
    });
    auto out = run_both(def.capture(tensor_shape(7), tensor_shape(4, 7)),
                        {dense<float>({7}, values), output_view({4, 7})});
    const double expected[3][7] = {
        {1, 1, 3, 3, 3, 6, 6}, {0, 1, 1, 3, 3, 3, 6}, {6, 5, 5, 3, 3, 3, 0}};
    for (int64_t r = 0; r < 3; ++r) {
        for (int64_t c = 0; c < 7; ++c) {
            EXPECT_EQ(at(out[1], r * 7 + c), expected[r][c]) << r << ", " << c;
        }
    }
    EXPECT_EQ(at(out[1], 21), 6);
    EXPECT_EQ(at(out[1], 22), 3);
}
TEST(ReductionsScansOrdering, a_store_in_a_reduction_happens_once_a_contribution) {
    auto def = tile_kernel(
        [](TensorView<const float, 1> X, TensorView<float, 1> Y, TensorView<int64_t, 1> N) {
            Scalar<float> sum = 0.0f;
            for (auto &r : reduce(range(0, X.extent(0)))) {
                auto x = X(r.index()).load();
                sum += x;
                Y(r.index()).store(x * 2.0f);
                N(0).atomic_add(int64_t{1});
            }
            Y(X.extent(0)).store(sum);
        });
    auto kernel = def.capture(tensor_shape(dynamic("n")), tensor_shape(200), tensor_shape(1));
    for (int64_t n : {0, 1, 33, 150}) {
        auto x = integer_view({n}, 4);
        auto out = run_both(kernel,
                            {x, output_view({200}), dense<int64_t>({1}, std::vector<int64_t>{0})});
        double sum = 0;
        for (int64_t i = 0; i < n; ++i) {
            sum += at(x, i);
            EXPECT_EQ(at(out[1], i), 2 * at(x, i));
        }
        EXPECT_EQ(at(out[1], n), sum);
        EXPECT_EQ(at(out[2], 0), static_cast<double>(n));
    }
}
TEST(ReductionsScansOrdering, a_contribution_that_updates_one_state_leaves_the_others) {
    auto def = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        Scalar<float> positive = 0.0f, negative = 0.0f, least = INFINITY;
        for (auto &r : reduce(range(0, X.extent(0)))) {
            auto x = X(r.index()).load();
            positive += ite(x > 0.0f, x, 0.0f);
            if_(x < 0.0f, [&] { negative += x; });
            least = minimum(least, x);
        }
        Y(0).store(positive);
        Y(1).store(negative);
        Y(2).store(least);
    });
    auto x = integer_view({97}, 4);
    auto out = run_both(def.capture(tensor_shape(97), tensor_shape(3)), {x, output_view({3})});
    double positive = 0, negative = 0, least = 99;
    for (int64_t i = 0; i < 97; ++i) {
        auto v = at(x, i);
        (v > 0 ? positive : negative) += v, least = std::min(least, v);
    }
    EXPECT_EQ(at(out[1], 0), positive);
    EXPECT_EQ(at(out[1], 1), negative);
    EXPECT_EQ(at(out[1], 2), least);
}
