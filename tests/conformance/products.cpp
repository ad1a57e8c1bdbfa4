// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/both.h"

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

/// Small integers; never negative for unsigned types.
template<class T> View whole(std::vector<int64_t> extents, uint32_t seed, int range = 1) {
    std::mt19937 engine{seed};
    std::vector<T> values(1021);
    for (auto &x : values) {
        auto v = static_cast<int>(engine() % static_cast<uint32_t>(2 * range + 1));
        x = static_cast<T>(static_cast<float>(std::is_unsigned_v<T> ? v : v - range));
    }
    return dense<T>(std::move(extents), values);
}

enum class Loop { NONE, SERIAL, PIPELINE, REDUCE };
struct Form {
    bool ordered = false, ta = false, tb = false, nested = false;
    Loop loop = Loop::PIPELINE;
};

/// C = C0 + op(A) · op(B), K in tiles of 16.
template<class A, class B, class C>
void product(int64_t M, int64_t N, int64_t K, Form f, bool random = false) {
    auto def = tile_kernel([=](TensorView<const A, 2> X, TensorView<const B, 2> Y,
                               TensorView<C, 2> Z) {
        const int64_t bk = f.loop == Loop::NONE ? K : 16;
        auto m = axis("m", 16), n = axis("n", 32), k = axis("k", bk);
        for (auto &nest : parallel(shape(ceil_div(Z.extent(0), 16), ceil_div(Z.extent(1), 32)))) {
            auto m0 = nest.index(0) * 16, n0 = nest.index(1) * 32;
            auto acc = Z[coord(m0, n0), shape(m, n)];
            MmaPolicy policy{};
            policy.allow_reassociation = !f.ordered;
            auto part = [&](const Scalar<int64_t> &k0) {
                auto a = f.ta ? X[coord(k0, m0), shape(k, m)] : X[coord(m0, k0), shape(m, k)];
                auto b = f.tb ? Y[coord(n0, k0), shape(n, k)] : Y[coord(k0, n0), shape(k, n)];
                acc = mma(a, b, acc, policy);
            };
            if (f.nested) {
                for (auto &o : nest.serial(range(0, K, 32))) {
                    for (auto &i : o.pipeline(range(0, 32, bk))) {
                        part(o.index() + i.index());
                    }
                }
            } else if (f.loop == Loop::SERIAL) {
                for (auto &s : nest.serial(range(0, K, bk))) {
                    part(s.index());
                }
            } else if (f.loop == Loop::PIPELINE) {
                for (auto &s : nest.pipeline(range(0, K, bk))) {
                    part(s.index());
                }
            } else if (f.loop == Loop::REDUCE) {
                for (auto &s : nest.reduce(range(0, K, bk))) {
                    part(s.index());
                }
            } else {
                part(Scalar<int64_t>(0));
            }
            Z(coord(m0, n0), shape(m, n)).store(acc);
        }
    });
    auto sa = f.ta ? std::vector<int64_t>{K, M} : std::vector<int64_t>{M, K};
    auto sb = f.tb ? std::vector<int64_t>{N, K} : std::vector<int64_t>{K, N};
    auto kernel = def.capture(tensor_shape(sa[0], sa[1]), tensor_shape(sb[0], sb[1]),
                              tensor_shape(M, N));
    if (random) {
        run_both(kernel, {random_view<A>(sa, 1), random_view<B>(sb, 2), random_view<C>({M, N}, 3)});
        return;
    }
    auto va = whole<A>(sa, 1), vb = whole<B>(sb, 2), vc = whole<C>({M, N}, 3);
    auto out = run_both(kernel, {va, vb, vc});
    for (int64_t i = 0; i < M; ++i) {
        for (int64_t j = 0; j < N; ++j) {
            double sum = element_value(vc, static_cast<size_t>(i * N + j));
            for (int64_t q = 0; q < K; ++q) {
                sum += element_value(va, static_cast<size_t>(f.ta ? q * M + i : i * K + q)) *
                       element_value(vb, static_cast<size_t>(f.tb ? j * K + q : q * N + j));
            }
            ASSERT_EQ(element_value(out[2], static_cast<size_t>(i * N + j)), sum) << i << ", " << j;
        }
    }
}

struct ProductSize {
    int64_t m, n, k;
};
std::string product_name(ProductSize s) {
    return std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k);
}

class Types : public ::testing::TestWithParam<ProductSize> {};
#define PRODUCT(NAME, ...)                                                                         \
    TEST_P(Types, NAME) {                                                                          \
        auto [m, n, k] = GetParam();                                                               \
        product<__VA_ARGS__>(m, n, k, {});                                                         \
    }
PRODUCT(f32_is_the_exact_sum, float, float, float)
PRODUCT(f64_is_the_exact_sum, double, double, double)
PRODUCT(half_accumulates_in_f32, half, half, float)
PRODUCT(bf16_accumulates_in_f32, bfloat16, bfloat16, float)
PRODUCT(half_accumulates_in_half, half, half, half)
PRODUCT(bf16_accumulates_in_bf16, bfloat16, bfloat16, bfloat16)
PRODUCT(int8_accumulates_in_int32, int8_t, int8_t, int32_t)
PRODUCT(uint8_times_int8_accumulates_in_int32, uint8_t, int8_t, int32_t)
INSTANTIATE_TEST_SUITE_P(Sizes, Types,
                         ::testing::Values(ProductSize{1, 1, 1}, ProductSize{3, 17, 40},
                                           ProductSize{16, 16, 16}, ProductSize{65, 3, 17},
                                           ProductSize{40, 64, 3}, ProductSize{17, 65, 64},
                                           ProductSize{16, 3, 0}, ProductSize{0, 17, 3}),
                         [](const auto &i) { return product_name(i.param); });

struct Layout {
    const char *name;
    Form form;
};
class Forms : public ::testing::TestWithParam<Layout> {};
TEST_P(Forms, f32_integers_are_exact) { product<float, float, float>(17, 40, 65, GetParam().form); }
TEST_P(Forms, int8_is_exact) { product<int8_t, int8_t, int32_t>(40, 17, 65, GetParam().form); }
TEST_P(Forms, half_to_f32_is_exact) { product<half, half, float>(3, 65, 40, GetParam().form); }
INSTANTIATE_TEST_SUITE_P(
    Layouts, Forms,
    ::testing::Values(Layout{"left_transposed", {false, true, false}},
                      Layout{"right_transposed", {false, false, true}},
                      Layout{"both_transposed", {false, true, true}},
                      Layout{"k_in_one_tile", {false, false, false, false, Loop::NONE}},
                      Layout{"k_in_serial", {false, false, false, false, Loop::SERIAL}},
                      Layout{"k_in_reduce", {false, false, false, false, Loop::REDUCE}},
                      Layout{"k_in_two_nested_loops", {false, false, false, true, Loop::PIPELINE}},
                      Layout{"ordered_in_pipeline", {true}},
                      Layout{"ordered_transposed_in_serial",
                             {true, true, true, false, Loop::SERIAL}}),
    [](const auto &i) { return std::string(i.param.name); });

}// namespace
