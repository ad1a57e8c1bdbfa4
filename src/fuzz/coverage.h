// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/module.h"

#include <string>

namespace luisa::tile::fuzz {

/// What the compared programs contained. Plain numbers, since child processes fill it in shared
/// memory.
struct Coverage {
    static constexpr size_t region_kinds = 8;///< the kernel itself, then the region operations
    static constexpr size_t shape_classes = 5;
    static constexpr size_t reducers = 13, policies = 5, bounds = 3;

    uint64_t operations[ir::opcode_count][scalar_type_count] = {};///< by type of result or operand
    uint64_t regions[ir::opcode_count][region_kinds] = {};        ///< by enclosing region
    uint64_t depths[8] = {};                                      ///< programs by deepest nesting
    uint64_t shapes[shape_classes] = {};                          ///< extents of tiles
    uint64_t reductions[reducers][policies] = {};                 ///< of reduce.expr
    uint64_t folds[policies] = {};                                ///< of reduce
    uint64_t accesses[2][bounds] = {};                            ///< loads, stores
    uint64_t updates[2] = {};                                     ///< of parallel

    void add(const ir::Module &module);
    void add(const Coverage &other);
    /// Counts by operation, type, nest and shape.
    [[nodiscard]] std::string text() const;
    /// Operations of the Candidate table, reducer and policy pairs, bounds and updates that no
    /// program had, one a line; empty when there are none.
    [[nodiscard]] std::string missing() const;
};

}// namespace luisa::tile::fuzz
