// SPDX-License-Identifier: Apache-2.0
#include "frontend/injective.h"

#include "frontend/index_expression.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

namespace luisa::tile::core {

namespace {

__extension__ using Wide = __int128;
using Proof = Injectivity::Proof;
using Rows = std::vector<std::vector<int64_t>>;

Wide floor_div(Wide a, Wide b) { return a / b - ((a % b != 0) && ((a < 0) != (b < 0)) ? 1 : 0); }

/// Searches for two points with one place: a difference d, not zero, with |d_j| < extent_j, that every row
/// sends to zero. Coordinates are tried from the largest coefficients down, so that what the others can still
/// add leaves few values.
class DifferenceSearch {
public:
    DifferenceSearch(const Rows &rows, const std::vector<int64_t> &extents)
        : _rows{rows}, _extents{extents}, _order(extents.size()), _at(extents.size(), 0),
          _partial(rows.size(), 0) {
        std::iota(_order.begin(), _order.end(), size_t{0});
        std::stable_sort(_order.begin(), _order.end(),
                         [&](size_t a, size_t b) { return largest(a) > largest(b); });
        _reach.assign(_order.size() + 1, std::vector<Wide>(rows.size(), 0));
        for (size_t i = _order.size(); i-- > 0;) {
            for (size_t r = 0; r < rows.size(); ++r) {
                Wide most = Wide{rows[r][_order[i]]} * (extents[_order[i]] - 1);
                _reach[i][r] = _reach[i + 1][r] + (most < 0 ? -most : most);
            }
        }
    }

    /// DISPROVEN with `difference()`, PROVEN, or UNKNOWN when the search is too long.
    Proof run() {
        bool found = search(0, true);
        return found ? Proof::DISPROVEN : _steps > proof_budget ? Proof::UNKNOWN : Proof::PROVEN;
    }
    [[nodiscard]] const std::vector<int64_t> &difference() const { return _at; }

private:
    [[nodiscard]] Wide largest(size_t j) const {
        Wide most = 0;
        for (const auto &row : _rows) {
            most = std::max(most, row[j] < 0 ? -Wide{row[j]} : Wide{row[j]});
        }
        return most;
    }

    /// The values of coordinate i that the later ones can still bring to zero.
    [[nodiscard]] std::pair<Wide, Wide> range(size_t i, bool all_zero) const {
        auto j = _order[i];
        // Of a difference and its opposite one is enough: the first that is not zero is positive.
        Wide high = _extents[j] - 1, low = all_zero ? Wide{0} : -high;
        for (size_t r = 0; r < _rows.size(); ++r) {
            Wide a = _rows[r][j], left = -_reach[i + 1][r] - _partial[r],
                 right = _reach[i + 1][r] - _partial[r];
            if (a == 0) {
                if (left > 0 || right < 0) {
                    return {1, 0};
                }
                continue;
            }
            auto from = a > 0 ? left : right, to = a > 0 ? right : left;
            low = std::max(low, -floor_div(-from, a));
            high = std::min(high, floor_div(to, a));
        }
        return {low, high};
    }

    bool search(size_t i, bool all_zero) {
        if (++_steps > proof_budget) {
            return false;
        }
        if (i == _order.size()) {
            return !all_zero &&
                   std::all_of(_partial.begin(), _partial.end(), [](Wide p) { return p == 0; });
        }
        auto j = _order[i];
        auto [low, high] = range(i, all_zero);
        for (auto d = low; d <= high && _steps <= proof_budget; ++d) {
            _at[j] = static_cast<int64_t>(d);
            for (size_t r = 0; r < _rows.size(); ++r) {
                _partial[r] += Wide{_rows[r][j]} * d;
            }
            bool found = search(i + 1, all_zero && d == 0);
            for (size_t r = 0; r < _rows.size(); ++r) {
                _partial[r] -= Wide{_rows[r][j]} * d;
            }
            if (found) {
                return true;
            }
        }
        _at[j] = 0;
        return false;
    }

    const Rows &_rows;
    const std::vector<int64_t> &_extents;
    std::vector<size_t> _order;
    std::vector<std::vector<Wide>> _reach;///< what coordinates from i on can add to a row
    std::vector<int64_t> _at;
    std::vector<Wide> _partial;
    int64_t _steps = 0;
};

/// The number of points, or nothing when it is beyond the budget.
std::optional<int64_t> points_of(const std::vector<int64_t> &extents) {
    int64_t count = 1;
    for (auto extent : extents) {
        if (extent == 0) {
            return 0;
        }
        if (__builtin_mul_overflow(count, extent, &count) || count > proof_budget) {
            return std::nullopt;
        }
    }
    return count;
}

bool is_empty(const std::vector<int64_t> &extents) {
    return std::any_of(extents.begin(), extents.end(), [](int64_t e) { return e == 0; });
}

bool advance(std::vector<int64_t> &at, const std::vector<int64_t> &extents) {
    for (size_t i = at.size(); i-- > 0;) {
        if (++at[i] < extents[i]) {
            return true;
        }
        at[i] = 0;
    }
    return false;
}

Injectivity try_all_points(const std::vector<IndexExpression> &places,
                           const std::vector<int64_t> &extents) {
    std::map<std::vector<int64_t>, std::vector<int64_t>> taken;
    std::vector<int64_t> at(extents.size(), 0), place(places.size());
    do {
        for (size_t i = 0; i < places.size(); ++i) {
            place[i] = places[i].evaluate(at);
        }
        auto [found, added] = taken.emplace(place, at);
        if (!added) {
            return {Proof::DISPROVEN, found->second, at};
        }
    } while (advance(at, extents));
    return {Proof::PROVEN, {}, {}};
}

}// namespace

std::string coordinates_text(const std::vector<int64_t> &point) {
    std::string text;
    for (auto c : point) {
        text += (text.empty() ? "(" : ", ") + std::to_string(c);
    }
    return text.empty() ? "()" : text + ")";
}

Injectivity prove_injective(const Rows &rows, const std::vector<int64_t> &extents) {
    if (is_empty(extents)) {
        return {Proof::PROVEN, {}, {}};
    }
    DifferenceSearch search{rows, extents};
    Injectivity result{search.run(), {}, {}};
    if (result.proof == Proof::DISPROVEN) {
        for (auto d : search.difference()) {
            result.first.push_back(d < 0 ? -d : 0);
            result.second.push_back(d < 0 ? 0 : d);
        }
    }
    return result;
}

Injectivity prove_injective(const std::vector<const ir::Value *> &coordinates,
                            const std::vector<int64_t> &extents) {
    if (is_empty(extents)) {
        return {Proof::PROVEN, {}, {}};
    }
    Rows rows;
    std::vector<IndexExpression> places;
    bool all_affine = true;
    for (const auto *coordinate : coordinates) {
        auto row = affine_row(coordinate, extents.size());
        all_affine &= row.has_value();
        if (row) {
            rows.push_back(*row);
        }
    }
    auto linear = prove_injective(rows, extents);
    if (linear.proof == Proof::PROVEN || (all_affine && linear.proof == Proof::DISPROVEN)) {
        return linear;
    }
    if (!points_of(extents)) {
        return {};
    }
    bool complete = true;
    for (const auto *coordinate : coordinates) {
        IndexExpression expression{coordinate};
        complete &= expression.is_known();
        if (expression.is_known()) {
            places.push_back(std::move(expression));
        }
    }
    auto tried = try_all_points(places, extents);
    return tried.proof == Proof::PROVEN || complete ? tried : Injectivity{};
}

}// namespace luisa::tile::core
