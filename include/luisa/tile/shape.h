// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/index.h>

#include <array>
#include <functional>
#include <vector>

namespace luisa::tile {

/// A dimension with an extent.
struct Axis {
    Dim dim;
    int64_t extent = 0;
    SourceLoc loc;
};

/// A new dimension called `label` (for diagnostics) of `extent` elements; negative: ValueError.
[[nodiscard]] Axis axis(const char *label, int64_t extent, SourceLoc loc = SourceLoc::current());
/// An existing dimension with an extent.
[[nodiscard]] Axis axis(Dim dim, int64_t extent, SourceLoc loc = SourceLoc::current());

/// A dimension named by its identity or by an axis; the extent of the axis is not used. Absent by default.
class DimArg {
public:
    DimArg() = default;
    DimArg(Dim d) : dim{d}, present{true} {}
    DimArg(Axis a) : DimArg{a.dim} {}
    Dim dim;
    bool present = false;
};

/// Several new dimensions: `auto [m, n] = dims("m", "n")`.
template<class... Label> [[nodiscard]] std::array<Dim, sizeof...(Label)> dims(Label... labels) {
    return {dim(labels)...};
}

class Nest;
class IndexSpace;

/// Axes in order. Integer entries are positional: their identity is their position.
class Shape {
public:
    struct Entry {
        Dim dim;
        Index extent;
    };
    std::vector<Entry> entries;
    SourceLoc loc;

    /// Number of dimensions.
    [[nodiscard]] int rank() const noexcept { return static_cast<int>(entries.size()); }
    /// The shape without one dimension; the identities of the others stay.
    [[nodiscard]] Shape without(Dim d) const;
    [[nodiscard]] Shape without(Axis a) const { return without(a.dim); }
    /// See IndexSpace::where.
    template<class Predicate>
    [[nodiscard]] IndexSpace where(const Predicate &holds,
                                   SourceLoc loc = SourceLoc::current()) const;
};

/// One entry of `shape(…)`: an Axis, or an extent (host, Index or staged integer).
class ShapeArg {
public:
    ShapeArg() = default;
    ShapeArg(Axis a) : _dim{a.dim}, _extent{a.extent, a.loc}, _present{true}, _positional{false} {}
    ShapeArg(Index extent) : _extent{extent}, _present{true} {}
    template<std::integral U>
    ShapeArg(U extent, SourceLoc loc = SourceLoc::current())
        : _extent{extent, loc}, _present{true} {}
    template<std::integral T>
    ShapeArg(const Scalar<T> &extent, SourceLoc loc = SourceLoc::current());

private:
    friend Shape shape(ShapeArg, ShapeArg, ShapeArg, ShapeArg, ShapeArg, ShapeArg, SourceLoc);
    Dim _dim;
    Index _extent{0};
    bool _present = false, _positional = true;
};

/// A shape of up to six axes and extents. The same axis twice, or a negative extent: ValueError.
[[nodiscard]] Shape shape(ShapeArg a = {}, ShapeArg b = {}, ShapeArg c = {}, ShapeArg d = {},
                          ShapeArg e = {}, ShapeArg f = {}, SourceLoc loc = SourceLoc::current());

/// A place in a view or tile, one index a dimension.
struct Coord {
    std::vector<IndexArg> parts;
    SourceLoc loc;
};
/// A place: one index a dimension, host integers or values of the kernel.
[[nodiscard]] Coord coord(IndexArg a = {}, IndexArg b = {}, IndexArg c = {}, IndexArg d = {},
                          IndexArg e = {}, IndexArg f = {}, SourceLoc loc = SourceLoc::current());

/// The domain of a nest: a shape, or a range of one index.
class IndexSpace {
public:
    IndexSpace(const Shape &s) : shape{s}, loc{s.loc} {}
    IndexSpace(IndexArg begin, IndexArg end, IndexArg step, SourceLoc loc)
        : is_range{true}, begin{begin}, end{end}, step{step}, loc{loc} {}
    /// Only the coordinates where `holds` is true: a bool tile over dimensions of the domain, or a lambda
    /// that takes the coordinates of the nest, or of its whole path, and gives a Scalar<bool>. Conditions add
    /// up. A tile with other dimensions, or for a range: ShapeError where the nest is opened.
    template<class Predicate>
    [[nodiscard]] IndexSpace where(const Predicate &holds,
                                   SourceLoc loc = SourceLoc::current()) const;
    Shape shape;
    bool is_range = false;
    IndexArg begin, end, step;
    SourceLoc loc;
    /// What `where` asks for at the coordinate of an open nest.
    std::vector<std::function<core::Value *(const Nest &)>> conditions;
};

/// begin, begin + step, … while below `end` (above it, for a negative step). A zero step: ValueError.
[[nodiscard]] IndexSpace range(IndexArg begin, IndexArg end, IndexArg step = 1,
                               SourceLoc loc = SourceLoc::current());

}// namespace luisa::tile
