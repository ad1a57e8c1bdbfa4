// SPDX-License-Identifier: Apache-2.0
#include "kernel.h"

namespace luisa::tile::interpreter::test {

namespace {

// A kernel that does nothing with a vector of 4, a matrix of ?s x 3 and a scalar.
struct Signature : testing::Test {
    Kernel k;
    std::vector<float> x = std::vector<float>(4), y = std::vector<float>(6);
    void SetUp() override {
        k.vector(x);
        ir::Type type;
        type.kind = ir::TypeKind::VIEW;
        type.read_only = true;
        type.axes = {{ir::runtime_value, "s"}, {3, ""}};
        k.module.add_argument(k.function->body, k.module.intern(type));
        k.function->parameter_names.push_back("p1");
        k.arguments.push_back({y.data(), {2, 3}, {3, 1}, 0});
        k.scalar(INT32, 5);
    }
};

TEST_F(Signature, Matches) { k.run(); }

TEST_F(Signature, TooFewArguments) {
    k.arguments.pop_back();
    auto message = k.error<CallError>();
    EXPECT_TRUE(says(message, "k: 2 arguments, not 3"));
    EXPECT_TRUE(says(message, "expected k(p0: view<f32, 4>, p1: view<const f32, ?sx3>, p2: i32)"));
    EXPECT_TRUE(says(message, "k.cpp:1"));
}

TEST_F(Signature, OtherRank) {
    k.arguments[0].extents = {2, 2};
    EXPECT_TRUE(says(k.error<CallError>(), "p0 has rank 2, not 1; expected k("));
}

TEST_F(Signature, OtherExtent) {
    k.arguments[0].extents = {5};
    EXPECT_TRUE(says(k.error<CallError>(), "extent 0 of p0 is 5, not 4"));
}

TEST_F(Signature, NegativeExtent) {
    k.arguments[1].extents[0] = -1;
    EXPECT_TRUE(says(k.error<CallError>(), "extent 0 of p1 is -1, which is negative"));
}

TEST_F(Signature, OtherStride) {
    k.arguments[0].strides = {2};
    EXPECT_TRUE(says(k.error<CallError>(), "stride 0 of p0 is 2, not 1"));
}

TEST_F(Signature, StridesOfAnotherRank) {
    k.arguments[0].strides = {1, 1};
    EXPECT_TRUE(says(k.error<CallError>(), "p0 has 2 strides for 1 extents"));
}

TEST_F(Signature, StrideOfOneElementIsFree) {
    k.arguments[1].extents = {1, 3};
    k.arguments[1].strides = {77, 1};
    k.run();
}

TEST_F(Signature, NoMemory) {
    k.arguments[1].data = nullptr;
    EXPECT_TRUE(says(k.error<CallError>(), "p1 has elements but no memory"));
}

TEST_F(Signature, NoMemoryForNothing) {
    k.arguments[1].data = nullptr;
    k.arguments[1].extents[0] = 0;
    k.run();
}

TEST(RuntimeExtents, EqualNamesMustAgree) {
    Kernel k;
    std::vector<float> x(4), y(5);
    k.dynamic_view(FLOAT32, x.data(), {"s"}, {4});
    k.dynamic_view(FLOAT32, y.data(), {"s"}, {5});
    EXPECT_TRUE(
        says(k.error<CallError>(), "extent 0 of p1 is 5, but extent 0 of p0, the same 's', is 4"));
}

TEST(RuntimeExtents, DifferentNamesAreFree) {
    Kernel k;
    std::vector<float> x(4), y(5);
    k.dynamic_view(FLOAT32, x.data(), {"s"}, {4});
    k.dynamic_view(FLOAT32, y.data(), {"t"}, {5});
    k.run();
}

TEST(RuntimeExtents, DecideTheDomainAndBounds) {
    for (int64_t extent : {0, 1, 7, 8, 9}) {
        Kernel k;
        std::vector<float> x(10, 1);
        auto *view = k.dynamic_view(FLOAT32, x.data(), {"s"}, {extent});
        auto *s = k.b.value(Opcode::EXTENT, {view}, k.module.scalar(INT64), ir::IndexPayload{0});
        auto *blocks = k.op(Opcode::CEIL_DIV, {s, k.index(4)});
        ir::NestPayload payload;
        payload.dims = {at(0)};
        k.nest(Opcode::PARALLEL, payload, {blocks}, {}, [&](const Values &i, const Values &) {
            auto *origin = k.op(Opcode::MUL, {i[0], k.index(4)});
            auto *tile = k.load(view, {origin}, {{at(0), 4}});
            k.store(view, k.op(Opcode::ADD, {tile, tile}), {origin}, {{at(0), 4}});
            return Values{};
        });
        k.options.validate = true;
        k.run();
        for (int64_t i = 0; i < 10; ++i) {
            EXPECT_EQ(x[size_t(i)], i < extent ? 2.0f : 1.0f) << extent << " " << i;
        }
    }
}

TEST(RuntimeStrides, AreThoseOfTheLaunch) {
    Kernel k;
    std::vector<int32_t> x{0, 1, 2, 3, 4, 5}, out(3);
    ir::Type type;
    type.kind = ir::TypeKind::VIEW;
    type.scalar = INT32;
    type.axes = {{3, ""}};
    type.strides = {ir::runtime_value};
    auto *view = k.module.add_argument(k.function->body, k.module.intern(type));
    k.function->parameter_names.push_back("p0");
    k.arguments.push_back({x.data(), {3}, {2}, 0});
    k.store_all(k.vector(out), k.load_all(view));
    k.run();
    EXPECT_EQ(out, (std::vector<int32_t>{0, 2, 4}));
}

TEST(ScalarArguments, IgnoreWhatLiesAboveTheirWidth) {
    Kernel k;
    std::vector<int64_t> out(1);
    auto *x = k.scalar(INT8, 0xabcdef80u);
    k.store(k.vector(out), k.b.cast(x, INT64), {k.index(0)}, {});
    k.run();
    EXPECT_EQ(out[0], -128);
}

TEST(ViewOfRankZero, LoadsAndStores) {
    Kernel k;
    float x = 2;
    auto *view = k.view(FLOAT32, &x, {});
    auto *value = k.load(view, {}, {});
    k.store(view, k.op(Opcode::ADD, {value, value}), {}, {});
    k.run();
    EXPECT_EQ(x, 4.0f);
}

}// namespace

}// namespace luisa::tile::interpreter::test
