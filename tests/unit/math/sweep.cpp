// SPDX-License-Identifier: Apache-2.0
// The exhaustive sweeps are disabled tests, as each takes from 10 s (built for AVX-512) to minutes on all cores:
//   --gtest_also_run_disabled_tests --gtest_filter='*AllInputs/exp'
// Compile this folder and src/math with -O3 -march=native -ffp-contract=off to run them.
#include "sweep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "reference.h"
#include "vector_instance.h"
#include "vector_lanes.h"

namespace luisa::tile::math {

namespace {

void account_finite(SweepResult &r, uint32_t bits, float got, double exact) {
    // An infinite result stands for 2^128, the float after the largest.
    double value = std::isinf(got) ? std::copysign(0x1p128, got) : static_cast<double>(got);
    double clipped = std::fabs(exact) >= 0x1p128 ? std::copysign(0x1p128, exact) : exact;
    int exponent = std::min(std::max(std::ilogb(clipped), -126), 127);
    double error = std::ldexp(std::fabs(value - clipped), 23 - exponent);
    bool subnormal = std::fabs(exact) < 0x1p-126;
    double &max = subnormal ? r.max_ulp_subnormal : r.max_ulp;
    if (error > max) {
        max = error;
        (subnormal ? r.worst_subnormal : r.worst) = bits;
    }
    r.misrounded += got != static_cast<float>(exact);
    r.above_one += error > 1.0;
}

}// namespace

void account(SweepResult &r, uint32_t bits, float got, double exact) {
    bool quiet = (std::bit_cast<uint32_t>(got) & 0x400000u) != 0;
    bool wrong;
    if (std::isnan(exact) || std::isnan(got)) {
        wrong = !(std::isnan(exact) && std::isnan(got) && quiet);
    } else if (std::isinf(exact) || exact == 0) {
        wrong = static_cast<double>(got) != exact || std::signbit(got) != std::signbit(exact);
    } else {
        wrong = std::signbit(got) != std::signbit(exact);
        account_finite(r, bits, got, exact);
    }
    if (wrong && r.class_errors++ == 0) {
        r.first_class_error = bits;
    }
}

namespace {

/// The eight errors in ULP if all results and references are ordinary (finite, results normal);
/// false otherwise.
bool ordinary_errors(const float *got, const double *exact, Vector<double>::V &error) {
    using V = Vector<double>::V;
    using M = Vector<int64_t>::V;
    V e, g;
    Vector<float>::V f;
    __builtin_memcpy(&e, exact, sizeof e);
    __builtin_memcpy(&f, got, sizeof f);
    g = __builtin_convertvector(f, V);
    M magnitude = (M)e & INT64_MAX, got_magnitude = (M)g & INT64_MAX;
    constexpr int64_t low = (1023 - 126LL) << 52, high = (1023 + 127LL) << 52;
    M bad = (magnitude < low) | (magnitude >= high) | (got_magnitude >= high) | (((M)e ^ (M)g) < 0);
    V unit = (V)((2046LL << 52) - ((magnitude & (2047LL << 52)) - (23LL << 52)));
    error = (V)((M)((g - e) * unit) & INT64_MAX);
    int64_t any = 0;
    for (int i = 0; i < vector_width; i++) {
        any |= bad[i];
    }
    return any == 0;
}

}// namespace

namespace {

/// Every `step`-th input in [first, last), with `second` as the other argument.
SweepResult sweep_part(Function function, uint64_t first, uint64_t last, uint64_t step,
                       float second) {
    SweepResult r;
    alignas(64) float x[8], y[8], got[8];
    alignas(64) double wide[8], wide_y[8], exact[8];
    for (int i = 0; i < 8; i++) {
        y[i] = second;
        wide_y[i] = second;
    }
    for (uint64_t k = first; k < last; k += 8 * step) {
        for (uint64_t i = 0; i < 8; i++) {
            x[i] = std::bit_cast<float>(static_cast<uint32_t>(k + i * step));
            wide[i] = x[i];
        }
        evaluate8(function, x, y, got);
        reference8(function, wide, wide_y, exact);
        Vector<double>::V error;
        bool ordinary = ordinary_errors(got, exact, error);
        for (uint64_t i = 0; i < 8 && k + i * step < last; i++) {
            auto bits = static_cast<uint32_t>(k + i * step);
            if (!ordinary) {
                account(r, bits, got[i], exact[i]);
            } else if (error[i] > 0.5) {
                r.misrounded++;
                r.above_one += error[i] > 1.0;
                if (error[i] > r.max_ulp) {
                    r.max_ulp = error[i];
                    r.worst = bits;
                }
            } else if (error[i] > r.max_ulp) {
                r.max_ulp = error[i];
                r.worst = bits;
            }
        }
    }
    return r;
}

/// What was found in inputs after those of `r`.
void merge(SweepResult &r, const SweepResult &next) {
    if (next.max_ulp > r.max_ulp) {
        r.max_ulp = next.max_ulp;
        r.worst = next.worst;
    }
    if (next.max_ulp_subnormal > r.max_ulp_subnormal) {
        r.max_ulp_subnormal = next.max_ulp_subnormal;
        r.worst_subnormal = next.worst_subnormal;
    }
    if (r.class_errors == 0) {
        r.first_class_error = next.first_class_error;
    }
    r.class_errors += next.class_errors;
    r.misrounded += next.misrounded;
    r.above_one += next.above_one;
}

}// namespace

SweepResult sweep(Function function, uint64_t first, uint64_t step, float second) {
    constexpr uint64_t end = 1ull << 32;
    auto count = (end - first + step - 1) / step;
    uint64_t parts = std::max(1u, std::thread::hardware_concurrency());
    // Groups of eight stay together, whatever the number of threads.
    auto share = (count / parts + 8) / 8 * 8 * step;
    std::vector<SweepResult> results(parts);
    std::vector<std::thread> threads;
    for (uint64_t i = 0; i < parts; i++) {
        threads.emplace_back([&, i] {
            auto begin = std::min(end, first + i * share);
            results[i] = sweep_part(function, begin, std::min(end, begin + share), step, second);
        });
    }
    SweepResult all;
    for (uint64_t i = 0; i < parts; i++) {
        threads[i].join();
        merge(all, results[i]);
    }
    return all;
}

namespace {

class MathSweep : public testing::TestWithParam<int> {};

double error_by_mpfr(Function f, uint32_t bits) {
    float x[2] = {std::bit_cast<float>(bits), 0};
    double wide[2] = {x[0], 0};
    SweepResult one;
    account(one, bits, evaluate(f, x), reference_mpfr(f, wide));
    return std::fmax(one.max_ulp, one.max_ulp_subnormal);
}

TEST_P(MathSweep, DISABLED_AllInputs) {
    auto f = static_cast<Function>(GetParam());
    const char *step = std::getenv("MATH_SWEEP_STEP");
    SweepResult r = sweep(f, 0, step ? std::strtoull(step, nullptr, 10) : 1);
    std::printf("%-9s | %.4f at %08x (mpfr %.4f) | subnormal %.4f at %08x (mpfr %.4f) | above 1: "
                "%llu | misrounded %llu "
                "| class errors %llu first %08x\n",
                info(f).name, r.max_ulp, r.worst, error_by_mpfr(f, r.worst), r.max_ulp_subnormal,
                r.worst_subnormal, error_by_mpfr(f, r.worst_subnormal),
                static_cast<unsigned long long>(r.above_one),
                static_cast<unsigned long long>(r.misrounded),
                static_cast<unsigned long long>(r.class_errors), r.first_class_error);
    std::fflush(stdout);
    EXPECT_EQ(r.class_errors, 0u);
    EXPECT_LE(std::fmax(r.max_ulp, r.max_ulp_subnormal), info(f).bound_ulp);
}

void print_pow(const char *what, const SweepResult &r) {
    std::printf("pow %-7s | %.4f at %08x | subnormal %.4f at %08x | misrounded %llu | class errors "
                "%llu first %08x\n",
                what, r.max_ulp, r.worst, r.max_ulp_subnormal, r.worst_subnormal,
                static_cast<unsigned long long>(r.misrounded),
                static_cast<unsigned long long>(r.class_errors), r.first_class_error);
    EXPECT_EQ(r.class_errors, 0u);
    EXPECT_LE(std::fmax(r.max_ulp, r.max_ulp_subnormal), info(Function::POW).bound_ulp);
}

TEST(MathSweepPow, DISABLED_EveryXForSomeY) {
    const char *step = std::getenv("MATH_SWEEP_STEP");
    for (float y : {0.5f, -0.5f, 1.0f / 3.0f, 2.0f, 3.0f, -1.0f, 10.0f, 0.1f}) {
        SweepResult r = sweep(Function::POW, 0, step ? std::strtoull(step, nullptr, 10) : 1, y);
        print_pow(std::to_string(y).c_str(), r);
    }
}

std::vector<int> one_argument() {
    std::vector<int> list;
    for (size_t i = 0; i < function_count; i++) {
        if (info(static_cast<Function>(i)).arity == 1) {
            list.push_back(static_cast<int>(i));
        }
    }
    return list;
}

INSTANTIATE_TEST_SUITE_P(Math, MathSweep, testing::ValuesIn(one_argument()), [](const auto &p) {
    return std::string(to_string(static_cast<Function>(p.param)));
});

}// namespace

}// namespace luisa::tile::math
