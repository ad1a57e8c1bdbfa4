// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/ops/compute.h>

namespace luisa::tile::ops {

/// The windows of a pooling along one axis: window o covers elements o·stride - padding and the window - 1 after.
struct Window {
    int64_t size = 1;
    int64_t stride = 1;
    int64_t padding = 0;///< positions before the first and after the last element that hold nothing

    /// How many windows fit into an axis of `extent` elements.
    [[nodiscard]] constexpr int64_t count(int64_t extent) const {
        auto room = extent + 2 * padding - size;
        return room < 0 ? 0 : room / stride + 1;
    }
};

/// One axis that a pooling replaces by its windows.
struct PoolAxis {
    Dim dim;
    Window window;
    PoolAxis(Dim d, Window w) : dim{d}, window{w} {}
    PoolAxis(const Axis &a, Window w) : dim{a.dim}, window{w} {}
};

namespace pooling {
inline void check(const char *what, const Window &w, SourceLoc loc) {
    if (w.size < 1 || w.stride < 1 || w.padding < 0 || w.padding >= w.size) {
        core::fail(ErrorKind::VALUE,
                   std::string{what} + ": a window of size " + std::to_string(w.size) +
                       ", stride " + std::to_string(w.stride) + " and padding " +
                       std::to_string(w.padding) +
                       "; expected a size and a stride of 1 or more, and a padding of 0 or more "
                       "below the size",
                   loc, {});
    }
}
template<class T> struct Windows {
    Tile<T>
        elements;///< x's dimensions, the windows on the axis that they replace, then the places in a window
    Tile<int64_t> inside;///< how many places of a window are in x, over the windows
    Dim place;
};
template<class T>
Windows<T> windows(const char *what, const Tile<T> &x, const PoolAxis &along, ScalarArg<T> outside,
                   SourceLoc loc) {
    const auto &w = along.window;
    check(what, w, loc);
    auto n = count_along(what, x, {along.dim}, loc);
    // The windows need an identity of their own while the axis that they replace is still there.
    auto fresh = axis("window", w.count(n), loc), place = axis("place", w.size, loc);
    auto first = iota(fresh, loc) * w.stride - w.padding;
    auto at = first + iota(place, loc);
    auto inside = minimum(first + w.size, n, loc) - maximum(first, 0, loc);
    auto renamed = [&](core::Value *value) {
        std::vector<Dim> dims;
        for (const auto &d : core::dims_of(value)) {
            dims.push_back(d.dim == fresh.dim ? along.dim : d.dim);
        }
        return core::with_dims(value, dims, loc);
    };
    auto *moved = core::gather(x.value(loc), at.value(loc), along.dim, outside.v, loc);
    return {{renamed(moved), loc}, {renamed(inside.value(loc)), loc}, place.dim};
}
/// y with its dimensions in x's order.
template<class T, class X> Tile<T> ordered_as(const Tile<T> &y, const Tile<X> &x, SourceLoc loc) {
    std::vector<Dim> order;
    for (const auto &d : core::dims_of(x.value(loc))) {
        order.push_back(d.dim);
    }
    return {core::transpose(y.value(loc), order, loc), loc};
}
}// namespace pooling

/// The largest element of each window: x's dimensions, the axis `window.count(n)` long. Padding never wins, NaN
/// always does. A window that is no window, or an axis that x lacks, is a ValueError or an IndexError.
template<class T>
[[nodiscard]] Tile<T> max_pool(const Tile<T> &x, const PoolAxis &along,
                               SourceLoc loc = SourceLoc::current()) {
    T lowest{};
    if constexpr (is_floating_element<T>) {
        lowest = static_cast<T>(-std::numeric_limits<float>::infinity());
    } else {
        lowest = std::numeric_limits<T>::lowest();
    }
    auto w = pooling::windows("max_pool", x, along, ScalarArg<T>{lowest, loc}, loc);
    return pooling::ordered_as(reduce(w.elements, w.place, maximum, loc), x, loc);
}
/// The same over the windows of two axes.
template<class T>
[[nodiscard]] Tile<T> max_pool(const Tile<T> &x, const PoolAxis &a, const PoolAxis &b,
                               SourceLoc loc = SourceLoc::current()) {
    return max_pool(max_pool(x, a, loc), b, loc);
}

/// What an average divides by: the window's size, padding included, or the number of its elements in x.
enum class PoolDivisor : uint8_t { WINDOW, ELEMENTS };

/// The mean of each window: shapes and errors as in `max_pool`. Padding adds zero. Computes in f32 for half and
/// bf16 and rounds once; the sum has the kernel's reduction policy.
template<class T>
[[nodiscard]] Tile<T> avg_pool(const Tile<T> &x, const PoolAxis &along,
                               PoolDivisor divisor = PoolDivisor::WINDOW,
                               SourceLoc loc = SourceLoc::current()) {
    static_assert(is_floating_element<T>, "avg_pool needs a floating-point operand");
    using C = Compute<T>;
    auto w = pooling::windows("avg_pool", widen(x, loc), along, ScalarArg<C>{0.0f, loc}, loc);
    auto sum = reduce(w.elements, w.place, add, loc);
    auto mean = divisor == PoolDivisor::WINDOW ? sum / static_cast<double>(along.window.size)
                                               : sum / cast<C>(w.inside, loc);
    return pooling::ordered_as(narrow<T>(mean, loc), x, loc);
}
/// The same over the windows of two axes: the mean along `b` of the means along `a`.
template<class T>
[[nodiscard]] Tile<T> avg_pool(const Tile<T> &x, const PoolAxis &a, const PoolAxis &b,
                               PoolDivisor divisor = PoolDivisor::WINDOW,
                               SourceLoc loc = SourceLoc::current()) {
    return narrow<T>(avg_pool(avg_pool(widen(x, loc), a, divisor, loc), b, divisor, loc), loc);
}

}// namespace luisa::tile::ops
