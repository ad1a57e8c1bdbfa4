// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/policy.h>
#include <luisa/tile/scalar_type.h>

#include <cstdint>

namespace luisa::tile::interpreter {

/// What a reducer does: to two elements, and of none.
struct ReducerFacts {
    Reducer reducer;
    uint64_t (*merge)(ScalarType, uint64_t, uint64_t);
    uint64_t (*of_nothing)(ScalarType);
};

/// Every reducer but argmin and argmax, which merge no elements.
[[nodiscard]] const ReducerFacts &facts_of(Reducer reducer);

}// namespace luisa::tile::interpreter
