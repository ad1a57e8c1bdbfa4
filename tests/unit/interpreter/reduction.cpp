// SPDX-License-Identifier: Apache-2.0
#include "kernel.h"

namespace luisa::tile::interpreter::test {

namespace {

// One reduction over all of `x`, with the bits of its result.
template<class T>
uint64_t reduce_bits(std::vector<T> x, ir::ReducePayload payload, std::vector<uint8_t> mask = {}) {
    Kernel k;
    uint64_t out = 0;
    payload.dims = {at(0)};
    auto *values = k.load_all(k.vector(x));
    auto extent = static_cast<int64_t>(x.size());
    auto *flags = mask.empty() ? nullptr : k.load_all(k.view(BOOL, mask.data(), {{extent}, {}}));
    auto *y = k.reduce(values, payload, flags);
    k.store(k.view(y->scalar(), &out, {{1}, {}}), y, {k.index(0)}, {});
    k.run();
    return out;
}

template<class T>
T reduce(Reducer reducer, std::vector<T> x,
         ReductionPolicy policy = ReductionPolicy::UNORDERED_TREE, std::vector<uint8_t> mask = {}) {
    ir::ReducePayload payload;
    payload.reducer = reducer;
    payload.policy = policy;
    auto bits = reduce_bits(std::move(x), payload, std::move(mask));
    T result;
    std::memcpy(static_cast<void *>(&result), &bits, sizeof result);
    return result;
}

int64_t find(Reducer reducer, std::vector<float> x, NanPolicy nan_policy = NanPolicy::PROPAGATE,
             std::vector<uint8_t> mask = {}) {
    ir::ReducePayload payload;
    payload.reducer = reducer;
    payload.nan = nan_policy;
    return static_cast<int64_t>(reduce_bits(std::move(x), payload, std::move(mask)));
}

constexpr ReductionPolicy policies[] = {
    ReductionPolicy::UNORDERED_TREE, ReductionPolicy::ORDERED_TREE, ReductionPolicy::FOLD_LEFT,
    ReductionPolicy::FOLD_RIGHT, ReductionPolicy::BALANCED_TREE};

TEST(ReduceExpression, IntegersUnderEveryPolicy) {
    std::vector<int32_t> x{5, -3, 12, 7, 1};
    for (auto policy : policies) {
        EXPECT_EQ(reduce(Reducer::ADD, x, policy), 22);
        EXPECT_EQ(reduce(Reducer::MULTIPLY, x, policy), -1260);
        EXPECT_EQ(reduce(Reducer::MINIMUM, x, policy), -3);
        EXPECT_EQ(reduce(Reducer::MAXIMUM, x, policy), 12);
        EXPECT_EQ(reduce(Reducer::BIT_AND, x, policy), 5 & -3 & 12 & 7 & 1);
        EXPECT_EQ(reduce(Reducer::BIT_OR, x, policy), 5 | -3 | 12 | 7 | 1);
        EXPECT_EQ(reduce(Reducer::BIT_XOR, x, policy), 5 ^ -3 ^ 12 ^ 7 ^ 1);
    }
}

TEST(ReduceExpression, OrderOfFloatSums) {
    // Each policy's grouping gives other bits.
    std::vector<float> x{1e8f, 1.0f, -1e8f, 3.0f, 5.0f};
    EXPECT_EQ(reduce(Reducer::ADD, x, ReductionPolicy::FOLD_LEFT),
              (((1e8f + 1.0f) + -1e8f) + 3.0f) + 5.0f);
    EXPECT_EQ(reduce(Reducer::ADD, x, ReductionPolicy::FOLD_RIGHT),
              1e8f + (1.0f + (-1e8f + (3.0f + 5.0f))));
    EXPECT_EQ(reduce(Reducer::ADD, x, ReductionPolicy::BALANCED_TREE),
              ((1e8f + 1.0f) + (-1e8f + 3.0f)) + 5.0f);
}

TEST(ReduceExpression, BalancedTreeSplitsAtPowersOfTwo) {
    std::vector<float> x{0.1f, 0.7f, 1e6f, 0.3f, 1e-3f, 0.9f, 33.3f};
    auto expected = ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + x[6]);
    EXPECT_EQ(reduce(Reducer::ADD, x, ReductionPolicy::BALANCED_TREE), expected);
}

TEST(ReduceExpression, NarrowSumsRoundAtEveryStep) {
    std::vector<bfloat16> x(300, bfloat16{1.0f});
    EXPECT_EQ(float(reduce(Reducer::ADD, x, ReductionPolicy::FOLD_LEFT)), 256.0f);
    std::vector<half> y(3, half{2048.0f});
    y[1] = y[2] = half{1.0f};
    EXPECT_EQ(float(reduce(Reducer::ADD, y, ReductionPolicy::FOLD_LEFT)), 2048.0f);
}

TEST(ReduceExpression, OfNothingIsTheIdentity) {
    std::vector<float> none;
    EXPECT_EQ(bits_of(reduce(Reducer::ADD, none)), 0u);
    EXPECT_EQ(reduce(Reducer::MULTIPLY, none), 1.0f);
    EXPECT_EQ(reduce(Reducer::MAXIMUM, none), -infinity);
    EXPECT_EQ(reduce(Reducer::MINIMUM, none), infinity);
    EXPECT_EQ(reduce(Reducer::FMAX, none), -infinity);
    EXPECT_EQ(reduce(Reducer::MAXIMUM, std::vector<int8_t>{}), -128);
    EXPECT_EQ(reduce(Reducer::MINIMUM, std::vector<uint16_t>{}), 65535);
    EXPECT_EQ(reduce(Reducer::BIT_AND, std::vector<uint32_t>{}), ~0u);
    EXPECT_EQ(reduce(Reducer::MULTIPLY, std::vector<int64_t>{}), 1);
    EXPECT_EQ(find(Reducer::ARGMAX, none), -1);
}

TEST(ReduceExpression, SumOfNegativeZeros) {
    for (auto policy : policies) {
        EXPECT_EQ(bits_of(reduce<float>(Reducer::ADD, {-0.0f, -0.0f, -0.0f}, policy)), 0x80000000u);
    }
}

TEST(ReduceExpression, NaN) {
    for (auto policy : policies) {
        EXPECT_TRUE(std::isnan(reduce<float>(Reducer::MAXIMUM, {1, nan, 2}, policy)));
        EXPECT_EQ(reduce<float>(Reducer::FMAX, {1, nan, 2}, policy), 2.0f);
        EXPECT_TRUE(std::isnan(reduce<float>(Reducer::FMIN, {nan, nan}, policy)));
    }
}

TEST(ReduceExpression, IgnoringNaNInMaximum) {
    ir::ReducePayload payload;
    payload.reducer = Reducer::MAXIMUM;
    payload.nan = NanPolicy::IGNORE;
    EXPECT_EQ(reduce_bits<float>({nan, 3, nan}, payload), bits_of(3.0f));
}

TEST(ReduceExpression, MinimumOrdersZeros) {
    EXPECT_EQ(bits_of(reduce<float>(Reducer::MINIMUM, {0.0f, -0.0f, 0.0f})), 0x80000000u);
    EXPECT_EQ(bits_of(reduce<float>(Reducer::MAXIMUM, {-0.0f, 0.0f, -0.0f})), 0u);
}

TEST(ReduceExpression, MaskedContributionsAreSkipped) {
    EXPECT_EQ(reduce<float>(Reducer::ADD, {1, nan, 4}, ReductionPolicy::FOLD_LEFT, {1, 0, 1}),
              5.0f);
    EXPECT_EQ(reduce<float>(Reducer::MAXIMUM, {-5, 9, -7}, ReductionPolicy::FOLD_RIGHT, {1, 0, 1}),
              -5.0f);
    EXPECT_EQ(bits_of(reduce<float>(Reducer::ADD, {1, 2}, ReductionPolicy::FOLD_LEFT, {0, 0})), 0u);
}

TEST(ReduceExpression, BalancedTreeIsOverActiveElements) {
    std::vector<float> x{0.1f, nan, 0.7f, 1e6f};
    EXPECT_EQ(reduce(Reducer::ADD, x, ReductionPolicy::BALANCED_TREE, {1, 0, 1, 1}),
              (x[0] + x[2]) + x[3]);
}

TEST(ReduceExpression, Logic) {
    for (auto [bits, all, any] :
         {std::tuple{std::vector<uint8_t>{1, 0, 1}, 0, 1},
          std::tuple{std::vector<uint8_t>{1, 1}, 1, 1}, std::tuple{std::vector<uint8_t>{}, 1, 0}}) {
        for (auto reducer : {Reducer::LOGICAL_AND, Reducer::LOGICAL_OR}) {
            Kernel k;
            uint8_t out = 9;
            auto data = bits;
            auto extent = static_cast<int64_t>(data.size());
            auto *x = k.load(k.view(BOOL, data.data(), {{extent}, {}}), {k.index(0)},
                             {{at(0), extent}});
            ir::ReducePayload payload;
            payload.reducer = reducer;
            payload.dims = {at(0)};
            k.store(k.view(BOOL, &out, {{1}, {}}), k.reduce(x, payload), {k.index(0)}, {});
            k.run();
            EXPECT_EQ(out, reducer == Reducer::LOGICAL_AND ? all : any);
        }
    }
}

TEST(ReduceExpression, ArgmaxTakesTheLowestIndex) {
    EXPECT_EQ(find(Reducer::ARGMAX, {1, 3, 3, 2}), 1);
    EXPECT_EQ(find(Reducer::ARGMIN, {4, 3, 3}), 1);
    EXPECT_EQ(find(Reducer::ARGMIN, {0.0f, -0.0f}), 0);// equal
    EXPECT_EQ(find(Reducer::ARGMAX, {-infinity, -infinity}), 0);
}

TEST(ReduceExpression, ArgmaxAndNaN) {
    EXPECT_EQ(find(Reducer::ARGMAX, {1, nan, 9, nan}), 1);
    EXPECT_EQ(find(Reducer::ARGMIN, {1, nan, -9, nan}), 1);
    EXPECT_EQ(find(Reducer::ARGMAX, {1, nan, 9}, NanPolicy::IGNORE), 2);
    EXPECT_EQ(find(Reducer::ARGMAX, {nan, nan}, NanPolicy::IGNORE), 0);
}

TEST(ReduceExpression, ArgmaxOfMaskedElements) {
    EXPECT_EQ(find(Reducer::ARGMAX, {1, 9, 4}, NanPolicy::PROPAGATE, {1, 0, 1}), 2);
    EXPECT_EQ(find(Reducer::ARGMAX, {nan, 9}, NanPolicy::PROPAGATE, {0, 1}), 1);
    EXPECT_EQ(find(Reducer::ARGMAX, {1, 9}, NanPolicy::PROPAGATE, {0, 0}), -1);
}

TEST(ReduceExpression, ArgmaxOfIntegers) {
    ir::ReducePayload payload;
    payload.reducer = Reducer::ARGMAX;
    EXPECT_EQ(reduce_bits<uint32_t>({1, ~0u, 5}, payload), 1u);
    EXPECT_EQ(reduce_bits<int32_t>({1, -1, 5}, payload), 2u);
}

TEST(ReduceExpression, OneAxisOfThree) {
    Kernel k;
    std::vector<int32_t> x(24), out(8);
    for (int i = 0; i < 24; ++i) {
        x[size_t(i)] = i;
    }
    auto *tile = k.load(k.view(INT32, x.data(), {{2, 3, 4}, {}}), Values(3, k.index(0)),
                        {{M, 2}, {K, 3}, {N, 4}});
    ir::ReducePayload payload;
    payload.dims = {K};
    auto *y = k.reduce(tile, payload);
    k.store(k.matrix(out, 2, 4), y, {k.index(0), k.index(0)}, {{M, 2}, {N, 4}});
    k.run();
    EXPECT_EQ(out, (std::vector<int32_t>{12, 15, 18, 21, 48, 51, 54, 57}));
}

TEST(ReduceExpression, ArgmaxOverTwoAxesIsFlat) {
    Kernel k;
    std::vector<int32_t> x{0, 1, 2, 9, 4, 5}, out(1);
    auto *tile = k.load(k.matrix(x, 2, 3), {k.index(0), k.index(0)}, {{M, 2}, {N, 3}});
    std::vector<int64_t> index(1);
    ir::ReducePayload payload;
    payload.reducer = Reducer::ARGMAX;
    payload.dims = {M, N};
    k.store(k.vector(index), k.reduce(tile, payload), {k.index(0)}, {});
    k.run();
    EXPECT_EQ(index[0], 3);
}

TEST(ReduceExpression, MaskBroadcastsOverOtherAxes) {
    Kernel k;
    std::vector<int32_t> x{1, 2, 3, 4, 5, 6}, out(2);
    uint8_t mask[] = {1, 0, 1};
    auto *tile = k.load(k.matrix(x, 2, 3), {k.index(0), k.index(0)}, {{M, 2}, {N, 3}});
    auto *flags = k.load(k.view(BOOL, mask, {{3}, {}}), {k.index(0)}, {{N, 3}});
    ir::ReducePayload payload;
    payload.dims = {N};
    k.store(k.vector(out), k.reduce(tile, payload, flags), {k.index(0)}, {{M, 2}});
    k.run();
    EXPECT_EQ(out, (std::vector<int32_t>{4, 10}));
}

TEST(ReduceExpression, Fp8Maximum) {
    Kernel k;
    uint8_t x[] = {0x38, 0x7e, 0xfe}, out = 0;
    auto *tile = k.load_all(k.view(FLOAT8_E4M3FN, x, {{3}, {}}));
    ir::ReducePayload payload;
    payload.reducer = Reducer::MAXIMUM;
    payload.dims = {at(0)};
    k.store(k.view(FLOAT8_E4M3FN, &out, {{1}, {}}), k.reduce(tile, payload), {k.index(0)}, {});
    k.run();
    EXPECT_EQ(out, 0x7e);
}

}// namespace

}// namespace luisa::tile::interpreter::test
