// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/layout.h>

#include "ir/module.h"

#include <vector>

namespace luisa::tile::ir {

/// Whether no two instances of a `parallel` write one element by a store inside it.
struct Disjointness {
    Proof proof = Proof::UNKNOWN;
    std::vector<int64_t> first, second;///< disproven: coordinates of two instances that do
    std::vector<int64_t> element;      ///< and what they both write
};

/// By the store's access map over the coordinates of the nest, of what lies between and of the box. PROVEN holds for all
/// launches; DISPROVEN for every launch, so that nothing that it says depends on data. Everything else is UNKNOWN.
[[nodiscard]] Disjointness prove_disjoint(const Operation &store, const Operation &parallel);

/// RaceError with the two instances and the element for the first store that is disproven.
void check_stores(const Module &module);

}// namespace luisa::tile::ir
