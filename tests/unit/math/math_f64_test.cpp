// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

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
    {Function::EXP, -745.2, 709.8},   {Function::EXP2, -1075, 1024}, {Function::EXPM1, -40, 709.8},
    {Function::LOG, 0.4, 2.5},        {Function::LOG2, 0.4, 2.5},    {Function::LOG10, 0.4, 2.5},
    {Function::LOG1P, -0.9999, 3},    {Function::SIN, -100, 100},    {Function::COS, -100, 100},
    {Function::TAN, -100, 100},       {Function::TANH, -20, 20},     {Function::ERF, -6, 6},
    {Function::ERFC, -6, 27.3},       {Function::RSQRT, 0, 4},       {Function::SIGMOID, -746, 40},
    {Function::SILU, -755, 40},       {Function::GELU, -38.6, 10},   {Function::GELU_TANH, -22, 10},
    {Function::SOFTPLUS, -745.2, 45}, {Function::CBRT, 0.1, 9},
};

TEST(MathF64, SamplesAreWithinTheBound) {
    const char *count = std::getenv("MATH_F64_SAMPLES");
    int samples = count ? std::atoi(count) : 3000;
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

TEST(MathF64, EveryFunctionHasAProgram) {
    EXPECT_EQ(std::size(ranges) + 1, function_count);// and pow
    for (size_t i = 0; i < function_count; i++) {
        auto f = static_cast<Function>(i);
        EXPECT_TRUE(supports(f, ScalarType::FLOAT32));
        EXPECT_TRUE(supports(f, ScalarType::FLOAT64));
        EXPECT_FALSE(supports(f, ScalarType::FLOAT16));
        EXPECT_GE(info(f).bound_ulp_f64, 0.5);
    }
}

TEST(MathF64, PowersAreWithinTheBound) {
    const char *count = std::getenv("MATH_F64_SAMPLES");
    int samples = count ? std::atoi(count) : 20000;
    std::mt19937_64 engine{11};
    std::uniform_real_distribution<double> unit{0, 1};
    double worst = 0, at[2]{};
    for (int i = 0; i < samples; i++) {
        // Results spread over the whole range; every third x is near 1.
        double x = i % 3 == 0 ? 1 + (unit(engine) - 0.5) * 0x1p-20
                              : std::exp2(unit(engine) * 2100 - 1074);
        double limit = 1100 / std::fabs(std::log2(x));
        double y = i % 3 == 1 ? std::rint(unit(engine) * 40 - 20) : (unit(engine) * 2 - 1) * limit;
        double a[2] = {i % 3 == 1 && i % 2 ? -x : x, y};
        uint64_t bits[2] = {std::bit_cast<uint64_t>(a[0]), std::bit_cast<uint64_t>(a[1])};
        double got = evaluate(Function::POW, a);
        ASSERT_TRUE(run(program(Function::POW, ScalarType::FLOAT64), bits) ==
                        std::bit_cast<uint64_t>(got) ||
                    got != got);
        double error = ulp_error_f64(Function::POW, a, got);
        if (!(error <= worst)) {
            worst = error;
            at[0] = a[0];
            at[1] = a[1];
        }
    }
    EXPECT_LE(worst, info(Function::POW).bound_ulp_f64) << at[0] << " ^ " << at[1];
    if (count) {
        std::printf("pow %.4f at %a %a\n", worst, at[0], at[1]);
    }
}

TEST(MathF64, PowersOfSpecialValuesAreThoseOfTheCLibrary) {
    const double values[] = {0.0,    -0.0,    1,          -1,          0.5,         -0.5,
                             2,      -2,      3,          -3,          inf,         -inf,
                             1e300,  -1e300,  1e-300,     -1e-300,     0x1p-1074,   -0x1p-1074,
                             0x1p53, -0x1p53, 0x1p53 - 1, 1 - 0x1p-53, 1 + 0x1p-52, std::nan(""),
                             1023,   -1074,   -1075};
    for (double x : values) {
        for (double y : values) {
            double a[2] = {x, y};
            double got = evaluate(Function::POW, a), expected = reference_mpfr(Function::POW, a);
            if (std::isnan(expected) || std::isnan(got)) {
                EXPECT_EQ(std::isnan(expected), std::isnan(got)) << x << " ^ " << y;
            } else if (expected == 0 || std::isinf(expected) || expected == 1) {
                EXPECT_EQ(std::bit_cast<uint64_t>(got), std::bit_cast<uint64_t>(expected))
                    << x << " ^ " << y;
            } else {
                EXPECT_LE(ulp_error_f64(Function::POW, a, got), 1) << x << " ^ " << y;
            }
        }
    }
}

TEST(MathF64, ReducesAnglesNearMultiplesOfAQuarterTurn) {
    // The nearest to a multiple of pi/2 is 0x1.6ac5b262ca1ffp+849; the others are near small ones.
    double near[] = {0x1.6ac5b262ca1ffp+849,
                     0x1.921fb54442d18p+0,
                     0x1.921fb54442d18p+1,
                     0x1.2d97c7f3321d2p+2,
                     0x1.f6a7a2955385ep+2,
                     0x1.921fb54442d18p-1,
                     0x1.fffffffffffffp+1023,
                     0x1p+1023,
                     0x1p53,
                     0.78,
                     0x1.8f5c28f5c28f5p-1,
                     0x1p-1074,
                     0x1p-27,
                     0x1.fffffffffffffp-28};
    for (double x : near) {
        for (double signed_x : {x, -x}) {
            for (auto f : {Function::SIN, Function::COS, Function::TAN}) {
                EXPECT_LE(ulp_error_f64(f, signed_x, call(f, signed_x)), info(f).bound_ulp_f64)
                    << info(f).name << " " << signed_x;
            }
        }
    }
    for (int k = 1; k < 3000; k++) {
        double x = k * 0x1.921fb54442d18p+0;
        for (auto f : {Function::SIN, Function::COS, Function::TAN}) {
            EXPECT_LE(ulp_error_f64(f, x, call(f, x)), info(f).bound_ulp_f64) << x;
        }
    }
}

TEST(MathF64, SpecialValues) {
    using enum Function;
    const struct {
        Function function;
        double x, expected;
    } rows[] = {
        {EXP, inf, inf},
        {EXP, -inf, 0},
        {EXP, 0, 1},
        {EXP, 710, inf},
        {EXP, -746, 0},
        {EXP2, -1074, 0x1p-1074},
        {EXP2, 1024, inf},
        {EXP2, -inf, 0},
        {LOG, 1, 0},
        {LOG, 0, -inf},
        {LOG, -0.0, -inf},
        {LOG, inf, inf},
        {TANH, inf, 1},
        {TANH, -inf, -1},
        {TANH, -0.0, -0.0},
        {TANH, 0x1p-1074, 0x1p-1074},
        {RSQRT, 0, inf},
        {RSQRT, -0.0, -inf},
        {RSQRT, inf, 0},
        {SIGMOID, inf, 1},
        {SIGMOID, -inf, 0},
        {SILU, inf, inf},
        {SILU, -inf, -0.0},
        {SILU, -0.0, -0.0},
        {SILU, 1e300, 1e300},
        {EXPM1, inf, inf},
        {EXPM1, -inf, -1},
        {EXPM1, -0.0, -0.0},
        {EXPM1, 0x1p-1074, 0x1p-1074},
        {EXPM1, -1e300, -1},
        {EXPM1, 710, inf},
        {LOG2, 0x1p-1074, -1074},
        {LOG2, 8, 3},
        {LOG2, -0.0, -inf},
        {LOG2, inf, inf},
        {LOG10, 1e22, 22},
        {LOG10, 1, 0},
        {LOG10, 0, -inf},
        {LOG10, inf, inf},
        {LOG1P, -1, -inf},
        {LOG1P, -0.0, -0.0},
        {LOG1P, inf, inf},
        {LOG1P, 0x1p-1074, 0x1p-1074},
        {SIN, -0.0, -0.0},
        {SIN, 0, 0},
        {COS, -0.0, 1},
        {TAN, -0.0, -0.0},
        {ERF, inf, 1},
        {ERF, -inf, -1},
        {ERF, -0.0, -0.0},
        {ERF, 7, 1},
        {ERFC, inf, 0},
        {ERFC, -inf, 2},
        {ERFC, -0.0, 1},
        {ERFC, 28, 0},
        {GELU, inf, inf},
        {GELU, -inf, -0.0},
        {GELU, -0.0, -0.0},
        {GELU, 1e300, 1e300},
        {GELU, -1e300, -0.0},
        {GELU_TANH, inf, inf},
        {GELU_TANH, -inf, -0.0},
        {GELU_TANH, -0.0, -0.0},
        {GELU_TANH, 1e300, 1e300},
        {GELU_TANH, -1e300, -0.0},
        {SOFTPLUS, inf, inf},
        {SOFTPLUS, -inf, 0},
        {SOFTPLUS, 1e300, 1e300},
        {SOFTPLUS, -1e300, 0},
        {CBRT, -0.0, -0.0},
        {CBRT, -inf, -inf},
        {CBRT, 27, 3},
        {CBRT, -0x1p-1074, -0x1p-358},
    };
    for (const auto &row : rows) {
        EXPECT_EQ(std::bit_cast<uint64_t>(call(row.function, row.x)),
                  std::bit_cast<uint64_t>(row.expected))
            << info(row.function).name << " " << row.x;
    }
    EXPECT_TRUE(std::isnan(call(LOG, -1.0)));
    EXPECT_TRUE(std::isnan(call(RSQRT, -1.0)));
    for (auto f : {LOG2, LOG10}) {
        EXPECT_TRUE(std::isnan(call(f, -0x1p-1074)));
    }
    EXPECT_TRUE(std::isnan(call(LOG1P, std::nextafter(-1.0, -2.0))));
    for (auto f : {SIN, COS, TAN}) {
        EXPECT_TRUE(std::isnan(call(f, inf)) && std::isnan(call(f, -inf)));
    }
    for (const Range &row : ranges) {
        EXPECT_TRUE(std::isnan(call(row.function, std::nan(""))));
    }
}

}// namespace

}// namespace luisa::tile::math
