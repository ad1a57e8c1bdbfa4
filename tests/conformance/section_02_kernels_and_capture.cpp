// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/both.h"

// What the language says of kernels and their capture, where no other file checks it.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {}// namespace

TEST(KernelsAndCapture, a_definition_runs_nothing_and_each_capture_runs_it_once) {
    int runs = 0;
    auto *count = &runs;
    auto def = tile_kernel([=](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        ++*count;
        for (auto &nest : parallel(range(0, X.extent(0)))) {
            ++*count;
            Y(nest.index()).store(X(nest.index()).load() + 1.0f);
        }
    });
    EXPECT_EQ(runs, 0);
    auto kernel = def.capture(tensor_shape(9), tensor_shape(9));
    EXPECT_EQ(runs, 2);// the body of a nest once too, whatever its extent
    auto out = run_both(kernel, {dense<float>({9}, {1, 2, 3}), output_view({9})});
    EXPECT_EQ(runs, 2);
    EXPECT_EQ(at(out[1], 8), 4);
    EXPECT_EQ(def.capture(tensor_shape(9), tensor_shape(9)).ir_text(), kernel.ir_text());
    EXPECT_EQ(runs, 4);
}
TEST(KernelsAndCapture, each_host_value_makes_another_variant) {
    auto variant = [](float factor, bool twice) {
        return tile_kernel([=](TensorView<const float, 1> X, TensorView<float, 1> Y) {
                   auto i = axis("i", X.extent(0));
                   auto x = X[coord(0), shape(i)] * factor;
                   if (twice) {
                       x = x + x;
                   }
                   Y(coord(0), shape(i)).store(x);
               })
            .capture(tensor_shape(5), tensor_shape(5));
    };
    EXPECT_NE(variant(3, false).ir_text(), variant(3, true).ir_text());
    EXPECT_NE(variant(3, false).ir_text(), variant(4, false).ir_text());
    EXPECT_EQ(variant(3, true).ir_text(), variant(3, true).ir_text());
    auto out = run_both(variant(3, true), {dense<float>({5}, {1, 2}), output_view({5})});
    EXPECT_EQ(at(out[1], 1), 12);
}
TEST(KernelsAndCapture, defaults_are_resolved_and_a_local_policy_wins) {
    auto x = random_view({1000}, 12);
    float fold = 0;
    for (int64_t i = 0; i < 1000; ++i) {
        fold += static_cast<float>(at(x, i));
    }
    auto f = [](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        auto i = axis("i", 1000);
        auto t = X[coord(0), shape(i)];
        Y(0).store(Scalar<float>(reduce(t, i, add)));
        Y(1).store(Scalar<float>(reduce(t, i, add, reduction::balanced_tree)));
    };
    auto folded = tile_kernel(f, {.reduction = reduction::fold_left});
    auto balanced = tile_kernel(f, {.reduction = reduction::balanced_tree});
    auto a = run_both(folded.capture(tensor_shape(1000), tensor_shape(2)), {x, output_view({2})});
    auto b = run_both(balanced.capture(tensor_shape(1000), tensor_shape(2)), {x, output_view({2})});
    EXPECT_EQ(at(a[1], 0), fold);
    EXPECT_EQ(at(a[1], 1), at(b[1], 0));
    EXPECT_EQ(at(b[1], 0), at(b[1], 1));
    EXPECT_NE(at(a[1], 0), at(a[1], 1)) << "data that do not tell the policies apart";
}
TEST(KernelsAndCapture, defaults_of_products_are_resolved_and_a_local_policy_wins) {
    // 2048 + 1 is no half: the ordered form loses each one, the form that may regroup rounds once.
    auto run = [](bool ordered) {
        auto def = tile_kernel(
            [=](TensorView<const half, 2> A, TensorView<const half, 2> B, TensorView<half, 2> C) {
                auto m = axis("m", 4), n = axis("n", 16), k = axis("k", 8);
                auto a = A[coord(0, 0), shape(m, k)];
                auto b = B[coord(0, 0), shape(k, n)];
                auto acc = full<half>(shape(m, n), 2048.0f);
                C(coord(0, 0), shape(m, n)).store(mma(a, b, acc));
                C(coord(4, 0), shape(m, n)).store(mma(a, b, acc, {.allow_reassociation = ordered}));
                C(coord(8, 0), shape(m, n)).store(cast<half>(matmul(a, b) + 0.5f));
            },
            {.mma = {.allow_reassociation = !ordered}});
        auto one = std::vector<half>{half(1.0f)};
        return run_both(
            def.capture(tensor_shape(4, 8), tensor_shape(8, 16), tensor_shape(12, 16)),
            {dense<half>({4, 8}, one), dense<half>({8, 16}, one), output_view<half>({12, 16})})[2];
    };
    auto ordered = run(true), free = run(false);
    for (int64_t e = 0; e < 64; ++e) {
        ASSERT_EQ(at(ordered, e), 2048);
        ASSERT_EQ(at(free, e), 2056);
        ASSERT_EQ(at(ordered, 64 + e), 2056);
        ASSERT_EQ(at(free, 64 + e), 2048);
        ASSERT_EQ(at(ordered, 128 + e), 8.5);
        ASSERT_EQ(at(free, 128 + e), 8.5);
    }
}
TEST(KernelsAndCapture, a_tier_of_functions_is_part_of_the_program_and_takes_no_regrouping_away) {
    auto captured = [](MathTier tier, ReductionPolicy policy) {
        return tile_kernel(
                   [](TensorView<const float, 1> X, TensorView<float, 1> Y) {
                       auto i = axis("i", 40);
                       auto x = X[coord(0), shape(i)];
                       Y(coord(0), shape(i)).store(exp(x));
                       Y(40).store(Scalar<float>(reduce(x, i, add)));
                   },
                   {.math = tier, .reduction = policy})
            .capture(tensor_shape(40), tensor_shape(41));
    };
    auto tree = reduction::unordered_tree;
    auto strict = captured(MathTier::STRICT, tree), fast = captured(MathTier::FAST, tree);
    EXPECT_NE(strict.ir_text(), fast.ir_text());
    // The reduction that the strict tier leaves is the one of every tier: the lines of both differ in exp only.
    auto line_of = [](const Kernel &kernel, const char *word) {
        auto text = kernel.ir_text();
        auto at = text.find(word);
        return at == std::string::npos ? text : text.substr(at, text.find('\n', at) - at);
    };
    EXPECT_EQ(line_of(strict, "= reduce"), line_of(fast, "= reduce"));
    EXPECT_NE(line_of(strict, "= reduce"),
              line_of(captured(MathTier::STRICT, reduction::fold_left), "= reduce"));
    for (const auto &kernel : {strict, fast}) {
        auto x = random_view({40}, 6);
        auto out = run_both(kernel, {x, output_view({41})}, {}, {1e-3, false});
        for (int64_t e = 0; e < 40; ++e) {
            EXPECT_NEAR(at(out[1], e), std::exp(at(x, e)), 1e-3);
        }
    }
}
TEST(KernelsAndCapture, extents_and_strides_of_the_launch_are_values_of_the_kernel) {
    auto def = tile_kernel([](TensorView<const float, 3> X, TensorView<int64_t, 1> Y) {
        for (int d = 0; d < 3; ++d) {
            Y(d).store(X.extent(d));
            Y(3 + d).store(X.stride(d));
        }
        Y(6).store(ceil_div(X.extent(1) * X.extent(2), 4) - X.stride(0) % 7);
    });
    auto kernel = def.capture(tensor_shape(dynamic("a"), dynamic("b"), dynamic("c")),
                              tensor_shape(7));
    for (auto [a, b, c] :
         {std::array<int64_t, 3>{2, 3, 5}, std::array<int64_t, 3>{1, 1, 1}, {4, 0, 6}}) {
        auto out = run_both(kernel, {random_view({a, b, c}, 1), output_view<int64_t>({7})});
        const int64_t right[] = {a, b, c, b * c, c, 1, (b * c + 3) / 4 - b * c % 7};
        for (int64_t e = 0; e < 7; ++e) {
            EXPECT_EQ(at(out[1], e), static_cast<double>(right[e])) << a << b << c << ": " << e;
        }
    }
}
TEST(KernelsAndCapture, arithmetic_on_extents_is_that_of_host_integers_and_of_runtime_values) {
    auto def = tile_kernel([](TensorView<const float, 2> X, TensorView<int64_t, 1> Y) {
        auto n = X.extent(0);
        Y(0).store((n + 5));
        Y(1).store((n * 3 - 1));
        Y(2).store(ceil_div(n, 4));
        Y(3).store((n / 4));
        Y(4).store((n % 4));
        Y(5).store(X.stride(0));
        Y(6).store(X.extent(1));
    });
    auto constant = def.capture(tensor_shape(13, 7), tensor_shape(7));
    auto runtime = def.capture(tensor_shape(dynamic("n"), 7), tensor_shape(7));
    for (const auto &kernel : {constant, runtime}) {
        auto out = run_both(
            kernel, {random_view({13, 7}, 1), dense<int64_t>({7}, std::vector<int64_t>{-1})});
        const int64_t expected[] = {18, 38, 4, 3, 1, 7, 7};
        for (int64_t i = 0; i < 7; ++i) {
            EXPECT_EQ(at(out[1], i), static_cast<double>(expected[i])) << i;
        }
    }
}
TEST(KernelsAndCapture, one_kernel_serves_all_lengths_of_equal_names) {
    auto def = tile_kernel(
        [](TensorView<const float, 1> X, TensorView<const float, 1> Z, TensorView<float, 1> Y) {
            auto i = axis("i", 8);
            for (auto &nest : parallel(shape(ceil_div(X.extent(0), 8)))) {
                auto place = coord(nest.index() * 8);
                Y(place, shape(i)).store(X[place, shape(i)] - Z[place, shape(i)]);
            }
        });
    auto kernel = def.capture(tensor_shape(dynamic("s")), tensor_shape(dynamic("s")),
                              tensor_shape(dynamic("s")));
    for (int64_t n : {0, 1, 7, 8, 9, 1000}) {
        auto x = random_view({n}, 1), z = random_view({n}, 2);
        auto out = run_both(kernel, {x, z, output_view({n})});
        for (int64_t e = 0; e < n; ++e) {
            ASSERT_EQ(at(out[2], e), static_cast<float>(at(x, e)) - static_cast<float>(at(z, e)));
        }
    }
}
TEST(KernelsAndCapture, a_host_continue_ends_what_is_captured_of_the_body) {
    auto def = tile_kernel([](TensorView<float, 1> Y) {
        for (auto &s : serial(range(0, 4))) {
            Y(s.index()).store(1.0f);
            if (true) {
                continue;
            }
            Y(s.index()).store(2.0f);
        }
    });
    auto out = run_both(def.capture(tensor_shape(4)), {output_view({4})});
    EXPECT_EQ(at(out[0], 3), 1);
}
TEST(KernelsAndCapture, neither_lines_nor_the_order_of_arguments_show_in_the_text) {
    auto one = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        Y(0).store(fma(X(0).load(), X(1).load(), X(2).load()));
    });
    auto other = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        auto c = X(2).load();
        auto b = X(1).load();
        auto a = X(0).load();
        Y(0).store(fma(a, b, c));
    });
    auto shape_of = [](const auto &def) { return def.capture(tensor_shape(3), tensor_shape(1)); };
    EXPECT_EQ(shape_of(one).ir_text(), shape_of(other).ir_text());
    auto out = run_both(shape_of(one), {dense<float>({3}, {2, 3, 4}), output_view({1})});
    EXPECT_EQ(at(out[1], 0), 10);
}
TEST(KernelsAndCapture, branches_and_loops_extend_no_path_of_coordinates) {
    auto def = tile_kernel([](TensorView<int64_t, 2> Y) {
        for (auto &nest : parallel(shape(3))) {
            Scalar<int64_t> trips = 0;
            while_([&] { return trips < 2; },
                   [&] {
                       if_(nest.index() > 0, [&] {
                           for (auto &child : nest.parallel(shape(2))) {
                               // The path is (outer, child): rank two, and neither if_ nor while_ adds to it.
                               Y(child.coord()).store(nest.index() * 10 + child.index());
                           }
                       });
                       trips += 1;
                   });
        }
    });
    auto out = run_both(def.capture(tensor_shape(3, 2)),
                        {dense<int64_t>({3, 2}, std::vector<int64_t>{-1})});
    EXPECT_EQ(at(out[0], 1), -1);
    EXPECT_EQ(at(out[0], 5), 21);
}
