// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/both.h"

// Products large enough for a block of threads to share: what GPUs copy through shared memory, in extents that fill
// neither threads nor panels.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

struct Shape {
    int64_t m, n, k;   ///< of the matrices
    int64_t bm, bn, bk;///< of the tiles
};
class StagedProducts : public ::testing::TestWithParam<Shape> {};
const auto shapes = ::testing::Values(
    Shape{64, 64, 64, 64, 64, 32}, Shape{128, 128, 96, 128, 128, 32}, Shape{61, 70, 45, 64, 64, 16},
    Shape{24, 48, 40, 24, 48, 40}, Shape{40, 56, 100, 40, 56, 20}, Shape{72, 100, 72, 72, 100, 36},
    Shape{127, 127, 33, 127, 127, 11}, Shape{100, 130, 127, 40, 72, 127},
    Shape{33, 65, 7, 32, 32, 7}, Shape{50, 50, 0, 32, 32, 8}, Shape{130, 36, 44, 16, 128, 44});
std::string shape_name(const ::testing::TestParamInfo<Shape> &i) {
    const auto &s = i.param;
    std::string text;
    for (auto x : {s.m, s.n, s.k, s.bm, s.bn, s.bk}) {
        text += (text.empty() ? "" : "_") + std::to_string(x);
    }
    return text;
}

template<class T, class S> auto tiled(const Shape &s) {
    return tile_kernel([=](TensorView<const T, 2> A, TensorView<const T, 2> B, TensorView<S, 2> C) {
        auto m = axis("m", s.bm), n = axis("n", s.bn), k = axis("k", s.bk);
        for (auto &nest :
             parallel(shape(ceil_div(C.extent(0), s.bm), ceil_div(C.extent(1), s.bn)))) {
            auto m0 = nest.index(0) * s.bm, n0 = nest.index(1) * s.bn;
            auto acc = zeros<S>(shape(m, n));
            for (auto &step : nest.pipeline(range(0, A.extent(1), s.bk))) {
                auto a = A[coord(m0, step.index()), shape(m, k)];
                auto b = B[coord(step.index(), n0), shape(k, n)];
                acc = mma(a, b, acc);
            }
            C(coord(m0, n0), shape(m, n)).store(acc);
        }
    });
}

template<class T, class S> void run_tiled(const Shape &s, double tolerance) {
    run_both(
        tiled<T, S>(s).capture(tensor_shape(s.m, s.k), tensor_shape(s.k, s.n),
                               tensor_shape(s.m, s.n)),
        {random_view<T>({s.m, s.k}, 1), random_view<T>({s.k, s.n}, 2), output_view<S>({s.m, s.n})},
        {}, {.tolerance = tolerance});
}

}// namespace

TEST_P(StagedProducts, of_f32_keep_the_order_of_their_steps) {
    const auto &s = GetParam();
    auto def = tile_kernel(
        [=](TensorView<const float, 2> A, TensorView<const float, 2> B, TensorView<float, 2> C) {
            auto m = axis("m", s.bm), n = axis("n", s.bn), k = axis("k", s.bk);
            for (auto &nest :
                 parallel(shape(ceil_div(C.extent(0), s.bm), ceil_div(C.extent(1), s.bn)))) {
                auto m0 = nest.index(0) * s.bm, n0 = nest.index(1) * s.bn;
                auto acc = zeros<float>(shape(m, n));
                for (auto &step : nest.pipeline(range(0, A.extent(1), s.bk))) {
                    auto a = A[coord(m0, step.index()), shape(m, k)];
                    auto b = B[coord(step.index(), n0), shape(k, n)];
                    acc = mma(a, b, acc, {.allow_reassociation = false});
                }
                C(coord(m0, n0), shape(m, n)).store(acc);
            }
        });
    run_both(def.capture(tensor_shape(s.m, s.k), tensor_shape(s.k, s.n), tensor_shape(s.m, s.n)),
             {random_view({s.m, s.k}, 1), random_view({s.k, s.n}, 2), output_view({s.m, s.n})});
}

TEST_P(StagedProducts, of_extents_that_the_launch_knows) {
    const auto &s = GetParam();
    auto rows = dynamic("rows"), columns = dynamic("columns"), steps = dynamic("steps");
    run_both(tiled<float, float>(s).capture(tensor_shape(rows, steps), tensor_shape(steps, columns),
                                            tensor_shape(rows, columns)),
             {integer_view({s.m, s.k}, 1), integer_view({s.k, s.n}, 2), output_view({s.m, s.n})});
}

TEST_P(StagedProducts, of_transposed_operands_and_epilogues) {
    const auto &s = GetParam();
    auto def = tile_kernel([=](TensorView<const float, 2> A, TensorView<const float, 2> B,
                               TensorView<const float, 1> bias, TensorView<float, 2> C) {
        auto m = axis("m", s.bm), n = axis("n", s.bn), k = axis("k", s.bk);
        for (auto &nest :
             parallel(shape(ceil_div(C.extent(0), s.bm), ceil_div(C.extent(1), s.bn)))) {
            auto m0 = nest.index(0) * s.bm, n0 = nest.index(1) * s.bn;
            auto acc = full<float>(shape(m, n), 2.0f);
            for (auto &step : nest.serial(range(0, B.extent(1), s.bk))) {
                auto a = A[coord(step.index(), m0), shape(k, m)];
                auto b = B[coord(n0, step.index()), shape(n, k)];
                acc = mma(a * 2.0f, b, acc);
            }
            C(coord(m0, n0), shape(m, n)).store(maximum(acc + bias[coord(n0), shape(n)], 0.0f));
        }
    });
    run_both(def.capture(tensor_shape(s.k, s.m), tensor_shape(s.n, s.k), tensor_shape(s.n),
                         tensor_shape(s.m, s.n)),
             {integer_view({s.k, s.m}, 1), integer_view({s.n, s.k}, 2), integer_view({s.n}, 3),
              output_view({s.m, s.n})});
}

TEST_P(StagedProducts, two_into_one_accumulator_and_batches) {
    const auto &s = GetParam();
    auto def = tile_kernel([=](TensorView<const float, 3> A, TensorView<const float, 3> B,
                               TensorView<const float, 3> D, TensorView<float, 3> C) {
        auto g = axis("g", 2), m = axis("m", s.bm), n = axis("n", s.bn), k = axis("k", s.bk);
        for (auto &nest :
             parallel(shape(ceil_div(C.extent(1), s.bm), ceil_div(C.extent(2), s.bn)))) {
            auto m0 = nest.index(0) * s.bm, n0 = nest.index(1) * s.bn;
            auto acc = zeros<float>(shape(g, m, n));
            for (auto &step : nest.reduce(range(0, A.extent(2), s.bk))) {
                auto k0 = step.index();
                acc = mma(A[coord(0, m0, k0), shape(g, m, k)], B[coord(0, k0, n0), shape(g, k, n)],
                          acc);
                acc = mma(A[coord(0, m0, k0), shape(g, m, k)], D[coord(0, k0, n0), shape(g, k, n)],
                          acc);
            }
            C(coord(0, m0, n0), shape(g, m, n)).store(acc);
        }
    });
    run_both(def.capture(tensor_shape(2, s.m, s.k), tensor_shape(2, s.k, s.n),
                         tensor_shape(2, s.k, s.n), tensor_shape(2, s.m, s.n)),
             {integer_view({2, s.m, s.k}, 1), integer_view({2, s.k, s.n}, 2),
              integer_view({2, s.k, s.n}, 3), output_view({2, s.m, s.n})});
}

TEST_P(StagedProducts, of_narrow_types_with_wide_sums) {
    const auto &s = GetParam();
    run_tiled<bfloat16, float>(s, 1e-4);
    run_tiled<half, float>(s, 1e-4);
    run_tiled<double, double>(s, 1e-12);
    run_both(tiled<int8_t, int32_t>(s).capture(tensor_shape(s.m, s.k), tensor_shape(s.k, s.n),
                                               tensor_shape(s.m, s.n)),
             {integer_view<int8_t>({s.m, s.k}, 1, 100), integer_view<int8_t>({s.k, s.n}, 2, 100),
              output_view<int32_t>({s.m, s.n})});
    run_both(tiled<bfloat16, float>(s).capture(tensor_shape(s.m, s.k), tensor_shape(s.k, s.n),
                                               tensor_shape(s.m, s.n)),
             {integer_view<bfloat16>({s.m, s.k}, 1), integer_view<bfloat16>({s.k, s.n}, 2),
              output_view({s.m, s.n})});
}

INSTANTIATE_TEST_SUITE_P(Shapes, StagedProducts, shapes, shape_name);
