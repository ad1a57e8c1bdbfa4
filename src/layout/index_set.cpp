// SPDX-License-Identifier: Apache-2.0
#include "layout/points.h"

#include <algorithm>

namespace luisa::tile {

namespace core {

std::string tuple_text(const IndexPoint &values, char open, char close) {
    std::string text{open};
    for (size_t i = 0; i < values.size(); ++i) {
        text += (i ? ", " : "") + std::to_string(values[i]);
    }
    return text + close;
}

bool advance(IndexPoint &at, const IndexPoint &extents) {
    for (size_t i = at.size(); i-- > 0;) {
        if (++at[i] < extents[i]) {
            return true;
        }
        at[i] = 0;
    }
    return false;
}

bool in_box(const IndexPoint &point, const IndexPoint &extents) {
    if (point.size() != extents.size()) {
        return false;
    }
    for (size_t i = 0; i < point.size(); ++i) {
        if (point[i] < 0 || point[i] >= extents[i]) {
            return false;
        }
    }
    return true;
}

}// namespace core

IndexSet::IndexSet(IndexPoint extents) : _extents{std::move(extents)} {
    for (auto extent : _extents) {
        if (extent < 0) {
            throw_error(ErrorKind::VALUE, "an index set has the extents " +
                                              core::tuple_text(_extents) +
                                              "; an extent is at least 0");
        }
    }
}

IndexSet IndexSet::restricted_to(const IndexExpr &condition) const {
    auto out = *this;
    out._condition = _condition ? *_condition && condition : condition;
    return out;
}

bool IndexSet::contains(const IndexPoint &point) const {
    return core::in_box(point, _extents) && (!_condition || _condition->at(point).value_or(0) != 0);
}

bool IndexSet::box_is_empty() const noexcept {
    return std::any_of(_extents.begin(), _extents.end(), [](int64_t e) { return e == 0; });
}

std::optional<int64_t> IndexSet::box_size() const {
    if (box_is_empty()) {
        return 0;
    }
    int64_t size = 1;
    for (auto extent : _extents) {
        if (__builtin_mul_overflow(size, extent, &size) || size > int64_t{1} << 62) {
            return std::nullopt;
        }
    }
    return size;
}

std::vector<IndexPoint> IndexSet::points() const {
    auto size = box_size();
    if (!size || *size > layout_proof_budget) {
        throw_error(ErrorKind::VALUE, "the index set " + text() +
                                          " has more points than can be listed; the limit is " +
                                          std::to_string(layout_proof_budget));
    }
    std::vector<IndexPoint> all;
    IndexPoint at(rank(), 0);
    if (*size > 0) {
        do {
            if (contains(at)) {
                all.push_back(at);
            }
        } while (core::advance(at, _extents));
    }
    return all;
}

std::string IndexSet::text() const {
    auto text = core::tuple_text(_extents, '[', ']');
    if (_condition) {
        text.pop_back();
        text += (rank() ? " | " : "| ") + _condition->text() + "]";
    }
    return text;
}

IndexExpr IndexSet::arity(size_t axis, size_t taken) const {
    if (taken != rank()) {
        throw_error(ErrorKind::SHAPE, "a lambda of " + std::to_string(taken) +
                                          " coordinates over the index set " + text() +
                                          "; it takes one a dimension");
    }
    return IndexExpr::coordinate(axis);
}

bool operator==(const IndexSet &a, const IndexSet &b) {
    return a._extents == b._extents && a._condition.has_value() == b._condition.has_value() &&
           (!a._condition || a._condition->text() == b._condition->text());
}

const char *to_string(Proof proof) noexcept {
    switch (proof) {
        case Proof::PROVEN: return "proven";
        case Proof::DISPROVEN: return "disproven";
        default: return "unknown";
    }
}

std::string LayoutProof::text() const {
    const std::pair<const char *, const Claim *> claims[] = {{"totality", &totality},
                                                             {"bounds", &bounds},
                                                             {"injectivity", &injectivity},
                                                             {"surjectivity", &surjectivity}};
    std::string text;
    for (const auto &[name, claim] : claims) {
        text += (text.empty() ? "" : ", ") + std::string{name} + " " + to_string(claim->proof);
        for (size_t i = 0; i < claim->witness.size(); ++i) {
            text += (i ? " and " : " by ") + core::tuple_text(claim->witness[i]);
        }
    }
    return text;
}

}// namespace luisa::tile
