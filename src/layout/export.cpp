// SPDX-License-Identifier: Apache-2.0
#include "layout/affine.h"
#include "layout/node.h"
#include "layout/proved.h"

#include <luisa/tile/layout_export.h>

#include <algorithm>
#include <numeric>

namespace luisa::tile {

namespace {

[[noreturn]] void refuse(const std::string &message) { throw_error(ErrorKind::INTEROP, message); }

/// Whether a map is the first `count` coordinates of a point.
bool takes_first(const IndexMap &map, size_t count) {
    std::vector<size_t> axes(count);
    std::iota(axes.begin(), axes.end(), size_t{0});
    auto first = IndexMap::project(map.domain(), axes);
    return map.codomain().rank() == count &&
           equivalent(map, first.into(map.codomain())).proof == Proof::PROVEN;
}

/// The images as expressions of the coordinates.
std::vector<IndexExpr> expressions_of(const IndexMap &map) {
    std::vector<IndexExpr> at;
    for (size_t i = 0; i < map.domain().rank(); ++i) {
        at.push_back(IndexExpr::coordinate(i));
    }
    auto images = core::expression_form(map, at);
    if (!images) {
        refuse("to_tilelang: no expressions of the coordinates: " + map.text());
    }
    return *images;
}

/// The digits of one coordinate as iterators, the fastest last.
std::vector<TirxLayout::Iterator> iterators_of(const core::DigitBox &box, size_t coordinate,
                                               const std::vector<std::string> &axes) {
    std::vector<TirxLayout::Iterator> iterators;
    for (const auto &digit : box.digits) {
        if (digit.coordinate != coordinate) {
            continue;
        }
        size_t axis = 0;
        for (size_t k = 0; k < axes.size(); ++k) {
            if (digit.stride[k] != 0 && digit.stride[axis] != 0 && k != axis) {
                refuse("to_tirx: a digit moves both " + axes[axis] + " and " + axes[k]);
            }
            axis = digit.stride[k] != 0 ? k : axis;
        }
        iterators.push_back({digit.extent, digit.stride[axis], axes[axis]});
    }
    std::reverse(iterators.begin(), iterators.end());
    return iterators;
}

}// namespace

TileLangFragment to_tilelang(const LayoutCorr &corr) {
    const auto &elements = corr.first().codomain();
    if (corr.second().codomain().rank() != 2) {
        refuse("to_tilelang: the second side is no thread and slot: " +
               corr.second().codomain().text());
    }
    auto rank = elements.rank();
    const auto &occurrences = corr.first().domain();
    bool replicas = occurrences.rank() == rank + 1;
    if ((replicas || occurrences.rank() == rank) && takes_first(corr.first(), rank)) {
        auto images = expressions_of(corr.second());
        return {elements, replicas ? occurrences.extents().back() : 1, images[0], images[1]};
    }
    auto back = try_inverse(corr.first());
    if (!back) {
        refuse("to_tilelang: occurrences that are neither elements nor their replicas: " +
               corr.first().text());
    }
    auto images = expressions_of(compose(corr.second(), *back));
    return {elements, 1, images[0], images[1]};
}

TirxLayout to_tirx(const LayoutCorr &corr, const std::vector<std::string> &axes) {
    const auto &map = corr.second();
    if (axes.size() != map.codomain().rank() || axes.empty()) {
        refuse("to_tirx: " + std::to_string(axes.size()) + " names for the coordinates of " +
               map.codomain().text());
    }
    const auto &occurrences = corr.first().domain();
    if (occurrences.rank() < 1 || occurrences.rank() > 2 || !takes_first(corr.first(), 1)) {
        refuse("to_tirx: occurrences that are no numbers of elements and replicas: " +
               corr.first().text());
    }
    auto affine = occurrences.is_box() && !occurrences.box_is_empty() ? core::affine_form(map)
                                                                      : std::nullopt;
    if (!affine || core::digits_of(*affine, occurrences.extents()).any_ragged()) {
        refuse("to_tirx: no map of whole digits: " + map.text());
    }
    auto box = core::digits_of(*affine, occurrences.extents());
    TirxLayout layout;
    layout.shard = iterators_of(box, 0, axes);
    layout.replica = iterators_of(box, 1, axes);
    for (size_t k = 0; k < axes.size(); ++k) {
        if (affine->offset[k] != 0) {
            layout.offset.emplace_back(axes[k], affine->offset[k]);
        }
    }
    return layout;
}

}// namespace luisa::tile
