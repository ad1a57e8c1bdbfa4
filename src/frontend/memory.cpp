// SPDX-License-Identifier: Apache-2.0
#include "frontend/element_maps.h"
#include "frontend/injective.h"

#include <luisa/tile/memory.h>

// A Memory is a variable that holds the contents of the object: an alloc at first, then what was inserted.
// States, branches and disjoint writes of child instances follow the rules of variables.

namespace luisa::tile::core {

using ir::DimExtent;
using ir::Opcode;

/// The object that handles share.
struct MemoryState {
    Variable *contents;
    const ir::Type *type;
    explicit MemoryState(Variable *contents, const ir::Type *type)
        : contents{contents}, type{type} {}
    MemoryState(const MemoryState &) = delete;
    MemoryState &operator=(const MemoryState &) = delete;
    ~MemoryState() { destroy(contents); }
};

namespace {

void check_layout(const std::vector<DimExtent> &dims, const std::vector<int64_t> &strides,
                  SourceLoc loc) {
    if (strides.size() != dims.size()) {
        fail(ErrorKind::SHAPE,
             "memory: a layout of " + std::to_string(dims.size()) + " dimensions has " +
                 std::to_string(strides.size()) + " strides",
             loc);
    }
    std::vector<int64_t> extents;
    int64_t last = 0;
    for (size_t i = 0; i < dims.size(); ++i) {
        extents.push_back(dims[i].extent);
        int64_t reach = 0;
        if (strides[i] < 0) {
            fail(ErrorKind::CONSTRAINT,
                 "memory: stride " + std::to_string(strides[i]) + " of dimension " +
                     std::to_string(i) +
                     " leads before the object; a layout begins at its first element",
                 loc);
        }
        if (__builtin_mul_overflow(strides[i], std::max<int64_t>(dims[i].extent - 1, 0), &reach) ||
            __builtin_add_overflow(last, reach, &last)) {
            fail(ErrorKind::VALUE, "memory: the layout is longer than 2^63 elements", loc);
        }
    }
    auto proof = prove_injective(std::vector<std::vector<int64_t>>{strides}, extents);
    if (proof.proof != Injectivity::Proof::PROVEN) {
        bool known = proof.proof == Injectivity::Proof::DISPROVEN;
        fail(ErrorKind::CONSTRAINT,
             known ? "memory: the layout puts the elements " + coordinates_text(proof.first) +
                         " and " + coordinates_text(proof.second) + " at the same place"
                   : "memory: the layout cannot be proved to put each element at a place of its "
                     "own; use strides that nest",
             loc);
    }
}

/// The coordinates of a box and its dimensions, checked against the object.
struct Box {
    std::vector<Value *> at;
    ir::AccessPayload access;
};

Box box_of(const ir::Type &object, const Coord *origin, const Shape *shape, SourceLoc loc) {
    Box box;
    if (!origin) {
        return box;
    }
    auto dims = static_dims(*shape, loc);
    auto rank = object.rank();
    if (origin->parts.size() != rank || dims.size() != rank) {
        fail(ErrorKind::SHAPE,
             "the Memory has rank " + std::to_string(rank) + ", the origin has " +
                 std::to_string(origin->parts.size()) + " coordinates and the shape rank " +
                 std::to_string(dims.size()),
             loc);
    }
    for (size_t i = 0; i < rank; ++i) {
        box.at.push_back(origin->parts[i].value());
        box.access.dims.push_back(object.dims[i].dim);
    }
    box.access.box = dims;
    return box;
}

Value *contents_of(const MemoryState &memory, SourceLoc loc) { return read(memory.contents, loc); }

}// namespace

MemoryHandle make_memory(ScalarType type, const Shape &shape, const Stride *strides,
                         MemoryClass kind, SourceLoc loc) {
    auto &c = current(loc);
    if (c.current->no_writes) {
        fail(ErrorKind::SCOPE, std::string{"a "} + c.current->kind + " may not make a Memory", loc);
    }
    auto dims = static_dims(shape, loc);
    if (dims.empty()) {
        fail(ErrorKind::SHAPE,
             "memory: the shape has no dimensions; one element is a Scalar, or shape(1)", loc);
    }
    ir::AllocPayload payload{kind, {}};
    if (strides) {
        check_layout(dims, strides->steps, loc);
        payload.strides = strides->steps;
    }
    auto *contents = c.module->tile(type, dims);
    auto *alloc = emit_value(c, Opcode::MEMORY_ALLOC, {}, contents, payload, loc);
    auto *variable = declare(alloc, loc);
    variable->is_memory = true;
    return std::make_shared<MemoryState>(variable, contents);
}

Value *load_memory(const MemoryHandle &memory, const Coord *origin, const Shape *shape,
                   SourceLoc loc) {
    auto &c = current(loc);
    auto *contents = contents_of(*memory, loc);
    auto box = box_of(*contents->type(), origin, shape, loc);
    box.at.insert(box.at.begin(), contents);
    auto *type = origin ? c.module->tile(contents->scalar(), box.access.box) : contents->type();
    return emit_value(c, Opcode::EXTRACT, box.at, type, box.access, loc);
}

void store_memory(const MemoryHandle &memory, const Coord *origin, const Shape *shape, Value *tile,
                  SourceLoc loc) {
    auto &c = current(loc);
    auto *contents = contents_of(*memory, loc);
    auto box = box_of(*contents->type(), origin, shape, loc);
    const auto &wanted = origin ? box.access.box : contents->type()->dims;
    auto *fitted = tile->type()->is_scalar() && !wanted.empty()
                       ? emit_value(c, Opcode::BROADCAST, {tile},
                                    c.module->tile(tile->scalar(), wanted), ir::None{}, loc)
                       : fit_dims(c, tile, wanted, loc);
    if (!fitted) {
        fail(ErrorKind::SHAPE,
             "store: a tile of shape " + shape_text(tile) + " into " +
                 (origin ? "a box of shape " : "a Memory of shape ") +
                 ir::extents_text(*c.module->tile(tile->scalar(), wanted)) +
                 ": its dimensions are not those of the " + (origin ? "box" : "Memory"),
             loc, made_at(tile, "tile made here"));
    }
    box.at.insert(box.at.begin(), {contents, fitted});
    assign(memory->contents,
           emit_value(c, Opcode::INSERT, box.at, contents->type(), box.access, loc), loc);
}

}// namespace luisa::tile::core
