// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/ops/window.h>

namespace luisa::tile::ops {

/// One axis that a pooling replaces by its windows.
struct PoolAxis {
    Dim dim;
    Window window;
    PoolAxis(Dim d, Window w) : dim{d}, window{w} {}
    PoolAxis(const Axis &a, Window w) : dim{a.dim}, window{w} {}
};

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
    const auto &w = along.window;
    windows::check("max_pool", w, loc);
    auto place = axis("place", w.size, loc);
    auto sliding = windows::slide("max_pool", x, along.dim, w, place, loc);
    auto elements = sliding.of(x, w, ScalarArg<T>{lowest, loc}, loc);
    return reduce(elements, place, maximum, loc);
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
    const auto &w = along.window;
    windows::check("avg_pool", w, loc);
    auto place = axis("place", w.size, loc);
    auto sliding = windows::slide("avg_pool", x, along.dim, w, place, loc);
    auto elements = sliding.of(widen(x, loc), w, ScalarArg<C>{0.0f, loc}, loc);
    auto sum = reduce(elements, place, add, loc);
    auto n = count_along("avg_pool", x, {along.dim}, loc);
    auto mean = divisor == PoolDivisor::WINDOW ? sum / static_cast<double>(w.size)
                                               : sum / cast<C>(sliding.inside(w, n, loc), loc);
    return narrow<T>(mean, loc);
}
/// The same over the windows of two axes: the mean along `b` of the means along `a`.
template<class T>
[[nodiscard]] Tile<T> avg_pool(const Tile<T> &x, const PoolAxis &a, const PoolAxis &b,
                               PoolDivisor divisor = PoolDivisor::WINDOW,
                               SourceLoc loc = SourceLoc::current()) {
    return narrow<T>(avg_pool(avg_pool(widen(x, loc), a, divisor, loc), b, divisor, loc), loc);
}

}// namespace luisa::tile::ops
