// SPDX-License-Identifier: Apache-2.0
#include "kernel.h"

namespace luisa::tile::interpreter::test {

namespace {

// A 2x3 tile [[0, 1, 2], [3, 4, 5]] of positional dimensions.
ir::Value *matrix_2x3(Kernel &k, std::vector<int32_t> &data) {
    data = {0, 1, 2, 3, 4, 5};
    return k.load(k.matrix(data, 2, 3), {k.index(0), k.index(0)}, {{at(0), 2}, {at(1), 3}});
}

TEST(Shape, ConstantFillsATile) {
    Kernel k;
    std::vector<half> out(4);
    k.store_all(k.vector(out), k.full(FLOAT16, {{at(0), 4}}, 1.5));
    k.run();
    for (auto x : out) {
        EXPECT_EQ(x.bits(), half{1.5f}.bits());
    }
}

TEST(Shape, ATileLargerThanMemoryIsAnError) {
    Kernel k;
    k.full(FLOAT32, {{at(0), int64_t{1} << 62}}, 1);
    EXPECT_TRUE(says(k.error<OutOfMemoryError>(), "k: a tile is larger than memory"));
}

TEST(Shape, IotaOfEveryNumberType) {
    for (auto type : {INT8, UINT64, FLOAT16, BFLOAT16, FLOAT32, FLOAT64}) {
        Kernel k;
        std::vector<double> out(4);
        auto *x = k.b.value(Opcode::IOTA, {}, k.tile(type, {{at(0), 4}}));
        k.store_all(k.vector(out), k.b.cast(x, FLOAT64));
        k.run();
        EXPECT_EQ(out, (std::vector<double>{0, 1, 2, 3})) << to_string(type);
    }
}

TEST(Shape, BroadcastAddsAndGrowsDimensions) {
    Kernel k;
    std::vector<int32_t> data{7, 8, 9}, out(12);
    auto *x = k.load(k.matrix(data, 1, 3), {k.index(0), k.index(0)}, {{at(0), 1}, {at(1), 3}});
    auto *y = k.b.value(Opcode::BROADCAST, {x},
                        k.tile(INT32, {{at(2), 2}, {at(1), 3}, {at(0), 2}}));
    auto *view = k.view(INT32, out.data(), {{2, 3, 2}, {}});
    k.store_all(view, y);
    k.run();
    EXPECT_EQ(out, (std::vector<int32_t>{7, 7, 8, 8, 9, 9, 7, 7, 8, 8, 9, 9}));
}

TEST(Shape, BroadcastTransposes) {
    Kernel k;
    std::vector<int32_t> data, out(6);
    auto *x = matrix_2x3(k, data);
    auto *y = k.b.value(Opcode::BROADCAST, {x}, k.tile(INT32, {{at(1), 3}, {at(0), 2}}));
    k.store_all(k.matrix(out, 3, 2), y);
    k.run();
    EXPECT_EQ(out, (std::vector<int32_t>{0, 3, 1, 4, 2, 5}));
}

TEST(Shape, RetypeChangesIdentitiesOnly) {
    Kernel k;
    std::vector<int32_t> data, out(6);
    auto *x = k.b.value(Opcode::RETYPE, {matrix_2x3(k, data)}, k.tile(INT32, {{N, 2}, {M, 3}}));
    k.store(k.matrix(out, 2, 3), x, {k.index(0), k.index(0)}, {{N, 2}, {M, 3}});
    k.run();
    EXPECT_EQ(out, data);
}

TEST(Shape, ExtractARow) {
    Kernel k;
    std::vector<int32_t> data, out(3);
    auto *row = k.extract(matrix_2x3(k, data), {at(0)}, {k.index(1)});
    k.store(k.vector(out), row, {k.index(0)}, {{at(1), 3}});
    k.run();
    EXPECT_EQ(out, (std::vector<int32_t>{3, 4, 5}));
}

TEST(Shape, ExtractAColumnAndAnElement) {
    Kernel k;
    std::vector<int32_t> data, out(3);
    auto *x = matrix_2x3(k, data);
    auto *view = k.vector(out);
    k.store(view, k.extract(x, {at(1)}, {k.index(2)}), {k.index(0)}, {{at(0), 2}});
    k.store(view, k.extract(x, {at(1), at(0)}, {k.index(1), k.index(1)}), {k.index(2)}, {});
    k.run();
    EXPECT_EQ(out, (std::vector<int32_t>{2, 5, 4}));
}

TEST(Shape, ExtractOutsideIsZeroOrTheFallback) {
    Kernel k;
    std::vector<int32_t> data, out(4, -1);
    auto *x = matrix_2x3(k, data);
    auto *view = k.vector(out);
    auto element = [&](int64_t r, int64_t c, ir::Value *fallback) {
        return k.extract(x, {at(0), at(1)}, {k.index(r), k.index(c)}, fallback);
    };
    auto *nine = k.full(INT32, {}, 9);
    k.store(view, element(2, 0, nullptr), {k.index(0)}, {});
    k.store(view, element(-1, 0, nine), {k.index(1)}, {});
    k.store(view, element(1, 3, nine), {k.index(2)}, {});
    k.store(view, element(1, 2, nine), {k.index(3)}, {});
    k.run();
    EXPECT_EQ(out, (std::vector<int32_t>{0, 9, 9, 5}));
}

TEST(Shape, ExtractOfARowOutsideUsesATileFallback) {
    Kernel k;
    std::vector<int32_t> data, out(3);
    auto *x = matrix_2x3(k, data);
    auto *fallback = k.b.value(Opcode::IOTA, {}, k.tile(INT32, {{at(1), 3}}));
    k.store(k.vector(out), k.extract(x, {at(0)}, {k.index(5)}, fallback), {k.index(0)},
            {{at(1), 3}});
    k.run();
    EXPECT_EQ(out, (std::vector<int32_t>{0, 1, 2}));
}

TEST(Shape, InsertLeavesTheOldValueAlone) {
    Kernel k;
    std::vector<int32_t> data, before(6), after(6);
    auto *x = matrix_2x3(k, data);
    auto *y = k.insert(x, k.full(INT32, {{at(1), 3}}, 9), {at(0)}, {k.index(0)});
    auto *z = k.insert(y, k.full(INT32, {}, 7), {at(0), at(1)}, {k.index(1), k.index(1)});
    k.store_all(k.matrix(before, 2, 3), x);
    k.store_all(k.matrix(after, 2, 3), z);
    k.run();
    EXPECT_EQ(before, data);
    EXPECT_EQ(after, (std::vector<int32_t>{9, 9, 9, 3, 7, 5}));
}

TEST(Shape, InsertOfAColumn) {
    Kernel k;
    std::vector<int32_t> data, out(6);
    auto *column = k.b.value(Opcode::IOTA, {}, k.tile(INT32, {{at(0), 2}}));
    auto *y = k.insert(matrix_2x3(k, data), column, {at(1)}, {k.index(2)});
    k.store_all(k.matrix(out, 2, 3), y);
    k.run();
    EXPECT_EQ(out, (std::vector<int32_t>{0, 1, 0, 3, 4, 1}));
}

TEST(Shape, InsertOutsideWritesNothing) {
    Kernel k;
    std::vector<int32_t> data, out(6);
    auto *nine = k.full(INT32, {{at(1), 3}}, 9);
    auto *y = k.insert(matrix_2x3(k, data), nine, {at(0)}, {k.index(2)});
    y = k.insert(y, nine, {at(0)}, {k.index(-1)});
    k.store_all(k.matrix(out, 2, 3), y);
    k.run();
    EXPECT_EQ(out, data);
}

TEST(Shape, ValidationReportsExtractOutside) {
    Kernel k;
    std::vector<int32_t> data;
    auto *x = matrix_2x3(k, data);
    k.b.loc = {"k.cpp", 12};
    k.extract(x, {at(1)}, {k.index(3)});
    k.options.validate = true;
    auto message = k.error<BoundsError>();
    EXPECT_TRUE(says(message, "k.cpp:12"));
    EXPECT_TRUE(says(message, "extract: coordinate 3 is outside axis 1 of [2, 3]"));
}

TEST(Shape, ValidationAcceptsAFallback) {
    Kernel k;
    std::vector<int32_t> data;
    auto *x = matrix_2x3(k, data);
    k.extract(x, {at(0), at(1)}, {k.index(3), k.index(0)}, k.full(INT32, {}, 1));
    k.options.validate = true;
    k.run();
}

TEST(Shape, ValidationReportsInsertOutside) {
    Kernel k;
    std::vector<int32_t> data;
    k.insert(matrix_2x3(k, data), k.full(INT32, {}, 1), {at(0), at(1)}, {k.index(0), k.index(-2)});
    k.options.validate = true;
    EXPECT_TRUE(says(k.error<BoundsError>(), "insert: coordinate -2 is outside axis 1"));
}

TEST(Shape, MapFlipsAndGathers) {
    Kernel k;
    std::vector<int32_t> data, out(6);
    auto *x = matrix_2x3(k, data);
    auto *y = k.map(x->type(), [&](const Values &i) {
        auto *column = k.op(Opcode::SUB, {k.index(2), i[1]});
        return k.extract(x, {at(0), at(1)}, {i[0], column});
    });
    k.store_all(k.matrix(out, 2, 3), y);
    k.run();
    EXPECT_EQ(out, (std::vector<int32_t>{2, 1, 0, 5, 4, 3}));
}

TEST(Shape, MapOverNothing) {
    Kernel k;
    std::vector<int32_t> out{1};
    auto *y = k.map(k.tile(INT32, {{at(0), 0}}),
                    [&](const Values &) { return k.full(INT32, {}, 5); });
    k.store(k.vector(out), y, {k.index(0)}, {{at(0), 0}});
    k.run();
    EXPECT_EQ(out[0], 1);
}

TEST(Shape, MapOfRankZero) {
    Kernel k;
    std::vector<int32_t> out{1};
    auto *y = k.map(k.tile(INT32, {}), [&](const Values &) { return k.full(INT32, {}, 5); });
    k.store(k.vector(out), y, {k.index(0)}, {});
    k.run();
    EXPECT_EQ(out[0], 5);
}

}// namespace

}// namespace luisa::tile::interpreter::test
