// SPDX-License-Identifier: Apache-2.0
#include "frontend/element_maps.h"
#include "frontend/injective.h"
#include "frontend/view_checks.h"
#include "layout/expression.h"
#include "layout/proved.h"

#include <map>

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
    if (place.proved_injective) {
        return;
    }
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

/// An index expression as operations of the kernel on staged coordinates.
Value *staged(const ExprNode &e, Value *const *at, SourceLoc loc) {
    // Operations whose names in TileIR are others.
    static const std::map<std::string_view, const char *> names{
        {"mod", "rem"}, {"min", "minimum"}, {"max", "maximum"}, {"select", "ite"}};
    auto number = [&](int64_t value) {
        return constant_bits(ScalarType::INT64, static_cast<uint64_t>(value), loc);
    };
    if (e.kind == ExprNode::Kind::CONSTANT) {
        return number(e.value);
    }
    if (e.kind == ExprNode::Kind::COORDINATE) {
        return at[e.value];
    }
    std::vector<Value *> x;
    for (const auto &operand : e.operands) {
        x.push_back(staged(*operand, at, loc));
    }
    auto found = names.find(e.op->name);
    const char *name = found == names.end() ? e.op->name : found->second;
    if (x.size() == 3) {
        return elementwise(name, {elementwise("ne", {x[0], number(0)}, loc), x[1], x[2]}, loc);
    }
    auto *value = elementwise(name, {x[0], x[1]}, loc);
    return value->scalar() == ScalarType::BOOL ? cast(value, ScalarType::INT64, loc) : value;
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

MappedHandle map_view(const ViewHandle &view, const Shape &space, const IndexMap &map,
                      SourceLoc loc) {
    check_view(view, loc);
    IndexPoint extents;
    for (const auto &d : static_dims(space, loc)) {
        extents.push_back(d.extent);
    }
    if (!(map.domain() == IndexSet{extents})) {
        fail(ErrorKind::SHAPE,
             "view: the map takes the points of " + map.domain().text() + ", the space is " +
                 IndexSet{extents}.text(),
             loc);
    }
    auto rank = view->parameter->type()->rank();
    if (map.codomain().rank() != rank) {
        fail(ErrorKind::SHAPE,
             "view: the map gives " + std::to_string(map.codomain().rank()) +
                 " coordinates, the view has rank " + std::to_string(rank),
             loc);
    }
    const auto proof = map.prove();
    if (proof.totality.proof != luisa::tile::Proof::PROVEN) {
        bool known = proof.totality.proof == luisa::tile::Proof::DISPROVEN;
        fail(ErrorKind::CONSTRAINT,
             known ? "view: the map is undefined at " + coordinates_text(proof.totality.witness[0])
                   : "view: the map cannot be proved to be defined on the whole space",
             loc);
    }
    std::vector<IndexExpr> symbols;
    for (size_t i = 0; i < extents.size(); ++i) {
        symbols.push_back(IndexExpr::coordinate(i));
    }
    auto images = expression_form(map, symbols);
    if (!images) {
        fail(ErrorKind::UNSUPPORTED,
             "view: a map with a table is no expression of coordinates; load the places from a "
             "view of indices with gather",
             loc);
    }
    ElementMap placed{
        extents.size(), [&](Value *const *at) {
            Coord place;
            place.loc = loc;
            for (const auto &image : *images) {
                place.parts.emplace_back(Index{staged(image.node(), at, loc), loc}, loc);
            }
            return place;
        }};
    auto mapped = std::make_shared<MappedPlace>(*map_view(view, space, placed, loc));
    mapped->proved_injective = proof.injectivity.proof == luisa::tile::Proof::PROVEN;
    return mapped;
}

}// namespace luisa::tile::core
