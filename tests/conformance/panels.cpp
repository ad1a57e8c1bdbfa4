// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/both.h"

// Products whose operands are copied to panels first. Caches of a few kilobytes make small matrices take the paths of
// large ones: panels of either operand, cut along the steps, filled by transposing, fetched ahead.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

struct PanelCase {
    const char *name;
    int64_t m, n, k, bm, bn, bk;
    bool a_transposed, b_transposed;
};

struct Machine {
    const char *name;
    target::CpuFacts facts;
};

class Panels : public ::testing::TestWithParam<std::tuple<PanelCase, Machine>> {
protected:
    [[nodiscard]] const PanelCase &shape_of() const { return std::get<0>(GetParam()); }

    template<class In, class Out> void multiply() {
        auto c = shape_of();
        auto def = tile_kernel(
            [c](TensorView<const In, 2> A, TensorView<const In, 2> B, TensorView<Out, 2> Y) {
                auto m = axis("m", c.bm), n = axis("n", c.bn), k = axis("k", c.bk);
                for (auto &nest :
                     parallel(shape(ceil_div(Y.extent(0), c.bm), ceil_div(Y.extent(1), c.bn)))) {
                    auto m0 = nest.index(0) * c.bm, n0 = nest.index(1) * c.bn;
                    auto acc = zeros<Out>(shape(m, n));
                    for (auto &step : nest.pipeline(range(0, c.k, c.bk))) {
                        auto k0 = step.index();
                        auto a = c.a_transposed ? A[coord(k0, m0), shape(k, m)]
                                                : A[coord(m0, k0), shape(m, k)];
                        auto b = c.b_transposed ? B[coord(n0, k0), shape(n, k)]
                                                : B[coord(k0, n0), shape(k, n)];
                        acc = mma(a, b, acc);
                    }
                    Y(coord(m0, n0), shape(m, n)).store(acc + full<Out>(shape(m, n), Out{1}));
                }
            });
        auto ae = c.a_transposed ? std::vector{c.k, c.m} : std::vector{c.m, c.k};
        auto be = c.b_transposed ? std::vector{c.n, c.k} : std::vector{c.k, c.n};
        BothOptions options;
        options.facts = std::get<1>(GetParam()).facts;
        auto a = integer_view<In>(ae, 1), b = integer_view<In>(be, 2);
        auto out = run_both(def.capture(tensor_shape(ae[0], ae[1]), tensor_shape(be[0], be[1]),
                                        tensor_shape(c.m, c.n)),
                            {a, b, output_view<Out>({c.m, c.n})}, {}, options);
        for (int64_t i = 0; i < c.m; i += 7) {
            for (int64_t j = 0; j < c.n; j += 5) {
                double sum = 1;
                for (int64_t q = 0; q < c.k; ++q) {
                    auto at_a = c.a_transposed ? q * c.m + i : i * c.k + q;
                    auto at_b = c.b_transposed ? j * c.k + q : q * c.n + j;
                    sum += element_value(a, static_cast<size_t>(at_a)) *
                           element_value(b, static_cast<size_t>(at_b));
                }
                ASSERT_EQ(element_value(out[2], static_cast<size_t>(i * c.n + j)), sum);
            }
        }
    }
};

const PanelCase cases[] = {
    {"whole_tiles", 64, 128, 64, 64, 64, 16, false, false},
    {"ragged", 70, 101, 83, 48, 80, 16, false, false},
    {"ragged_a_transposed", 70, 101, 83, 48, 80, 16, true, false},
    {"ragged_b_transposed", 70, 101, 83, 48, 80, 16, false, true},
    {"ragged_both_transposed", 70, 101, 83, 48, 80, 16, true, true},
    {"steps_that_vectors_do_not_divide", 65, 67, 130, 32, 48, 24, true, true},
    {"steps_shorter_than_a_vector", 65, 67, 60, 32, 48, 9, true, true},
    {"rows_that_vectors_do_not_divide", 90, 64, 64, 45, 64, 32, true, false},
    {"columns_that_vectors_do_not_divide", 64, 90, 64, 64, 45, 32, false, true},
    {"one_tile", 97, 130, 64, 97, 130, 16, true, true},
    {"few_rows", 5, 160, 64, 5, 80, 16, true, true},
    {"one_column_block_and_a_bit", 48, 65, 48, 48, 65, 16, false, true},
};

const Machine machines[] = {
    {"panels_in_cache", {64, 32, 1 << 10, 64 << 10, 1}},
    {"panels_cut", {64, 32, 1 << 10, 4 << 10, 1}},
    {"half_vectors", {32, 16, 1 << 10, 8 << 10, 1}},
    {"quarter_vectors", {16, 16, 1 << 10, 2 << 10, 1}},
    {"no_vectors", {4, 16, 1 << 10, 2 << 10, 1}},
};

std::string panel_name(const ::testing::TestParamInfo<std::tuple<PanelCase, Machine>> &info) {
    return std::string{std::get<0>(info.param).name} + "__" + std::get<1>(info.param).name;
}

}// namespace

INSTANTIATE_TEST_SUITE_P(All, Panels,
                         ::testing::Combine(::testing::ValuesIn(cases),
                                            ::testing::ValuesIn(machines)),
                         panel_name);

TEST_P(Panels, of_f32_give_the_exact_product) { multiply<float, float>(); }
TEST_P(Panels, of_half_give_the_exact_product) { multiply<half, float>(); }
TEST_P(Panels, of_f64_give_the_exact_product) { multiply<double, double>(); }
TEST_P(Panels, of_i8_give_the_exact_product) { multiply<int8_t, int32_t>(); }

// The cases above do reach the paths that they are about.
TEST(PanelPlans, of_small_caches_are_those_of_large_matrices) {
    auto def = tile_kernel(
        [](TensorView<const float, 2> A, TensorView<const float, 2> B, TensorView<float, 2> Y) {
            auto m = axis("m", 64), n = axis("n", 64), k = axis("k", 16);
            for (auto &nest : parallel(shape(2, 2))) {
                auto m0 = nest.index(0) * 64, n0 = nest.index(1) * 64;
                auto acc = zeros<float>(shape(m, n));
                for (auto &step : nest.serial(range(0, 128, 16))) {
                    acc = mma(A[coord(step.index(), m0), shape(k, m)],
                              B[coord(n0, step.index()), shape(n, k)], acc);
                }
                Y(coord(m0, n0), shape(m, n)).store(acc);
            }
        });
    auto kernel = def.capture(tensor_shape(128, 128), tensor_shape(128, 128),
                              tensor_shape(128, 128));
    compiler::CpuOptions options{emit::host_cpu(), 1, false, machines[1].facts};
    auto plan = compiler::compile_cpu(*module_of(kernel), options)->plan;
    EXPECT_NE(plan.find("vector operand packed once by transposing, scalar operand packed once"),
              std::string::npos)
        << plan;
    EXPECT_NE(plan.find("panels of"), std::string::npos) << plan;
    // 128 steps of 64 columns, 16 neighbours a block … and of 64 rows, each with room for a vector behind it.
    EXPECT_NE(plan.find("vector panel: (step, column) -> affine{(128):("), std::string::npos)
        << plan;
    EXPECT_NE(plan.find("scalar panel: (step, row) -> affine{(128):(1), (64):("), std::string::npos)
        << plan;
}

namespace {

enum class Around { PIPELINE, REDUCE, NESTED };

/// Z = X · Yᵀ over a contracted extent that only the launch knows; neither operand is contiguous along the result's
/// columns, which both therefore need a copy.
template<class T, class C> void check_runtime_trips(Around around, int64_t K) {
    constexpr int64_t M = 19, N = 37, step = 8;
    auto def = tile_kernel([=](TensorView<const T, 2> X, TensorView<const T, 2> Y,
                               TensorView<C, 2> Z) {
        auto m = axis("m", 16), n = axis("n", 32), k = axis("k", step);
        for (auto &nest : parallel(shape(ceil_div(Z.extent(0), 16), ceil_div(Z.extent(1), 32)))) {
            auto m0 = nest.index(0) * 16, n0 = nest.index(1) * 32;
            auto acc = zeros<C>(shape(m, n));
            auto add_part = [&](const Scalar<int64_t> &k0) {
                acc = mma(X[coord(m0, k0), shape(m, k)], Y[coord(n0, k0), shape(n, k)], acc);
            };
            if (around == Around::PIPELINE) {
                for (auto &s : nest.pipeline(range(0, X.extent(1), step))) {
                    add_part(s.index());
                }
            } else if (around == Around::REDUCE) {
                for (auto &s : nest.reduce(range(0, X.extent(1), step))) {
                    add_part(s.index());
                }
            } else {
                for (auto &o : nest.serial(range(0, X.extent(1), 2 * step))) {
                    for (auto &i : o.serial(range(0, 2 * step, step))) {
                        add_part(o.index() + i.index());
                    }
                }
            }
            Z(coord(m0, n0), shape(m, n)).store(acc);
        }
    });
    auto kernel = def.capture(tensor_shape(M, dynamic("k")), tensor_shape(N, dynamic("k")),
                              tensor_shape(M, N));
    auto x = integer_view<T>({M, K}, 1, 2), y = integer_view<T>({N, K}, 2, 2);
    auto out = run_both(kernel, {x, y, output_view<C>({M, N})});
    for (int64_t e = 0; e < M * N; ++e) {
        double sum = 0;
        for (int64_t q = 0; q < K; ++q) {
            sum += element_value(x, static_cast<size_t>(e / N * K + q)) *
                   element_value(y, static_cast<size_t>(e % N * K + q));
        }
        ASSERT_EQ(element_value(out[2], static_cast<size_t>(e)), sum) << K << ", " << e;
    }
}

}// namespace

TEST(Panels, of_loops_whose_trip_count_only_the_launch_knows_are_filled_each_step) {
    for (auto around : {Around::PIPELINE, Around::REDUCE, Around::NESTED}) {
        for (int64_t K : {0, 1, 8, 45}) {
            check_runtime_trips<float, float>(around, K);
            check_runtime_trips<double, double>(around, K);
            check_runtime_trips<half, float>(around, K);
            check_runtime_trips<bf16, bf16>(around, K);
            check_runtime_trips<int8_t, int32_t>(around, K);
        }
    }
}
