// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "fuzz/case.h"
#include "fuzz/random.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace luisa::tile::fuzz {

/// What is known of a value when the program is made.
struct Fact {
    /// Every element is an integer in [low, high]; infinite where nothing is known. Sums of such
    /// floats are exact in any order as long as they stay below the type's `exact_limit`.
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
    bool pinned = true;///< the bits of its NaNs are specified, so they may be looked at

    [[nodiscard]] bool known() const noexcept {
        return low > -std::numeric_limits<double>::infinity() &&
               high < std::numeric_limits<double>::infinity();
    }
    [[nodiscard]] double magnitude() const noexcept { return std::max(-low, high); }
};

/// Of a value of which nothing is known.
[[nodiscard]] inline Fact anything(const ir::Value *v) {
    Fact f;
    f.pinned = !is_float(v->scalar());
    return f;
}
/// What is known of a value that is one of two.
[[nodiscard]] inline Fact either(const Fact &a, const Fact &b) {
    return {std::min(a.low, b.low), std::max(a.high, b.high), a.pinned && b.pinned};
}

/// The largest n such that all integers in [-n, n] (unsigned: [0, n]) are values of the type.
[[nodiscard]] double exact_limit(ScalarType type) noexcept;

/// Makes one valid random program after another choice of `random`. The same random numbers give
/// the same case on every machine.
[[nodiscard]] Case generate(Random random);

}// namespace luisa::tile::fuzz
