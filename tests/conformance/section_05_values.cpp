// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/both.h"

// What the language says of values, where no other file checks it.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {}// namespace

TEST(ValuesOfTheLanguage, copies_are_snapshots_moves_transfer_and_assignment_defines_anew) {
    auto def = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 2> Y) {
        auto i = axis("i", 6);
        auto x = X[coord(0), shape(i)];
        auto copy_of_x = x;
        auto moved = std::move(copy_of_x);
        copy_of_x = x * 2.0f;// defines the moved-from variable again
        x += 100.0f;         // and neither the copy nor what was moved changes
        Tile<float> later;
        later = moved - 1.0f;
        Y(coord(0, 0), shape(1, i)).store(x);
        Y(coord(1, 0), shape(1, i)).store(copy_of_x);
        Y(coord(2, 0), shape(1, i)).store(moved);
        Y(coord(3, 0), shape(1, i)).store(later);
    });
    auto x = integer_view({6}, 4);
    auto out = run_both(def.capture(tensor_shape(6), tensor_shape(4, 6)), {x, output_view({4, 6})});
    for (int64_t e = 0; e < 6; ++e) {
        auto v = at(x, e);
        EXPECT_EQ(at(out[1], e), v + 100);
        EXPECT_EQ(at(out[1], 6 + e), v * 2);
        EXPECT_EQ(at(out[1], 12 + e), v);
        EXPECT_EQ(at(out[1], 18 + e), v - 1);
    }
}
TEST(ValuesOfTheLanguage, assignment_keeps_the_order_of_the_variable_and_drops_ones) {
    auto def = tile_kernel(
        [](TensorView<const float, 2> X, TensorView<float, 1> Y, TensorView<int64_t, 1> E) {
            auto i = axis("i", 2), j = axis("j", 3);
            auto y = zeros<float>(shape(i, j));
            y = transpose(X[coord(0, 0), shape(i, j)], {j, i}) + 1.0f;// (j, i) into (i, j)
            E(0).store(y.axis(0).extent);
            E(1).store(y.axis(1).extent);
            auto row = zeros<float>(shape(j));
            row = X[coord(1, 0), shape(1, j)];// the positional dimension of extent one goes
            E(2).store(int64_t{row.rank()});
            Y(coord(0), shape(j)).store(reduce(y, i, add));
            Y(coord(3), shape(j)).store(row);
        });
    auto x = integer_view({2, 3}, 4);
    auto out = run_both(def.capture(tensor_shape(2, 3), tensor_shape(6), tensor_shape(3)),
                        {x, output_view({6}), dense<int64_t>({3}, std::vector<int64_t>{-1})});
    EXPECT_EQ(at(out[2], 0), 2);
    EXPECT_EQ(at(out[2], 1), 3);
    EXPECT_EQ(at(out[2], 2), 1);
    for (int64_t e = 0; e < 3; ++e) {
        EXPECT_EQ(at(out[1], e), at(x, e) + at(x, 3 + e) + 2);
        EXPECT_EQ(at(out[1], 3 + e), at(x, 3 + e));
    }
}
TEST(ValuesOfTheLanguage, assignment_is_no_effect_on_memory) {
    auto def = tile_kernel([](TensorView<float, 1> X, TensorView<float, 1> Y) {
        auto i = axis("i", 5);
        auto x = X[coord(0), shape(i)];
        x = x + 50.0f;
        x *= 2.0f;
        Y(coord(0), shape(i)).store(X[coord(0), shape(i)] + x * 1000.0f);
    });
    auto x = integer_view({5}, 3);
    auto out = run_both(def.capture(tensor_shape(5), tensor_shape(5)), {x, output_view({5})});
    EXPECT_EQ(out[0].bytes, x.bytes);
    for (int64_t e = 0; e < 5; ++e) {
        EXPECT_EQ(at(out[1], e), at(x, e) + 1000 * (2 * at(x, e) + 100));
    }
}
TEST(ValuesOfTheLanguage, a_tile_of_rank_zero_is_a_scalar_where_one_element_is_meant) {
    auto def = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        auto i = axis("i", 9);
        auto sum = reduce(X[coord(0), shape(i)], i, add);// a Tile<float> of rank zero
        Scalar<float> s = sum;
        Y(0).store(sum);
        Y(1).store(s + 1.0f);
        Y(cast<int64_t>(sum * 0.0f) + 2).store(sum * s);
    });
    auto x = integer_view({9}, 3);
    auto out = run_both(def.capture(tensor_shape(9), tensor_shape(3)), {x, output_view({3})});
    double sum = 0;
    for (int64_t e = 0; e < 9; ++e) {
        sum += at(x, e);
    }
    EXPECT_EQ(at(out[1], 0), sum);
    EXPECT_EQ(at(out[1], 1), sum + 1);
    EXPECT_EQ(at(out[1], 2), sum * sum);
}
TEST(ValuesOfTheLanguage, literals_take_the_type_of_the_tile) {
    auto def = tile_kernel([](TensorView<const int8_t, 1> A, TensorView<const bf16, 1> B,
                              TensorView<int8_t, 1> X, TensorView<bf16, 1> Y,
                              TensorView<half, 1> Z) {
        auto i = axis("i", 3);
        X(coord(0), shape(i)).store(A[coord(0), shape(i)] + 100);// wraps in i8
        Y(coord(0), shape(i)).store(B[coord(0), shape(i)] + 0.3);// 0.3 rounds to bf16 first
        Z(coord(0), shape(i)).store(full<half>(shape(i), 1.0 / 3));
    });
    auto out = run_both(def.capture(tensor_shape(3), tensor_shape(3), tensor_shape(3),
                                    tensor_shape(3), tensor_shape(3)),
                        {dense<int8_t>({3}, {27, 28, -128}), dense<bf16>({3}, {bf16(0.0f)}),
                         output_view<int8_t>({3}), output_view<bf16>({3}), output_view<half>({3})});
    EXPECT_EQ(at(out[2], 0), 127);
    EXPECT_EQ(at(out[2], 1), -128);
    EXPECT_EQ(at(out[2], 2), -28);
    EXPECT_EQ(at(out[3], 0), static_cast<double>(static_cast<float>(bf16(0.3f))));
    EXPECT_EQ(at(out[4], 0), static_cast<double>(static_cast<float>(half(1.0f / 3))));
}
TEST(ValuesOfTheLanguage, ite_guards_nothing) {
    // Both sides are computed: the division by zero, whose value is defined, and the other.
    auto def = tile_kernel([](TensorView<const int32_t, 1> X, TensorView<int32_t, 1> Y) {
        auto i = axis("i", 4);
        auto x = X[coord(0), shape(i)];
        Y(coord(0), shape(i)).store(ite(x == 0, -1, 100 / x));
    });
    auto out = run_both(def.capture(tensor_shape(4), tensor_shape(4)),
                        {dense<int32_t>({4}, {0, 7, -3, 0}), output_view<int32_t>({4})});
    const double expected[] = {-1, 14, -33, -1};
    for (int64_t e = 0; e < 4; ++e) {
        EXPECT_EQ(at(out[1], e), expected[e]);
    }
}
TEST(ValuesOfTheLanguage,
     reads_outside_give_zero_or_the_fallback_and_inserts_outside_write_nothing) {
    auto def = tile_kernel(
        [](TensorView<const float, 2> X, TensorView<float, 2> Y, Scalar<int64_t> where) {
            auto i = axis("i", 4), j = axis("j", 5);
            auto x = X[coord(0, 0), shape(i, j)];
            auto put = [&](int64_t row, const Tile<float> &t) {
                Y(coord(row, 0), shape(1, j)).store(t);
            };
            put(0, x.at(coord(where)));
            put(1, insert(x, coord(where), full<float>(shape(j), 9.0f)).at(coord(0)));
            put(2, gather(x, full<int64_t>(shape(), 0) + where, i, -3.0f));
            put(3, gather(x, iota(j) + where - 2, i, 8.0f).at(coord(0)));
            put(4, reindex(x, shape(j), [&](Scalar<int64_t> c) { return coord(where, c); }));
        });
    auto kernel = def.capture(tensor_shape(4, 5), tensor_shape(5, 5));
    auto x = integer_view({4, 5}, 3);
    for (int64_t where : {-1, 0, 3, 4, 1000}) {
        auto out = run_both(kernel, {x, output_view({5, 5})}, {bits_of(where)});
        auto inside = where >= 0 && where < 4;
        for (int64_t c = 0; c < 5; ++c) {
            auto element = inside ? at(x, where * 5 + c) : 0;
            EXPECT_EQ(at(out[1], c), element);
            EXPECT_EQ(at(out[1], 5 + c), where == 0 ? 9 : at(x, c));
            EXPECT_EQ(at(out[1], 10 + c), inside ? element : -3);
            EXPECT_EQ(at(out[1], 20 + c), element);
        }
    }
}
TEST(ValuesOfTheLanguage,
     a_written_sum_of_products_rounds_each_product_and_mma_rounds_once_a_step) {
    auto def = tile_kernel([](TensorView<const float, 1> A, TensorView<const float, 1> B,
                              TensorView<float, 1> Y) {
        auto k = axis("k", 100);
        auto a = A[coord(0), shape(k)], b = B[coord(0), shape(k)];
        Y(0).store(Scalar<float>(reduce(a * b, k, add, reduction::fold_left)));
        Y(1).store(Scalar<float>(mma(a, b, zeros<float>(shape()), {.allow_reassociation = false})));
    });
    auto a = random_view({100}, 5), b = random_view({100}, 6);
    auto out = run_both(def.capture(tensor_shape(100), tensor_shape(100), tensor_shape(2)),
                        {a, b, output_view({2})});
    float twice = 0, once = 0;
    for (int64_t i = 0; i < 100; ++i) {
        auto x = static_cast<float>(at(a, i)), y = static_cast<float>(at(b, i));
        const volatile float product = x * y;
        twice += product;
        once = std::fma(x, y, once);
    }
    EXPECT_EQ(at(out[2], 0), twice);
    EXPECT_EQ(at(out[2], 1), once);
    EXPECT_NE(twice, once) << "data that do not tell the two apart";
}
TEST(ValuesOfTheLanguage, outer_steps_of_products_keep_their_order) {
    // Each step's product is one number, so that reassociation inside it changes nothing.
    auto def = tile_kernel(
        [](TensorView<const float, 2> A, TensorView<const float, 2> B, TensorView<float, 2> C) {
            auto m = axis("m", 3), n = axis("n", 18), k = axis("k", 1);
            auto acc = zeros<float>(shape(m, n));
            for (auto &step : pipeline(range(0, A.extent(1)))) {
                acc = mma(A[coord(0, step.index()), shape(m, k)],
                          B[coord(step.index(), 0), shape(k, n)], acc);
            }
            C(coord(0, 0), shape(m, n)).store(acc);
        });
    auto a = random_view({3, 70}, 5), b = random_view({70, 18}, 6);
    auto out = run_both(def.capture(tensor_shape(3, 70), tensor_shape(70, 18), tensor_shape(3, 18)),
                        {a, b, output_view({3, 18})});
    for (int64_t e = 0; e < 54; ++e) {
        float sum = 0;
        for (int64_t s = 0; s < 70; ++s) {
            sum = std::fma(static_cast<float>(at(a, e / 18 * 70 + s)),
                           static_cast<float>(at(b, s * 18 + e % 18)), sum);
        }
        ASSERT_EQ(at(out[2], e), sum) << e;
    }
}
TEST(ValuesOfTheLanguage, a_narrow_accumulator_rounds_at_every_step_of_an_ordered_product) {
    // 2048 + 1 is no half: each step of the ordered form loses its one, and one rounding at the end loses none.
    for (bool ordered : {false, true}) {
        auto def = tile_kernel(
            [=](TensorView<const half, 2> A, TensorView<const half, 2> B, TensorView<half, 2> C) {
                auto m = axis("m", 3), n = axis("n", 20), k = axis("k", 8);
                auto acc = full<half>(shape(m, n), 2048.0f);
                C(coord(0, 0), shape(m, n))
                    .store(mma(A[coord(0, 0), shape(m, k)], B[coord(0, 0), shape(k, n)], acc,
                               {.allow_reassociation = !ordered}));
            });
        auto one = std::vector<half>{half(1.0f)};
        auto out = run_both(
            def.capture(tensor_shape(3, 8), tensor_shape(8, 20), tensor_shape(3, 20)),
            {dense<half>({3, 8}, one), dense<half>({8, 20}, one), output_view<half>({3, 20})});
        for (int64_t e = 0; e < 60; ++e) {
            ASSERT_EQ(at(out[2], e), ordered ? 2048 : 2056) << e;
        }
    }
}
TEST(ValuesOfTheLanguage, every_freedom_of_a_product_leaves_exact_sums_exact) {
    // Small integers: a free order, rounded factors and a narrow accumulator all keep them.
    auto x = integer_view({5, 24}, 3), y = integer_view({24, 17}, 4);
    for (auto policy :
         {MmaPolicy{}, MmaPolicy{.allow_tf32 = true}, MmaPolicy{.fast_accumulation = true},
          MmaPolicy{.allow_reassociation = false, .allow_tf32 = true}}) {
        auto def = tile_kernel([=](TensorView<const float, 2> A, TensorView<const float, 2> B,
                                   TensorView<float, 2> C) {
            auto m = axis("m", 5), n = axis("n", 17), k = axis("k", 24);
            auto acc = ones<float>(shape(m, n));
            C(coord(0, 0), shape(m, n))
                .store(mma(A[coord(0, 0), shape(m, k)], B[coord(0, 0), shape(k, n)], acc, policy));
        });
        auto kernel = def.capture(tensor_shape(5, 24), tensor_shape(24, 17), tensor_shape(5, 17));
        auto text = kernel.ir_text();
        EXPECT_EQ(text.find("tf32") != std::string::npos, policy.allow_tf32) << text;
        EXPECT_EQ(text.find("fast_accumulation") != std::string::npos, policy.fast_accumulation);
        auto out = run_both(kernel, {x, y, output_view({5, 17})});
        for (int64_t e = 0; e < 85; ++e) {
            double sum = 1;
            for (int64_t k = 0; k < 24; ++k) {
                sum += at(x, e / 17 * 24 + k) * at(y, k * 17 + e % 17);
            }
            ASSERT_EQ(at(out[2], e), sum);
        }
    }
}
TEST(ValuesOfTheLanguage, positions_are_64_bit_unless_another_type_is_named) {
    auto def = tile_kernel([](TensorView<int64_t, 1> Y, TensorView<uint8_t, 1> Z) {
        auto i = axis("i", 300);
        static_assert(std::same_as<decltype(iota(i)), Tile<int64_t>>);
        Y(coord(0), shape(i)).store(iota(i) * 10000000000);
        Z(coord(0), shape(i)).store(iota<uint8_t>(i));
    });
    auto out = run_both(def.capture(tensor_shape(300), tensor_shape(300)),
                        {output_view<int64_t>({300}), output_view<uint8_t>({300})});
    for (int64_t e = 0; e < 300; ++e) {
        EXPECT_EQ(at(out[0], e), 1e10 * static_cast<double>(e));
        EXPECT_EQ(at(out[1], e), static_cast<double>(e % 256));
    }
}
