// SPDX-License-Identifier: Apache-2.0
#include "frontend/element_maps.h"
#include "frontend/injective.h"
#include "frontend/view_checks.h"

// Views whose elements a lambda places: A.view(space, f).

namespace luisa::tile::core {

using ir::Opcode;

namespace {

/// Coordinate `axis` of the view as a tile over the space.
Value *map_axis(const ir::Type *type, size_t axis, size_t rank, const ElementMap &map,
                SourceLoc loc) {
    return map_over(
        type,
        [&](Capture &, const std::vector<Value *> &at) {
            auto place = map.place(at.data());
            if (place.parts.size() != rank) {
                fail(ErrorKind::SHAPE,
                     "view: the lambda gives " + std::to_string(place.parts.size()) +
                         " coordinates, the view has rank " + std::to_string(rank),
                     loc);
            }
            return place.parts[axis].value();
        },
        loc);
}

std::vector<Value *> operands_of(const ViewHandle &view, const MappedPlace &place) {
    std::vector<Value *> operands{view->parameter};
    operands.insert(operands.end(), place.coordinates.begin(), place.coordinates.end());
    return operands;
}

void require_injective(const MappedPlace &place, const std::vector<ir::DimExtent> &box,
                       SourceLoc loc) {
    std::vector<int64_t> extents;
    for (const auto &d : box) {
        extents.push_back(d.extent);
    }
    std::vector<const ir::Value *> coordinates{place.coordinates.begin(), place.coordinates.end()};
    auto proof = prove_injective(coordinates, extents);
    if (proof.proof == Injectivity::Proof::DISPROVEN) {
        fail(ErrorKind::CONSTRAINT,
             "store through a view whose map gives the elements " + coordinates_text(proof.first) +
                 " and " + coordinates_text(proof.second) +
                 " the same place; store where each has its own, or use scatter with a reducer",
             loc, {{"mapped here", place.loc}});
    }
    if (proof.proof == Injectivity::Proof::UNKNOWN) {
        fail(ErrorKind::CONSTRAINT,
             "store through a view whose map cannot be proved to give each element a place of its "
             "own: it is not affine, and depends on values known at launch only or has more than " +
                 std::to_string(proof_budget) + " elements; use scatter",
             loc, {{"mapped here", place.loc}});
    }
}

}// namespace

MappedHandle map_view(const ViewHandle &view, const Shape &space, const ElementMap &map,
                      SourceLoc loc) {
    auto &c = check_view(view, loc);
    check_effect_allowed(c, "a view", loc);
    auto dims = static_dims(space, loc);
    if (map.takes != dims.size()) {
        wrong_coordinate_count("view", map.takes, dims.size(), dims.size(), loc);
    }
    if (dims.empty()) {
        fail(ErrorKind::SHAPE, "view: the space has no dimensions; one element is A(i, …)", loc);
    }
    auto *type = c.module->tile(ScalarType::INT64, dims);
    auto rank = view->parameter->type()->rank();
    auto place = std::make_shared<MappedPlace>();
    place->loc = loc;
    for (size_t axis = 0; axis < rank; ++axis) {
        place->coordinates.push_back(map_axis(type, axis, rank, map, loc));
    }
    return place;
}

Value *load_mapped(const ViewHandle &view, const MappedPlace &place, const Shape &space,
                   Bounds bounds, Value *fallback, SourceLoc loc) {
    auto &c = check_view(view, loc);
    check_effect_allowed(c, "a load", loc);
    auto operands = operands_of(view, place);
    if (fallback) {
        operands.push_back(fallback);
    }
    auto *type = c.module->tile(view->parameter->scalar(), static_dims(space, loc));
    return emit_value(c, Opcode::LOAD, operands, type,
                      ir::LoadPayload{bounds, fallback != nullptr, true}, loc);
}

void store_mapped(const ViewHandle &view, const MappedPlace &place, const Shape &space,
                  Bounds bounds, Value *tile, SourceLoc loc) {
    auto &c = check_view(view, loc);
    check_effect_allowed(c, "a store", loc);
    auto box = static_dims(space, loc);
    require_injective(place, box, loc);
    tile = fit_into_box(c, tile, box, loc);
    auto operands = operands_of(view, place);
    operands.insert(operands.begin() + 1, tile);
    emit(c, Opcode::STORE, operands, {}, ir::StorePayload{bounds, box, true}, loc);
}

}// namespace luisa::tile::core
