// SPDX-License-Identifier: Apache-2.0
// half and bfloat16: all 65,536 inputs, computed in f32 and rounded once.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "math/table.h"
#include "reference.h"

namespace luisa::tile::math {

namespace {

/// A narrow format: significand bits with the hidden one, the exponents of its smallest and largest
/// normal numbers.
struct Format {
    const char *name;
    int precision, min_exponent, max_exponent;
};
constexpr Format half{"half", 11, -14, 15};
constexpr Format bfloat{"bfloat16", 8, -126, 127};

/// The value of an encoding.
double decode(const Format &f, uint32_t bits) {
    int field = static_cast<int>(bits >> (f.precision - 1)) & ((1 << (16 - f.precision)) - 1);
    auto fraction = static_cast<double>(bits & ((1u << (f.precision - 1)) - 1));
    double sign = bits & 0x8000u ? -1 : 1;
    if (field == (1 << (16 - f.precision)) - 1) {
        return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
    }
    double whole = field == 0 ? 0 : std::ldexp(1.0, f.precision - 1);
    int exponent = (field == 0 ? 1 : field) + f.min_exponent - 1;
    return sign * std::ldexp(whole + fraction, exponent - f.precision + 1);
}

int unit_exponent(const Format &f, double x) {
    return std::max(std::ilogb(x), f.min_exponent) - f.precision + 1;
}

/// x rounded to nearest even in the format; overflow gives infinity.
double round_to(const Format &f, double x) {
    if (x == 0 || !std::isfinite(x)) {
        return x;
    }
    int unit = unit_exponent(f, x);
    double r = std::ldexp(std::nearbyint(std::ldexp(x, -unit)), unit);
    return std::fabs(r) >= std::ldexp(2.0, f.max_exponent) ? std::copysign(HUGE_VAL, x) : r;
}

double error_in_units(const Format &f, double got, double exact) {
    double top = std::ldexp(2.0, f.max_exponent);
    if (std::fabs(exact) >= top || std::isinf(got)) {
        // An infinity stands for the number after the largest.
        double g = std::isinf(got) ? std::copysign(top, got) : got,
               e = std::fabs(exact) >= top ? std::copysign(top, exact) : exact;
        return std::ldexp(std::fabs(g - e), f.precision - 1 - f.max_exponent);
    }
    return std::ldexp(std::fabs(got - exact), -unit_exponent(f, exact));
}

class MathNarrow : public testing::TestWithParam<int> {};

TEST_P(MathNarrow, AllInputsAreWithinHalfAUnit) {
    auto f = static_cast<Function>(GetParam());
    for (const Format &format : {half, bfloat}) {
        double worst = 0;
        uint32_t worst_bits = 0;
        for (uint32_t bits = 0; bits < 65536; bits++) {
            double wide[2] = {decode(format, bits), 0.75};
            float x[2] = {static_cast<float>(wide[0]), 0.75f};
            double got = round_to(format, evaluate(f, x)), exact = reference(f, wide);
            if (std::isnan(exact) || std::isinf(exact) || exact == 0) {
                ASSERT_TRUE(got == exact || (std::isnan(got) && std::isnan(exact)))
                    << std::hex << bits;
                continue;
            }
            double error = error_in_units(format, got, exact);
            if (error > worst) {
                worst = error;
                worst_bits = bits;
            }
        }
        EXPECT_LE(worst, 0.501) << info(f).name << " " << format.name << " " << std::hex
                                << worst_bits;
    }
}

INSTANTIATE_TEST_SUITE_P(Math, MathNarrow, testing::Range(0, static_cast<int>(function_count)),
                         [](const auto &p) {
                             return std::string(to_string(static_cast<Function>(p.param)));
                         });

}// namespace

}// namespace luisa::tile::math
