// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/ops/compute.h>

// Rotary position embedding of Su et al., 2021: pairs of elements along an axis of 2h elements are rotated by
// angles; pair i of h by an angle whose cosine and sine the caller gives along an axis of h elements.

namespace luisa::tile::ops {

namespace rotary {
template<class T>
int64_t pairs(const char *what, const Tile<T> &x, Dim axis, const Axis &half, SourceLoc loc) {
    auto count = count_along(what, x, {axis}, loc);
    if (count != 2 * half.extent) {
        core::fail(ErrorKind::SHAPE,
                   std::string{what} + ": the axis has " + std::to_string(count) +
                       " elements and the axis of the angles " + std::to_string(half.extent) +
                       "; expected twice as many as angles",
                   loc, {});
    }
    return half.extent;
}
/// x · c + partner · s, with s negative at the first element of each pair.
template<class T>
Tile<T> turn(const Tile<T> &x, const Tile<T> &partner, const Tile<Compute<T>> &cosine,
             const Tile<Compute<T>> &sine, const Tile<int64_t> &pair, const Tile<bool> &first,
             const Axis &half, SourceLoc loc) {
    auto c = gather(cosine, pair, half, 0.0f, loc), s = gather(sine, pair, half, 0.0f, loc);
    auto straight = multiply(widen(x, loc), c, loc);
    auto crossed = multiply(widen(partner, loc), s, loc);
    return narrow<T>(add(straight, ite(first, -crossed, crossed, loc), loc), loc);
}
}// namespace rotary

/// The angle of pair i for position one: base^(-i / h), along `half` of h elements.
[[nodiscard]] inline Tile<float> rope_frequencies(const Axis &half, double base = 10000.0,
                                                  SourceLoc loc = SourceLoc::current()) {
    auto exponent = cast<float>(iota(half, loc), loc) * (-1.0 / static_cast<double>(half.extent));
    return pow(full<float>(shape(), base, loc), exponent, loc);
}

/// Rotary embedding of pairs (i, i + h): y[i] = x[i]·cos[i] - x[i + h]·sin[i], y[i + h] = x[i + h]·cos[i] +
/// x[i]·sin[i]. `axis` has 2h elements, `half`, which `cosine` and `sine` have, h of them: else ShapeError. The
/// result has x's dimensions, then those that only the angles have. Computes in f32 for half and bf16 and
/// rounds once; in f32 and f64 each product and the sum round.
template<class T>
[[nodiscard]] Tile<T> rope_half_split(const Tile<T> &x, const Axis &axis,
                                      const std::type_identity_t<Tile<Compute<T>>> &cosine,
                                      const std::type_identity_t<Tile<Compute<T>>> &sine,
                                      const Axis &half, SourceLoc loc = SourceLoc::current()) {
    auto h = rotary::pairs("rope_half_split", x, axis.dim, half, loc);
    auto j = iota(tile::axis(axis.dim, 2 * h, loc), loc);
    auto first = j < h;
    return rotary::turn(x, rotate(x, axis, h, loc), cosine, sine, ite(first, j, j - h, loc), first,
                        half, loc);
}

/// Rotary embedding of pairs (2i, 2i + 1): y[2i] = x[2i]·cos[i] - x[2i + 1]·sin[i], y[2i + 1] = x[2i + 1]·cos[i] +
/// x[2i]·sin[i]. Everything else as in `rope_half_split`.
template<class T>
[[nodiscard]] Tile<T> rope_interleaved(const Tile<T> &x, const Axis &axis,
                                       const std::type_identity_t<Tile<Compute<T>>> &cosine,
                                       const std::type_identity_t<Tile<Compute<T>>> &sine,
                                       const Axis &half, SourceLoc loc = SourceLoc::current()) {
    auto h = rotary::pairs("rope_interleaved", x, axis.dim, half, loc);
    auto j = iota(tile::axis(axis.dim, 2 * h, loc), loc);
    return rotary::turn(x, butterfly(x, axis, 1, loc), cosine, sine, j >> 1, (j & 1) == 0, half,
                        loc);
}

}// namespace luisa::tile::ops
