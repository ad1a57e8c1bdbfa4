// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/capture.h"

#include <algorithm>
#include <string>
#include <vector>

// Tiles whose elements are computed from coordinates: what reindexing, exchanges and gathers capture to.

namespace luisa::tile::core {

/// The extents of a tile, for messages.
inline std::string shape_text(const Value *x) { return ir::extents_text(*x->type()); }

/// A note that shows where a value was made, if that is known.
inline std::vector<Error::Note> made_at(const Value *x, const char *what) {
    auto *op = x->definition();
    return op && op->loc.known() ? std::vector<Error::Note>{{what, op->loc}}
                                 : std::vector<Error::Note>{};
}

/// A map over the dimensions of `type`; `body` gets the capture and the coordinates and gives the element.
template<class F> Value *map_over(const ir::Type *type, const F &body, SourceLoc loc) {
    auto &c = current(loc);
    auto *op = emit(c, ir::Opcode::MAP, {}, {type}, ir::None{}, loc, 1);
    auto *region = open_region(c, "map", op, op->body(), loc);
    region->no_writes = true;
    std::vector<Value *> at;
    for (size_t i = 0; i < type->rank(); ++i) {
        at.push_back(c.module->add_argument(op->body(), c.module->scalar(ScalarType::INT64)));
    }
    region->indices = at;
    auto *element = body(c, at);
    element = c.resolve(element);
    c.module->append(op->body(),
                     c.module->create(ir::Opcode::YIELD, {element}, {}, ir::None{}, loc));
    close_plain(c, *region);
    return op->result();
}

/// A constant coordinate.
inline Value *integer(Capture &c, int64_t value, SourceLoc loc) {
    return emit_value(c, ir::Opcode::CONSTANT, {}, c.module->scalar(ScalarType::INT64),
                      ir::ConstantPayload{static_cast<uint64_t>(value)}, loc);
}

/// x at one coordinate a dimension; outside, the fallback, or zero without one.
inline Value *element_of(Capture &c, Value *x, const std::vector<Value *> &at, Value *fallback,
                         SourceLoc loc) {
    std::vector<Value *> operands{x};
    operands.insert(operands.end(), at.begin(), at.end());
    std::vector<Dim> dims;
    for (const auto &d : x->type()->dims) {
        dims.push_back(d.dim);
    }
    if (fallback) {
        operands.push_back(fallback);
    }
    return emit_value(c, ir::Opcode::EXTRACT, operands, c.module->scalar(x->scalar()),
                      ir::AccessPayload{dims, fallback != nullptr}, loc);
}

/// Whether a tile has only dimensions among `to`, of their extents or of one.
inline bool spreads(const Value *from, const std::vector<ir::DimExtent> &to) {
    const auto &own = from->type()->dims;
    return std::all_of(own.begin(), own.end(), [&](const ir::DimExtent &d) {
        return std::any_of(to.begin(), to.end(), [&](const ir::DimExtent &t) {
            return t.dim == d.dim && (d.extent == 1 || d.extent == t.extent);
        });
    });
}

/// A mask of the elements of x, or none: ShapeError in the name of `what` unless its dimensions are among x's.
inline void check_mask(const char *what, const Value *x, const Value *mask, SourceLoc loc) {
    if (mask && !spreads(mask, x->type()->dims)) {
        fail(ErrorKind::SHAPE,
             std::string{what} + ": a mask of shape " + shape_text(mask) +
                 " does not fit a tile of shape " + shape_text(x) +
                 "; its dimensions are among those of the tile",
             loc, made_at(mask, "mask made here"));
    }
}

}// namespace luisa::tile::core
