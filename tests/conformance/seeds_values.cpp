// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/both.h"

// Constructs of the founding documents: values, precision, products, gathers, and the ways to say one thing.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {}// namespace

TEST(SeedPrecision, half_operands_accumulate_in_f32_and_narrow_at_the_store) {
    auto def = tile_kernel([](TensorView<half, 2> A, TensorView<half, 2> B, TensorView<half, 2> C) {
        auto m = axis("m", 16), n = axis("n", 32), k = axis("k", 8);
        for (auto &nest : parallel(shape(2, 2))) {
            auto m0 = nest.index(0) * 16, n0 = nest.index(1) * 32;
            auto acc = zeros<float>(shape(m, n));
            for (auto &step : nest.pipeline(range(0, A.extent(1), 8))) {
                auto k0 = step.index();
                auto a = A(coord(m0, k0), shape(m, k)).load();
                auto b = B(coord(k0, n0), shape(k, n)).load();
                acc = mma(a, b, acc);
            }
            C(coord(m0, n0), shape(m, n)).store(cast<half>(acc));
        }
    });
    auto a = integer_view<half>({19, 33}, 1), b = integer_view<half>({33, 50}, 2);
    auto out = run_both(
        def.capture(tensor_shape(19, 33), tensor_shape(33, 50), tensor_shape(19, 50)),
        {a, b, output_view<half>({19, 50})});
    double sum = 0;
    for (int64_t q = 0; q < 33; ++q) {
        sum += at(a, 18 * 33 + q) * at(b, q * 50 + 49);
    }
    EXPECT_EQ(at(out[2], 18 * 50 + 49), sum);
}
TEST(SeedPrecision, a_narrowing_cast_is_an_event_that_no_fusion_removes) {
    auto def = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        auto i = axis("i", 3);
        auto x = X[coord(0), shape(i)];
        Y(coord(0), shape(i)).store(cast<float>(cast<bf16>(x)));
    });
    auto out = run_both(
        def.capture(tensor_shape(3), tensor_shape(3)),
        {dense<float>({3}, {1.001f, 1.0f + std::exp2(-8.0f), 3.4e38f}), output_view({3})});
    EXPECT_EQ(at(out[1], 0), 1.0);
    EXPECT_EQ(at(out[1], 1), 1.0);
    EXPECT_EQ(at(out[1], 2), INFINITY);
}
TEST(SeedPrecision, bitcast_between_f32_and_u32_keeps_axes_and_bits) {
    auto def = tile_kernel([](TensorView<const float, 2> X, TensorView<uint32_t, 2> U,
                              TensorView<float, 2> Y, Scalar<float> s) {
        auto i = axis("i", 2), j = axis("j", 3);
        auto x = X[coord(0, 0), shape(i, j)];
        auto bits = luisa::tile::bitcast<uint32_t>(x);
        U(coord(0, 0), shape(i, j)).store(bits);
        Y(coord(0, 0), shape(i, j)).store(luisa::tile::bitcast<float>(bits | uint32_t{0}));
        U(2, 0).store(luisa::tile::bitcast<uint32_t>(s));
    });
    std::vector<uint32_t> codes{0x80000000, 0x00000001, 0x7f800001, 0xffc12345, 0x3f800000, 0};
    auto x = dense<uint32_t>({2, 3}, codes);
    x.type = ScalarType::FLOAT32;
    auto out = run_both(def.capture(tensor_shape(2, 3), tensor_shape(3, 3), tensor_shape(2, 3)),
                        {x, dense<uint32_t>({3, 3}, {7}), output_view({2, 3})}, {bits_of(-0.0f)});
    EXPECT_EQ(std::memcmp(out[1].bytes.data(), codes.data(), 24), 0);
    EXPECT_EQ(std::memcmp(out[2].bytes.data(), codes.data(), 24), 0);
    EXPECT_EQ(at(out[1], 6), 2147483648.0);
}
TEST(SeedElementwise, expressions_lift_to_tiles_and_broadcast_by_identity) {
    auto def = tile_kernel([](TensorView<const float, 2> X, TensorView<const float, 1> B,
                              TensorView<const float, 2> R, TensorView<float, 2> Y,
                              TensorView<float, 2> P) {
        auto i = axis("row", 5), j = axis("column", 17);
        auto x = X[coord(0, 0), shape(i, j)];
        auto bias = B[coord(0), shape(j)];
        auto residual = R[coord(0, 0), shape(i, j)];
        auto y = gelu(x + bias) + residual;
        auto row_max = reduce(y, j, maximum);
        auto p = exp(y - row_max);
        auto finite = ite(y > 0.0f, p, 0.0f);
        Y(coord(0, 0), shape(i, j)).store(y);
        P(coord(0, 0), shape(i, j)).store(finite);
    });
    auto x = random_view({5, 17}, 1), b = random_view({17}, 2), r = random_view({5, 17}, 3);
    auto out = run_both(def.capture(tensor_shape(5, 17), tensor_shape(17), tensor_shape(5, 17),
                                    tensor_shape(5, 17), tensor_shape(5, 17)),
                        {x, b, r, output_view({5, 17}), output_view({5, 17})});
    for (int64_t e = 0; e < 85; ++e) {
        auto v = at(x, e) + at(b, e % 17);
        EXPECT_NEAR(at(out[3], e), 0.5 * v * std::erfc(-v / std::sqrt(2.0)) + at(r, e), 1e-6);
        EXPECT_EQ(at(out[4], e) > 0, at(out[3], e) > 0);
    }
}
TEST(SeedElementwise, ite_broadcasts_its_condition_and_its_operands) {
    auto def = tile_kernel(
        [](TensorView<const float, 2> X, TensorView<float, 2> Y, Scalar<bool> flag) {
            auto i = axis("i", 4), j = axis("j", 6);
            auto x = X[coord(0, 0), shape(i, j)];
            auto chosen = ite(iota(i) < 2, x, reduce(x, i, add));
            Y(coord(0, 0), shape(i, j)).store(ite(flag, chosen, -1.0f));
            Y(4, 0).store(ite(flag, Scalar<float>(8.0f), 9.0f));
        });
    auto kernel = def.capture(tensor_shape(4, 6), tensor_shape(5, 6));
    auto x = integer_view({4, 6}, 5);
    auto out = run_both(kernel, {x, output_view({5, 6})}, {1});
    EXPECT_EQ(at(out[1], 7), at(x, 7));
    EXPECT_EQ(at(out[1], 19), at(x, 1) + at(x, 7) + at(x, 13) + at(x, 19));
    EXPECT_EQ(at(out[1], 24), 8);
    out = run_both(kernel, {x, output_view({5, 6})}, {0});
    EXPECT_EQ(at(out[1], 7), -1);
    EXPECT_EQ(at(out[1], 24), 9);
}
TEST(SeedElementwise, map_is_the_same_program_as_the_operators) {
    auto text = [](bool mapped) {
        auto def = tile_kernel([=](TensorView<const float, 1> X, TensorView<float, 1> Y) {
            auto i = axis("i", 20);
            auto x = X[coord(0), shape(i)], y = x * 2.0f;
            auto z = mapped ? map(x, y, [](Scalar<float> a, Scalar<float> b) { return a * b + a; })
                            : x * y + x;
            Y(coord(0), shape(i)).store(z);
        });
        auto kernel = def.capture(tensor_shape(20), tensor_shape(20));
        return run_both(kernel, {random_view({20}, 1), output_view({20})})[1].bytes;
    };
    EXPECT_EQ(text(true), text(false));
}
TEST(SeedMma, roles_come_from_identities_with_batches_and_two_contracted_axes) {
    auto def = tile_kernel(
        [](TensorView<const float, 4> A, TensorView<const float, 4> B, TensorView<float, 3> C) {
            auto g = axis("group", 2), p = axis("out", 3), q = axis("other", 5), s = axis("tap", 4),
                 t = axis("channel", 3);
            auto a = A[coord(0, 0, 0, 0), shape(g, p, s, t)];
            auto b = B[coord(0, 0, 0, 0), shape(t, g, q, s)];
            auto acc = zeros<float>(shape(g, p, q));
            acc = mma(a, b, acc);
            acc = mma(a, b, acc, {.allow_reassociation = false});
            C(coord(0, 0, 0), shape(g, p, q)).store(acc);
        });
    auto a = integer_view({2, 3, 4, 3}, 1), b = integer_view({3, 2, 5, 4}, 2);
    auto out = run_both(
        def.capture(tensor_shape(2, 3, 4, 3), tensor_shape(3, 2, 5, 4), tensor_shape(2, 3, 5)),
        {a, b, output_view({2, 3, 5})});
    for (int64_t e = 0; e < 30; ++e) {
        auto g = e / 15, p = e / 5 % 3, q = e % 5;
        double sum = 0;
        for (int64_t s = 0; s < 4; ++s) {
            for (int64_t t = 0; t < 3; ++t) {
                sum += at(a, ((g * 3 + p) * 4 + s) * 3 + t) * at(b, ((t * 2 + g) * 5 + q) * 4 + s);
            }
        }
        EXPECT_EQ(at(out[2], e), 2 * sum);
    }
}
TEST(SeedMma, with_dims_relates_dimensions_that_capture_cannot_guess) {
    auto def = tile_kernel([](TensorView<const float, 2> A, TensorView<float, 2> C) {
        auto m = axis("m", 6), k = axis("k", 7), n = axis("n", 6);
        auto a = A[coord(0, 0), shape(m, k)];
        auto b = transpose(with_dims(a, {n, k}), {k, n});
        C(coord(0, 0), shape(m, n)).store(mma(a, b, zeros<float>(shape(m, n))));
    });
    auto a = integer_view({6, 7}, 3);
    auto out = run_both(def.capture(tensor_shape(6, 7), tensor_shape(6, 6)),
                        {a, output_view({6, 6})});
    double sum = 0;
    for (int64_t q = 0; q < 7; ++q) {
        sum += at(a, 2 * 7 + q) * at(a, 5 * 7 + q);
    }
    EXPECT_EQ(at(out[1], 2 * 6 + 5), sum);
    EXPECT_EQ(at(out[1], 5 * 6 + 2), sum);
}
TEST(SeedMma, matmul_equals_mma_into_zeros) {
    auto def = tile_kernel([](TensorView<const float, 3> A, TensorView<const float, 3> B,
                              TensorView<float, 3> Y, TensorView<float, 3> Z) {
        auto h = axis("h", 2), m = axis("m", 3), k = axis("k", 5), n = axis("n", 4);
        auto a = A[coord(0, 0, 0), shape(h, m, k)], b = B[coord(0, 0, 0), shape(h, k, n)];
        Y(coord(0, 0, 0), shape(2, 3, 4))
            .store(
                with_dims(matmul(a, b), {axis(Dim::positional(0), 2), axis(Dim::positional(1), 3),
                                         axis(Dim::positional(2), 4)}));
        Z(coord(0, 0, 0), shape(h, m, n)).store(mma(a, b, zeros<float>(shape(h, m, n))));
    });
    auto out = run_both(def.capture(tensor_shape(2, 3, 5), tensor_shape(2, 5, 4),
                                    tensor_shape(2, 3, 4), tensor_shape(2, 3, 4)),
                        {integer_view({2, 3, 5}, 1), integer_view({2, 5, 4}, 2),
                         output_view({2, 3, 4}), output_view({2, 3, 4})});
    EXPECT_EQ(out[2].bytes, out[3].bytes);
}
TEST(SeedExchange, permutation_selection_shift_butterfly_and_broadcast_are_one_reindex_each) {
    auto def = tile_kernel(
        [](TensorView<const float, 2> X, TensorView<float, 2> Y, Scalar<int64_t> by) {
            auto r = axis("r", 4), c = axis("c", 8);
            auto x = X[coord(0, 0), shape(r, c)];
            using I = Scalar<int64_t>;
            auto put = [&](int64_t row, const Tile<float> &t) {
                Y(coord(row, 0), shape(r, c)).store(t);
            };
            put(0, reindex(x, shape(r, c), [](I a, I b) { return coord(3 - a, b); }));
            put(4, reindex(x, shape(r, c), [](I a, I b) { return coord(a, b ^ 3); }));
            put(8, reindex(x, shape(r, c), [](I a, I) { return coord(a, 0); }));
            put(12, reindex(x, shape(r, c), [&](I a, I b) { return coord(a, (b + by) % 8); }));
            put(16, gather(x, iota(c) - by, c, -5.0f));
            put(20, gather(x, 7 - iota(c), c, 0.0f));
        });
    auto x = integer_view({4, 8}, 4, 40);
    auto out = run_both(def.capture(tensor_shape(4, 8), tensor_shape(24, 8)),
                        {x, output_view({24, 8})}, {bits_of(int64_t{3})});
    for (int64_t e = 0; e < 32; ++e) {
        auto a = e / 8, b = e % 8;
        EXPECT_EQ(at(out[1], e), at(x, (3 - a) * 8 + b));
        EXPECT_EQ(at(out[1], 32 + e), at(x, a * 8 + (b ^ 3)));
        EXPECT_EQ(at(out[1], 64 + e), at(x, a * 8));
        EXPECT_EQ(at(out[1], 96 + e), at(x, a * 8 + (b + 3) % 8));
        EXPECT_EQ(at(out[1], 128 + e), b < 3 ? -5 : at(x, e - 3));
        EXPECT_EQ(at(out[1], 160 + e), at(x, a * 8 + 7 - b));
    }
}
TEST(SeedExchange, chains_of_reindex_compose) {
    auto def = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        auto i = axis("i", 12), o = axis("o", 5);
        auto x = X[coord(0), shape(i)];
        using I = Scalar<int64_t>;
        auto odd = reindex(x, shape(axis(i.dim, 6)), [](I a) { return coord(a * 2 + 1); });
        Y(coord(0), shape(o)).store(reindex(odd, shape(o), [](I a) { return coord(5 - a); }));
    });
    auto x = integer_view({12}, 4, 40);
    auto out = run_both(def.capture(tensor_shape(12), tensor_shape(5)), {x, output_view({5})});
    for (int64_t e = 0; e < 5; ++e) {
        EXPECT_EQ(at(out[1], e), at(x, 2 * (5 - e) + 1));
    }
}
TEST(SeedExchange, a_prefix_sum_by_doubling_shifts_reads_each_old_tile) {
    for (int64_t width : {1, 2, 3, 31, 64, 65}) {
        auto def = tile_kernel([=](TensorView<const float, 2> A, TensorView<float, 2> Y) {
            auto rows = axis("rows", 3), columns = axis("columns", width);
            for (auto &nest : parallel(shape(2))) {
                auto origin = coord(nest.index() * 3, 0);
                auto x = A.tile(origin, shape(rows, columns), bounds::zero).load();
                auto prefix = x;
                for (int64_t distance = 1; distance < width; distance *= 2) {
                    auto left = gather(prefix, iota(columns) - distance, columns, 0.0f);
                    prefix = left + prefix;
                }
                Y.tile(origin, shape(rows, columns)).store(prefix);
            }
        });
        auto x = integer_view({5, width}, 4);
        auto out = run_both(def.capture(tensor_shape(5, width), tensor_shape(5, width)),
                            {x, output_view({5, width})});
        for (int64_t r = 0; r < 5; ++r) {
            double sum = 0;
            for (int64_t c = 0; c < width; ++c) {
                sum += at(x, r * width + c);
                ASSERT_EQ(at(out[1], r * width + c), sum);
            }
        }
    }
}
TEST(SeedViews, brackets_a_reference_and_tile_read_the_same_program) {
    auto text = [](int form) {
        auto def = tile_kernel([=](TensorView<const float, 2> A, TensorView<float, 2> Y) {
            auto i = axis("i", 4), j = axis("j", 8);
            for (auto &nest : parallel(shape(3))) {
                auto at = coord(nest.index() * 4, 0);
                auto x = form == 0   ? A[at, shape(i, j)]
                         : form == 1 ? A(at, shape(i, j)).load()
                                     : A.tile(at, shape(i, j)).load();
                Y(at, shape(i, j)).store(x);
            }
        });
        return def.capture(tensor_shape(10, 8), tensor_shape(10, 8)).ir_text();
    };
    EXPECT_EQ(text(0), text(1));
    EXPECT_EQ(text(0), text(2));
}
TEST(SeedViews, copy_is_one_load_and_one_store) {
    auto text = [](bool copied) {
        auto def = tile_kernel([=](TensorView<const float, 1> A, TensorView<float, 1> Y) {
            auto i = axis("i", 8);
            for (auto &nest : parallel(shape(3))) {
                auto from = A(coord(nest.index() * 8), shape(i));
                auto to = Y(coord(nest.index() * 8), shape(i));
                if (copied) {
                    copy(from, to);
                } else {
                    to.store(from.load());
                }
            }
        });
        auto kernel = def.capture(tensor_shape(21), tensor_shape(21));
        auto x = integer_view({21}, 3);
        auto out = run_both(kernel, {x, output_view({21})});
        EXPECT_EQ(at(out[1], 20), at(x, 20));
        return kernel.ir_text();
    };
    EXPECT_EQ(text(true), text(false));
}
