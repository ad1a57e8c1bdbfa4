// SPDX-License-Identifier: Apache-2.0
#include "kernel.h"

#include <ctime>

#include <sys/mman.h>

namespace luisa::tile::interpreter::test {

namespace {

TEST(Load, ABoxInsideAMatrix) {
    Kernel k;
    std::vector<int32_t> x{0, 1, 2, 3, 4, 5, 6, 7, 8}, out(4);
    auto *tile = k.load(k.matrix(x, 3, 3), {k.index(1), k.index(1)}, {{M, 2}, {N, 2}});
    k.store(k.matrix(out, 2, 2), tile, {k.index(0), k.index(0)}, {{M, 2}, {N, 2}});
    k.run();
    EXPECT_EQ(out, (std::vector<int32_t>{4, 5, 7, 8}));
}

TEST(Load, OutsideIsZero) {
    Kernel k;
    std::vector<int32_t> x{1, 2, 3}, out(6, -1);
    k.store_all(k.vector(out), k.load(k.vector(x), {k.index(-2)}, {{at(0), 6}}));
    k.run();
    EXPECT_EQ(out, (std::vector<int32_t>{0, 0, 1, 2, 3, 0}));
}

TEST(Load, OutsideIsTheFallback) {
    Kernel k;
    std::vector<float> x{1, 2}, out(4);
    auto *fill = k.full(FLOAT32, {}, -infinity);
    k.store_all(k.vector(out), k.load(k.vector(x), {k.index(1)}, {{at(0), 4}}, Bounds::ZERO, fill));
    k.run();
    EXPECT_EQ(out, (std::vector{2.0f, -infinity, -infinity, -infinity}));
}

TEST(Load, OneElement) {
    Kernel k;
    std::vector<int16_t> x{1, 2, -3}, out(2, 9);
    auto *from = k.vector(x);
    auto *to = k.vector(out);
    k.store(to, k.load(from, {k.index(2)}, {}), {k.index(0)}, {});
    k.store(to, k.load(from, {k.index(3)}, {}), {k.index(1)}, {});
    k.run();
    EXPECT_EQ(out, (std::vector<int16_t>{-3, 0}));
}

TEST(Load, CoordinatesDoNotWrapAround) {
    Kernel k;
    std::vector<int32_t> x{1, 2, 3}, out(2, -1);
    k.store_all(k.vector(out), k.load(k.vector(x), {k.index(INT64_MAX)}, {{at(0), 2}}));
    k.run();
    EXPECT_EQ(out, (std::vector<int32_t>{0, 0}));
}

TEST(Load, AssumeReportsABrokenPromise) {
    Kernel k;
    std::vector<int32_t> x{1, 2, 3};
    auto *view = k.vector(x);
    k.b.loc = {"k.cpp", 21};
    k.load(view, {k.index(2)}, {{at(0), 2}}, Bounds::ASSUME);
    auto message = k.error<BoundsError>();
    EXPECT_TRUE(says(message, "k.cpp:21"));
    EXPECT_TRUE(says(message, "load: element (3) of p0 is outside its extents (3)"));
    EXPECT_TRUE(says(message, "bounds::assume"));
}

TEST(Load, ReadsAnyNonzeroByteAsTrue) {
    Kernel k;
    uint8_t x[] = {2, 0}, out[] = {9, 9};
    k.store_all(k.view(BOOL, out, {{2}, {}}), k.load_all(k.view(BOOL, x, {{2}, {}})));
    k.run();
    EXPECT_EQ(out[0], 1);
    EXPECT_EQ(out[1], 0);
}

TEST(Load, KeepsNaNBits) {
    Kernel k;
    std::vector<uint32_t> x{0x7f800001u, 0xffabcdefu}, out(2);
    auto *from = k.view(FLOAT32, x.data(), {{2}, {}});
    k.store_all(k.view(FLOAT32, out.data(), {{2}, {}}), k.load_all(from));
    k.run();
    EXPECT_EQ(out, x);
}

TEST(Load, IsASnapshot) {
    Kernel k;
    std::vector<int32_t> x{1, 2, 3, 4};
    auto *view = k.vector(x);
    auto *before = k.load_all(view);
    k.store_all(view, k.full(INT32, {{at(0), 4}}, 9));
    k.store(view, k.extract(before, {at(0)}, {k.index(1)}), {k.index(0)}, {});
    k.run();
    EXPECT_EQ(x, (std::vector<int32_t>{2, 9, 9, 9}));
}

TEST(Load, SeesStoresThroughAnAlias) {
    Kernel k;
    std::vector<int32_t> x{1, 2, 3, 4}, out(2);
    auto *whole = k.vector(x);
    auto *tail = k.view(INT32, x.data() + 2, {{2}, {}});
    auto *before = k.load_all(tail);
    k.store_all(whole, k.full(INT32, {{at(0), 4}}, 9));
    k.store_all(k.vector(out), k.op(Opcode::SUB, {k.load_all(tail), before}));
    k.run();
    EXPECT_EQ(out, (std::vector<int32_t>{6, 5}));
}

TEST(Load, Strides) {
    Kernel k;
    std::vector<int32_t> x{0, 1, 2, 3, 4, 5}, out(6);
    auto *transposed = k.view(INT32, x.data(), {{3, 2}, {1, 3}});
    auto *tile = k.load(transposed, {k.index(0), k.index(0)}, {{at(0), 3}, {at(1), 2}});
    k.store_all(k.matrix(out, 3, 2), tile);
    k.run();
    EXPECT_EQ(out, (std::vector<int32_t>{0, 3, 1, 4, 2, 5}));
}

TEST(Load, NegativeAndZeroStrides) {
    Kernel k;
    std::vector<int32_t> x{0, 1, 2}, out(6);
    auto *view = k.view(INT32, x.data() + 2, {{2, 3}, {0, -1}});
    auto *tile = k.load(view, {k.index(0), k.index(0)}, {{at(0), 2}, {at(1), 3}});
    k.store_all(k.matrix(out, 2, 3), tile);
    k.run();
    EXPECT_EQ(out, (std::vector<int32_t>{2, 1, 0, 2, 1, 0}));
}

TEST(Load, BeyondTwoToThe31Elements) {
    constexpr int64_t extent = (int64_t{1} << 32) + 4;
    auto *memory = mmap(nullptr, size_t(extent), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    auto *bytes = static_cast<uint8_t *>(memory);
    bytes[extent - 1] = 42;
    bytes[3] = 7;
    {
        Kernel k;
        auto *view = k.view(UINT8, memory, {{extent}, {}});
        auto *x = k.load(view, {k.index(extent - 1)}, {});
        k.store(view, k.op(Opcode::ADD, {x, x}), {k.index(extent - 2)}, {});
        k.run();
    }
    EXPECT_EQ(bytes[extent - 2], 84);
    EXPECT_EQ(bytes[3], 7);
    munmap(memory, size_t(extent));
}

TEST(Store, IsMaskedByTheExtents) {
    Kernel k;
    std::vector<int32_t> x(6, -1);
    auto *tile = k.b.value(Opcode::IOTA, {}, k.tile(INT32, {{at(0), 4}}));
    auto *middle = k.view(INT32, x.data() + 1, {{4}, {}});
    k.store(middle, tile, {k.index(-2)}, {{at(0), 4}});
    k.store(middle, tile, {k.index(3)}, {{at(0), 4}});
    k.run();
    EXPECT_EQ(x, (std::vector<int32_t>{-1, 2, 3, -1, 0, -1}));
}

TEST(Store, BroadcastsOverItsBox) {
    Kernel k;
    std::vector<int32_t> x(6);
    auto *row = k.b.value(Opcode::IOTA, {}, k.tile(INT32, {{N, 3}}));
    k.store(k.matrix(x, 2, 3), row, {k.index(0), k.index(0)}, {{M, 2}, {N, 3}});
    k.run();
    EXPECT_EQ(x, (std::vector<int32_t>{0, 1, 2, 0, 1, 2}));
}

TEST(Store, PermutesByIdentity) {
    Kernel k;
    std::vector<int32_t> x{0, 1, 2, 3, 4, 5}, out(6);
    auto *tile = k.load(k.matrix(x, 2, 3), {k.index(0), k.index(0)}, {{M, 2}, {N, 3}});
    k.store(k.matrix(out, 3, 2), tile, {k.index(0), k.index(0)}, {{N, 3}, {M, 2}});
    k.run();
    EXPECT_EQ(out, (std::vector<int32_t>{0, 3, 1, 4, 2, 5}));
}

TEST(Store, TouchesOnlyItsElements) {
    Kernel k;
    std::vector<uint8_t> x{1, 2, 3};
    k.store(k.vector(x), k.full(UINT8, {}, 255), {k.index(1)}, {});
    k.run();
    EXPECT_EQ(x, (std::vector<uint8_t>{1, 255, 3}));
}

TEST(Store, AssumeReportsABrokenPromise) {
    Kernel k;
    std::vector<int32_t> x(2);
    k.store(k.vector(x), k.full(INT32, {{at(0), 3}}, 1), {k.index(0)}, {{at(0), 3}},
            Bounds::ASSUME);
    EXPECT_TRUE(says(k.error<BoundsError>(), "store: element (2) of p0"));
}

TEST(Undefined, ReachingAStoreIsReported) {
    Kernel k;
    std::vector<float> x{1, 2}, out(3);
    auto *from = k.vector(x);
    auto *to = k.vector(out);
    k.b.loc = {"k.cpp", 5};
    auto *tile = k.load(from, {k.index(0)}, {{at(0), 3}}, Bounds::PREDICATE);
    k.b.loc = {"k.cpp", 6};
    auto *sum = k.op(Opcode::ADD, {tile, tile});
    k.b.loc = {"k.cpp", 7};
    k.store_all(to, sum);
    auto message = k.error<BoundsError>();
    EXPECT_TRUE(says(message, "k.cpp:7: BoundsError"));
    EXPECT_TRUE(says(message, "under bounds::predicate at k.cpp:5"));
    EXPECT_TRUE(says(message, "element (2) of p1"));
    EXPECT_TRUE(says(message, "note: read outside here (k.cpp:5)"));
    EXPECT_EQ(out, (std::vector<float>{2, 4, 0}));
}

TEST(Undefined, OutsideTheStoreIsHarmless) {
    Kernel k;
    std::vector<float> x{1, 2}, out(2);
    auto *tile = k.load(k.vector(x), {k.index(0)}, {{at(0), 5}}, Bounds::PREDICATE);
    k.store_all(k.vector(out), tile);
    k.run();
    EXPECT_EQ(out, x);
}

TEST(Undefined, AFallbackDefines) {
    Kernel k;
    std::vector<float> x{1}, out(2);
    auto *tile = k.load(k.vector(x), {k.index(0)}, {{at(0), 2}}, Bounds::PREDICATE,
                        k.full(FLOAT32, {}, 3));
    k.store_all(k.vector(out), tile);
    k.run();
    EXPECT_EQ(out[1], 3.0f);
}

// Selects `x` of extent 3 (one undefined element) where `pick` says so, else 9.
std::vector<int32_t> select(const std::vector<int32_t> &pick) {
    Kernel k;
    std::vector<int32_t> x{1, 2}, flags = pick, out(3);
    auto *tile = k.load(k.vector(x), {k.index(0)}, {{at(0), 3}}, Bounds::PREDICATE);
    auto *condition = k.op(Opcode::NE, {k.load_all(k.vector(flags)), k.full(INT32, {}, 0)});
    k.store_all(k.vector(out), k.op(Opcode::ITE, {condition, tile, k.full(INT32, {}, 9)}));
    k.run();
    return out;
}

TEST(Undefined, IteTakesTheChosenSide) {
    EXPECT_EQ(select({1, 1, 0}), (std::vector<int32_t>{1, 2, 9}));
    EXPECT_THROW(select({1, 1, 1}), BoundsError);
}

TEST(Undefined, IteTakesItsCondition) {
    Kernel k;
    std::vector<int32_t> x{1}, out(2);
    auto *tile = k.load(k.vector(x), {k.index(0)}, {{at(0), 2}}, Bounds::PREDICATE);
    auto *condition = k.op(Opcode::EQ, {tile, k.full(INT32, {}, 1)});
    auto *one = k.full(INT32, {}, 1);
    k.store_all(k.vector(out), k.op(Opcode::ITE, {condition, one, one}));
    EXPECT_TRUE(says(k.error<BoundsError>(), "element (1)"));
}

TEST(Undefined, FollowsShapesAndReductions) {
    // Row 1 is undefined, row 0 is not.
    for (int64_t row : {0, 1}) {
        Kernel k;
        std::vector<int32_t> x{1, 2}, out(1);
        auto *tile = k.load(k.matrix(x, 1, 2), {k.index(0), k.index(0)}, {{M, 2}, {N, 2}},
                            Bounds::PREDICATE);
        auto *turned = k.b.value(Opcode::BROADCAST, {tile}, k.tile(INT32, {{N, 2}, {M, 2}}));
        ir::ReducePayload payload;
        payload.dims = {N};
        auto *sum = k.reduce(turned, payload);
        k.store(k.vector(out), k.extract(sum, {M}, {k.index(row)}), {k.index(0)}, {});
        if (row == 0) {
            k.run();
            EXPECT_EQ(out[0], 3);
        } else {
            k.error<BoundsError>();
        }
    }
}

TEST(Undefined, MaskedOutOfAReduction) {
    Kernel k;
    std::vector<int32_t> x{1, 2}, out(1);
    uint8_t flags[] = {1, 1, 0};
    auto *tile = k.load(k.vector(x), {k.index(0)}, {{at(0), 3}}, Bounds::PREDICATE);
    ir::ReducePayload payload;
    payload.dims = {at(0)};
    auto *sum = k.reduce(tile, payload, k.load_all(k.view(BOOL, flags, {{3}, {}})));
    k.store(k.vector(out), sum, {k.index(0)}, {});
    k.run();
    EXPECT_EQ(out[0], 3);
}

TEST(Undefined, FollowsMma) {
    for (int64_t row : {0, 1}) {
        Kernel k;
        std::vector<float> x{1, 2}, out(1);
        auto *a = k.load(k.matrix(x, 1, 2), {k.index(0), k.index(0)}, {{M, 2}, {K, 2}},
                         Bounds::PREDICATE);
        auto *b = k.load(k.vector(x), {k.index(0)}, {{K, 2}});
        auto *c = k.mma(a, b, k.full(FLOAT32, {{M, 2}}, 0));
        k.store(k.vector(out), k.extract(c, {M}, {k.index(row)}), {k.index(0)}, {});
        if (row == 0) {
            k.run();
            EXPECT_EQ(out[0], 5.0f);
        } else {
            k.error<BoundsError>();
        }
    }
}

TEST(Undefined, OverwrittenByInsert) {
    Kernel k;
    std::vector<int32_t> x{1}, out(2);
    auto *tile = k.load(k.vector(x), {k.index(0)}, {{at(0), 2}}, Bounds::PREDICATE);
    k.store_all(k.vector(out), k.insert(tile, k.full(INT32, {}, 4), {at(0)}, {k.index(1)}));
    k.run();
    EXPECT_EQ(out, (std::vector<int32_t>{1, 4}));
}

TEST(Undefined, AsACoordinateOrCondition) {
    Kernel k;
    std::vector<int64_t> x{1}, out(1);
    auto *from = k.vector(x);
    auto *undefined = k.load(from, {k.index(5)}, {}, Bounds::PREDICATE);
    k.store(k.vector(out), k.index(1), {undefined}, {});
    EXPECT_TRUE(says(k.error<BoundsError>(), "store uses it as a coordinate"));

    Kernel c;
    auto *value = c.load(c.vector(x), {c.index(5)}, {}, Bounds::PREDICATE);
    auto none = [] { return Values{}; };
    c.if_(c.op(Opcode::EQ, {value, c.index(0)}), {}, none, none);
    EXPECT_TRUE(says(c.error<BoundsError>(), "if uses it as its condition"));
}

TEST(Undefined, ExtractAtAnUndefinedCoordinate) {
    Kernel k;
    std::vector<int64_t> x{1}, out(1);
    auto *undefined = k.load(k.vector(x), {k.index(5)}, {}, Bounds::PREDICATE);
    auto *y = k.extract(k.full(INT64, {{at(0), 4}}, 1), {at(0)}, {undefined});
    auto *view = k.vector(out);
    k.store(view, y, {k.index(7)}, {});// outside: harmless
    k.run();
    k.store(view, y, {k.index(0)}, {});
    k.error<BoundsError>();
}

TEST(Elements, AMillionIsFast) {
    auto begin = std::clock();// of this process: other work on the machine does not count
    Kernel k;
    std::vector<float> x(1'000'000, 1.5f), out(x.size());
    auto *tile = k.load_all(k.vector(x));
    k.store_all(k.vector(out), k.op(Opcode::FMA, {tile, tile, k.full(FLOAT32, {}, 1)}));
    k.run();
    EXPECT_EQ(out.back(), 3.25f);
    EXPECT_LT((std::clock() - begin) / CLOCKS_PER_SEC, 5);// also with sanitizers
}

}// namespace

}// namespace luisa::tile::interpreter::test
