// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "interpreter/tile.h"

#include "ir/module.h"

#include <optional>

// A kernel made ready for evaluation: values are numbered, and what does not change from one
// execution of an operation to the next (strides, handlers) is looked up once.

namespace luisa::tile::interpreter {

struct Block;
struct Context;
struct InsertChain;
struct Step;

using Slot = uint32_t;
using Handler = void (*)(Context &, const Step &);

/// How an operand is read while its operation walks over a box.
struct Access {
    Numbers strides;   ///< elements per step along each axis of the box
    bool dense = false;///< element i of the box is element i of the operand
};

/// One operation.
struct Step {
    const ir::Operation *op = nullptr;
    Handler run = nullptr;
    std::vector<Slot> operands, results;
    std::vector<Block> blocks;
    Numbers extents;                ///< of the box that the operation walks over
    std::vector<Access> accesses;   ///< one an operand
    std::vector<InsertChain> chains;///< of `parallel`: one a state
    bool consumes = false;          ///< nothing else reads operand 0: an insert may overwrite it
};

/// One region. Stages are left out, `yield` and `condition` are fields.
struct Block {
    std::vector<Slot> arguments;
    std::vector<Step> steps;
    std::vector<Slot> yields;
    const ir::Operation *condition = nullptr;
    Slot condition_value = 0;
    size_t condition_position = 0;///< number of steps before it
};

/// How instances of a `parallel` update a tile of an enclosing scope.
struct InsertChain {
    /// The yield is a chain of inserts on the state argument.
    bool recognised = false;
    /// Its links in program order. Those that nothing else reads are not steps of the body.
    std::vector<Step> links;
};

struct Program {
    Block body;
    Slot slot_count = 0;
};

[[nodiscard]] Program prepare(const ir::Function &kernel);

}// namespace luisa::tile::interpreter
