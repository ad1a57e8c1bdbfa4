// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/views.h"

#include <numeric>

// Memory<T>: objects that a kernel stores to and loads from.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

class Sizes : public ::testing::TestWithParam<int64_t> {};
INSTANTIATE_TEST_SUITE_P(Memory, Sizes, ::testing::Values(0, 1, 3, 16, 31, 200));

TEST_P(Sizes, what_was_stored_is_loaded) {
    auto n = GetParam();
    auto def = tile_kernel([=](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        auto i = axis("i", n);
        auto m = memory<float>(shape(i));
        m.store(X[coord(0), shape(i)]);
        auto before = m.load();
        m.store(m.load() * 2.0f);
        Y(coord(0), shape(i)).store(m.load() + before);
    });
    auto out = run_both(def.capture(tensor_shape(n), tensor_shape(n)),
                        {counting({n}), output_view({n})});
    for (int64_t k = 0; k < n; ++k) {
        EXPECT_EQ(at(out[1], k), static_cast<float>(3 * (k + 1)));
    }
}

TEST_P(Sizes, boxes_are_stored_and_loaded_anywhere) {
    auto n = GetParam();
    auto def = tile_kernel(
        [=](TensorView<const float, 1> X, TensorView<float, 1> Y, Scalar<int64_t> place) {
            auto i = axis("i", n), b = axis("b", 5);
            auto m = memory<float>(shape(i));
            m.store(X[coord(0), shape(i)]);
            m(coord(place), shape(b)).store(full<float>(shape(b), -1.0f));
            auto part = m(coord(place - 2), shape(b)).load();
            Y(coord(0), shape(i)).store(m.load());
            Y(coord(n), shape(b)).store(part);
        });
    for (int64_t place : {-7, -2, 0, 2, 14, 28, 198, 1000}) {
        auto out = run_both(def.capture(tensor_shape(n), tensor_shape(n + 5)),
                            {counting({n}), output_view({n + 5})}, {bits_of(place)});
        auto expected = [&](int64_t k) {
            return k < 0 || k >= n               ? 0.0f
                   : k >= place && k < place + 5 ? -1.0f
                                                 : static_cast<float>(k + 1);
        };
        for (int64_t k = 0; k < n; ++k) {
            EXPECT_EQ(at(out[1], k), expected(k)) << place;
        }
        for (int64_t k = 0; k < 5; ++k) {
            EXPECT_EQ(at(out[1], n + k), expected(place - 2 + k)) << place << " " << k;
        }
    }
}

TEST(Memory, boxes_of_two_dimensions_have_dimensions_of_their_own) {
    auto def = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Y) {
        auto i = axis("i", 12), j = axis("j", 20);
        auto a = axis("a", 4), b = axis("b", 17);
        auto m = memory<float>(shape(i, j));
        m.store(X[coord(0, 0), shape(i, j)]);
        auto part = m(coord(3, 2), shape(a, b)).load();
        // Transposed dimensions are matched by identity.
        m(coord(7, 1), shape(b, a)).store(zeros<float>(shape(a, b)));
        m(coord(0, 0), shape(a, b)).store(part + 100.0f);
        Y(coord(0, 0), shape(i, j)).store(m.load());
    });
    auto out = run_both(def.capture(tensor_shape(12, 20), tensor_shape(12, 20)),
                        {counting({12, 20}), output_view({12, 20})});
    for (int64_t i = 0; i < 12; ++i) {
        for (int64_t j = 0; j < 20; ++j) {
            float expected = static_cast<float>(i * 20 + j + 1);
            if (i >= 7 && j >= 1 && j < 5) {
                expected = 0;
            }
            if (i < 4 && j < 17) {
                expected = static_cast<float>((i + 3) * 20 + j + 2 + 1) + 100.0f;
            }
            ASSERT_EQ(at(out[1], i * 20 + j), expected) << i << " " << j;
        }
    }
}

TEST(Memory, one_object_an_instance) {
    auto def = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Y) {
        auto j = axis("j", 40);
        for (auto &row : parallel(shape(X.extent(0)))) {
            auto m = memory<float>(shape(j), mem::private_);
            m.store(X[coord(row.index(), 0), shape(1, j)]);
            for (auto &step : row.serial(shape(3))) {
                auto left = m(coord(step.index()), shape(axis(j.dim, 36))).load();
                m(coord(0), shape(axis(j.dim, 36))).store(left * 2.0f);
            }
            Y(coord(row.index(), 0), shape(1, j)).store(m.load());
        }
    });
    auto out = run_both(def.capture(tensor_shape(7, 40), tensor_shape(7, 40)),
                        {integer_view({7, 40}, 3), output_view({7, 40})});
    for (int64_t r = 0; r < 7; ++r) {
        std::vector<float> m(40);
        for (int64_t j = 0; j < 40; ++j) {
            m[static_cast<size_t>(j)] = at(out[0], r * 40 + j);
        }
        for (size_t s = 0; s < 3; ++s) {
            auto old = m;
            for (size_t j = 0; j < 36; ++j) {
                m[j] = old[j + s] * 2;
            }
        }
        for (int64_t j = 0; j < 40; ++j) {
            ASSERT_EQ(at(out[1], r * 40 + j), m[static_cast<size_t>(j)]) << r << " " << j;
        }
    }
}

TEST(Memory, a_box_may_move_over_itself_in_either_direction) {
    for (int64_t to : {0, 1, 3, 17}) {
        auto from = 17 - to;
        auto def = tile_kernel([=](TensorView<const float, 1> X, TensorView<float, 1> Y) {
            auto i = axis("i", 60), b = axis("b", 43);
            auto m = memory<float>(shape(i));
            m.store(X[coord(0), shape(i)]);
            for ([[maybe_unused]] auto &step : serial(shape(3))) {
                m(coord(to), shape(b)).store(m(coord(from), shape(b)).load() * 2.0f);
            }
            Y(coord(0), shape(i)).store(m.load());
        });
        auto out = run_both(def.capture(tensor_shape(60), tensor_shape(60)),
                            {counting({60}), output_view({60})});
        std::vector<float> m(60);
        std::iota(m.begin(), m.end(), 1.0f);
        for (int step = 0; step < 3; ++step) {
            auto old = m;
            for (int64_t q = 0; q < 43; ++q) {
                m[static_cast<size_t>(to + q)] = old[static_cast<size_t>(from + q)] * 2;
            }
        }
        for (int64_t k = 0; k < 60; ++k) {
            ASSERT_EQ(at(out[1], k), m[static_cast<size_t>(k)]) << to << " " << k;
        }
    }
}

TEST(Memory, child_instances_store_disjoint_boxes) {
    for (auto steps : {1, 4, 9}) {
        auto def = tile_kernel([=](TensorView<const float, 2> X, TensorView<float, 2> Y) {
            auto i = axis("i", 8 * steps), b = axis("b", 8);
            for (auto &row : parallel(shape(X.extent(0)))) {
                auto m = memory<float>(shape(i));
                for (auto &part : row.parallel(shape(steps))) {
                    auto at = part.index() * 8;
                    m(coord(at), shape(b)).store(X[coord(row.index(), at), shape(1, b)] + 1.0f);
                }
                // All of it is there after the child nest.
                auto sum = reduce(m.load(), i, add, reduction::fold_left);
                Y(coord(row.index(), 0), shape(1, i)).store(m.load() * sum);
            }
        });
        auto n = int64_t{8} * steps;
        auto out = run_both(def.capture(tensor_shape(5, n), tensor_shape(5, n)),
                            {integer_view({5, n}, 4), output_view({5, n})});
        for (int64_t r = 0; r < 5; ++r) {
            float sum = 0;
            for (int64_t k = 0; k < n; ++k) {
                sum += at(out[0], r * n + k) + 1;
            }
            for (int64_t k = 0; k < n; ++k) {
                ASSERT_EQ(at(out[1], r * n + k), (at(out[0], r * n + k) + 1) * sum);
            }
        }
    }
}

/// Iteration i of a pipeline reads what iteration i - 1 stored.
TEST(Memory, a_pipeline_reads_what_the_iteration_before_stored) {
    for (int64_t trips : {0, 1, 2, 7}) {
        auto def = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 1> Y,
                                  TensorView<float, 1> Z) {
            auto j = axis("j", 24);
            auto m = memory<float>(shape(j));
            m.store(zeros<float>(shape(j)));
            auto sum = zeros<float>(shape(j));
            for (auto &step : pipeline(shape(X.extent(0)), {.max_in_flight = 2})) {
                step.stage("load");
                auto x = X[coord(step.index(), 0), shape(1, j)];
                step.stage("mix");
                auto before = m.load();
                auto turned = reindex(before, shape(j), [](auto k) { return coord((k + 1) % 24); });
                m.store(turned + x);
                step.stage("sum");
                sum += m.load();
            }
            Y(coord(0), shape(j)).store(sum);
            Z(coord(0), shape(j)).store(m.load());
        });
        auto out = run_both(
            def.capture(tensor_shape(trips, 24), tensor_shape(24), tensor_shape(24)),
            {integer_view({trips, 24}, 5), output_view({24}), output_view({24})});
        std::vector<float> m(24, 0), sum(24, 0);
        for (int64_t t = 0; t < trips; ++t) {
            auto old = m;
            for (size_t k = 0; k < 24; ++k) {
                m[k] = old[(k + 1) % 24] + at(out[0], t * 24 + static_cast<int64_t>(k));
                sum[k] += m[k];
            }
        }
        for (int64_t k = 0; k < 24; ++k) {
            EXPECT_EQ(at(out[1], k), sum[static_cast<size_t>(k)]);
            EXPECT_EQ(at(out[2], k), m[static_cast<size_t>(k)]);
        }
    }
}

TEST(Memory, one_stage_stores_and_the_next_loads) {
    auto def = tile_kernel([](TensorView<const half, 2> A, TensorView<const half, 2> B,
                              TensorView<float, 2> C) {
        auto m = axis("m", 16), n = axis("n", 32), k = axis("k", 8);
        for (auto &nest : parallel(shape(ceil_div(C.extent(0), 16), ceil_div(C.extent(1), 32)))) {
            auto m0 = nest.index(0) * 16, n0 = nest.index(1) * 32;
            auto a_tile = memory<half>(layout(shape(m, k), stride(8, 1)));
            auto b_tile = memory<half>(layout(shape(k, n), stride(1, 8)));
            auto acc = zeros<float>(shape(m, n));
            for (auto &step : nest.pipeline(range(0, A.extent(1), 8))) {
                step.stage("load");
                a_tile.store(A[coord(m0, step.index()), shape(m, k)]);
                b_tile.store(B[coord(step.index(), n0), shape(k, n)]);
                step.stage("multiply");
                acc = mma(a_tile.load(), b_tile.load(), acc);
            }
            C(coord(m0, n0), shape(m, n)).store(acc);
        }
    });
    auto out = run_both(
        def.capture(tensor_shape(37, 29), tensor_shape(29, 50), tensor_shape(37, 50)),
        {integer_view<half>({37, 29}, 1), integer_view<half>({29, 50}, 2), output_view({37, 50})});
    for (int64_t i = 0; i < 37; ++i) {
        for (int64_t j = 0; j < 50; ++j) {
            float sum = 0;
            for (int64_t k = 0; k < 29; ++k) {
                sum += at(out[0], i * 29 + k) * at(out[1], k * 50 + j);
            }
            ASSERT_EQ(at(out[2], i * 50 + j), sum);
        }
    }
}

TEST(Memory, branches_and_loops_carry_the_contents) {
    auto def = tile_kernel(
        [](TensorView<const int32_t, 1> X, TensorView<int32_t, 1> Y, Scalar<int64_t> times) {
            auto j = axis("j", 10), b = axis("b", 3);
            auto m = memory<int32_t>(shape(j));
            m.store(X[coord(0), shape(j)]);
            if_(times > 2, [&] { m(coord(1), shape(b)).store(full<int32_t>(shape(b), 7)); });
            Scalar<int64_t> i = int64_t{0};
            while_([&] { return i < times; },
                   [&] {
                       m.store(m.load() + 1);
                       m(coord(i), shape(b)).store(m(coord(i + 1), shape(b)).load());
                       i += int64_t{1};
                   });
            Y(coord(0), shape(j)).store(m.load());
        });
    for (int64_t times : {0, 1, 2, 3, 12}) {
        auto out = run_both(def.capture(tensor_shape(10), tensor_shape(10)),
                            {integer_view<int32_t>({10}, 8), output_view<int32_t>({10})},
                            {bits_of(times)});
        std::vector<float> m(10);
        for (int64_t k = 0; k < 10; ++k) {
            m[static_cast<size_t>(k)] = at(out[0], k);
        }
        for (size_t k = 1; times > 2 && k < 4; ++k) {
            m[k] = 7;
        }
        for (int64_t i = 0; i < times; ++i) {
            for (auto &x : m) {
                x += 1;
            }
            auto old = m;
            for (int64_t k = i; k < i + 3 && k < 10; ++k) {
                m[static_cast<size_t>(k)] = k + 1 < 10 ? old[static_cast<size_t>(k + 1)] : 0;
            }
        }
        for (int64_t k = 0; k < 10; ++k) {
            EXPECT_EQ(at(out[1], k), m[static_cast<size_t>(k)]) << times << " " << k;
        }
    }
}

TEST(Memory, handles_name_one_object) {
    auto def = tile_kernel([](TensorView<float, 1> Y) {
        auto j = axis("j", 9);
        auto a = memory<float>(shape(j));
        auto b = a;
        a.store(full<float>(shape(j), 1.0f));
        b(coord(2), shape(axis(j.dim, 3))).store(full<float>(shape(axis(j.dim, 3)), 2.0f));
        Y(coord(0), shape(j)).store(a.load());
    });
    auto out = run_both(def.capture(tensor_shape(9)), {output_view({9})});
    for (int64_t k = 0; k < 9; ++k) {
        EXPECT_EQ(at(out[0], k), k >= 2 && k < 5 ? 2.0f : 1.0f);
    }
}

TEST(Memory, padded_and_transposed_layouts_hold_the_same) {
    for (auto strides : {stride(17, 1), stride(1, 6), stride(32, 2)}) {
        auto def = tile_kernel([=](TensorView<const double, 2> X, TensorView<double, 2> Y) {
            auto i = axis("i", 6), j = axis("j", 16);
            auto m = memory<double>(layout(shape(i, j), strides), mem::global);
            m.store(X[coord(0, 0), shape(i, j)]);
            Y(coord(0, 0), shape(i, j)).store(m.load());
        });
        auto out = run_both(def.capture(tensor_shape(6, 16), tensor_shape(6, 16)),
                            {random_view<double>({6, 16}, 1), output_view<double>({6, 16})});
        EXPECT_EQ(out[0].bytes, out[1].bytes);
    }
}

}// namespace
