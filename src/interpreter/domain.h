// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "interpreter/tile.h"

namespace luisa::tile::interpreter {

struct Block;
struct Context;
struct Step;

/// What a nest iterates over, in this execution.
struct Domain {
    bool is_range = false;
    int64_t begin = 0, step = 1;///< of a range
    Numbers extents;            ///< of a shape; of a range, its number of iterations
    int64_t count = 0;          ///< iterations
    size_t index_count = 0;     ///< region arguments that are indices
    size_t operand_count = 0;   ///< operands before the states

    /// The indices of iteration `n`, in lexicographic order.
    [[nodiscard]] Numbers indices(int64_t n) const;
};

/// Reads the domain operands. Throws ValueError for a step of zero, ResourceError for 2^63
/// iterations or more.
[[nodiscard]] Domain domain_of(const Context &context, const Step &step);

/// Sets the index arguments of `body` for iteration `n`.
void bind_indices(Context &context, const Block &body, const Domain &domain, int64_t n);

}// namespace luisa::tile::interpreter
