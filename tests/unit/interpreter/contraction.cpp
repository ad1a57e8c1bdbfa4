// SPDX-License-Identifier: Apache-2.0
#include "kernel.h"

#include <ctime>

namespace luisa::tile::interpreter::test {

namespace {

// acc[M, N] + a[M, K] b[K, N], all three given as matrices of their own types.
template<class A, class B, class C>
std::vector<C> product(std::vector<A> a, std::vector<B> b, std::vector<C> acc, int64_t m, int64_t n,
                       int64_t depth, bool reassociate = true) {
    Kernel k;
    auto origin = Values(2, k.index(0));
    auto *x = k.load(k.matrix(a, m, depth), origin, {{M, m}, {K, depth}});
    auto *y = k.load(k.matrix(b, depth, n), origin, {{K, depth}, {N, n}});
    auto *z = k.load(k.matrix(acc, m, n), origin, {{M, m}, {N, n}});
    auto *r = k.mma(x, y, z, reassociate);
    k.store(k.matrix(acc, m, n), r, origin, {{M, m}, {N, n}});
    k.run();
    return acc;
}

TEST(Mma, F32IsOneChainOfFma) {
    std::vector<float> a{0.1f, 0.2f, 0.3f, 1e8f, 1.0f, -1e8f},
        b{0.7f, 3.0f, 0.9f, 5.0f, 1.1f, 7.0f};
    auto c = product(a, b, std::vector<float>{0.5f, 1, 2, 3}, 2, 2, 3);
    for (size_t m = 0; m < 2; ++m) {
        for (size_t n = 0; n < 2; ++n) {
            float sum = std::vector<float>{0.5f, 1, 2, 3}[m * 2 + n];
            for (size_t k = 0; k < 3; ++k) {
                sum = std::fma(a[m * 3 + k], b[k * 2 + n], sum);
            }
            EXPECT_EQ(c[m * 2 + n], sum);
        }
    }
}

TEST(Mma, HalfProductsAreExactInF32) {
    std::vector<half> a(2, half{0.1f}), b(2, half{0.3f});
    auto c = product(a, b, std::vector<float>{0}, 1, 1, 2);
    auto exact = float(half{0.1f}) * float(half{0.3f});
    EXPECT_EQ(c[0], exact + exact);
}

TEST(Mma, HalfAccumulatorRoundsOnceByDefault) {
    // 2048 + 1 + 1: exact in f32, lost step by step in half.
    std::vector<half> ones(2, half{1.0f});
    auto once = product(ones, ones, std::vector<half>{half{2048.0f}}, 1, 1, 2);
    EXPECT_EQ(float(once[0]), 2050.0f);
    auto each = product(ones, ones, std::vector<half>{half{2048.0f}}, 1, 1, 2, false);
    EXPECT_EQ(float(each[0]), 2048.0f);
}

TEST(Mma, Bf16AccumulatorRoundsOnceByDefault) {
    std::vector<bfloat16> ones(2, bfloat16{1.0f});
    auto once = product(ones, ones, std::vector<bfloat16>{bfloat16{256.0f}}, 1, 1, 2);
    EXPECT_EQ(float(once[0]), 258.0f);
    auto each = product(ones, ones, std::vector<bfloat16>{bfloat16{256.0f}}, 1, 1, 2, false);
    EXPECT_EQ(float(each[0]), 256.0f);
}

TEST(Mma, F64) {
    auto c = product<double, double, double>({0.1, 0.2}, {0.3, 0.7}, {1}, 1, 1, 2);
    EXPECT_EQ(c[0], std::fma(0.2, 0.7, std::fma(0.1, 0.3, 1.0)));
}

TEST(Mma, MixedIntegersConvertFirst) {
    auto c = product<uint8_t, int8_t, int32_t>({255, 1}, {-128, -1}, {5}, 1, 1, 2);
    EXPECT_EQ(c[0], 255 * -128 - 1 + 5);
}

TEST(Mma, IntegersWrap) {
    auto c = product<int32_t, int32_t, int32_t>({INT32_MAX}, {2}, {3}, 1, 1, 1);
    EXPECT_EQ(c[0], 1);
    auto d = product<int8_t, int8_t, int8_t>({100}, {100}, {0}, 1, 1, 1);
    EXPECT_EQ(d[0], int8_t(10000));
}

TEST(Mma, Fp8Operands) {
    Kernel k;
    uint8_t a[] = {0x38, 0x40}, b[] = {0x3c, 0x3c};// e4m3: 1, 2; e5m2: 1, 1
    std::vector<float> out(1);
    auto *x = k.load(k.view(FLOAT8_E4M3FN, a, {{2}, {}}), {k.index(0)}, {{K, 2}});
    auto *y = k.load(k.view(FLOAT8_E5M2, b, {{2}, {}}), {k.index(0)}, {{K, 2}});
    k.store(k.vector(out), k.mma(x, y, k.full(FLOAT32, {}, 0.5)), {k.index(0)}, {});
    k.run();
    EXPECT_EQ(out[0], 3.5f);
}

TEST(Mma, EmptyContractionKeepsTheAccumulator) {
    auto c = product<float, float, float>({}, {}, {-0.0f, 7}, 1, 2, 0);
    EXPECT_EQ(bits_of(c[0]), 0x80000000u);
    EXPECT_EQ(c[1], 7.0f);
}

TEST(Mma, BatchesAndAnyOperandOrder) {
    Kernel k;
    // a[K, B, M], b[N, K, B] -> acc[N, B, M]
    std::vector<int64_t> a(2 * 2 * 3), b(4 * 2 * 2), out(4 * 2 * 3);
    for (size_t i = 0; i < a.size(); ++i) {
        a[i] = int64_t(i * i + 1);
    }
    for (size_t i = 0; i < b.size(); ++i) {
        b[i] = int64_t(3 * i) - 7;
    }
    auto origin = Values(3, k.index(0));
    auto *x = k.load(k.view(INT64, a.data(), {{2, 2, 3}, {}}), origin, {{K, 2}, {B, 2}, {M, 3}});
    auto *y = k.load(k.view(INT64, b.data(), {{4, 2, 2}, {}}), origin, {{N, 4}, {K, 2}, {B, 2}});
    auto *z = k.full(INT64, {{N, 4}, {B, 2}, {M, 3}}, 0);
    k.store(k.view(INT64, out.data(), {{4, 2, 3}, {}}), k.mma(x, y, z), origin,
            {{N, 4}, {B, 2}, {M, 3}});
    k.run();
    for (size_t n = 0; n < 4; ++n) {
        for (size_t batch = 0; batch < 2; ++batch) {
            for (size_t m = 0; m < 3; ++m) {
                int64_t sum = 0;
                for (size_t i = 0; i < 2; ++i) {
                    sum += a[(i * 2 + batch) * 3 + m] * b[(n * 2 + i) * 2 + batch];
                }
                EXPECT_EQ(out[(n * 2 + batch) * 3 + m], sum);
            }
        }
    }
}

TEST(Mma, TwoContractedDimensionsInOrderOfA) {
    Kernel k;
    // Contracts K and B: a's order is [B, K], b's is [K, B].
    std::vector<float> a{1e8f, 1.0f, -1e8f, 1.0f}, b{1, 1, 1, 1}, out(1);
    auto origin = Values(2, k.index(0));
    auto *x = k.load(k.matrix(a, 2, 2), origin, {{B, 2}, {K, 2}});
    auto *y = k.load(k.matrix(b, 2, 2), origin, {{K, 2}, {B, 2}});
    k.store(k.vector(out), k.mma(x, y, k.full(FLOAT32, {}, 0)), {k.index(0)}, {});
    k.run();
    EXPECT_EQ(out[0], 1.0f);// ((1e8 + 1) - 1e8) + 1, the first 1 lost
}

TEST(Mma, LargeEnoughInATestIsFast) {
    auto begin = std::clock();// of this process: other work on the machine does not count
    std::vector<float> x(64 * 64, 0.5f);
    auto c = product(x, x, x, 64, 64, 64);
    EXPECT_EQ(c[77], 16.5f);
    EXPECT_LT((std::clock() - begin) / CLOCKS_PER_SEC, 5);// also with sanitizers
}

}// namespace

}// namespace luisa::tile::interpreter::test
