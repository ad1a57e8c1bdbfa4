// SPDX-License-Identifier: Apache-2.0
#include "layout/node.h"
#include "layout/points.h"

#include <luisa/tile/layout_ops.h>

#include <algorithm>
#include <bit>

namespace luisa::tile {

using core::BitLinear;
using core::Span;

namespace {

bool proven(const LayoutProof::Claim &claim) { return claim.proof == Proof::PROVEN; }

/// Digits that count the codomain without gaps, up or down, each moving one output by a place of its own: the
/// inverse counts them back.
std::optional<IndexMap> affine_inverse(const IndexMap &map) {
    auto affine = core::affine_form(map);
    const auto &codomain = map.codomain().extents();
    if (!affine) {
        return std::nullopt;
    }
    auto box = core::digits_of(*affine, map.domain().extents());
    if (box.any_ragged()) {
        return std::nullopt;
    }
    std::vector<LayoutMode> modes(codomain.size());
    IndexPoint first(map.domain().rank(), 0);// the point at the start of the codomain
    for (size_t o = 0; o < codomain.size(); ++o) {
        auto digits = box.digits;
        std::erase_if(digits, [&](const core::Digit &d) { return d.stride[o] == 0; });
        auto length = [&](const core::Digit &d) {
            auto s = static_cast<uint64_t>(d.stride[o]);
            return d.stride[o] < 0 ? 0 - s : s;
        };
        std::sort(digits.begin(), digits.end(), [&](const core::Digit &a, const core::Digit &b) {
            return length(a) < length(b);
        });
        int64_t reached = 1, start = 0;
        for (const auto &digit : digits) {
            auto moves = std::count_if(digit.stride.begin(), digit.stride.end(),
                                       [](int64_t s) { return s != 0; });
            if (moves != 1 || length(digit) != static_cast<uint64_t>(reached)) {
                return std::nullopt;
            }
            IndexPoint back(map.domain().rank(), 0);
            back[digit.coordinate] = digit.stride[o] < 0 ? -digit.lower : digit.lower;
            if (digit.stride[o] < 0) {
                start += reached * (digit.extent - 1);
                first[digit.coordinate] += digit.lower * (digit.extent - 1);
            }
            reached *= digit.extent;
            modes[o].shape.push_back(digit.extent);
            modes[o].stride.push_back(back);
        }
        if (reached != codomain[o] || start != affine->offset[o]) {
            return std::nullopt;
        }
    }
    return IndexMap::mixed_radix(std::move(modes), std::move(first)).into(map.domain());
}

/// Of an injective matrix: for each output bit pattern the input, through a basis of the columns.
std::optional<IndexMap> bit_inverse(const IndexMap &map) {
    auto bits = core::bit_form(map);
    if (!bits || bits->columns.size() != static_cast<size_t>(core::sum_of(bits->out))) {
        return std::nullopt;
    }
    Span span;
    for (size_t b = 0; b < bits->columns.size(); ++b) {
        if (!span.add(bits->columns[b], uint64_t{1} << b)) {
            return std::nullopt;
        }
    }
    BitLinear back{bits->out, bits->in, {}, 0};
    for (size_t b = 0; b < bits->columns.size(); ++b) {
        uint64_t used = 0;
        span.reduce(uint64_t{1} << b, &used);
        back.columns.push_back(used);
    }
    span.reduce(bits->offset, &back.offset);
    for (size_t i = 0; i < back.in.size(); ++i) {
        if (map.codomain().extents()[i] > int64_t{1} << back.in[i]) {
            return std::nullopt;
        }
    }
    return core::make_map({map.codomain(), map.domain(), std::move(back)});
}

std::optional<IndexMap> inverse_by_rules(const IndexMap &map) {
    if (!map.domain().is_box() || !map.codomain().is_box() || map.domain().box_is_empty()) {
        return std::nullopt;
    }
    if (auto back = affine_inverse(map)) {
        return back;
    }
    return bit_inverse(map);
}

std::optional<IndexMap> inverse_table(const IndexMap &map) {
    auto size = map.codomain().box_size(), from = map.domain().box_size();
    if (!size || !from || *size > layout_proof_budget || *from > layout_proof_budget) {
        return std::nullopt;
    }
    std::vector<std::optional<IndexPoint>> images(static_cast<size_t>(*size));
    const auto &extents = map.codomain().extents();
    for (const auto &point : map.domain().points()) {
        if (auto image = map.at(point)) {
            size_t at = 0;
            for (size_t i = 0; i < extents.size(); ++i) {
                at = at * static_cast<size_t>(extents[i]) + static_cast<size_t>((*image)[i]);
            }
            images[at] = point;
        }
    }
    return IndexMap::table(map.codomain(), map.domain(), std::move(images));
}

/// The places that an affine or bit-linear map of a large box sends to one place: through its matrix.
std::optional<std::vector<IndexPoint>> bit_preimage(const IndexMap &map, const IndexPoint &place) {
    auto bits = core::bit_form(map);
    if (!bits) {
        return std::nullopt;
    }
    std::vector<IndexPoint> out;
    for (size_t i = 0; i < place.size(); ++i) {
        if (place[i] < 0 || place[i] >> bits->out[i] != 0) {
            return out;
        }
    }
    Span span;
    std::vector<uint64_t> kernel;
    for (size_t b = 0; b < bits->columns.size(); ++b) {
        uint64_t relation = 0;
        if (!span.add(bits->columns[b], uint64_t{1} << b, &relation)) {
            kernel.push_back(relation);
        }
    }
    uint64_t start = 0;
    if (span.reduce(*core::pack(place, bits->out) ^ bits->offset, &start) != 0) {
        return out;
    }
    if (kernel.size() > 20) {
        return std::nullopt;
    }
    for (uint64_t n = 0; n >> kernel.size() == 0; ++n) {
        auto word = start;
        for (size_t k = 0; k < kernel.size(); ++k) {
            word ^= n >> k & 1 ? kernel[k] : 0;
        }
        auto point = core::unpack(word, bits->in);
        if (map.domain().contains(point)) {
            out.push_back(point);
        }
    }
    std::sort(out.begin(), out.end());
    return out;
}

BitLinear bits_or_refuse(const IndexMap &map, const char *what) {
    auto bits = map.domain().box_is_empty() ? std::nullopt : core::bit_form(map);
    if (!bits) {
        throw_error(ErrorKind::VALUE, std::string{what} + ": not bit-linear: " + map.text());
    }
    return *bits;
}

}// namespace

std::optional<IndexMap> try_inverse(const IndexMap &map) {
    auto proof = map.prove();
    if (!proven(proof.totality) || !proven(proof.bounds) || !proven(proof.injectivity) ||
        !proven(proof.surjectivity)) {
        return std::nullopt;
    }
    if (auto back = inverse_by_rules(map)) {
        return back;
    }
    return inverse_table(map);
}

IndexMap left_inverse(const IndexMap &map) {
    auto proof = map.prove();
    bool ready = proven(proof.bounds) && proven(proof.injectivity);
    if (ready && proven(proof.totality) && proven(proof.surjectivity)) {
        if (auto back = inverse_by_rules(map)) {
            return *back;
        }
    }
    auto back = ready ? inverse_table(map) : std::nullopt;
    if (!back) {
        throw_error(ErrorKind::VALUE, std::string{"left_inverse: "} +
                                          (ready ? "more than 2^20 points and no rule for "
                                                 : "not proven to be injective and in bounds: ") +
                                          map.text() + (ready ? "" : " (" + proof.text() + ")"));
    }
    return *back;
}

std::vector<IndexPoint> preimage(const IndexMap &map, const IndexPoint &place) {
    if (place.size() != map.codomain().rank()) {
        throw_error(ErrorKind::SHAPE, "preimage: a place of rank " + std::to_string(place.size()) +
                                          " for images of rank " +
                                          std::to_string(map.codomain().rank()));
    }
    auto size = map.domain().box_size();
    if (size && *size <= 4096) {
        std::vector<IndexPoint> out;
        for (const auto &point : map.domain().points()) {
            if (map.at(point) == place) {
                out.push_back(point);
            }
        }
        return out;
    }
    if (proven(map.prove().totality)) {
        if (auto out = bit_preimage(map, place)) {
            return *out;
        }
    }
    std::vector<IndexPoint> out;
    for (const auto &point : map.domain().points()) {
        if (map.at(point) == place) {
            out.push_back(point);
        }
    }
    return out;
}

BitStructure bit_structure(const IndexMap &map) {
    auto bits = bits_or_refuse(map, "bit_structure");
    BitStructure out;
    Span span;
    for (size_t b = 0; b < bits.columns.size(); ++b) {
        uint64_t relation = 0;
        if (span.add(bits.columns[b], uint64_t{1} << b, &relation)) {
            out.image.push_back(core::unpack(bits.columns[b], bits.out));
        } else {
            out.kernel.push_back(core::unpack(relation, bits.in));
        }
    }
    out.rank = span.rank();
    return out;
}

std::optional<IndexMap> bit_divide(const IndexMap &a, const IndexMap &b) {
    auto top = bits_or_refuse(a, "bit_divide"), bottom = bits_or_refuse(b, "bit_divide");
    if (top.in != bottom.in) {
        throw_error(ErrorKind::SHAPE, "bit_divide: the domains " + a.domain().text() + " and " +
                                          b.domain().text() + " have other bits");
    }
    // A basis of b's images, each with the image of a that belongs to it.
    Span span;
    for (size_t i = 0; i < bottom.columns.size(); ++i) {
        uint64_t relation = 0;
        if (!span.add(bottom.columns[i], uint64_t{1} << i, &relation) &&
            top.image(relation) != top.offset) {
            return std::nullopt;
        }
    }
    // Images that b does not reach may go anywhere: each new direction goes to zero.
    BitLinear out{bottom.out, top.out, {}, 0};
    uint64_t first = uint64_t{1} << bottom.columns.size();
    for (int bit = 0; bit < core::sum_of(bottom.out); ++bit) {
        span.add(uint64_t{1} << bit, first);
    }
    for (int bit = 0; bit < core::sum_of(bottom.out); ++bit) {
        uint64_t used = 0;
        span.reduce(uint64_t{1} << bit, &used);
        out.columns.push_back(top.image(used & (first - 1)) ^ top.offset);
    }
    auto shift = uint64_t{0};
    span.reduce(bottom.offset, &shift);
    out.offset = top.image(shift & (first - 1));
    IndexPoint extents, images;
    for (auto n : out.in) {
        extents.push_back(int64_t{1} << n);
    }
    for (auto n : out.out) {
        images.push_back(int64_t{1} << n);
    }
    return core::make_map({IndexSet{extents}, IndexSet{images}, std::move(out)});
}

LayoutCorr::LayoutCorr(IndexMap first, IndexMap second)
    : _first{std::move(first)}, _second{std::move(second)} {
    if (!(_first.domain() == _second.domain())) {
        throw_error(ErrorKind::SHAPE, "LayoutCorr: the occurrences " + _first.domain().text() +
                                          " and " + _second.domain().text() + " differ");
    }
}

LayoutCorr LayoutCorr::of(const IndexMap &map) { return {IndexMap::identity(map.domain()), map}; }

std::vector<IndexPoint> LayoutCorr::related(const IndexPoint &point) const {
    std::vector<IndexPoint> out;
    for (const auto &occurrence : preimage(_first, point)) {
        if (auto image = _second.at(occurrence)) {
            out.push_back(*image);
        }
    }
    return out;
}

LayoutCorr compose(const LayoutCorr &second, const LayoutCorr &first) {
    if (first.second().codomain().rank() != second.first().codomain().rank()) {
        throw_error(ErrorKind::SHAPE, "compose: correspondences that meet in sets of rank " +
                                          std::to_string(first.second().codomain().rank()) +
                                          " and " +
                                          std::to_string(second.first().codomain().rank()));
    }
    auto between = first.second().prove();
    auto middle = first.second().into(second.first().codomain()).prove();
    if (proven(between.totality) && proven(middle.bounds)) {
        if (auto back = try_inverse(second.first())) {
            return {first.first(), compose(second.second(), compose(*back, first.second()))};
        }
    }
    std::vector<std::optional<IndexPoint>> a, b;
    for (const auto &occurrence : first.first().domain().points()) {
        auto at = first.second().at(occurrence);
        if (!at) {
            continue;
        }
        for (const auto &other : preimage(second.first(), *at)) {
            a.push_back(first.first().at(occurrence));
            b.push_back(second.second().at(other));
            if (static_cast<int64_t>(a.size()) > layout_proof_budget) {
                throw_error(ErrorKind::VALUE,
                            "compose: more than 2^20 pairs of occurrences meet in the middle");
            }
        }
    }
    IndexSet pairs{static_cast<int64_t>(a.size())};
    return {IndexMap::table(pairs, first.first().codomain(), std::move(a)),
            IndexMap::table(pairs, second.second().codomain(), std::move(b))};
}

}// namespace luisa::tile
