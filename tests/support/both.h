// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/kernel.h>

#include "compile/cpu.h"
#include "frontend/kernel_access.h"
#include "interpreter/interpreter.h"
#include "types/convert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

// Runs a captured kernel on the interpreter and on the CPU back end (or others, see emulated.h) and compares every
// element of every view, padding included. Templates here only convert: what they share is compiled once.

namespace luisa::tile::test {

/// One view argument: elements in a buffer with room around them.
struct View {
    ScalarType type = ScalarType::FLOAT32;
    std::vector<int64_t> extents, strides;
    std::vector<uint8_t> bytes;
    int64_t origin = 0;///< element (0, …, 0) in the buffer

    [[nodiscard]] int64_t count() const;
};

std::vector<int64_t> dense_strides(const std::vector<int64_t> &extents);

/// A dense view of `type` that repeats `count` elements of `size` bytes from `values`.
View dense_bytes(ScalarType type, std::vector<int64_t> extents, const void *values, size_t count,
                 size_t size);

/// A dense view holding `values` (converted to the element type), cyclically.
template<class T> View dense(std::vector<int64_t> extents, const std::vector<T> &values) {
    return dense_bytes(scalar_type_of<T>, std::move(extents), values.data(), values.size(),
                       sizeof(T));
}

/// The numbers that the views below are filled with: floats in [-1, 1); integers in [-range, range].
inline constexpr int random_count = 1021;
void random_floats(uint32_t seed, float (&values)[random_count]);
void random_integers(uint32_t seed, int range, int (&values)[random_count]);

/// Random floats in [-1, 1), rounded to T.
template<class T = float> View random_view(std::vector<int64_t> extents, uint32_t seed) {
    float numbers[random_count];
    T values[random_count];
    random_floats(seed, numbers);
    for (int i = 0; i < random_count; ++i) {
        values[i] = static_cast<T>(numbers[i]);
    }
    return dense_bytes(scalar_type_of<T>, std::move(extents), values, random_count, sizeof(T));
}

/// `x` as T. A negative one wraps in an unsigned T; from a float that would be undefined.
template<class T> T small_integer(int x) {
    if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(x);
    } else {
        return static_cast<T>(static_cast<float>(x));
    }
}

/// Small integers in [-range, range] as T: sums of them are exact.
template<class T = float>
View integer_view(std::vector<int64_t> extents, uint32_t seed, int range = 3) {
    int numbers[random_count];
    T values[random_count];
    random_integers(seed, range, numbers);
    for (int i = 0; i < random_count; ++i) {
        values[i] = small_integer<T>(numbers[i]);
    }
    return dense_bytes(scalar_type_of<T>, std::move(extents), values, random_count, sizeof(T));
}

/// A view of sentinels for an output.
template<class T = float> View output_view(std::vector<int64_t> extents) {
    T sentinel = small_integer<T>(-77);
    return dense_bytes(scalar_type_of<T>, std::move(extents), &sentinel, 1, sizeof(T));
}

struct Scalars {
    std::vector<uint64_t> bits;
};
inline uint64_t bits_of(float x) {
    uint32_t u = 0;
    std::memcpy(&u, &x, 4);
    return u;
}
inline uint64_t bits_of(int64_t x) { return static_cast<uint64_t>(x); }

KernelArgument argument_of(View &v);

/// Arguments in signature order: views where the parameter is a view, scalars elsewhere.
std::vector<KernelArgument> arguments_of(const ir::Module &module, std::vector<View> &views,
                                         const std::vector<uint64_t> &scalars);

void run_cpu(const compiler::CpuKernel &kernel, const std::vector<KernelArgument> &arguments);

double element_value(const View &v, size_t i);

/// Element number `i` of the buffer.
inline double at(const View &v, int64_t i) { return element_value(v, static_cast<size_t>(i)); }

/// Equal bits, any NaN equal to any NaN; or within `tolerance` relative to max(1, |expected|).
::testing::AssertionResult same(const View &expected, const View &got, double tolerance,
                                size_t which);

struct BothOptions {
    double tolerance = 0;///< 0: equal bits
    bool may_alias = false;
    std::optional<target::CpuFacts> facts;///< what the planner is told of the CPU
    /// Which of the results that the kernel allows comes out is a matter of the order of instances: back ends that
    /// run several at a time, or in a random order, are left out.
    bool one_at_a_time = false;
};

/// Runs `kernel` on both back ends from equal inputs and compares all views. Returns what the interpreter left.
std::vector<View> run_both(const Kernel &kernel, std::vector<View> views,
                           std::vector<uint64_t> scalars = {}, BothOptions options = {});

}// namespace luisa::tile::test
