// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/emulated.h"

// Products whose tiles are whole matrices of warpgroups: on a GPU that has them, both operands are read from shared
// memory by the instruction itself. Each runs on the emulator of such a GPU as well, its accesses observed.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

/// On the emulator of a GPU with warpgroups too, which must have a product.
void on_warpgroups(const Kernel &kernel, std::vector<View> views, double tolerance = 1e-4) {
    auto plan = run_emulated("sm_90a", kernel, std::move(views), {}, {.tolerance = tolerance});
    EXPECT_NE(plan.find("wgmma.mma_async"), std::string::npos) << plan;
}

struct GroupShape {
    int64_t m, n, k;   ///< of the matrices
    int64_t bm, bn, bk;///< of the tiles
    bool a_transposed = false, b_transposed = false;
};

enum class GroupNest { PIPELINE, SERIAL, REDUCE };

template<class T, class S>
auto group_product(const GroupShape &s, GroupNest kind = GroupNest::PIPELINE) {
    return tile_kernel([=](TensorView<const T, 2> A, TensorView<const T, 2> B, TensorView<S, 2> C) {
        auto m = axis("m", s.bm), n = axis("n", s.bn), k = axis("k", s.bk);
        for (auto &nest :
             parallel(shape(ceil_div(C.extent(0), s.bm), ceil_div(C.extent(1), s.bn)))) {
            auto m0 = nest.index(0) * s.bm, n0 = nest.index(1) * s.bn;
            auto acc = zeros<float>(shape(m, n));
            auto add = [&](const Scalar<int64_t> &k0) {
                auto a = s.a_transposed ? A[coord(k0, m0), shape(k, m)]
                                        : A[coord(m0, k0), shape(m, k)];
                auto b = s.b_transposed ? B[coord(n0, k0), shape(n, k)]
                                        : B[coord(k0, n0), shape(k, n)];
                acc = mma(a, b, acc);
            };
            auto steps = range(0, A.extent(s.a_transposed ? 0 : 1), s.bk);
            if (kind == GroupNest::PIPELINE) {
                for (auto &step : nest.pipeline(steps)) {
                    add(step.index());
                }
            } else if (kind == GroupNest::SERIAL) {
                for (auto &step : nest.serial(steps)) {
                    add(step.index());
                }
            } else {
                for (auto &step : nest.reduce(steps)) {
                    add(step.index());
                }
            }
            C(coord(m0, n0), shape(m, n)).store(cast<S>(acc));
        }
    });
}

template<class T, class S>
void run_group(const GroupShape &s, GroupNest kind = GroupNest::PIPELINE) {
    std::vector<int64_t> a{s.m, s.k}, b{s.k, s.n};
    if (s.a_transposed) {
        std::swap(a[0], a[1]);
    }
    if (s.b_transposed) {
        std::swap(b[0], b[1]);
    }
    on_warpgroups(group_product<T, S>(s, kind).capture(
                      tensor_shape(a[0], a[1]), tensor_shape(b[0], b[1]), tensor_shape(s.m, s.n)),
                  {random_view<T>(a, 1), random_view<T>(b, 2), output_view<S>({s.m, s.n})},
                  sizeof(S) == 2 ? 1e-2 : 1e-4);
}

class WarpgroupProducts : public ::testing::TestWithParam<GroupShape> {};
std::string group_name(const ::testing::TestParamInfo<GroupShape> &i) {
    const auto &s = i.param;
    std::string text{s.a_transposed ? "t" : "n"};
    text += s.b_transposed ? "t" : "n";
    for (auto x : {s.m, s.n, s.k, s.bm, s.bn, s.bk}) {
        text += "_" + std::to_string(x);
    }
    return text;
}

}// namespace

TEST_P(WarpgroupProducts, of_bf16_equal_the_interpreter) { run_group<bfloat16, float>(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Shapes, WarpgroupProducts,
    ::testing::Values(
        GroupShape{64, 64, 64, 64, 64, 64}, GroupShape{64, 64, 200, 64, 64, 64, false, true},
        GroupShape{64, 64, 200, 64, 64, 64, true, false},
        GroupShape{64, 64, 200, 64, 64, 64, true, true}, GroupShape{128, 128, 128, 128, 128, 64},
        GroupShape{100, 150, 90, 64, 64, 64}, GroupShape{61, 70, 45, 64, 72, 16},
        GroupShape{70, 61, 45, 64, 72, 16, true}, GroupShape{64, 96, 96, 64, 96, 48, true, true},
        GroupShape{64, 96, 96, 64, 96, 48, false, false}, GroupShape{192, 40, 64, 192, 40, 32},
        GroupShape{64, 256, 64, 64, 256, 32}, GroupShape{128, 16, 160, 128, 16, 160},
        GroupShape{64, 32, 7, 64, 32, 7}, GroupShape{256, 64, 40, 256, 64, 40, true, true},
        GroupShape{64, 64, 0, 64, 64, 64}, GroupShape{1, 1, 1, 64, 64, 64}),
    group_name);

TEST(WarpgroupForms, results_of_f16_and_bf16_are_rounded_once) {
    run_group<half, half>({96, 80, 130, 64, 80, 64});
    run_group<bfloat16, bfloat16>({96, 80, 130, 64, 80, 64, true, true});
}

TEST(WarpgroupForms, steps_go_on_in_every_nest) {
    run_group<bfloat16, float>({80, 72, 130, 64, 64, 32}, GroupNest::SERIAL);
    run_group<bfloat16, float>({80, 72, 130, 64, 64, 32, true}, GroupNest::REDUCE);
}

TEST(WarpgroupForms, products_begin_with_what_was_there_and_end_in_more) {
    auto def = tile_kernel([](TensorView<const bfloat16, 2> A, TensorView<const bfloat16, 2> B,
                              TensorView<const float, 2> D, TensorView<const float, 1> bias,
                              TensorView<float, 2> C) {
        auto m = axis("m", 64), n = axis("n", 64), k = axis("k", 64);
        for (auto &nest : parallel(shape(ceil_div(C.extent(0), 64), ceil_div(C.extent(1), 64)))) {
            auto m0 = nest.index(0) * 64, n0 = nest.index(1) * 64;
            auto acc = Tile<float>{D[coord(m0, n0), shape(m, n)]};
            for (auto &step : nest.pipeline(range(0, A.extent(1), 64))) {
                acc = mma(A[coord(m0, step.index()), shape(m, k)],
                          B[coord(step.index(), n0), shape(k, n)], acc);
            }
            C(coord(m0, n0), shape(m, n))
                .store(maximum(acc * 0.5f + bias[coord(n0), shape(n)], 0.f));
        }
    });
    on_warpgroups(def.capture(tensor_shape(90, 130), tensor_shape(130, 77), tensor_shape(90, 77),
                              tensor_shape(77), tensor_shape(90, 77)),
                  {random_view<bfloat16>({90, 130}, 1), random_view<bfloat16>({130, 77}, 2),
                   random_view({90, 77}, 3), random_view({77}, 4), output_view({90, 77})});
}

TEST(WarpgroupForms, two_products_add_to_one_result) {
    auto def = tile_kernel([](TensorView<const bfloat16, 2> A, TensorView<const bfloat16, 2> B,
                              TensorView<const bfloat16, 2> D, TensorView<float, 2> C) {
        auto m = axis("m", 64), n = axis("n", 64), k = axis("k", 32);
        for (auto &nest : parallel(shape(ceil_div(C.extent(0), 64), ceil_div(C.extent(1), 64)))) {
            auto m0 = nest.index(0) * 64, n0 = nest.index(1) * 64;
            auto acc = zeros<float>(shape(m, n));
            for (auto &step : nest.pipeline(range(0, A.extent(1), 32))) {
                auto a = A[coord(m0, step.index()), shape(m, k)];
                acc = mma(a, B[coord(step.index(), n0), shape(k, n)], acc);
                acc = mma(a, D[coord(step.index(), n0), shape(k, n)], acc);
            }
            C(coord(m0, n0), shape(m, n)).store(acc);
        }
    });
    on_warpgroups(def.capture(tensor_shape(64, 96), tensor_shape(96, 64), tensor_shape(96, 64),
                              tensor_shape(64, 64)),
                  {random_view<bfloat16>({64, 96}, 1), random_view<bfloat16>({96, 64}, 2),
                   random_view<bfloat16>({96, 64}, 3), output_view({64, 64})});
}

TEST(WarpgroupForms, each_matrix_of_a_batch_has_a_product) {
    auto def = tile_kernel([](TensorView<const bfloat16, 3> A, TensorView<const bfloat16, 3> B,
                              TensorView<float, 3> C) {
        auto b = axis("b", 2), m = axis("m", 64), n = axis("n", 72), k = axis("k", 64);
        for (auto &nest : parallel(shape(ceil_div(C.extent(0), 2)))) {
            auto b0 = nest.index() * 2;
            auto x = A[coord(b0, 0, 0), shape(b, m, k)];
            auto y = B[coord(b0, 0, 0), shape(b, k, n)];
            C(coord(b0, 0, 0), shape(b, m, n)).store(mma(x, y, zeros<float>(shape(b, m, n))));
        }
    });
    on_warpgroups(
        def.capture(tensor_shape(3, 64, 64), tensor_shape(3, 64, 72), tensor_shape(3, 64, 72)),
        {random_view<bfloat16>({3, 64, 64}, 1), random_view<bfloat16>({3, 64, 72}, 2),
         output_view({3, 64, 72})});
}

TEST(WarpgroupForms, operands_may_be_computed) {
    auto def = tile_kernel([](TensorView<const float, 2> A, TensorView<const int8_t, 2> B,
                              TensorView<float, 2> C) {
        auto m = axis("m", 64), n = axis("n", 64), k = axis("k", 64);
        for (auto &nest : parallel(shape(ceil_div(C.extent(0), 64), ceil_div(C.extent(1), 64)))) {
            auto m0 = nest.index(0) * 64, n0 = nest.index(1) * 64;
            auto acc = zeros<float>(shape(m, n));
            for (auto &step : nest.pipeline(range(0, A.extent(1), 64))) {
                auto a = cast<bfloat16>(A[coord(m0, step.index()), shape(m, k)] * 2.f);
                auto b = cast<bfloat16>(B[coord(step.index(), n0), shape(k, n)]);
                acc = mma(a, b, acc);
            }
            C(coord(m0, n0), shape(m, n)).store(acc);
        }
    });
    on_warpgroups(
        def.capture(tensor_shape(70, 96), tensor_shape(96, 64), tensor_shape(70, 64)),
        {random_view({70, 96}, 1), integer_view<int8_t>({96, 64}, 2), output_view({70, 64})});
}
