// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/ops/compute.h>

// Gated linear units of Shazeer, 2020: activation(gate) · up. Both compute in f32 for half and bf16 and round once;
// the accuracy is that of the activation plus one rounding.

namespace luisa::tile::ops {

using tile::gelu;
using tile::gelu_tanh;
using tile::silu;

/// gate · sigmoid(gate) · up, elementwise over the join of the operands' dimensions.
template<class T>
[[nodiscard]] Tile<T> swiglu(const Tile<T> &gate, const std::type_identity_t<Tile<T>> &up,
                             SourceLoc loc = SourceLoc::current()) {
    return narrow<T>(multiply(silu(widen(gate, loc), loc), widen(up, loc), loc), loc);
}
/// gate · Φ(gate) · up with the normal distribution Φ, elementwise over the join of the operands' dimensions.
template<class T>
[[nodiscard]] Tile<T> geglu(const Tile<T> &gate, const std::type_identity_t<Tile<T>> &up,
                            SourceLoc loc = SourceLoc::current()) {
    return narrow<T>(multiply(gelu(widen(gate, loc), loc), widen(up, loc), loc), loc);
}

}// namespace luisa::tile::ops
