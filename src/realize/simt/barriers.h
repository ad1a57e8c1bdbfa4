// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/module.h"

namespace luisa::tile::simt {

/// What is known of a function of a block of threads.
struct BarrierFacts {
    int threads = 32;          ///< of a block
    bool views_overlap = false;///< two views may be the same memory
};

/// Removes the barriers of a Machine function that order nothing: no thread may touch, without another barrier in
/// between, memory behind one that another thread touched before it, one of the two writing. Loops are followed
/// from their last operations to their first. Returns how many were removed.
size_t remove_needless_barriers(ir::Module &machine, ir::Function &function,
                                const BarrierFacts &facts);

}// namespace luisa::tile::simt
