// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/operation.h"

#include <string>
#include <vector>

namespace luisa::tile::core {

/// Points that an exhaustive check may look at.
inline constexpr int64_t proof_budget = 1'048'576;

/// Whether a map gives every point of a box a place of its own.
struct Injectivity {
    enum class Proof : uint8_t { PROVEN, DISPROVEN, UNKNOWN } proof = Proof::UNKNOWN;
    std::vector<int64_t> first, second;///< disproven: two points with one place
};

/// "(0, 3)"
[[nodiscard]] std::string coordinates_text(const std::vector<int64_t> &point);

/// Of a linear map: row r gives the sum of `rows[r][j]` times coordinate j.
[[nodiscard]] Injectivity prove_injective(const std::vector<std::vector<int64_t>> &rows,
                                          const std::vector<int64_t> &extents);

/// Of coordinates that are results of `map` operations over the box: exact for affine ones, else by trying
/// all points within the budget. What does not depend on the point may have any value.
[[nodiscard]] Injectivity prove_injective(const std::vector<const ir::Value *> &coordinates,
                                          const std::vector<int64_t> &extents);

}// namespace luisa::tile::core
