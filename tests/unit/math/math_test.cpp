// SPDX-License-Identifier: Apache-2.0
#include "math/table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <thread>

#include "reference.h"
#include "sweep.h"
#include "vector_instance.h"

namespace luisa::tile::math {

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

float call(Function f, float x, float y = 0) {
    float a[2] = {x, y};
    return evaluate(f, a);
}

uint32_t bits_of(float x) { return std::bit_cast<uint32_t>(x); }

/// Bit equality, all NaNs equal.
bool same(float a, float b) { return bits_of(a) == bits_of(b) || (std::isnan(a) && std::isnan(b)); }

float run_f32(const Program &program, float x, float y) {
    uint64_t a[2] = {bits_of(x), bits_of(y)};
    return std::bit_cast<float>(static_cast<uint32_t>(run(program, a)));
}

class MathFunction : public testing::TestWithParam<int> {
protected:
    Function f = static_cast<Function>(GetParam());
};

/// Second arguments for a one-dimensional walk over the first.
float second_argument(uint64_t i) {
    constexpr float values[] = {0.5f,        2.0f, -1.0f, 3.0f,  10.0f, -0.5f,
                                1.0f / 3.0f, 0.1f, 1e-3f, -7.0f, 60.5f};
    return values[i % std::size(values)];
}

TEST_P(MathFunction, StrideIsWithinTheRecordedBound) {
    SweepResult r;
    uint64_t i = 0;
    for (uint64_t k = 0; k < (1ull << 32); k += 16411, i++) {
        float x = std::bit_cast<float>(static_cast<uint32_t>(k)), y = second_argument(i);
        double wide[2] = {x, y};
        account(r, static_cast<uint32_t>(k), call(f, x, y), reference(f, wide));
    }
    EXPECT_EQ(r.class_errors, 0u) << std::hex << r.first_class_error;
    EXPECT_LE(r.max_ulp, info(f).bound_ulp) << std::hex << r.worst;
    EXPECT_LE(r.max_ulp_subnormal, info(f).bound_ulp) << std::hex << r.worst_subnormal;
}

TEST_P(MathFunction, ProgramScalarAndVectorHaveTheSameBits) {
    const Program &p = program(f, ScalarType::FLOAT32);
    const Program &fast = fast_program(f, ScalarType::FLOAT32);
    double limit = fast_limit(f, ScalarType::FLOAT32);
    alignas(64) float x[8], y[8], out[8];
    for (uint64_t k = 0; k < (1ull << 32); k += 8 * 65521) {
        for (uint64_t i = 0; i < 8; i++) {
            x[i] = std::bit_cast<float>(static_cast<uint32_t>(k + i * 65521));
            y[i] = second_argument(k / 8 + i);
        }
        evaluate8(f, x, y, out);
        for (int i = 0; i < 8; i++) {
            float got = call(f, x[i], y[i]);
            ASSERT_TRUE(same(got, out[i]))
                << info(f).name << " vector " << std::hex << bits_of(x[i]);
            ASSERT_TRUE(same(got, run_f32(p, x[i], y[i])))
                << info(f).name << " program " << std::hex << bits_of(x[i]);
            if (std::fabs(x[i]) <= limit) {
                ASSERT_TRUE(same(got, run_f32(fast, x[i], y[i])))
                    << info(f).name << std::hex << bits_of(x[i]);
            }
        }
    }
}

TEST_P(MathFunction, WorstInputKeepsItsError) {
    if (info(f).arity != 1) {
        GTEST_SKIP() << "sampled, not swept";
    }
    float x = std::bit_cast<float>(info(f).worst_input);
    double wide[2] = {x, 0};
    SweepResult r;
    account(r, info(f).worst_input, call(f, x), reference_mpfr(f, wide));
    EXPECT_LE(std::fmax(r.max_ulp, r.max_ulp_subnormal), info(f).bound_ulp);
    EXPECT_GT(std::fmax(r.max_ulp, r.max_ulp_subnormal), info(f).bound_ulp - 0.01);
}

TEST_P(MathFunction, ProgramIsStraight) {
    for (ScalarType type : {ScalarType::FLOAT32, ScalarType::FLOAT64}) {
        if (!supports(f, type)) {
            continue;
        }
        const Program &p = program(f, type);
        ASSERT_LT(p.result, p.instructions.size());
        for (size_t i = 0; i < p.instructions.size(); i++) {
            const Instruction &in = p.instructions[i];
            for (int k = 0; k < operand_count(in.op); k++) {
                ASSERT_LT(in.operands[k], i);
            }
            if (in.op == Op::TABLE) {
                ASSERT_LT(in.immediate, p.tables.size());
            }
        }
        Kind kind = type == ScalarType::FLOAT32 ? Kind::F32 : Kind::F64;
        EXPECT_EQ(p.instructions[p.result].kind, kind);
    }
}

TEST_P(MathFunction, NameParses) {
    Function parsed{};
    ASSERT_TRUE(parse_function(info(f).name, parsed));
    EXPECT_EQ(parsed, f);
    EXPECT_FALSE(parse_function("no_such_function", parsed));
}

INSTANTIATE_TEST_SUITE_P(Math, MathFunction, testing::Range(0, static_cast<int>(function_count)),
                         [](const auto &p) {
                             return std::string(to_string(static_cast<Function>(p.param)));
                         });

struct SpecialValue {
    Function function;
    float x, expected;
};

TEST(MathSpecial, OneArgument) {
    using enum Function;
    const SpecialValue rows[] = {
        {EXP, inf, inf},
        {EXP, -inf, 0},
        {EXP, 0, 1},
        {EXP, -0.0f, 1},
        {EXP, 200, inf},
        {EXP, -200, 0},
        {EXP2, inf, inf},
        {EXP2, -inf, 0},
        {EXP2, -149, 0x1p-149f},
        {EXP2, 127, 0x1p127f},
        {EXP2, 128, inf},
        {EXPM1, -0.0f, -0.0f},
        {EXPM1, 0, 0},
        {EXPM1, inf, inf},
        {EXPM1, -inf, -1},
        {EXPM1, 0x1p-149f, 0x1p-149f},
        {LOG, 1, 0},
        {LOG, 0, -inf},
        {LOG, -0.0f, -inf},
        {LOG, -1, nan},
        {LOG, inf, inf},
        {LOG, -inf, nan},
        {LOG2, 8, 3},
        {LOG2, 0x1p-149f, -149},
        {LOG2, 0, -inf},
        {LOG2, -1, nan},
        {LOG2, 1, 0},
        {LOG2, inf, inf},
        {LOG10, 1000, 3},
        {LOG10, 1, 0},
        {LOG10, 0, -inf},
        {LOG10, -1, nan},
        {LOG10, inf, inf},
        {LOG1P, -1, -inf},
        {LOG1P, -2, nan},
        {LOG1P, 0, 0},
        {LOG1P, -0.0f, -0.0f},
        {LOG1P, inf, inf},
        {SIN, 0, 0},
        {SIN, -0.0f, -0.0f},
        {SIN, inf, nan},
        {SIN, -inf, nan},
        {COS, 0, 1},
        {COS, -inf, nan},
        {TAN, -0.0f, -0.0f},
        {TAN, inf, nan},
        {TANH, inf, 1},
        {TANH, -inf, -1},
        {TANH, -0.0f, -0.0f},
        {TANH, 0x1p-149f, 0x1p-149f},
        {ERF, inf, 1},
        {ERF, -inf, -1},
        {ERF, -0.0f, -0.0f},
        {ERFC, inf, 0},
        {ERFC, -inf, 2},
        {ERFC, 0, 1},
        {RSQRT, 0, inf},
        {RSQRT, -0.0f, -inf},
        {RSQRT, inf, 0},
        {RSQRT, -1, nan},
        {RSQRT, 4, 0.5f},
        {RSQRT, 0x1p-148f, 0x1p74f},
        {SIGMOID, 0, 0.5f},
        {SIGMOID, inf, 1},
        {SIGMOID, -inf, 0},
        {SILU, inf, inf},
        {SILU, -inf, -0.0f},
        {SILU, -0.0f, -0.0f},
        {SILU, 0, 0},
        {SILU, 1e38f, 1e38f},
        {GELU, inf, inf},
        {GELU, -inf, -0.0f},
        {GELU, -0.0f, -0.0f},
        {GELU, 0, 0},
        {GELU_TANH, inf, inf},
        {GELU_TANH, -inf, -0.0f},
        {GELU_TANH, 0, 0},
        {GELU_TANH, -0.0f, -0.0f},
        {SOFTPLUS, inf, inf},
        {SOFTPLUS, -inf, 0},
        {SOFTPLUS, 1e38f, 1e38f},
        {CBRT, 27, 3},
        {CBRT, -8, -2},
        {CBRT, -0.0f, -0.0f},
        {CBRT, -inf, -inf},
        {CBRT, 0x1p-147f, 0x1p-49f},
    };
    for (const SpecialValue &row : rows) {
        float got = call(row.function, row.x);
        EXPECT_TRUE(same(got, row.expected))
            << info(row.function).name << "(" << row.x << ") = " << got;
    }
    for (size_t f = 0; f < function_count; f++) {
        for (uint32_t bits : {0x7fc00000u, 0xffc00000u, 0x7f800001u, 0xffbfffffu}) {
            float got = call(static_cast<Function>(f), std::bit_cast<float>(bits), 2.0f);
            EXPECT_TRUE(std::isnan(got) && (bits_of(got) & 0x400000u))
                << info(static_cast<Function>(f)).name;
        }
    }
}

TEST(MathSpecial, PowAgreesWithTheCLibrary) {
    const float values[] = {
        0,       -0.0f,       1,        -1,        inf,   -inf,   nan,       0.5f,       -0.5f,
        2,       -2,          3,        -3,        2.5f,  -2.5f,  0x1p-149f, -0x1p-149f, 0x1p-126f,
        0x1p24f, 0x1p24f + 2, 16777215, -16777215, 1e38f, -1e38f, 3.4e38f};
    for (float x : values) {
        for (float y : values) {
            float got = call(Function::POW, x, y);
            auto want = static_cast<float>(
                std::pow(static_cast<double>(x), static_cast<double>(y)));
            EXPECT_TRUE(same(got, want))
                << "pow(" << x << ", " << y << ") = " << got << ", not " << want;
        }
    }
}

TEST(MathPow, RandomPairsAreWithinTheBound) {
    SweepResult r;
    uint64_t state = 1;
    auto random = [&] { return state = state * 6364136223846793005u + 1442695040888963407u; };
    for (int i = 0; i < 1000000; i++) {
        uint64_t u = random() >> 8;
        // Half of x log-uniform, half near 1; y so that the result spreads over the whole range.
        float x = i % 2 ? std::bit_cast<float>(static_cast<uint32_t>(u % 0x7f800000u))
                        : 1.0f + (static_cast<float>(u % 65536) - 32768.0f) * 0x1p-19f;
        double span = std::fabs(std::log2(static_cast<double>(x)));
        double target = static_cast<double>(random() >> 11) * 0x1p-53 * 304 - 152;
        auto y = static_cast<float>(target / std::fmax(span, 1e-6));
        double wide[2] = {x, y};
        account(r, bits_of(x), call(Function::POW, x, y), reference(Function::POW, wide));
    }
    EXPECT_EQ(r.class_errors, 0u) << std::hex << r.first_class_error;
    EXPECT_LE(std::fmax(r.max_ulp, r.max_ulp_subnormal), info(Function::POW).bound_ulp);
}

TEST(MathTable, ThreadsShareOneProgram) {
    const Program *seen[4];
    std::vector<std::thread> threads;
    for (const Program *&slot : seen) {
        threads.emplace_back([&slot] { slot = &program(Function::ERFC, ScalarType::FLOAT32); });
    }
    for (std::thread &t : threads) {
        t.join();
    }
    for (const Program *p : seen) {
        EXPECT_EQ(p, seen[0]);
    }
}

/// The way documented at Op::SCALE for targets without the instruction.
float scale_by_two_products(float a, float n) {
    auto pow2 = [](int k) { return std::bit_cast<float>((k + 127) << 23); };
    int i = std::max(std::min(static_cast<int>(n), 252), -252), h = i >> 1;
    return (a * pow2(h)) * pow2(i - h);
}

TEST(MathScale, TwoProductsDoTheSame) {
    Program p;
    p.instructions = {{Op::ARGUMENT, Kind::F32, {}, 0},
                      {Op::ARGUMENT, Kind::F32, {}, 1},
                      {Op::SCALE, Kind::F32, {0, 1}, 0}};
    p.result = 2;
    uint32_t state = 1;
    for (int n = -320; n <= 320; n++) {
        for (int k = 0; k < 200; k++) {
            state = state * 1664525u + 1013904223u;
            // Magnitudes from 2^-64 to 2^64, both signs.
            uint32_t bits = (state & 0x807fffffu) | ((63u + state % 128u) << 23);
            auto a = std::bit_cast<float>(bits), count = static_cast<float>(n);
            ASSERT_EQ(bits_of(run_f32(p, a, count)), bits_of(scale_by_two_products(a, count)))
                << a << " " << n;
        }
    }
}

TEST(MathTable, ExpIsShort) {
    size_t operations = 0;
    for (const Instruction &in : program(Function::EXP, ScalarType::FLOAT32).instructions) {
        operations += in.op != Op::CONSTANT && in.op != Op::ARGUMENT;
    }
    // Each of the two clamps is a compare and a select: one machine instruction. Rounding is two sums, as many steps
    // of a processor as its instruction for it takes.
    EXPECT_LE(operations, 16u);
}

}// namespace

}// namespace luisa::tile::math
