// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "../emit.h"

#include <luisa/tile.h>

#include <cmath>
#include <cstdio>

// What the lessons share: one printed line a checked number, and the exit status.

namespace lesson {

using namespace luisa::tile;
using example::emit_tir, example::print_tir;

/// Prints numbers beside what they should be, and remembers whether all of them were right.
class Check {
public:
    /// Right when `got` differs from `expected` by at most `tolerance`.
    void number(const char *what, double got, double expected, double tolerance = 0) {
        // Written so that a NaN is wrong.
        bool right = std::fabs(got - expected) <= tolerance;
        _right &= right;
        std::printf("%s: %g%s\n", what, got, right ? "" : " (wrong)");
        if (!right) {
            std::printf("  expected %.9g, within %g, got %.9g\n", expected, tolerance, got);
        }
    }
    void that(const char *what, bool holds) {
        _right &= holds;
        std::printf("%s: %s\n", what, holds ? "yes" : "no (wrong)");
    }
    [[nodiscard]] int status() const { return _right ? 0 : 1; }

private:
    bool _right = true;
};

}// namespace lesson
