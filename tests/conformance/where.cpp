// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/both.h"
#include "support/trees.h"

// Nests over part of a domain, and values of one instance.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

View flags(std::vector<int64_t> extents, uint32_t seed) {
    std::mt19937 engine{seed};
    std::vector<uint8_t> bits(997);
    for (auto &b : bits) {
        b = engine() % 3 != 0;
    }
    auto v = dense<uint8_t>(std::move(extents), bits);
    v.type = ScalarType::BOOL;
    return v;
}

TEST(Where, parallel_runs_the_instances_that_a_lambda_names) {
    auto def = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Y) {
        auto j = axis("j", 16);
        auto rows = shape(X.extent(0), ceil_div(X.extent(1), 16)).where([](auto r, auto c) {
            return (r + c) % 2 == 0;
        });
        for (auto &nest : parallel(rows)) {
            auto place = coord(nest.index(0), nest.index(1) * 16);
            Y(place, shape(1, j)).store(X[place, shape(1, j)] * 2.0f);
        }
    });
    auto out = run_both(def.capture(tensor_shape(5, 70), tensor_shape(5, 70)),
                        {integer_view({5, 70}, 1), output_view({5, 70})});
    for (int64_t r = 0; r < 5; ++r) {
        for (int64_t j = 0; j < 70; ++j) {
            EXPECT_EQ(at(out[1], r * 70 + j),
                      (r + j / 16) % 2 == 0 ? at(out[0], r * 70 + j) * 2 : -77.0f);
        }
    }
}

TEST(Where, serial_and_reduce_skip_what_a_tile_leaves_out) {
    for (int64_t n : {0, 1, 13, 64}) {
        auto def = tile_kernel(
            [=](TensorView<const float, 1> X, TensorView<const bool, 1> M, TensorView<float, 1> Y) {
                auto i = axis("i", n);
                auto x = X[coord(0), shape(i)];
                auto mask = M[coord(0), shape(i)];
                Scalar<float> folded = 1.0f, sum = 0.0f, most = -100.0f;
                for (auto &step : serial(x.domain(i).where(mask))) {
                    folded = folded * 0.5f + x.at(step);
                }
                for (auto &step : reduce(x.domain(i).where(mask))) {
                    sum += x.at(step);
                }
                for (auto &step :
                     reduce(x.domain(i).where(mask).where([](auto k) { return k % 3 != 1; }),
                            reduction::fold_left)) {
                    most = maximum(most, x.at(step));
                }
                Y(0).store(folded);
                Y(1).store(sum);
                Y(2).store(most);
            });
        auto out = run_both(def.capture(tensor_shape(n), tensor_shape(n), tensor_shape(3)),
                            {integer_view({n}, 2), flags({n}, 3), output_view({3})});
        float folded = 1, sum = 0, most = -100;
        for (int64_t k = 0; k < n; ++k) {
            if (element_value(out[1], static_cast<size_t>(k)) != 0) {
                auto x = static_cast<float>(at(out[0], k));
                folded = folded * 0.5f + x;
                sum += x;
                most = k % 3 != 1 ? std::max(most, x) : most;
            }
        }
        EXPECT_EQ(at(out[2], 0), folded);
        EXPECT_EQ(at(out[2], 1), sum);
        EXPECT_EQ(at(out[2], 2), most);
    }
}

TEST(Where, a_reduce_nest_skips_under_every_policy) {
    for (auto policy : {reduction::unordered_tree, reduction::ordered_tree, reduction::fold_left,
                        reduction::fold_right}) {
        auto def = tile_kernel([=](TensorView<const float, 2> X, TensorView<float, 1> Y) {
            auto i = axis("i", 21), j = axis("j", 32);
            auto x = X[coord(0, 0), shape(i, j)];
            auto sum = zeros<float>(shape(j));
            for (auto &row : reduce(x.domain(i).where([](auto k) { return k % 4 != 2; }), policy)) {
                sum += x.at(row);
            }
            Y(coord(0), shape(j)).store(sum);
        });
        auto out = run_both(def.capture(tensor_shape(21, 32), tensor_shape(32)),
                            {integer_view({21, 32}, 2), output_view({32})});
        for (int64_t j = 0; j < 32; ++j) {
            float sum = 0;
            for (int64_t i = 0; i < 21; ++i) {
                sum += i % 4 != 2 ? at(out[0], i * 32 + j) : 0;
            }
            EXPECT_EQ(at(out[1], j), sum);
        }
    }
}

TEST(Where, the_leaves_of_a_balanced_tree_are_the_contributions) {
    for (int64_t n : {0, 1, 2, 7, 21}) {
        auto def = tile_kernel([=](TensorView<const float, 2> X, TensorView<const bool, 1> M,
                                   TensorView<float, 1> Y, TensorView<float, 1> Most) {
            auto i = axis("i", n), j = axis("j", 19);
            auto x = X[coord(0, 0), shape(i, j)];
            auto mask = M[coord(0), shape(i)];
            auto sum = full<float>(shape(j), 0.5f);
            Scalar<float> most = -3.0f;
            for (auto &row : reduce(x.domain(i).where(mask), reduction::balanced_tree)) {
                auto values = x.at(row);
                sum += values * 0.25f;
                most = maximum(most, reduce(values, j, maximum));
            }
            Y(coord(0), shape(j)).store(sum);
            Most(0).store(most);
        });
        auto out = run_both(
            def.capture(tensor_shape(n, 19), tensor_shape(n), tensor_shape(19), tensor_shape(1)),
            {random_view({n, 19}, 5), flags({n}, 4), output_view({19}), output_view({1})});
        double most = -3;
        for (int64_t j = 0; j < 19; ++j) {
            std::vector<float> leaves;
            for (int64_t i = 0; i < n; ++i) {
                if (element_value(out[1], static_cast<size_t>(i)) != 0) {
                    leaves.push_back(static_cast<float>(at(out[0], i * 19 + j)) * 0.25f);
                    most = std::max(most, at(out[0], i * 19 + j));
                }
            }
            EXPECT_EQ(at(out[2], j),
                      leaves.empty()
                          ? 0.5f
                          : 0.5f + balanced_sum(leaves.data(), static_cast<int64_t>(leaves.size())))
                << n;
        }
        EXPECT_EQ(at(out[3], 0), most) << n;
    }
}

TEST(Where, a_contract_in_a_balanced_tree_merges_only_what_contributes) {
    for (int64_t n : {0, 1, 6, 33}) {
        auto def = tile_kernel(
            [=](TensorView<const float, 1> X, TensorView<const bool, 1> M, TensorView<float, 1> Y) {
                auto i = axis("i", n);
                auto x = X[coord(0), shape(i)];
                auto mask = M[coord(0), shape(i)];
                auto stats = scalar(WelfordState<float>::identity());
                for (auto &k : reduce(x.domain(i).where(mask), welford, reduction::balanced_tree)) {
                    stats = welford_push(stats, x.at(k));
                }
                Y(0).store(stats.mean);
                Y(1).store(stats.count);
            });
        auto out = run_both(def.capture(tensor_shape(n), tensor_shape(n), tensor_shape(2)),
                            {integer_view({n}, 2), flags({n}, 9), output_view({2})});
        float sum = 0, count = 0;
        for (int64_t k = 0; k < n; ++k) {
            bool taken = element_value(out[1], static_cast<size_t>(k)) != 0;
            sum += taken ? at(out[0], k) : 0;
            count += taken ? 1 : 0;
        }
        EXPECT_EQ(at(out[2], 1), count);
        EXPECT_NEAR(at(out[2], 0), count > 0 ? sum / count : 0, 1e-4f);
    }
}

TEST(Where, a_pipeline_keeps_its_stages) {
    auto def = tile_kernel(
        [](TensorView<const float, 2> X, TensorView<float, 1> Y, Scalar<int64_t> first) {
            auto j = axis("j", 16);
            auto sum = zeros<float>(shape(j));
            auto steps = range(0, X.extent(0)).where([=](auto k) { return k >= first; });
            for (auto &step : pipeline(steps)) {
                step.stage("load");
                auto x = X[coord(step.index(), 0), shape(1, j)];
                step.stage("sum");
                sum += x;
            }
            Y(coord(0), shape(j)).store(sum);
        });
    for (int64_t first : {-1, 0, 4, 9}) {
        auto out = run_both(def.capture(tensor_shape(dynamic("n"), 16), tensor_shape(16)),
                            {integer_view({9, 16}, 6), output_view({16})}, {bits_of(first)});
        for (int64_t j = 0; j < 16; ++j) {
            float sum = 0;
            for (int64_t i = std::max<int64_t>(first, 0); i < 9; ++i) {
                sum += at(out[0], i * 16 + j);
            }
            EXPECT_EQ(at(out[1], j), sum);
        }
    }
}

TEST(Where, a_child_inserts_only_where_it_runs) {
    auto def = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Y) {
        auto i = axis("i", 6), j = axis("j", 24);
        for (auto &nest : parallel(shape(X.extent(0)))) {
            auto y = full<float>(shape(i, j), -1.0f);
            auto x = X[coord(nest.index(), 0), shape(1, j)];
            auto rows = shape(i).where([&](auto r) { return r <= nest.index(); });
            for (auto &row : nest.parallel(rows)) {
                y = insert(y, row, x * cast<float>(row.index()));
            }
            Y(coord(nest.index() * 6, 0), shape(i, j)).store(y);
        }
    });
    auto out = run_both(def.capture(tensor_shape(4, 24), tensor_shape(24, 24)),
                        {integer_view({4, 24}, 6), output_view({24, 24})});
    for (int64_t n = 0; n < 4; ++n) {
        for (int64_t i = 0; i < 6; ++i) {
            for (int64_t j = 0; j < 24; ++j) {
                auto expected = i <= n ? at(out[0], n * 24 + j) * static_cast<float>(i) : -1.0f;
                EXPECT_EQ(at(out[1], (n * 6 + i) * 24 + j), expected);
            }
        }
    }
}

TEST(Where, the_whole_path_of_coordinates_may_decide) {
    auto def = tile_kernel([](TensorView<int32_t, 2> Y) {
        for (auto &row : parallel(shape(7))) {
            // The part below the diagonal.
            for (auto &column : row.serial(shape(7).where([](auto i, auto j) { return j < i; }))) {
                Y(row.index(), column.index()).store(int32_t{1});
            }
        }
    });
    auto out = run_both(def.capture(tensor_shape(7, 7)), {output_view<int32_t>({7, 7})});
    for (int64_t i = 0; i < 7; ++i) {
        for (int64_t j = 0; j < 7; ++j) {
            EXPECT_EQ(at(out[0], i * 7 + j), j < i ? 1.0f : -77.0f);
        }
    }
}

TEST(Per, gives_the_value_itself) {
    auto def = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Y) {
        auto i = axis("i", 5), j = axis("j", 20);
        auto y = zeros<float>(shape(i, j));
        auto scale = X[coord(0, 0), shape(1, j)];
        for (auto &row : parallel(shape(i))) {
            auto own = per(row, exp(scale));
            y = insert(y, row, own * per(row, Scalar<float>{2.0f}));
        }
        Y(coord(0, 0), shape(i, j)).store(y);
    });
    auto out = run_both(def.capture(tensor_shape(5, 20), tensor_shape(5, 20)),
                        {random_view({5, 20}, 6), output_view({5, 20})});
    for (int64_t i = 1; i < 5; ++i) {
        for (int64_t j = 0; j < 20; ++j) {
            EXPECT_EQ(at(out[1], i * 20 + j), at(out[1], j));
        }
    }
}

}// namespace
