// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/module.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace luisa::tile {

/// One argument of a kernel: a view over memory, or the bits of a scalar. Extents and strides are
/// those of the launch and count elements; `data` is the address of element (0, …, 0).
struct KernelArgument {
    void *data = nullptr;
    std::vector<int64_t> extents, strides;
    uint64_t scalar_bits = 0;
};

namespace interpreter {

struct Options {
    /// Report what is merely defined to be harmless: out-of-range extract, gather and insert, and
    /// writes by two instances of a `parallel` to one element (BoundsError, RaceError).
    bool validate = false;
    /// Iterations of all `while` loops together before a StateError.
    int64_t while_limit = int64_t{1} << 32;
    /// Gets the lines that the kernel prints; without it they are dropped.
    std::function<void(const std::string &)> print{};
};

/// Runs a Candidate kernel element by element, as language.md and numerics.md define it, before any
/// canonicalisation: the oracle for every back end. Trees of reductions are folded from the left,
/// except balanced ones. No strides in an argument mean dense row-major. Throws
///   CallError         number, rank, extents or strides of the arguments do not fit
///   BoundsError       an undefined element (read outside under `Bounds::PREDICATE`) is stored
///                     or decides what happens; an access under `Bounds::ASSUME` is outside
///   AssertionError    an `assert` whose condition does not hold
///   ValueError        a range with step 0
///   UnsupportedError  a function that is not available for its type or tier; a balanced tree over
///                     an update that is no built-in operation
///   StateError, ResourceError, OutOfMemoryError  too many iterations, too large tiles
void run(const ir::Module &module, std::span<const KernelArgument> arguments,
         const Options &options = {});

}// namespace interpreter
}// namespace luisa::tile
