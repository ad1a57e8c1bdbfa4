// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/ops/compute.h>

namespace luisa::tile::ops {

/// x / √(mean(x²) + epsilon) over `axes`: x's shape. Root mean square layer normalization of Zhang and Sennrich,
/// 2019. Computes in f32 for half and bf16, and rounds once.
template<class T>
[[nodiscard]] Tile<T> rms_norm(const Tile<T> &x, const ReduceAxes &axes, double epsilon = 1e-6,
                               SourceLoc loc = SourceLoc::current()) {
    static_assert(is_floating_element<T>, "rms_norm needs a floating-point operand");
    auto count = static_cast<double>(count_along("rms_norm", x, axes.dims, loc));
    auto v = widen(x, loc);
    auto mean_square = reduce(v * v, axes, add, loc) / count;
    return narrow<T>(v * rsqrt(mean_square + epsilon, loc), loc);
}
/// The same times `weight`, whose dimensions are among x's (most often the axes).
template<class T>
[[nodiscard]] Tile<T> rms_norm(const Tile<T> &x, const ReduceAxes &axes,
                               const std::type_identity_t<Tile<T>> &weight, double epsilon = 1e-6,
                               SourceLoc loc = SourceLoc::current()) {
    return narrow<T>(multiply(rms_norm(widen(x, loc), axes, epsilon, loc), widen(weight, loc), loc),
                     loc);
}

/// (x - mean) / √(variance + epsilon) over `axes`: x's shape. Layer normalization of Ba, Kiros and Hinton, 2016;
/// the variance is the mean of the squared differences to the mean (no cancellation, division by the count).
/// Computes in f32 for half and bf16, and rounds once.
template<class T>
[[nodiscard]] Tile<T> layer_norm(const Tile<T> &x, const ReduceAxes &axes, double epsilon = 1e-5,
                                 SourceLoc loc = SourceLoc::current()) {
    static_assert(is_floating_element<T>, "layer_norm needs a floating-point operand");
    auto count = static_cast<double>(count_along("layer_norm", x, axes.dims, loc));
    auto v = widen(x, loc);
    auto centred = v - reduce(v, axes, add, loc) / count;
    auto variance = reduce(centred * centred, axes, add, loc) / count;
    return narrow<T>(centred * rsqrt(variance + epsilon, loc), loc);
}
/// The same times `weight` plus `bias`, whose dimensions are among x's (most often the axes).
template<class T>
[[nodiscard]] Tile<T> layer_norm(const Tile<T> &x, const ReduceAxes &axes,
                                 const std::type_identity_t<Tile<T>> &weight,
                                 const std::type_identity_t<Tile<T>> &bias, double epsilon = 1e-5,
                                 SourceLoc loc = SourceLoc::current()) {
    auto unit = layer_norm(widen(x, loc), axes, epsilon, loc);
    return narrow<T>(add(multiply(unit, widen(weight, loc), loc), widen(bias, loc), loc), loc);
}

}// namespace luisa::tile::ops
