// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/ops/compute.h>

// Windows along an axis: what pooling and convolution slide over a tile.

namespace luisa::tile::ops {

/// Windows along one axis: place p of window o is the element o·stride - padding + p·dilation.
struct Window {
    int64_t size = 1;
    int64_t stride = 1;
    int64_t padding = 0;///< positions before the first and after the last element that hold nothing
    int64_t dilation = 1;///< distance of neighbouring places

    /// The positions from the first place to the last, both included.
    [[nodiscard]] constexpr int64_t reach() const { return dilation * (size - 1) + 1; }
    /// How many windows fit into an axis of `extent` elements.
    [[nodiscard]] constexpr int64_t count(int64_t extent) const {
        auto room = extent + 2 * padding - reach();
        return room < 0 ? 0 : room / stride + 1;
    }
};

namespace windows {
inline void check(const char *what, const Window &w, SourceLoc loc) {
    if (w.size < 1 || w.stride < 1 || w.dilation < 1 || w.padding < 0 || w.padding >= w.reach()) {
        core::fail(ErrorKind::VALUE,
                   std::string{what} + ": a window of size " + std::to_string(w.size) +
                       ", stride " + std::to_string(w.stride) + ", padding " +
                       std::to_string(w.padding) + " and dilation " + std::to_string(w.dilation) +
                       "; expected a size, a stride and a dilation of 1 or more, and a padding of "
                       "0 or more below what a window reaches over",
                   loc, {});
    }
}

/// An axis that windows replace, while both are there: the windows need an identity of their own meanwhile.
struct Sliding {
    Dim replaced;
    Axis fresh;
    Axis place;

    /// `value` with the windows in the place of the axis.
    core::Value *renamed(core::Value *value, SourceLoc loc) const {
        std::vector<Dim> dims;
        for (const auto &d : core::dims_of(value)) {
            dims.push_back(d.dim == fresh.dim ? replaced : d.dim);
        }
        return core::with_dims(value, dims, loc);
    }
    /// The first element of each window, over the windows.
    [[nodiscard]] Tile<int64_t> first(const Window &w, SourceLoc loc) const {
        return iota(fresh, loc) * w.stride - w.padding;
    }
    /// The elements in the windows, `outside` where they stand over nothing: x's dimensions in its order,
    /// with the windows on the axis, then the places in a window.
    template<class T>
    Tile<T> of(const Tile<T> &x, const Window &w, const ScalarArg<T> &outside,
               SourceLoc loc) const {
        auto at = first(w, loc) + iota(place, loc) * w.dilation;
        auto *moved = core::gather(x.value(loc), at.value(loc), replaced, outside.v, loc);
        std::vector<Dim> order;
        for (const auto &d : core::dims_of(x.value(loc))) {
            order.push_back(d.dim);
        }
        order.push_back(place.dim);
        return {core::transpose(renamed(moved, loc), order, loc), loc};
    }
    /// How many places of each window are in an axis of n elements, over the windows.
    [[nodiscard]] Tile<int64_t> inside(const Window &w, int64_t n, SourceLoc loc) const {
        auto from = first(w, loc);
        auto before = maximum(ceil_div(-from, w.dilation, loc), int64_t{0}, loc);
        auto until = minimum(ceil_div(-from + n, w.dilation, loc), w.size, loc);
        auto count = maximum(until - before, int64_t{0}, loc);
        return {renamed(count.value(loc), loc), loc};
    }
};

template<class T>
Sliding slide(const char *what, const Tile<T> &x, Dim along, const Window &w, const Axis &place,
              SourceLoc loc) {
    auto n = count_along(what, x, {along}, loc);
    return {along, axis("window", w.count(n), loc), place};
}
}// namespace windows

}// namespace luisa::tile::ops
