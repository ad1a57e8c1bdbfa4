// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/policy.h>
#include <luisa/tile/scalar_type.h>

#include "ir/opcode.h"
#include "ir/payload.h"

namespace luisa::tile::cpu {

/// What a `reduce.expr` folds with: minimum and maximum that ignore NaN are fmin and fmax.
[[nodiscard]] Reducer effective_reducer(const ir::ReducePayload &payload);

/// The elementwise operation of a reducer (argmin and argmax have none).
[[nodiscard]] ir::Opcode reducer_opcode(Reducer reducer);

/// Bits of the exact identity: combining with it changes nothing, the sign of zero included.
[[nodiscard]] uint64_t identity_bits(Reducer reducer, ScalarType type);

/// Bits of the result of a reduction over no elements; differs from the identity for sums (+0).
[[nodiscard]] uint64_t seed_bits(Reducer reducer, ScalarType type);

}// namespace luisa::tile::cpu
