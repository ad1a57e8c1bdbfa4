// SPDX-License-Identifier: Apache-2.0
#include "runtime/overlap.h"

#include <algorithm>
#include <cstdio>

namespace luisa::tile::runtime {

namespace {

__extension__ using Wide = __int128;///< reach of any strides in any memory

/// One unknown of the equation: 0 <= x < count, weighted.
struct Term {
    Wide weight = 0;
    int64_t count = 1;
};

/// Is there a solution of sum(weight·x) == goal? Weights are positive, the largest first.
class Search {
public:
    void add(int64_t weight, int64_t count) noexcept {
        if (count <= 1 || weight == 0) {
            return;
        }
        // The sum of two unknowns of one weight is one unknown: rows of two parts of a matrix.
        for (int i = 0; i < _size; ++i) {
            if (_terms[i].weight == weight) {
                _terms[i].count += count - 1;
                return;
            }
        }
        _terms[_size++] = {weight, count};
    }
    bool solve(Wide goal, int steps) noexcept {
        std::sort(_terms, _terms + _size,
                  [](const Term &a, const Term &b) { return a.weight > b.weight; });
        for (int i = _size; i-- > 0;) {
            _reach[i] = _reach[i + 1] + _terms[i].weight * (_terms[i].count - 1);
        }
        _steps = steps;
        return solve_from(0, goal);
    }

private:
    static constexpr int most_terms = 2 * Argument::max_rank + 2;

    bool solve_from(int i, Wide goal) noexcept {
        if (goal < 0 || goal > _reach[i]) {
            return false;
        }
        if (goal == 0 || --_steps < 0) {
            return true;
        }
        // Values for which the smaller weights can still make up the rest.
        const auto &term = _terms[i];
        auto missing = goal - _reach[i + 1];
        Wide low = missing > 0 ? (missing + term.weight - 1) / term.weight : 0;
        Wide high = std::min<Wide>(goal / term.weight, term.count - 1);
        for (auto x = high; x >= low; --x) {
            if (solve_from(i + 1, goal - x * term.weight)) {
                return true;
            }
        }
        return false;
    }

    Term _terms[most_terms];
    Wide _reach[most_terms + 1] = {};
    int _size = 0;
    int _steps = 0;
};

void add_terms(Search &search, const Argument &view) noexcept {
    auto bytes = static_cast<int64_t>(size_of(view.type));
    for (int d = 0; d < view.rank; ++d) {
        search.add(std::abs(view.strides[d]) * bytes, view.extents[d]);
    }
    search.add(1, bytes);
}

}// namespace

ByteRange range_of(const Argument &view) noexcept {
    auto low = reinterpret_cast<uintptr_t>(view.data), high = low;
    auto bytes = static_cast<int64_t>(size_of(view.type));
    for (int d = 0; d < view.rank; ++d) {
        if (view.extents[d] == 0) {
            return {};
        }
        auto reach = (view.extents[d] - 1) * view.strides[d] * bytes;
        (reach < 0 ? low : high) += static_cast<uintptr_t>(reach);
    }
    return {low, high + static_cast<uintptr_t>(bytes)};
}

std::string range_text(const Argument &view) {
    auto range = range_of(view);
    char text[64];
    std::snprintf(text, sizeof text, "[0x%llx, 0x%llx)", static_cast<unsigned long long>(range.low),
                  static_cast<unsigned long long>(range.high));
    return text;
}

bool share_element(const Argument &a, const Argument &b, int steps) noexcept {
    auto x = range_of(a), y = range_of(b);
    if (x.low >= y.high || y.low >= x.high) {
        return false;
    }
    // Some byte of a at low_a + p equals one of b at high_b - 1 - q, with p and q sums of strides
    // times indices: p + q == high_b - 1 - low_a, where every weight is positive.
    Search search;
    add_terms(search, a);
    add_terms(search, b);
    return search.solve(static_cast<Wide>(y.high) - 1 - static_cast<Wide>(x.low), steps);
}

}// namespace luisa::tile::runtime
