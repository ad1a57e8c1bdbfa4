// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/module.h"
#include "ir/report.h"

#include <memory>
#include <string>
#include <vector>

namespace luisa::tile::cpu {

// The argument block of a CPU kernel is an array of 64-bit words, parameter after parameter:
//   view of rank R: address of element (0, …, 0), R extents, R strides in elements
//   scalar:         its bits in the low part of one word

/// Words that one parameter takes.
[[nodiscard]] inline size_t argument_words(const ir::Type &type) {
    return type.is_view() ? 1 + 2 * type.rank() : 1;
}

/// One step of a kernel: a range of independent tasks. Phases run one after the other.
struct Phase {
    std::string function;      ///< Machine function of the tasks
    std::string count_function;///< when the count is known at launch only: writes it to scratch[0]
    int64_t task_count = 0;    ///< when there is no count function
    int64_t grain = 1;         ///< tasks claimed at a time
    double task_us = 0;        ///< predicted time of one task on one core, microseconds
};

/// A part of a thread's scratch memory.
struct Room {
    std::string function;            ///< that uses it
    const ir::Value *value = nullptr;///< what is kept there; null: panels, partial sums, stacks
    int64_t offset = 0, bytes = 0;
    uint32_t step = 0;///< that made it, as it is numbered; 0: none
};

/// A kernel in Machine form with what a launch needs.
struct Program {
    std::unique_ptr<ir::Module> machine;
    std::vector<Phase> phases;
    std::vector<ir::Report> reports;///< by site
    size_t scratch_bytes = 0;       ///< a thread
    size_t shared_bytes = 0;        ///< a launch; shared by its tasks across phases
    std::vector<Room> rooms;        ///< when the realization is traced
};

}// namespace luisa::tile::cpu
