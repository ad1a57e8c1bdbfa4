// SPDX-License-Identifier: Apache-2.0
#include "frontend/injective.h"

#include "frontend/index_expression.h"
#include "layout/linear_search.h"

#include <algorithm>
#include <map>
#include <optional>

namespace luisa::tile::core {

namespace {

using Proof = Injectivity::Proof;
using Rows = std::vector<std::vector<int64_t>>;

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
    // Two points share a place when a difference, not zero, is sent to zero by every row.
    LinearSearch search{rows, {}, {}, IndexPoint(rows.size(), 0), true, nullptr};
    for (auto extent : extents) {
        search.low.push_back(1 - extent);
        search.high.push_back(extent - 1);
    }
    IndexPoint difference;
    Injectivity result{Proof::UNKNOWN, {}, {}};
    switch (search.run(proof_budget, difference)) {
        case tile::Proof::PROVEN: result.proof = Proof::PROVEN; break;
        case tile::Proof::UNKNOWN: break;
        case tile::Proof::DISPROVEN:
            result.proof = Proof::DISPROVEN;
            for (auto d : difference) {
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
