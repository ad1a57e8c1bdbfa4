// SPDX-License-Identifier: Apache-2.0
#include "layout/linear_search.h"

#include "layout/affine.h"

#include <algorithm>
#include <numeric>

namespace luisa::tile::core {

namespace {

Wide floor_div(Wide a, Wide b) { return a / b - ((a % b != 0) && ((a < 0) != (b < 0)) ? 1 : 0); }

class Search {
public:
    Search(const LinearSearch &problem, int64_t budget)
        : _problem{problem}, _budget{budget}, _order(problem.low.size()),
          _at(problem.low.size(), 0) {
        std::iota(_order.begin(), _order.end(), size_t{0});
        std::stable_sort(_order.begin(), _order.end(),
                         [&](size_t a, size_t b) { return largest(a) > largest(b); });
        for (auto t : problem.target) {
            _missing.push_back(t);
        }
        auto rows = problem.rows.size();
        _least.assign(_order.size() + 1, std::vector<Wide>(rows, 0));
        _most = _least;
        for (size_t i = _order.size(); i-- > 0;) {
            auto j = _order[i];
            for (size_t r = 0; r < rows; ++r) {
                Wide a = Wide{problem.rows[r][j]} * problem.low[j];
                Wide b = Wide{problem.rows[r][j]} * problem.high[j];
                _least[i][r] = _least[i + 1][r] + std::min(a, b);
                _most[i][r] = _most[i + 1][r] + std::max(a, b);
            }
        }
    }

    Proof run(IndexPoint &found) {
        bool any = search(0, _problem.nonzero);
        found = _at;
        return any ? Proof::DISPROVEN : _steps > _budget ? Proof::UNKNOWN : Proof::PROVEN;
    }

private:
    [[nodiscard]] Wide largest(size_t j) const {
        Wide most = 0;
        for (const auto &row : _problem.rows) {
            most = std::max(most, row[j] < 0 ? -Wide{row[j]} : Wide{row[j]});
        }
        return most;
    }

    /// The values of column i that the later ones can still complete to the target.
    [[nodiscard]] std::pair<Wide, Wide> range(size_t i, bool all_zero) const {
        auto j = _order[i];
        Wide low = _problem.low[j], high = _problem.high[j];
        if (all_zero) {
            low = std::max(low, Wide{0});
        }
        for (size_t r = 0; r < _problem.rows.size(); ++r) {
            Wide a = _problem.rows[r][j];
            Wide from = _missing[r] - _most[i + 1][r], to = _missing[r] - _least[i + 1][r];
            if (a == 0) {
                if (from > 0 || to < 0) {
                    return {1, 0};
                }
                continue;
            }
            if (a < 0) {
                std::swap(from, to);
            }
            low = std::max(low, -floor_div(-from, a));
            high = std::min(high, floor_div(to, a));
        }
        return {low, high};
    }

    void add(size_t j, Wide times) {
        for (size_t r = 0; r < _problem.rows.size(); ++r) {
            _missing[r] -= Wide{_problem.rows[r][j]} * times;
        }
    }

    bool search(size_t i, bool all_zero) {
        if (++_steps > _budget) {
            return false;
        }
        if (i == _order.size()) {
            return !all_zero &&
                   std::all_of(_missing.begin(), _missing.end(), [](Wide m) { return m == 0; }) &&
                   (!_problem.accepts || _problem.accepts(_at));
        }
        auto j = _order[i];
        auto [low, high] = range(i, all_zero);
        for (auto x = low; x <= high && _steps <= _budget; ++x) {
            _at[j] = static_cast<int64_t>(x);
            add(j, x);
            bool found = search(i + 1, all_zero && x == 0);
            add(j, -x);
            if (found) {
                return true;
            }
        }
        _at[j] = 0;
        return false;
    }

    const LinearSearch &_problem;
    int64_t _budget, _steps = 0;
    std::vector<size_t> _order;
    IndexPoint _at;
    std::vector<Wide> _missing;                  ///< of the target, by row
    std::vector<std::vector<Wide>> _least, _most;///< what columns from i on can add to a row
};

}// namespace

Proof LinearSearch::run(int64_t budget, IndexPoint &found) const {
    return Search{*this, budget}.run(found);
}

}// namespace luisa::tile::core
