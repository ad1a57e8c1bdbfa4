// SPDX-License-Identifier: Apache-2.0
#include "frontend/capture.h"
#include "frontend/contracts.h"
#include "ir/effects.h"
#include "layout/proved.h"

#include <luisa/tile/layout_ops.h>

#include <algorithm>

namespace luisa::tile {

namespace core {

using ir::Opcode;

NestRegion &region_of(const Nest &nest, SourceLoc loc) {
    auto &c = current(loc);
    auto &region = *nest.region();
    if (!region.open) {
        fail(ErrorKind::SCOPE,
             std::string{"this `"} + region.kind + "` handle is used after its body", loc,
             {{"opened here", region.loc}});
    }
    (void)c;
    return region;
}

/// The coordinate of a nest in its own domain, or along its whole path from the root.
static std::vector<Value *> coordinates_of(const Nest &nest, bool whole_path, SourceLoc loc) {
    auto *region = &region_of(nest, loc);
    std::vector<Value *> path = region->indices;
    for (region = region->parent; whole_path && region; region = region->parent) {
        path.insert(path.begin(), region->indices.begin(), region->indices.end());
    }
    return path;
}

void wrong_coordinate_count(const char *what, size_t takes, size_t count, size_t path,
                            SourceLoc loc) {
    auto expected = std::to_string(count);
    if (path != count) {
        expected += " (the nest's own) or " + std::to_string(path) + " (its whole path)";
    }
    fail(ErrorKind::CALL,
         std::string{what} + ": the lambda takes " + std::to_string(takes) +
             " coordinates, expected " + expected,
         loc);
}

Coord origin_of(const ViewMap &map, const Nest &nest, SourceLoc loc) {
    auto own = coordinates_of(nest, false, loc), path = coordinates_of(nest, true, loc);
    if (map.takes != own.size() && map.takes != path.size()) {
        wrong_coordinate_count("view map", map.takes, own.size(), path.size(), loc);
    }
    return map.origin(map.takes == own.size() ? own.data() : path.data());
}

std::vector<Value *> nest_coordinates(const Nest &nest, size_t count, SourceLoc loc) {
    auto own = coordinates_of(nest, false, loc), path = coordinates_of(nest, true, loc);
    if (count != own.size() && count != path.size()) {
        wrong_coordinate_count("where", count, own.size(), path.size(), loc);
    }
    return count == own.size() ? own : path;
}

Value *domain_element(Value *tile, const Nest &nest, SourceLoc loc) {
    auto &c = current(loc);
    const auto &region = region_of(nest, loc);
    std::vector<Value *> operands{tile};
    ir::AccessPayload access;
    for (const auto &d : tile->type()->dims) {
        auto at = std::find(region.dims.begin(), region.dims.end(), d.dim) - region.dims.begin();
        if (static_cast<size_t>(at) == region.dims.size()) {
            fail(ErrorKind::SHAPE,
                 "where: the tile of shape " + ir::extents_text(*tile->type()) +
                     " has a dimension that is none of the domain's" +
                     (region.dims.empty() ? "; a range has none, give a lambda" : ""),
                 loc, {{"nest opened here", region.loc}});
        }
        access.dims.push_back(d.dim);
        // One element stands for all.
        operands.push_back(d.extent == 1 ? constant(ScalarType::INT64, literal(int64_t{0}), loc)
                                         : region.indices[static_cast<size_t>(at)]);
    }
    return emit_value(c, Opcode::EXTRACT, operands, c.module->scalar(tile->scalar()), access, loc);
}

Value *per(Value *x, const Nest &nest, SourceLoc loc) {
    auto &c = current(loc);
    auto operands = coordinates_of(nest, false, loc);
    operands.insert(operands.begin(), x);
    return emit_value(c, Opcode::PER, operands, x->type(), ir::None{}, loc);
}

void begin_while(SourceLoc loc) {
    auto &c = current(loc);
    auto *op = emit(c, Opcode::WHILE, {}, {}, ir::None{}, loc, 1);
    auto *region = open_region(c, "while_ condition", op, op->body(), loc);
    region->no_writes = true;
}

void while_condition(Value *condition, SourceLoc loc) {
    auto &c = current(loc);
    emit(c, Opcode::CONDITION, {condition}, {}, ir::None{}, loc);
    c.current->no_writes = false;
    c.current->kind = "while_";
}

void end_while() {
    auto &c = *current_or_null();
    guarded(c, [&] { close_states(c, *c.current, true); });
}

}// namespace core

using namespace core;

Scalar<int64_t> Nest::index(SourceLoc loc) const {
    auto &region = region_of(*this, loc);
    if (region.indices.size() != 1) {
        fail(ErrorKind::INDEX,
             "index() needs a domain of rank one, this one has rank " +
                 std::to_string(region.indices.size()) + "; write index(i)",
             loc, {{"opened here", region.loc}});
    }
    return {region.indices[0], loc};
}

Scalar<int64_t> Nest::index(int i, SourceLoc loc) const {
    auto &region = region_of(*this, loc);
    if (i < 0 || static_cast<size_t>(i) >= region.indices.size()) {
        fail(ErrorKind::INDEX,
             "index(" + std::to_string(i) + ") of a domain of rank " +
                 std::to_string(region.indices.size()),
             loc, {{"opened here", region.loc}});
    }
    return {region.indices[static_cast<size_t>(i)], loc};
}

Scalar<int64_t> Nest::index(Dim d, SourceLoc loc) const {
    auto &region = region_of(*this, loc);
    for (size_t i = 0; i < region.dims.size(); ++i) {
        if (region.dims[i] == d) {
            return {region.indices[i], loc};
        }
    }
    fail(ErrorKind::INDEX, "the domain of this nest has no such axis", loc,
         {{"opened here", region.loc}});
}

Coord Nest::coord(SourceLoc loc) const {
    Coord place;
    place.loc = loc;
    for (auto *index : coordinates_of(*this, true, loc)) {
        place.parts.emplace_back(Scalar<int64_t>{index, loc}, loc);
    }
    return place;
}

void Nest::stage(const char *name, SourceLoc loc) const {
    auto &region = region_of(*this, loc);
    auto &c = current(loc);
    if (!region.owner || region.owner->opcode() != ir::Opcode::PIPELINE) {
        fail(ErrorKind::SCOPE, "stage() belongs to the handle of a pipeline", loc,
             {{"opened here", region.loc}});
    }
    if (c.current != &region && c.current != region.active) {
        fail(ErrorKind::SCOPE,
             "a stage cut stands at the body level of its pipeline, not inside a nested region",
             loc, {{"pipeline opened here", region.loc}});
    }
    bool first = true;
    const auto &body = *c.current->region;
    for (auto *op : body) {
        first &= op->opcode() != ir::Opcode::STAGE;
    }
    for (auto *op : body) {
        bool on_tiles = false;
        for (auto *result : op->results()) {
            on_tiles |= !result->type()->is_scalar();
        }
        if (first && (on_tiles || ir::has_effect(*op))) {
            fail(ErrorKind::SCOPE,
                 "a tile operation stands before the first stage cut; with cuts, every tile "
                 "operation "
                 "follows one",
                 loc, {{"operation here", op->loc}});
        }
    }
    emit(c, ir::Opcode::STAGE, {}, {}, ir::NamePayload{name}, loc);
}

/// The order of instances as text, once it is proved to be one.
static std::string checked_order(const IndexMap &map, const Shape &domain, SourceLoc loc) {
    IndexPoint extents;
    int64_t count = 1;
    for (const auto &entry : domain.entries) {
        if (!entry.extent.is_static()) {
            fail(ErrorKind::SHAPE, "exec::layout: an extent of the domain is known at launch only",
                 loc);
        }
        extents.push_back(int64_t(entry.extent));
        count *= extents.back();
    }
    if (!(map.domain() == IndexSet{extents}) || map.codomain().rank() != 1) {
        fail(ErrorKind::SHAPE,
             "exec::layout: the map takes " + map.domain().text() + " to " + map.codomain().text() +
                 "; the instances are " + IndexSet{extents}.text() +
                 ", and their places in order one number each",
             loc);
    }
    if (count == 0) {
        return "";
    }
    auto text = simplify(map.into({count})).text();
    const auto &proof = core::proved_map(text)->proof;
    for (const auto &claim : {proof.totality, proof.bounds, proof.injectivity}) {
        if (claim.proof != tile::Proof::PROVEN) {
            fail(ErrorKind::CONSTRAINT,
                 "exec::layout: not proved to give each instance a place of its own in an order "
                 "of " +
                     std::to_string(count) + ": " + proof.text(),
                 loc);
        }
    }
    return text;
}

NestRange::NestRange(Options options, IndexSpace domain, const Nest *parent, SourceLoc loc)
    : _options{options}, _domain{std::move(domain)}, _parent{parent}, _loc{loc} {}

NestRange::Iterator NestRange::begin() {
    static constexpr const char *names[] = {"parallel", "serial", "pipeline", "reduce"};
    static constexpr ir::Opcode opcodes[] = {ir::Opcode::PARALLEL, ir::Opcode::SERIAL,
                                             ir::Opcode::PIPELINE, ir::Opcode::REDUCE};
    auto &c = current(_loc);
    if (_nest) {
        fail(ErrorKind::SCOPE, "a nest is opened once", _loc);
    }
    if (_parent) {
        (void)region_of(*_parent, _loc);
    }
    for (auto *r = c.current; r; r = r->parent) {
        if (r->no_writes) {
            fail(ErrorKind::SCOPE, std::string{"a "} + r->kind + " may not open a nest", _loc);
        }
    }
    auto kind = static_cast<size_t>(_options.kind);
    for (auto [what, value] :
         {std::pair{"max_in_flight", _options.pipeline.max_in_flight},
          std::pair{"initiation_interval", _options.pipeline.initiation_interval}}) {
        if (value < 0) {
            fail(ErrorKind::VALUE,
                 std::string{"pipeline: "} + what + " is " + std::to_string(value) +
                     "; expected 0 (the planner's choice) or more",
                 _loc);
        }
    }
    ir::NestPayload payload;
    payload.exec = _options.exec.level;
    payload.pipeline = _options.pipeline;
    payload.is_range = _domain.is_range;
    if (_options.kind == Kind::REDUCE) {
        payload.policy = _options.has_policy ? _options.policy : c.options.reduction;
    }
    std::vector<core::Value *> operands;
    if (_domain.is_range && _options.exec.map) {
        fail(ErrorKind::SHAPE, "exec::layout: the domain is a range; give a shape", _loc);
    }
    if (_domain.is_range) {
        operands = {_domain.begin.value(), _domain.end.value(), _domain.step.value()};
    } else {
        std::vector<ir::DimExtent> known;
        for (const auto &entry : _domain.shape.entries) {
            if (entry.extent.is_static()) {
                known.push_back({entry.dim, int64_t(entry.extent)});
            }
            payload.dims.push_back(entry.dim);
            operands.push_back(entry.extent.value(_loc));
        }
        check_count(known, "a domain", _loc);
        if (_options.exec.map) {
            payload.layout = checked_order(*_options.exec.map, _domain.shape, _loc);
        }
    }
    auto *op = emit(c, opcodes[kind], operands, {}, payload, _loc, 1);
    auto *region = open_region(c, names[kind], op, op->body(), _loc);
    region->dims = payload.dims;
    for (size_t i = 0; i < (payload.is_range ? 1 : payload.dims.size()); ++i) {
        region->indices.push_back(
            c.module->add_argument(op->body(), c.module->scalar(ScalarType::INT64)));
    }
    _nest = &c.nests.emplace_back(region);
    _exceptions = std::uncaught_exceptions();
    open_condition();
    return {this};
}

/// What `where` leaves out of a domain is an empty branch around the body.
void NestRange::open_condition() {
    core::Value *all = nullptr;
    for (const auto &condition : _domain.conditions) {
        auto *one = condition(*_nest);
        all = all ? core::elementwise("and", {all, one}, _loc) : one;
    }
    if (all) {
        core::begin_if(all, _loc);
        _nest->region()->active = current(_loc).current;
    }
}

void NestRange::close() {
    auto &c = current(_loc);
    auto *active = _nest->region()->active;
    if (c.current != (active ? active : _nest->region())) {
        fail(ErrorKind::SCOPE, "nest bodies close out of order", _loc);
    }
    if (active) {
        core::begin_else();
        guarded(c, core::end_if);
    }
    _closed = true;
    guarded(c, [&] {
        auto &region = *_nest->region();
        if (_options.contract) {
            auto bound = bind_states(c, region, *_options.contract, _loc);
            close_states(c, region, true);
            add_contract(c, region, *_options.contract, bound, _loc);
        } else {
            close_states(c, region, true);
        }
        if (_options.reducer) {
            add_reducer(c, region, *_options.reducer, _loc);
        }
    });
}

NestRange::~NestRange() {
    auto *c = current_or_null();
    if (!_nest || _closed || !c || std::uncaught_exceptions() > _exceptions || c->failure) {
        return;
    }
    // A destructor does not throw: the next operation, or the end of the capture, does.
    c->failure = std::make_exception_ptr(
        CaptureError{std::string{"the body of this `"} + _nest->region()->kind +
                         "` was left by break, return or goto; the body is captured once and must "
                         "run to its end",
                     _loc});
}

}// namespace luisa::tile
