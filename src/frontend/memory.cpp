// SPDX-License-Identifier: Apache-2.0
#include "frontend/element_maps.h"
#include "frontend/injective.h"
#include "layout/proved.h"

#include <luisa/tile/layout_ops.h>
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

/// The map of a layout by strides.
IndexMap strided(const IndexPoint &extents, const IndexPoint &strides, SourceLoc loc) {
    if (strides.size() != extents.size()) {
        fail(ErrorKind::SHAPE,
             "memory: a layout of " + std::to_string(extents.size()) + " dimensions has " +
                 std::to_string(strides.size()) + " strides",
             loc);
    }
    for (size_t i = 0; i < extents.size(); ++i) {
        if (strides[i] < 0) {
            fail(ErrorKind::CONSTRAINT,
                 "memory: stride " + std::to_string(strides[i]) + " of dimension " +
                     std::to_string(i) +
                     " leads before the object; a layout begins at its first element",
                 loc);
        }
    }
    return IndexMap::strided(extents, strides);
}

/// The map as text, once it is proved to give each element a place of its own.
std::string checked_layout(const StorageLayout &layout, const std::vector<DimExtent> &dims,
                           SourceLoc loc) {
    IndexPoint extents;
    for (const auto &d : dims) {
        extents.push_back(d.extent);
    }
    auto map = layout.map ? *layout.map : strided(extents, layout.strides.steps, loc);
    if (!(map.domain() == IndexSet{extents})) {
        fail(ErrorKind::SHAPE,
             "memory: the layout has places for the elements " + map.domain().text() +
                 ", the shape is " + IndexSet{extents}.text(),
             loc);
    }
    if (map.codomain().rank() != 1) {
        fail(ErrorKind::SHAPE,
             "memory: the places of the layout have " + std::to_string(map.codomain().rank()) +
                 " coordinates; a place in memory is one number",
             loc);
    }
    auto text = simplify(map).text();
    const auto &proof = proved_map(text)->proof;
    auto refuse = [&](const LayoutProof::Claim &claim, const std::string &disproof,
                      const std::string &unknown) {
        if (claim.proof != tile::Proof::PROVEN) {
            fail(ErrorKind::CONSTRAINT,
                 "memory: " + (claim.proof == tile::Proof::DISPROVEN ? disproof : unknown), loc);
        }
    };
    auto witness = [](const LayoutProof::Claim &claim, size_t i) {
        return i < claim.witness.size() ? coordinates_text(claim.witness[i]) : "";
    };
    refuse(proof.totality, "the layout has no place for the element " + witness(proof.totality, 0),
           "it cannot be proved that the layout has a place for each element");
    refuse(proof.bounds,
           "the layout puts the element " + witness(proof.bounds, 0) + " outside of its " +
               std::to_string(map.codomain().extents()[0]) + " places",
           "it cannot be proved that the layout keeps to its places");
    refuse(proof.injectivity,
           "the layout puts the elements " + witness(proof.injectivity, 0) + " and " +
               witness(proof.injectivity, 1) + " at the same place",
           "the layout cannot be proved to put each element at a place of its own; use strides "
           "that nest");
    return text;
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

Shape positional_shape(const IndexSet &set, SourceLoc loc) {
    Shape shape;
    shape.loc = loc;
    for (size_t i = 0; i < set.rank(); ++i) {
        shape.entries.push_back(
            {Dim::positional(static_cast<uint32_t>(i)), Index{set.extents()[i], loc}});
    }
    return shape;
}

MemoryHandle make_memory(ScalarType type, const Shape &shape, const StorageLayout *layout,
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
    if (layout) {
        payload.layout = checked_layout(*layout, dims, loc);
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
