// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/capture.h"

namespace luisa::tile::core {

/// The variables of a `reduce` body that its contract merges: the fields of one state after another.
struct BoundStates {
    size_t layout = 0;///< the state type of the contract
    std::vector<Variable *> fields;
    std::vector<Value *> results;///< of the closed nest, one a field
};

/// Finds the states of `contract` that the body has written, and makes all their fields written.
BoundStates bind_states(Capture &c, NestRegion &region, const ContractForm &contract,
                        SourceLoc loc);

/// Gives the closed nest the contract's regions.
void add_contract(Capture &c, NestRegion &region, const ContractForm &contract,
                  const BoundStates &bound, SourceLoc loc);

/// Gives the closed nest a built-in reducer for the states whose update does not show one.
void add_reducer(Capture &c, NestRegion &region, const ReducerFunction &reducer, SourceLoc loc);

}// namespace luisa::tile::core
