// SPDX-License-Identifier: Apache-2.0
#include "unit/frontend/programs.h"

#include <gtest/gtest.h>

#include <thread>

namespace luisa::tile {
namespace {

using namespace test::programs;

TEST(Capture, EveryProgramIsCapturedTheSameTwice) {
    for (const auto &program : all()) {
        SCOPED_TRACE(program.name);
        std::string first, second;
        ASSERT_NO_THROW(first = program.capture().ir_text());
        second = program.capture().ir_text();
        EXPECT_EQ(first, second);
        EXPECT_FALSE(first.empty());
    }
}

TEST(Capture, TextOfEveryProgramReadsBackAsItself) {
    for (const auto &program : all()) {
        SCOPED_TRACE(program.name);
        auto text = program.capture().ir_text();
        std::string again;
        ASSERT_NO_THROW(again = parse_kernel(text, program.name).ir_text()) << text;
        EXPECT_EQ(again, text);
    }
}

TEST(Capture, ThreadsAreIndependent) {
    auto expected = softmax(5, 37).ir_text();
    std::string texts[2];
    std::thread other{[&] { texts[0] = softmax(5, 37).ir_text(); }};
    texts[1] = softmax(5, 37).ir_text();
    other.join();
    EXPECT_EQ(texts[0], expected);
    EXPECT_EQ(texts[1], expected);
}

/// Parts of the text of one small kernel over two vectors of 8.
template<class F> std::string captured_text(const F &f) {
    return tile_kernel([=](TensorView<const float, 1> X, TensorView<float, 1> Y) { f(X, Y); })
        .capture(tensor_shape(8), tensor_shape(8))
        .ir_text();
}
bool has(const std::string &text, const char *part) { return text.find(part) != std::string::npos; }

TEST(StateInference, StateThatNothingReadsIsPruned) {
    auto text = captured_text([](const auto &X, const auto &Y) {
        auto n = axis("n", 8);
        auto live = zeros<float>(shape(n)), dead = zeros<float>(shape(n));
        for ([[maybe_unused]] auto &s : serial(shape(4))) {
            live = live + X[coord(0), shape(n)];
            dead = dead * 2.0f;
        }
        Y(coord(0), shape(n)).store(live);
    });
    EXPECT_FALSE(has(text, "mul")) << text;
    EXPECT_TRUE(has(text, "yield %")) << text;
}

TEST(StateInference, ReadOnlyOuterValueIsNoState) {
    auto text = captured_text([](const auto &X, const auto &Y) {
        auto n = axis("n", 8);
        auto x = X[coord(0), shape(n)];
        for ([[maybe_unused]] auto &s : serial(shape(4))) {
            Y(coord(0), shape(n)).store(x);
        }
    });
    EXPECT_FALSE(has(text, "yield %")) << text;
}

TEST(StateInference, AssignmentMatchesDimensionsAsASet) {
    EXPECT_NO_THROW(captured_text([](const auto &X, const auto &) {
        auto m = axis("m", 8), n = axis("n", 4);
        auto a = full<float>(shape(m, n), 1.0f);
        auto b = full<float>(shape(n, m), 2.0f) * X[coord(0), shape(m)];
        a = b;
    }));
}

TEST(Canonical, UnusedWorkIsDropped) {
    auto text = captured_text([](const auto &X, const auto &Y) {
        auto n = axis("n", 8);
        auto x = X[coord(0), shape(n)];
        (void)exp(x);
        Y(coord(0), shape(n)).store(x);
    });
    EXPECT_FALSE(has(text, "exp")) << text;
}

}// namespace
}// namespace luisa::tile
