// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace luisa::tile::test {

/// The balanced tree over `n` elements, one or more: split at the largest power of two below their number.
template<class T> T balanced_sum(const T *x, int64_t n) {
    if (n == 1) {
        return *x;
    }
    int64_t left = 1;
    while (2 * left < n) {
        left *= 2;
    }
    return balanced_sum(x, left) + balanced_sum(x + left, n - left);
}

}// namespace luisa::tile::test
