// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "math/table.h"
#include "reference.h"

namespace luisa::tile::math {

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

double call(Function f, double x) { return evaluate(f, &x); }

double run_f64(Function f, double x) {
    uint64_t a = std::bit_cast<uint64_t>(x);
    return std::bit_cast<double>(run(program(f, ScalarType::FLOAT64), &a));
}

struct Range {
    Function function;
    double low, high;
};

/// Where the function varies; the log-uniform sample covers the rest.
constexpr Range ranges[] = {
    {Function::EXP, -745.2, 709.8}, {Function::EXP2, -1075, 1024}, {Function::LOG, 0.4, 2.5},
    {Function::TANH, -20, 20},      {Function::RSQRT, 0, 4},       {Function::SIGMOID, -746, 40},
    {Function::SILU, -755, 40},
};

TEST(MathF64, SamplesAreWithinTheBound) {
    const char *count = std::getenv("MATH_F64_SAMPLES");
    int samples = count ? std::atoi(count) : 8000;
    for (const Range &row : ranges) {
        uint64_t state = 7;
        double worst = 0, worst_x = 0;
        for (int i = 0; i < samples; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            uint64_t u = state ^ (state >> 29);
            double t = static_cast<double>(u >> 11) * 0x1p-53;
            double x = i % 4 == 0   ? std::bit_cast<double>(u)
                       : i % 4 == 1 ? (t * 2 - 1) * std::fmin(1, row.high)
                                    : row.low + t * (row.high - row.low);
            double got = call(row.function, x), again = run_f64(row.function, x);
            ASSERT_TRUE(std::bit_cast<uint64_t>(got) == std::bit_cast<uint64_t>(again) ||
                        got != got)
                << x;
            double error = ulp_error_f64(row.function, x, got);
            if (error > worst) {
                worst = error;
                worst_x = x;
            }
        }
        EXPECT_LE(worst, info(row.function).bound_ulp_f64)
            << info(row.function).name << " at " << worst_x;
        if (count) {
            std::printf("%-8s %.4f at %a\n", info(row.function).name, worst, worst_x);
        }
    }
}

TEST(MathF64, SupportIsAsTheTableSays) {
    size_t supported = 0;
    for (size_t i = 0; i < function_count; i++) {
        auto f = static_cast<Function>(i);
        EXPECT_TRUE(supports(f, ScalarType::FLOAT32));
        EXPECT_FALSE(supports(f, ScalarType::FLOAT16));
        EXPECT_EQ(supports(f, ScalarType::FLOAT64), info(f).bound_ulp_f64 > 0);
        supported += supports(f, ScalarType::FLOAT64);
    }
    EXPECT_EQ(supported, std::size(ranges));
}

TEST(MathF64, SpecialValues) {
    using enum Function;
    const struct {
        Function function;
        double x, expected;
    } rows[] = {
        {EXP, inf, inf},      {EXP, -inf, 0},
        {EXP, 0, 1},          {EXP, 710, inf},
        {EXP, -746, 0},       {EXP2, -1074, 0x1p-1074},
        {EXP2, 1024, inf},    {EXP2, -inf, 0},
        {LOG, 1, 0},          {LOG, 0, -inf},
        {LOG, -0.0, -inf},    {LOG, inf, inf},
        {TANH, inf, 1},       {TANH, -inf, -1},
        {TANH, -0.0, -0.0},   {TANH, 0x1p-1074, 0x1p-1074},
        {RSQRT, 0, inf},      {RSQRT, -0.0, -inf},
        {RSQRT, inf, 0},      {SIGMOID, inf, 1},
        {SIGMOID, -inf, 0},   {SILU, inf, inf},
        {SILU, -inf, -0.0},   {SILU, -0.0, -0.0},
        {SILU, 1e300, 1e300},
    };
    for (const auto &row : rows) {
        EXPECT_EQ(std::bit_cast<uint64_t>(call(row.function, row.x)),
                  std::bit_cast<uint64_t>(row.expected))
            << info(row.function).name << " " << row.x;
    }
    EXPECT_TRUE(std::isnan(call(LOG, -1.0)));
    EXPECT_TRUE(std::isnan(call(RSQRT, -1.0)));
    for (const Range &row : ranges) {
        EXPECT_TRUE(std::isnan(call(row.function, std::nan(""))));
    }
}

}// namespace

}// namespace luisa::tile::math
