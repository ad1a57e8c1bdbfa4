// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/ops/compute.h>
#include <luisa/tile/quantize.h>
#include <luisa/tile/reduce.h>

// Values in blocks along a dimension, each block with a scale of its own, as microscaling formats have them: a
// tile of rows × blocks × block elements in a narrow format, and a tile of rows × blocks of scales.

namespace luisa::tile::ops {

/// The exponent of a format's largest value.
template<class U>
inline constexpr int largest_exponent = std::same_as<U, float8_e4m3fn> ? 8
                                        : std::same_as<U, float8_e5m2> ? 15
                                                                       : 2;

/// Scales kept as eight bits of exponent (e8m0): 2^(code − 127); 255 is NaN.
[[nodiscard]] inline Tile<float> power_scale(const Tile<uint8_t> &code,
                                             SourceLoc loc = SourceLoc::current()) {
    auto field = cast<uint32_t>(code, loc) << 23u;
    return bitcast<float>(
        ite(code == uint8_t{0}, 0x00400000u, ite(code == uint8_t{255}, 0x7fc00000u, field)), loc);
}

/// The e8m0 scales with which the blocks of x along `elements` fill format U (float8_e4m3fn, float8_e5m2,
/// float4_e2m1): the exponent of a block's largest magnitude, less that of U's. A block with an infinity or
/// NaN gets NaN.
template<class U>
[[nodiscard]] Tile<uint8_t> block_scale(const Tile<float> &x, const ReduceAxes &elements,
                                        SourceLoc loc = SourceLoc::current()) {
    static_assert(!grid::Grid<U>::integer, "block_scale<U>: U is a floating-point format");
    (void)count_along("block_scale", x, elements.dims, loc);
    auto largest = reduce(abs(x, loc), elements, maximum, loc);
    auto exponent = cast<int32_t>(bitcast<uint32_t>(largest, loc) >> 23u, loc);
    auto code = maximum(exponent - largest_exponent<U>, int32_t{0});
    return cast<uint8_t>(ite(exponent == int32_t{255}, int32_t{255}, code), loc);
}

/// acc + Σ (a · scale_a) · (b · scale_b), as `mma` of both dequantized operands: the dimensions of a and b say
/// what is contracted, as for `mma`, and each scale has some of its operand's dimensions. Exact products where
/// scales are powers of two.
template<StagedValue A, StagedValue SA, StagedValue B, StagedValue SB>
[[nodiscard]] Tile<float> block_scaled_mma(const A &a, const SA &scale_a, const B &b,
                                           const SB &scale_b, const Tile<float> &acc,
                                           MmaPolicy policy = {},
                                           SourceLoc loc = SourceLoc::current()) {
    return mma(dequantize<float>(a, scale_a, loc), dequantize<float>(b, scale_b, loc), acc, policy,
               loc);
}

}// namespace luisa::tile::ops
