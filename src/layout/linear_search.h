// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/layout.h>

#include <functional>

namespace luisa::tile::core {

/// The search for integers x, one a column, low <= x <= high, with rows * x = target. Each entry times its bound
/// must fit in 64 bits. Columns are tried from the largest coefficients down, so that what the others can still
/// add leaves few values.
struct LinearSearch {
    std::vector<IndexPoint> rows;
    IndexPoint low, high;
    IndexPoint target;
    bool nonzero = false;///< x = 0 is no answer, and of x and -x one is enough
    std::function<bool(const IndexPoint &x)> accepts;///< null: any answer will do

    /// PROVEN: there is none. DISPROVEN: `found` is one. UNKNOWN: after `budget` steps.
    Proof run(int64_t budget, IndexPoint &found) const;
};

}// namespace luisa::tile::core
