// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/layout.h>
#include <luisa/tile/view.h>

#include <memory>
#include <optional>

// Addressable objects of a kernel. A tile needs none: what one stage makes and another uses is kept by the
// compiler. A Memory is for programs that want the same object written and read again, in parts, from several
// places.

namespace luisa::tile {

/// Where a Memory may lie. It constrains the resource, never who owns the object or what is stored.
namespace mem {
/// Wherever the target likes. The default.
inline constexpr MemoryClass auto_ = MemoryClass::AUTO;
/// Storage of one participant.
inline constexpr MemoryClass private_ = MemoryClass::PRIVATE;
/// On-chip memory that the participants of a block share.
inline constexpr MemoryClass shared = MemoryClass::SHARED;
/// The same over a cluster of blocks.
inline constexpr MemoryClass cluster = MemoryClass::CLUSTER;
/// Device memory.
inline constexpr MemoryClass global = MemoryClass::GLOBAL;
/// The memory of matrix units.
inline constexpr MemoryClass tensor = MemoryClass::TENSOR;
}// namespace mem

/// Distances in elements, one a dimension.
struct Stride {
    std::vector<int64_t> steps;
};
/// The strides of a layout, outermost dimension first.
template<std::integral... I> [[nodiscard]] Stride stride(I... steps) {
    return {{static_cast<int64_t>(steps)...}};
}

/// A shape and where its elements lie: element q at the sum of q times the strides, or at map(q).
struct StorageLayout {
    Shape shape;
    Stride strides;
    std::optional<IndexMap> map;
};
/// A layout by strides. `memory` checks it.
[[nodiscard]] inline StorageLayout layout(const Shape &shape, const Stride &strides) {
    return {shape, strides, {}};
}
/// A layout by an index map from the coordinates of the shape to places, one number each; its codomain says how many
/// places there are. `memory` checks it.
[[nodiscard]] inline StorageLayout layout(const Shape &shape, IndexMap map) {
    return {shape, {}, std::move(map)};
}

namespace core {
struct MemoryState;
using MemoryHandle = std::shared_ptr<MemoryState>;
/// A null layout is row-major.
MemoryHandle make_memory(ScalarType type, const Shape &shape, const StorageLayout *layout,
                         MemoryClass kind, SourceLoc loc);
/// The shape whose dimensions are positions of a box.
Shape positional_shape(const IndexSet &set, SourceLoc loc);
/// A null place is the whole object.
Value *load_memory(const MemoryHandle &memory, const Coord *origin, const Shape *shape,
                   SourceLoc loc);
void store_memory(const MemoryHandle &memory, const Coord *origin, const Shape *shape, Value *tile,
                  SourceLoc loc);
}// namespace core

/// A box of a Memory.
template<class T> class MemoryPart {
public:
    MemoryPart(core::MemoryHandle memory, Coord origin, Shape shape)
        : _memory{std::move(memory)}, _origin{std::move(origin)}, _shape{std::move(shape)} {}
    MemoryPart(const MemoryPart &) = default;
    MemoryPart &operator=(const MemoryPart &) = delete;
    template<class U> MemoryPart &operator=(const U &) {
        static_assert(core::always_false<U>,
                      "a box of a Memory is no variable: write .store(tile)");
        return *this;
    }
    /// What the box holds; zero outside of the object.
    [[nodiscard]] Tile<T> load(SourceLoc loc = SourceLoc::current()) const {
        return {core::load_memory(_memory, &_origin, &_shape, loc), loc};
    }
    /// Writes a tile with the dimensions of the box; nothing outside of the object.
    void store(std::type_identity_t<TileArg<T>> tile, SourceLoc loc = SourceLoc::current()) const {
        core::store_memory(_memory, &_origin, &_shape, tile.v, loc);
    }

private:
    core::MemoryHandle _memory;
    Coord _origin;
    Shape _shape;
};

/// One object in memory, made by `memory<T>(…)`: one for each instance of the innermost `parallel` around the
/// call (one for the kernel at its root). Copies of the handle name the same object.
template<class T> class Memory {
public:
    explicit Memory(core::MemoryHandle memory) : _memory{std::move(memory)} {}
    /// What it holds. Before anything was certainly stored: ScopeError at the end of the capture.
    [[nodiscard]] Tile<T> load(SourceLoc loc = SourceLoc::current()) const {
        return {core::load_memory(_memory, nullptr, nullptr, loc), loc};
    }
    /// Replaces all of it. The instances of an inner `parallel` may not, unless all store the same:
    /// ScopeError; they write disjoint boxes.
    void store(std::type_identity_t<TileArg<T>> tile, SourceLoc loc = SourceLoc::current()) const {
        core::store_memory(_memory, nullptr, nullptr, tile.v, loc);
    }
    /// The box of `shape` that begins at `origin`; both have one entry a dimension, else ShapeError.
    [[nodiscard]] MemoryPart<T> operator()(const Coord &origin, const Shape &shape) const {
        return {_memory, origin, shape};
    }

private:
    core::MemoryHandle _memory;
};

/// A Memory of this shape, row-major.
template<class T>
[[nodiscard]] Memory<T> memory(const Shape &shape, MemoryClass kind = mem::auto_,
                               SourceLoc loc = SourceLoc::current()) {
    static_assert(Element<T>, "memory<T>: T is no element type");
    return Memory<T>{core::make_memory(scalar_type_of<T>, shape, nullptr, kind, loc)};
}
/// A Memory whose elements lie as `layout` says. Strides that are not one a dimension, a map of other elements or to
/// places that are no numbers: ShapeError. Negative strides, and what is not proved to give each element a place of
/// its own inside: ConstraintError that names elements.
template<class T>
[[nodiscard]] Memory<T> memory(const StorageLayout &layout, MemoryClass kind = mem::auto_,
                               SourceLoc loc = SourceLoc::current()) {
    static_assert(Element<T>, "memory<T>: T is no element type");
    return Memory<T>{core::make_memory(scalar_type_of<T>, layout.shape, &layout, kind, loc)};
}
/// A Memory of the points of the map's domain, whose dimensions are positional.
template<class T>
[[nodiscard]] Memory<T> memory(const IndexMap &map, MemoryClass kind = mem::auto_,
                               SourceLoc loc = SourceLoc::current()) {
    return memory<T>(layout(core::positional_shape(map.domain(), loc), map), kind, loc);
}

}// namespace luisa::tile
