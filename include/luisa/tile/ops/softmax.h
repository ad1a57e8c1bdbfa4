// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/ops/compute.h>

namespace luisa::tile::ops {

/// log Σ exp(x) over `axes`, computed as m + log Σ exp(x - m) with m the largest element, so that nothing
/// overflows. The other dimensions stay. Of no elements, or where all are -inf: NaN; where one is +inf: NaN.
/// Computes in f32 for half and bf16, and rounds once.
template<class T>
[[nodiscard]] Tile<T> log_sum_exp(const Tile<T> &x, const ReduceAxes &axes,
                                  SourceLoc loc = SourceLoc::current()) {
    static_assert(is_floating_element<T>, "log_sum_exp needs a floating-point operand");
    (void)count_along("log_sum_exp", x, axes.dims, loc);
    auto v = widen(x, loc);
    auto top = reduce(v, axes, maximum, loc);
    return narrow<T>(top + log(reduce(exp(v - top, loc), axes, add, loc), loc), loc);
}

/// exp(x - m) / Σ exp(x - m) over `axes`, m the largest element: x's shape, each group summing to one. The relative
/// error is that of exp plus one rounding for each of the difference, the sum and the quotient. A group that is
/// all -inf, or holds +inf or NaN, is NaN. Computes in f32 for half and bf16, and rounds once.
template<class T>
[[nodiscard]] Tile<T> softmax(const Tile<T> &x, const ReduceAxes &axes,
                              SourceLoc loc = SourceLoc::current()) {
    static_assert(is_floating_element<T>, "softmax needs a floating-point operand");
    (void)count_along("softmax", x, axes.dims, loc);
    auto v = widen(x, loc);
    auto weight = exp(v - reduce(v, axes, maximum, loc), loc);
    return narrow<T>(weight / reduce(weight, axes, add, loc), loc);
}

/// (x - m) - log Σ exp(x - m) over `axes`, m the largest element: the logarithm of `softmax` without its underflow.
/// Special values as there.
template<class T>
[[nodiscard]] Tile<T> log_softmax(const Tile<T> &x, const ReduceAxes &axes,
                                  SourceLoc loc = SourceLoc::current()) {
    static_assert(is_floating_element<T>, "log_softmax needs a floating-point operand");
    (void)count_along("log_softmax", x, axes.dims, loc);
    auto v = widen(x, loc);
    auto centred = v - reduce(v, axes, maximum, loc);
    return narrow<T>(centred - log(reduce(exp(centred, loc), axes, add, loc), loc), loc);
}

}// namespace luisa::tile::ops
