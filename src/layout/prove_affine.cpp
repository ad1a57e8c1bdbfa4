// SPDX-License-Identifier: Apache-2.0
#include "layout/affine.h"
#include "layout/linear_search.h"
#include "layout/points.h"

#include <algorithm>
#include <set>

namespace luisa::tile::core {

namespace {

using Claim = LayoutProof::Claim;

class AffineProver {
public:
    AffineProver(const Affine &map, const IndexPoint &extents, const IndexPoint &codomain)
        : _map{map}, _extents{extents}, _codomain{codomain}, _box{digits_of(map, extents)} {
        for (size_t o = 0; o < codomain.size(); ++o) {
            _extremes.push_back(extremes_of(map, extents, o));
        }
    }

    LayoutProof run() {
        LayoutProof out;
        out.totality.proof = Proof::PROVEN;
        out.bounds = bounds();
        out.injectivity = injectivity();
        _bounded = out.bounds.proof == Proof::PROVEN;
        _injective = out.injectivity.proof == Proof::PROVEN;
        out.surjectivity = surjectivity();
        return out;
    }

private:
    Claim bounds() const {
        for (size_t o = 0; o < _codomain.size(); ++o) {
            if (_extremes[o].low < 0) {
                return {Proof::DISPROVEN, {_extremes[o].lowest}};
            }
            if (_extremes[o].high >= _codomain[o]) {
                return {Proof::DISPROVEN, {_extremes[o].highest}};
            }
        }
        return {Proof::PROVEN, {}};
    }

    LinearSearch problem() const {
        LinearSearch out;
        for (size_t o = 0; o < _codomain.size(); ++o) {
            IndexPoint row;
            for (const auto &digit : _box.digits) {
                row.push_back(digit.stride[o]);
            }
            out.rows.push_back(row);
        }
        return out;
    }

    /// The point whose digits these are; other digits are zero.
    IndexPoint point_of(const IndexPoint &digits) const {
        IndexPoint at(_extents.size(), 0);
        for (size_t j = 0; j < digits.size(); ++j) {
            at[_box.digits[j].coordinate] += _box.digits[j].lower * digits[j];
        }
        return at;
    }

    /// A difference d of digits has a pair of points exactly when the pair with the smallest digits lies in the
    /// box, for a coordinate grows with each of its digits.
    Claim injectivity() const {
        auto search = problem();
        search.nonzero = true;
        search.target.assign(_codomain.size(), 0);
        for (const auto &digit : _box.digits) {
            search.low.push_back(1 - digit.extent);
            search.high.push_back(digit.extent - 1);
        }
        auto pair = [this](const IndexPoint &d) {
            IndexPoint a, b;
            for (auto x : d) {
                a.push_back(std::max<int64_t>(-x, 0));
                b.push_back(std::max<int64_t>(x, 0));
            }
            return std::pair{point_of(a), point_of(b)};
        };
        if (_box.any_ragged()) {
            search.accepts = [&](const IndexPoint &d) {
                auto [a, b] = pair(d);
                return in_box(a, _extents) && in_box(b, _extents);
            };
        }
        IndexPoint found;
        auto proof = search.run(layout_proof_budget, found);
        if (proof != Proof::DISPROVEN) {
            return {proof, {}};
        }
        auto [a, b] = pair(found);
        return {Proof::DISPROVEN, {a, b}};
    }

    /// Whether nothing is sent to `image`: PROVEN says so.
    Proof missed(const IndexPoint &image, int64_t budget) const {
        auto search = problem();
        for (size_t o = 0; o < image.size(); ++o) {
            Wide target = Wide{image[o]} - _map.offset[o];
            if (target > INT64_MAX || target < INT64_MIN) {
                return Proof::UNKNOWN;
            }
            search.target.push_back(static_cast<int64_t>(target));
        }
        for (const auto &digit : _box.digits) {
            search.low.push_back(0);
            search.high.push_back(digit.extent - 1);
        }
        if (_box.any_ragged()) {
            search.accepts = [&](const IndexPoint &digits) {
                return in_box(point_of(digits), _extents);
            };
        }
        IndexPoint found;
        return search.run(budget, found);
    }

    /// Whether each digit moves one output at most and takes all its values: outputs are then independent.
    bool separable() const {
        return !_box.any_ragged() &&
               std::all_of(_box.digits.begin(), _box.digits.end(), [](const Digit &digit) {
                   return std::count(digit.stride.begin(), digit.stride.end(), 0) + 1 >=
                          static_cast<int64_t>(digit.stride.size());
               });
    }

    /// The first value of an output that no digits add up to, counted from its least one; beyond the last one if
    /// there is no gap. With the steps in ascending order a gap opens where a step is more than one beyond
    /// what the smaller ones reach.
    Wide first_gap(size_t output) const {
        std::vector<std::pair<Wide, int64_t>> steps;
        for (const auto &digit : _box.digits) {
            Wide step = digit.stride[output];
            if (step != 0) {
                steps.emplace_back(step < 0 ? -step : step, digit.extent);
            }
        }
        std::sort(steps.begin(), steps.end());
        Wide reach = 0;
        for (const auto &[step, extent] : steps) {
            if (step > reach + 1) {
                break;
            }
            reach += step * (extent - 1);
        }
        return _extremes[output].low + reach + 1;
    }

    Claim separable_surjectivity() const {
        IndexPoint image;
        for (const auto &e : _extremes) {
            auto first = std::clamp<Wide>(e.low, 0, INT64_MAX);
            image.push_back(static_cast<int64_t>(first));
        }
        bool all = true;
        for (size_t o = 0; o < _codomain.size(); ++o) {
            auto miss = [&](Wide value) {
                auto at = IndexPoint(_codomain.size(), 0);
                at[o] = static_cast<int64_t>(value);
                return Claim{Proof::DISPROVEN, {at}};
            };
            if (_extremes[o].low > 0) {
                return miss(0);
            }
            if (_extremes[o].high < _codomain[o] - 1) {
                return miss(_codomain[o] - 1);
            }
            auto gap = first_gap(o);
            if (gap < _codomain[o] && gap >= 0) {
                return miss(gap);
            }
            all &= gap >= _codomain[o];
        }
        return {all ? Proof::PROVEN : Proof::UNKNOWN, {}};
    }

    /// Points that a map that is not onto is likely to miss: corners, the places right after each digit, and
    /// those of coordinates right after the box.
    std::set<IndexPoint> candidates() const {
        std::set<IndexPoint> out{IndexPoint(_codomain.size(), 0)};
        IndexPoint last;
        for (auto e : _codomain) {
            last.push_back(e - 1);
        }
        out.insert(last);
        auto add = [&](const IndexPoint &steps, int64_t times) {
            IndexPoint at;
            for (size_t o = 0; o < steps.size(); ++o) {
                Wide value = Wide{steps[o]} * times + _map.offset[o];
                if (value < 0 || value >= _codomain[o]) {
                    return;
                }
                at.push_back(static_cast<int64_t>(value));
            }
            out.insert(at);
        };
        for (const auto &digit : _box.digits) {
            add(digit.stride, digit.extent);
        }
        for (size_t c = 0; c < _extents.size(); ++c) {
            IndexPoint at(_extents.size(), 0);
            at[c] = _extents[c];
            auto image = _map.at(at);
            if (image && in_box(*image, _codomain)) {
                out.insert(*image);
            }
        }
        for (size_t o = 0; o < _codomain.size(); ++o) {
            for (const auto &from : {IndexPoint(_codomain.size(), 0), last}) {
                auto at = from;
                for (auto value : {int64_t{0}, int64_t{1}, _codomain[o] - 1}) {
                    at[o] = std::min(value, _codomain[o] - 1);
                    out.insert(at);
                }
            }
        }
        return out;
    }

    Claim surjectivity() const {
        if (std::find(_codomain.begin(), _codomain.end(), 0) != _codomain.end()) {
            return {Proof::PROVEN, {}};
        }
        if (separable()) {
            if (auto claim = separable_surjectivity(); claim.proof != Proof::UNKNOWN) {
                return claim;
            }
        }
        auto size = IndexSet{_extents}.box_size(), wanted = IndexSet{_codomain}.box_size();
        if (_injective && _bounded && size && size == wanted) {
            return {Proof::PROVEN, {}};// as many images as there are places
        }
        for (const auto &image : candidates()) {
            if (missed(image, 4096) == Proof::PROVEN) {
                return {Proof::DISPROVEN, {image}};
            }
        }
        return {};
    }

    const Affine &_map;
    const IndexPoint &_extents, &_codomain;
    DigitBox _box;
    std::vector<Extremes> _extremes;
    bool _bounded = false, _injective = false;
};

}// namespace

LayoutProof prove_affine(const Affine &map, const IndexPoint &extents, const IndexPoint &codomain) {
    return AffineProver{map, extents, codomain}.run();
}

}// namespace luisa::tile::core
