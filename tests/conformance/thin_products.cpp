// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/both.h"

// Products of few rows, whose other operand is read once: lanes go along the steps, or all columns take a few steps
// before any takes more. Caches of a few kilobytes make small matrices take the paths of large ones.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

enum class ThinLoop { REDUCE, ORDERED, PIPELINE, NONE };

struct ThinCase {
    const char *name;
    int64_t m, n, k, bm, bn, bk;
    bool a_transposed = false, b_transposed = false;
    ThinLoop loop = ThinLoop::REDUCE;
    bool runtime = false;///< the launch says how large everything is
    bool swapped = false;///< mma(b, a) in place of mma(a, b)
};

struct ThinMachine {
    const char *name;
    target::CpuFacts facts;
};

template<class In, class Out> auto thin_source(ThinCase c) {
    return tile_kernel(
        [c](TensorView<const In, 2> A, TensorView<const In, 2> B, TensorView<Out, 2> Y) {
            auto m = axis("m", c.bm), n = axis("n", c.bn), k = axis("k", c.bk);
            auto depth = A.extent(c.a_transposed ? 0 : 1);
            for (auto &nest :
                 parallel(shape(ceil_div(Y.extent(0), c.bm), ceil_div(Y.extent(1), c.bn)))) {
                auto m0 = nest.index(0) * c.bm, n0 = nest.index(1) * c.bn;
                auto acc = full<Out>(shape(m, n), Out{1});
                auto add_part = [&](const Scalar<int64_t> &k0) {
                    auto a = c.a_transposed ? A[coord(k0, m0), shape(k, m)]
                                            : A[coord(m0, k0), shape(m, k)];
                    auto b = c.b_transposed ? B[coord(n0, k0), shape(n, k)]
                                            : B[coord(k0, n0), shape(k, n)];
                    acc = c.swapped ? mma(b, a, acc) : mma(a, b, acc);
                };
                auto steps = range(0, depth, c.bk);
                if (c.loop == ThinLoop::REDUCE) {
                    for (auto &step : nest.reduce(steps)) {
                        add_part(step.index());
                    }
                } else if (c.loop == ThinLoop::ORDERED) {
                    for (auto &step : nest.reduce(steps, reduction::ordered_tree)) {
                        add_part(step.index());
                    }
                } else if (c.loop == ThinLoop::PIPELINE) {
                    for (auto &step : nest.pipeline(steps)) {
                        add_part(step.index());
                    }
                } else {
                    add_part(Scalar<int64_t>{0});
                }
                Y(coord(m0, n0), shape(m, n)).store(acc * full<Out>(shape(m, n), Out{2}));
            }
        });
}

template<class In, class Out> Kernel thin_kernel(const ThinCase &c) {
    auto m = c.runtime ? Extent{dynamic("m")} : Extent{c.m};
    auto n = c.runtime ? Extent{dynamic("n")} : Extent{c.n};
    auto k = c.runtime ? Extent{dynamic("k")} : Extent{c.k};
    return thin_source<In, Out>(c).capture(c.a_transposed ? tensor_shape(k, m) : tensor_shape(m, k),
                                           c.b_transposed ? tensor_shape(n, k) : tensor_shape(k, n),
                                           tensor_shape(m, n));
}

class ThinProducts : public ::testing::TestWithParam<std::tuple<ThinCase, ThinMachine>> {
protected:
    template<class In, class Out> void multiply(double tolerance = 0) {
        const auto &[c, machine] = GetParam();
        auto ae = c.a_transposed ? std::vector{c.k, c.m} : std::vector{c.m, c.k};
        auto be = c.b_transposed ? std::vector{c.n, c.k} : std::vector{c.k, c.n};
        BothOptions options;
        options.facts = machine.facts;
        options.tolerance = tolerance;
        auto a = tolerance > 0 ? random_view<In>(ae, 1) : integer_view<In>(ae, 1);
        auto b = tolerance > 0 ? random_view<In>(be, 2) : integer_view<In>(be, 2);
        run_both(thin_kernel<In, Out>(c), {a, b, output_view<Out>({c.m, c.n})}, {}, options);
    }
};

const ThinCase thin_cases[] = {
    {"one_row", 1, 256, 128, 1, 256, 32},
    {"one_row_ragged", 1, 301, 77, 1, 160, 32},
    {"four_rows_ragged", 4, 301, 77, 4, 160, 16},
    {"sixteen_rows", 16, 320, 96, 16, 320, 32},
    {"rows_that_blocks_do_not_divide", 13, 200, 65, 16, 192, 8},
    {"one_row_of_weights_nk", 1, 64, 256, 1, 32, 64, false, true},
    {"ragged_weights_nk", 1, 61, 201, 1, 32, 64, false, true},
    {"four_rows_of_weights_nk", 4, 61, 201, 4, 24, 48, false, true},
    {"sixteen_rows_of_weights_nk", 16, 40, 300, 16, 20, 64, false, true},
    {"rows_that_blocks_do_not_divide_nk", 13, 40, 300, 14, 20, 64, false, true},
    {"no_steps_nk", 3, 40, 0, 3, 20, 64, false, true},
    {"no_steps", 3, 200, 0, 3, 200, 32},
    {"one_step_nk", 2, 40, 1, 2, 20, 64, false, true},
    {"runtime_nk", 3, 41, 205, 4, 20, 64, false, true, ThinLoop::REDUCE, true},
    {"runtime", 3, 205, 41, 4, 192, 16, false, false, ThinLoop::REDUCE, true},
    {"runtime_pipeline", 5, 205, 41, 8, 192, 16, false, false, ThinLoop::PIPELINE, true},
    {"ordered_nk", 2, 41, 205, 2, 20, 64, false, true, ThinLoop::ORDERED},
    {"pipeline_nk", 2, 41, 205, 2, 20, 64, false, true, ThinLoop::PIPELINE},
    {"pipeline", 2, 205, 41, 2, 192, 16, false, false, ThinLoop::PIPELINE},
    {"one_product_nk", 2, 41, 205, 2, 20, 205, false, true, ThinLoop::NONE},
    {"one_product", 2, 205, 41, 2, 192, 41, false, false, ThinLoop::NONE},
    {"a_transposed", 4, 301, 77, 4, 160, 16, true, false},
    {"both_transposed", 4, 61, 201, 4, 24, 48, true, true},
    {"swapped", 4, 301, 77, 4, 160, 16, false, false, ThinLoop::REDUCE, false, true},
    {"swapped_nk", 4, 61, 201, 4, 24, 48, false, true, ThinLoop::REDUCE, false, true},
    {"many_rows_of_few_columns", 61, 4, 201, 24, 4, 48, false, true},
};

const ThinMachine thin_machines[] = {
    {"vectors", {64, 32, 1 << 10, 64 << 10, 1}},
    {"half_vectors", {32, 16, 1 << 10, 32 << 10, 1}},
    {"quarter_vectors", {16, 16, 1 << 10, 16 << 10, 1}},
    {"no_vectors", {4, 16, 1 << 10, 16 << 10, 1}},
};

std::string thin_name(const ::testing::TestParamInfo<std::tuple<ThinCase, ThinMachine>> &info) {
    return std::string{std::get<0>(info.param).name} + "__" + std::get<1>(info.param).name;
}

std::string thin_plan(const ThinCase &c) {
    auto kernel = thin_kernel<float, float>(c);
    compiler::CpuOptions options{emit::host_cpu(), 1, false, thin_machines[0].facts};
    return compiler::compile_cpu(*module_of(kernel), options)->plan;
}

}// namespace

INSTANTIATE_TEST_SUITE_P(All, ThinProducts,
                         ::testing::Combine(::testing::ValuesIn(thin_cases),
                                            ::testing::ValuesIn(thin_machines)),
                         thin_name);

TEST_P(ThinProducts, of_f32_give_the_exact_product) { multiply<float, float>(); }
TEST_P(ThinProducts, of_f32_stay_in_the_bound) { multiply<float, float>(1e-5); }
TEST_P(ThinProducts, of_f64_give_the_exact_product) { multiply<double, double>(); }
TEST_P(ThinProducts, of_bf16_give_the_exact_product) { multiply<bfloat16, float>(); }
TEST_P(ThinProducts, of_half_give_the_exact_product) { multiply<half, float>(); }
TEST_P(ThinProducts, of_i8_give_the_exact_product) { multiply<int8_t, int32_t>(); }

// The cases above do reach the forms that they are about, and an order that is fixed keeps lanes off the steps.
TEST(ThinPlans, follow_the_order_of_memory_and_the_policy) {
    auto holds = [](const std::string &plan, const char *part) {
        return plan.find(part) != std::string::npos;
    };
    constexpr const char *along = "along the steps", *sweep = "all columns take 2 steps at a time";
    auto nn = thin_plan({"", 4, 640, 128, 4, 320, 16});
    EXPECT_TRUE(holds(nn, sweep)) << nn;
    EXPECT_FALSE(holds(nn, along)) << nn;
    auto nt = thin_plan({"", 4, 128, 512, 4, 32, 64, false, true});
    EXPECT_TRUE(holds(nt, "block 4x4 columns, 16 lanes along the steps")) << nt;
    EXPECT_FALSE(holds(nt, "packed")) << nt;
    for (auto loop : {ThinLoop::ORDERED, ThinLoop::PIPELINE}) {
        auto ordered = thin_plan({"", 4, 128, 512, 4, 32, 64, false, true, loop});
        EXPECT_FALSE(holds(ordered, along)) << ordered;
    }
    // Sixteen rows of forty steps: lanes would be added up more often than they are multiplied.
    auto brief = thin_plan({"", 16, 128, 48, 16, 32, 48, false, true});
    EXPECT_FALSE(holds(brief, along)) << brief;
}
