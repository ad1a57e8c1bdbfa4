// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/scalar_type.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

// An independent model of the narrow formats: the value of each code from the definition, and
// rounding as a search for the nearest one. Shares no code with src/types.

namespace luisa::tile::test {

using enum ScalarType;

struct Model {
    ScalarType type;
    int exponent_bits, fraction_bits, bias;
    bool has_infinity;
    uint64_t nan;

    [[nodiscard]] int width() const { return 1 + exponent_bits + fraction_bits; }
    [[nodiscard]] uint64_t sign() const { return uint64_t{1} << (exponent_bits + fraction_bits); }

    /// The value of a code, as the format's definition has it.
    [[nodiscard]] double value(uint64_t code) const {
        auto s = (code & sign()) != 0 ? -1.0 : 1.0;
        auto m = code & (sign() - 1);
        auto e = static_cast<int>(m >> fraction_bits);
        auto f = static_cast<double>(m & ((uint64_t{1} << fraction_bits) - 1));
        auto all_ones = (1 << exponent_bits) - 1;
        if (has_infinity && e == all_ones) {
            return f == 0 ? s * std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
        }
        if (!has_infinity && m == sign() - 1) {
            return std::numeric_limits<double>::quiet_NaN();
        }
        auto significand = e == 0 ? f : std::ldexp(1.0, fraction_bits) + f;
        return s * std::ldexp(significand, std::max(e, 1) - bias - fraction_bits);
    }
    [[nodiscard]] uint64_t largest_finite() const {
        auto code = sign() - 1;
        while (!std::isfinite(value(code))) {
            code--;
        }
        return code;
    }
    /// Code `k` is right for magnitudes between the bounds [k - 1] and [k]; the last is where
    /// overflow begins. A magnitude on a bound goes to the even one of its neighbours.
    [[nodiscard]] std::vector<double> upper_bounds() const {
        std::vector<double> bounds;
        auto last = largest_finite();
        for (auto k = uint64_t{0}; k <= last; k++) {
            auto here = value(k);
            auto next = k < last ? value(k + 1) : here + (here - value(k - 1));
            bounds.emplace_back(here + (next - here) / 2);
        }
        return bounds;
    }
    /// The code beyond all bounds.
    [[nodiscard]] uint64_t overflow_code(bool saturate) const {
        return saturate ? largest_finite() : has_infinity ? largest_finite() + 1 : nan;
    }
};

inline const Model models[] = {
    {FLOAT16, 5, 10, 15, true, 0x7fff},
    {BFLOAT16, 8, 7, 127, true, 0x7fff},
    {FLOAT8_E4M3FN, 4, 3, 7, false, 0x7f},
    {FLOAT8_E5M2, 5, 2, 15, true, 0x7f},
};

/// Rounds by bisection over the bounds.
class Rounder {
public:
    explicit Rounder(const Model &model) : _model{model}, _bounds{model.upper_bounds()} {}
    [[nodiscard]] uint64_t operator()(double x, bool saturate = false) const {
        if (std::isnan(x)) {
            return _model.nan;
        }
        auto sign = std::signbit(x) ? _model.sign() : 0;
        auto magnitude = std::fabs(x);
        auto low = size_t{0};
        auto high = _bounds.size();
        while (low < high) {// the first code whose bound is not below
            auto middle = (low + high) / 2;
            auto above = magnitude > _bounds[middle] ||
                         (magnitude == _bounds[middle] && (middle & 1u) != 0);
            (above ? low : high) = above ? middle + 1 : middle;
        }
        return sign | (low == _bounds.size() ? _model.overflow_code(saturate) : low);
    }
    [[nodiscard]] const std::vector<double> &bounds() const { return _bounds; }

private:
    Model _model;
    std::vector<double> _bounds;
};

/// A small generator, so that a failure can be replayed from its seed.
struct Random {
    uint64_t state;
    uint64_t operator()() {// splitmix64
        auto z = (state += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
};

inline uint64_t bits_of(float x) { return std::bit_cast<uint32_t>(x); }
inline uint64_t bits_of(double x) { return std::bit_cast<uint64_t>(x); }
inline float float_of(uint64_t x) { return std::bit_cast<float>(static_cast<uint32_t>(x)); }
inline double double_of(uint64_t x) { return std::bit_cast<double>(x); }

inline constexpr ScalarType all_types[] = {BOOL,     INT8,    INT16,   INT32,         INT64,
                                           UINT8,    UINT16,  UINT32,  UINT64,        FLOAT16,
                                           BFLOAT16, FLOAT32, FLOAT64, FLOAT8_E4M3FN, FLOAT8_E5M2};

}// namespace luisa::tile::test
