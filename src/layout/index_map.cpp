// SPDX-License-Identifier: Apache-2.0
#include "layout/node.h"
#include "layout/points.h"

#include <algorithm>
#include <bit>

namespace luisa::tile {

using core::Affine;
using core::BitLinear;

namespace core {

IndexMap make_map(MapNode node) { return IndexMap{std::make_shared<MapNode>(std::move(node))}; }

namespace {

std::optional<IndexPoint> image_of(const MapNode &node, const IndexPoint &point);

struct Evaluate {
    const IndexPoint &point;

    std::optional<IndexPoint> operator()(const Affine &map) const { return map.at(point); }
    std::optional<IndexPoint> operator()(const BitLinear &map) const { return map.at(point); }
    std::optional<IndexPoint> operator()(const Swizzle &map) const {
        auto from = point[0] &
                    ((((int64_t{1} << map.bits) - 1) << map.base) << std::max(map.shift, 0));
        auto to = map.shift < 0
                      ? (point[0] & (((int64_t{1} << map.bits) - 1) << map.base)) << -map.shift
                      : from >> map.shift;
        return IndexPoint{point[0] ^ to};
    }
    std::optional<IndexPoint> operator()(const Table &map) const {
        size_t at = 0;
        for (size_t i = 0; i < point.size(); ++i) {
            at = at * static_cast<size_t>(map.extents[i]) + static_cast<size_t>(point[i]);
        }
        return map.images[at];
    }
    std::optional<IndexPoint> operator()(const Expressions &map) const {
        IndexPoint image;
        for (const auto &expr : map.images) {
            auto value = expr.at(point);
            if (!value) {
                return std::nullopt;
            }
            image.push_back(*value);
        }
        return image;
    }
    std::optional<IndexPoint> operator()(const Pieces &map) const {
        for (const auto &[set, piece] : map.pieces) {
            if (set.contains(point)) {
                return piece.at(point);
            }
        }
        return std::nullopt;
    }
    std::optional<IndexPoint> operator()(const Composition &map) const {
        auto between = map.inner.at(point);
        return between ? map.outer.at(*between) : std::nullopt;
    }
    std::optional<IndexPoint> operator()(const Product &map) const {
        auto cut = point.begin() + static_cast<int64_t>(map.first.domain().rank());
        auto a = map.first.at({point.begin(), cut});
        auto b = map.second.at({cut, point.end()});
        if (!a || !b) {
            return std::nullopt;
        }
        a->insert(a->end(), b->begin(), b->end());
        return a;
    }
};

std::optional<IndexPoint> image_of(const MapNode &node, const IndexPoint &point) {
    return std::visit(Evaluate{point}, node.what);
}

[[noreturn]] void fail_shape(const std::string &message) { throw_error(ErrorKind::SHAPE, message); }

/// One digit a coordinate.
Affine linear(const std::vector<IndexPoint> &columns, IndexPoint offset,
              const IndexPoint &extents) {
    Affine out{{}, std::move(offset)};
    for (size_t i = 0; i < columns.size(); ++i) {
        out.modes.push_back({{std::max<int64_t>(extents[i], 1)}, {columns[i]}});
    }
    return out;
}

IndexPoint unit(size_t rank, size_t at) {
    IndexPoint out(rank, 0);
    out[at] = 1;
    return out;
}

IndexMap select_axes(const IndexSet &domain, const std::vector<size_t> &axes) {
    std::vector<IndexPoint> columns(domain.rank(), IndexPoint(axes.size(), 0));
    IndexPoint codomain;
    for (size_t k = 0; k < axes.size(); ++k) {
        columns[axes[k]][k] = 1;
        codomain.push_back(domain.extents()[axes[k]]);
    }
    return make_map({domain, IndexSet{codomain},
                     linear(columns, IndexPoint(axes.size(), 0), domain.extents())});
}

void check_mode(const LayoutMode &mode, size_t rank) {
    if (mode.shape.size() != mode.stride.size()) {
        fail_shape("mixed_radix: a mode of " + std::to_string(mode.shape.size()) + " digits has " +
                   std::to_string(mode.stride.size()) + " strides");
    }
    int64_t size = 1;
    for (size_t j = 0; j < mode.shape.size(); ++j) {
        if (mode.stride[j].size() != rank) {
            fail_shape("mixed_radix: the offset has rank " + std::to_string(rank) +
                       ", a stride has rank " + std::to_string(mode.stride[j].size()));
        }
        if (mode.shape[j] < 1) {
            throw_error(ErrorKind::VALUE, "mixed_radix: a digit of extent " +
                                              std::to_string(mode.shape[j]) + "; it is at least 1");
        }
        if (__builtin_mul_overflow(size, mode.shape[j], &size)) {
            throw_error(ErrorKind::VALUE,
                        "mixed_radix: the mode " + tuple_text(mode.shape) + " is longer than 2^63");
        }
    }
}

}// namespace

BitLinear bits_of(const Swizzle &swizzle, int64_t size) {
    auto width = std::max(bits_for(size),
                          swizzle.base + swizzle.bits + std::max(-swizzle.shift, 0));
    width = std::min(width, 62);
    BitLinear out{{width}, {width}, {}, 0};
    for (int b = 0; b < width; ++b) {
        auto bit = uint64_t{1} << b, column = bit;
        auto first = swizzle.base + std::max(swizzle.shift, 0);
        if (b >= first && b < first + swizzle.bits && swizzle.shift > 0) {
            column |= bit >> swizzle.shift;
        }
        if (b >= swizzle.base && b < swizzle.base + swizzle.bits && swizzle.shift < 0) {
            column |= bit << -swizzle.shift;
        }
        out.columns.push_back(column);
    }
    return out;
}

}// namespace core

IndexMap IndexMap::identity(const IndexSet &domain) {
    return translate(domain, IndexPoint(domain.rank(), 0)).into(domain);
}

IndexMap IndexMap::translate(const IndexSet &domain, const IndexPoint &by) {
    if (by.size() != domain.rank()) {
        core::fail_shape("translate: the domain has rank " + std::to_string(domain.rank()) +
                         ", the offset has rank " + std::to_string(by.size()));
    }
    std::vector<IndexPoint> columns;
    for (size_t i = 0; i < domain.rank(); ++i) {
        columns.push_back(core::unit(domain.rank(), i));
    }
    auto map = core::linear(columns, by, domain.extents());
    IndexSet codomain{core::natural_extents(map, domain.extents())};
    return core::make_map({domain, codomain, std::move(map)});
}

IndexMap IndexMap::permute(const IndexSet &domain, const std::vector<size_t> &order) {
    auto sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 0; i < std::max(sorted.size(), domain.rank()); ++i) {
        if (sorted.size() != domain.rank() || sorted[i] != i) {
            throw_error(ErrorKind::VALUE, "permute: an order of " + std::to_string(order.size()) +
                                              " entries for a domain of rank " +
                                              std::to_string(domain.rank()) +
                                              "; name each coordinate once");
        }
    }
    return core::select_axes(domain, order);
}

IndexMap IndexMap::project(const IndexSet &domain, const std::vector<size_t> &axes) {
    auto sorted = axes;
    std::sort(sorted.begin(), sorted.end());
    bool twice = std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
    if (twice || (!sorted.empty() && sorted.back() >= domain.rank())) {
        throw_error(ErrorKind::VALUE, "project: coordinates that the domain " + domain.text() +
                                          " lacks, or one of them twice");
    }
    return core::select_axes(domain, axes);
}

IndexMap IndexMap::strided(const IndexPoint &extents, const IndexPoint &strides) {
    if (extents.size() != strides.size()) {
        core::fail_shape("strided: " + std::to_string(extents.size()) + " extents and " +
                         std::to_string(strides.size()) + " strides");
    }
    std::vector<IndexPoint> columns;
    for (auto stride : strides) {
        columns.push_back({stride});
    }
    IndexSet domain{extents};
    auto map = core::linear(columns, {0}, extents);
    IndexSet codomain{core::natural_extents(map, extents)};
    return core::make_map({domain, codomain, std::move(map)});
}

IndexMap IndexMap::mixed_radix(std::vector<LayoutMode> modes, IndexPoint offset) {
    IndexPoint extents;
    for (auto &mode : modes) {
        if (mode.shape.empty()) {
            mode = {{1}, {IndexPoint(offset.size(), 0)}};
        }
        core::check_mode(mode, offset.size());
        int64_t size = 1;
        for (auto s : mode.shape) {
            size *= s;
        }
        extents.push_back(size);
    }
    Affine map{std::move(modes), std::move(offset)};
    IndexSet codomain{core::natural_extents(map, extents)};
    return core::make_map({IndexSet{extents}, codomain, std::move(map)});
}

IndexMap IndexMap::bit_linear(const std::vector<std::vector<IndexPoint>> &bases,
                              const std::vector<int> &bits, const IndexPoint &offset) {
    BitLinear map;
    map.out = bits;
    IndexPoint extents, images;
    for (const auto &of_coordinate : bases) {
        map.in.push_back(static_cast<int>(of_coordinate.size()));
    }
    bool wide = std::any_of(bits.begin(), bits.end(), [](int b) { return b < 0 || b > 62; });
    if (wide || core::sum_of(map.in) > 62 || core::sum_of(bits) > 62) {
        throw_error(ErrorKind::VALUE, "bit_linear: more than 62 bits on one side");
    }
    auto packed = [&](const IndexPoint &image) {
        if (image.size() != bits.size()) {
            core::fail_shape("bit_linear: an image of rank " + std::to_string(image.size()) +
                             " in a codomain of rank " + std::to_string(bits.size()));
        }
        auto word = core::pack(image, bits);
        if (!word) {
            throw_error(ErrorKind::VALUE, "bit_linear: the image " + core::tuple_text(image) +
                                              " needs more bits than its codomain has");
        }
        return *word;
    };
    for (const auto &of_coordinate : bases) {
        extents.push_back(int64_t{1} << of_coordinate.size());
        for (const auto &image : of_coordinate) {
            map.columns.push_back(packed(image));
        }
    }
    for (auto b : bits) {
        images.push_back(int64_t{1} << b);
    }
    map.offset = packed(offset);
    return core::make_map({IndexSet{extents}, IndexSet{images}, std::move(map)});
}

IndexMap IndexMap::swizzle(int bits, int base, int shift, int64_t size) {
    if (bits < 0 || base < 0 || std::abs(int64_t{shift}) < bits ||
        int64_t{bits} + base + std::abs(int64_t{shift}) > 62) {
        throw_error(ErrorKind::VALUE,
                    "swizzle: " + std::to_string(bits) + " bits from bit " + std::to_string(base) +
                        " with a shift of " + std::to_string(shift) +
                        "; the shift is at least as long as the bits, and all lie below bit 62");
    }
    IndexSet addresses{size};
    return core::make_map({addresses, addresses, core::Swizzle{bits, base, shift}});
}

IndexMap IndexMap::table(const IndexSet &domain, const IndexSet &codomain,
                         std::vector<std::optional<IndexPoint>> images) {
    auto size = domain.box_size();
    if (!size || *size != static_cast<int64_t>(images.size())) {
        core::fail_shape("table: " + std::to_string(images.size()) +
                         " images for the points of the box of " + domain.text());
    }
    for (const auto &image : images) {
        if (image && image->size() != codomain.rank()) {
            core::fail_shape("table: the image " + core::tuple_text(*image) +
                             " in a codomain of rank " + std::to_string(codomain.rank()));
        }
    }
    return core::make_map({domain, codomain, core::Table{domain.extents(), std::move(images)}});
}

IndexMap IndexMap::piecewise(const IndexSet &domain, const IndexSet &codomain,
                             std::vector<std::pair<IndexSet, IndexMap>> pieces) {
    for (const auto &[set, map] : pieces) {
        if (set.rank() != domain.rank() || map.domain().rank() != domain.rank() ||
            map.codomain().rank() != codomain.rank()) {
            core::fail_shape("piecewise: a piece " + map.text() + " on " + set.text() +
                             " does not have the ranks of " + domain.text() + " -> " +
                             codomain.text());
        }
    }
    return core::make_map({domain, codomain, core::Pieces{std::move(pieces)}});
}

IndexMap IndexMap::expression(const IndexSet &domain, const IndexSet &codomain,
                              std::vector<IndexExpr> images) {
    if (images.size() != codomain.rank()) {
        core::fail_shape("expression: " + std::to_string(images.size()) +
                         " expressions for a codomain of rank " + std::to_string(codomain.rank()));
    }
    return core::make_map({domain, codomain, core::Expressions{std::move(images)}});
}

const IndexSet &IndexMap::domain() const noexcept { return _node->domain; }
const IndexSet &IndexMap::codomain() const noexcept { return _node->codomain; }

std::optional<IndexPoint> IndexMap::at(const IndexPoint &point) const {
    return domain().contains(point) ? core::image_of(*_node, point) : std::nullopt;
}

IndexPoint IndexMap::operator()(const IndexPoint &point) const {
    if (!domain().contains(point)) {
        throw_error(ErrorKind::INDEX,
                    "the point " + core::tuple_text(point) + " is not in the domain of " + text());
    }
    auto image = core::image_of(*_node, point);
    if (!image) {
        throw_error(ErrorKind::VALUE,
                    "at " + core::tuple_text(point) + " this map is undefined: " + text());
    }
    return *image;
}

IndexMap IndexMap::into(const IndexSet &codomain) const {
    if (codomain.rank() != this->codomain().rank()) {
        core::fail_shape("into: a codomain of rank " + std::to_string(codomain.rank()) +
                         " for images of rank " + std::to_string(this->codomain().rank()));
    }
    return core::make_map({domain(), codomain, _node->what});
}

IndexMap IndexMap::on(const IndexSet &domain) const {
    const auto &extents = domain.extents(), &all = this->domain().extents();
    bool inside = extents.size() == all.size();
    for (size_t i = 0; inside && i < all.size(); ++i) {
        inside &= extents[i] <= all[i];
    }
    if (!inside) {
        core::fail_shape("on: the domain " + domain.text() + " does not lie in the domain " +
                         this->domain().text());
    }
    const auto &condition = this->domain().condition();
    bool asked = !condition ||
                 (domain.condition() && domain.condition()->text() == condition->text());
    auto both = asked ? domain : domain.restricted_to(*condition);
    return core::make_map({both, codomain(), _node->what});
}

IndexMap compose(const IndexMap &outer, const IndexMap &inner) {
    if (inner.codomain().rank() != outer.domain().rank()) {
        core::fail_shape("compose: images of rank " + std::to_string(inner.codomain().rank()) +
                         " into a domain of rank " + std::to_string(outer.domain().rank()));
    }
    return core::make_map({inner.domain(), outer.codomain(), core::Composition{outer, inner}});
}

}// namespace luisa::tile
