// SPDX-License-Identifier: Apache-2.0
#include "runtime/overlap.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>

namespace luisa::tile::runtime {

namespace {

using Wide = Reach;

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

Reach reach_of(const Argument &view) noexcept {
    Reach reach = 1;
    for (int d = 0; d < view.rank; ++d) {
        auto stride = static_cast<Reach>(view.strides[d]);
        reach += std::max<int64_t>(view.extents[d] - 1, 0) * (stride < 0 ? -stride : stride);
    }
    return reach * static_cast<Reach>(size_of(view.type));
}

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

namespace {

/// Is there a difference of two places, not zero, that the strides map to zero?
class SelfSearch {
public:
    explicit SelfSearch(const Argument &view) noexcept : _view{view} {
        for (int d = 0; d < view.rank; ++d) {
            if (view.extents[d] > 1) {
                _axes[_size++] = d;
            }
        }
        std::sort(_axes, _axes + _size, [&](int a, int b) { return weight(a) > weight(b); });
        for (int i = _size; i-- > 0;) {
            _reach[i] = _reach[i + 1] + weight(_axes[i]) * (view.extents[_axes[i]] - 1);
            _divisor[i] = std::gcd(_divisor[i + 1], std::abs(view.strides[_axes[i]]));
        }
    }

    SelfOverlap run(int steps) noexcept {
        _steps = steps;
        SelfOverlap overlap;
        for (int lead = 0; lead < _size && !overlap.found; ++lead) {
            auto w = weight(_axes[lead]);
            if (w > _reach[lead + 1]) {
                continue;// the smaller strides cannot make up for one step of this one
            }
            auto count = _view.extents[_axes[lead]];
            for (int64_t x = 1; x < count && w * x <= _reach[lead + 1] && _steps >= 0; ++x) {
                _difference[lead] = x;
                if (solve(lead + 1, w * x)) {
                    overlap = places(lead);
                    break;
                }
            }
        }
        return overlap;
    }

private:
    [[nodiscard]] Wide weight(int d) const noexcept {
        auto stride = static_cast<Wide>(_view.strides[d]);
        return stride < 0 ? -stride : stride;
    }

    /// Do the axes from the i-th on sum up to -goal?
    bool solve(int i, Wide goal) noexcept {
        auto size = goal < 0 ? -goal : goal;
        if (size > _reach[i] || --_steps < 0) {
            return false;
        }
        if (i == _size) {
            return true;// nothing is left of the goal, see _reach
        }
        if (_divisor[i] != 0 && goal % _divisor[i] != 0) {
            return false;
        }
        auto w = weight(_axes[i]);
        auto most = static_cast<Wide>(_view.extents[_axes[i]] - 1);
        // Only values after which the rest is within the reach of the smaller strides.
        auto low = w == 0 ? 0 : std::max<Wide>(-most, -((goal + _reach[i + 1]) / w));
        auto high = w == 0 ? 0 : std::min<Wide>(most, (_reach[i + 1] - goal) / w);
        for (auto x = low; x <= high; ++x) {
            _difference[i] = static_cast<int64_t>(x);
            if (solve(i + 1, goal + w * x)) {
                return true;
            }
            if (_steps < 0) {
                return false;
            }
        }
        return false;
    }

    [[nodiscard]] SelfOverlap places(int lead) const noexcept {
        SelfOverlap overlap;
        overlap.found = true;
        for (int i = lead; i < _size; ++i) {
            auto d = _axes[i];
            auto x = _view.strides[d] < 0 ? -_difference[i] : _difference[i];
            (x > 0 ? overlap.second : overlap.first)[d] = x > 0 ? x : -x;
        }
        auto count = _view.rank;
        if (std::lexicographical_compare(overlap.second, overlap.second + count, overlap.first,
                                         overlap.first + count)) {
            std::swap(overlap.first, overlap.second);
        }
        return overlap;
    }

    const Argument &_view;
    int _axes[Argument::max_rank] = {};
    int64_t _difference[Argument::max_rank] = {};
    Wide _reach[Argument::max_rank + 1] = {};///< of the axes from here on
    int64_t _divisor[Argument::max_rank + 1] = {};
    int _size = 0;
    int _steps = 0;
};

}// namespace

SelfOverlap find_self_overlap(const Argument &view, int steps) noexcept {
    for (int d = 0; d < view.rank; ++d) {
        if (view.extents[d] == 0) {
            return {};
        }
    }
    return SelfSearch{view}.run(steps);
}

std::string overlap_text(const Argument &view, const SelfOverlap &overlap) {
    auto list = [&](const int64_t *numbers) {
        std::string text;
        for (int d = 0; d < view.rank; ++d) {
            text += (d ? ", " : "") + std::to_string(numbers[d]);
        }
        return text;
    };
    return "elements (" + list(overlap.first) + ") and (" + list(overlap.second) +
           ") share an address (strides " + list(view.strides) + ")";
}

}// namespace luisa::tile::runtime
