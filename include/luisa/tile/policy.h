// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace luisa::tile {

/// What an access outside a view means.
enum class Bounds : uint8_t {
    ZERO,     ///< reads give zero (or the fallback), writes do nothing
    ASSUME,   ///< the caller promises that there is none
    PREDICATE,///< as ZERO, but what is read outside is undefined
};

/// The regroupings that a reduction permits; see docs/language.md.
enum class ReductionPolicy : uint8_t {
    UNORDERED_TREE,
    ORDERED_TREE,
    FOLD_LEFT,
    FOLD_RIGHT,
    BALANCED_TREE
};

/// The built-in reducers of expression-form reductions.
enum class Reducer : uint8_t {
    ADD,
    MULTIPLY,
    MINIMUM,
    MAXIMUM,
    FMIN,
    FMAX,
    LOGICAL_AND,
    LOGICAL_OR,
    BIT_AND,
    BIT_OR,
    BIT_XOR,
    ARGMIN,
    ARGMAX
};

/// What argmin and argmax do with NaN: the first NaN wins, or NaNs are passed over.
enum class NanPolicy : uint8_t { PROPAGATE, IGNORE };

/// Accuracy of math functions: within the documented bound (default), correctly rounded, or cheap.
enum class MathTier : uint8_t { STRICT, EXACT, FAST };

/// What a matrix product may do beyond its reference order.
struct MmaPolicy {
    bool allow_reassociation = true;///< free order inside one product
    bool allow_tf32 = false;        ///< f32 inputs may be rounded to TF32
    bool fast_accumulation = false; ///< fp8 products may stay in the matrix unit's accumulator
    friend constexpr bool operator==(const MmaPolicy &, const MmaPolicy &) = default;
};

/// How far iterations of a pipeline may overlap; zero leaves the choice to the planner.
struct PipelinePolicy {
    int max_in_flight = 0;
    int initiation_interval = 0;
    friend constexpr bool operator==(const PipelinePolicy &, const PipelinePolicy &) = default;
};

/// Where a `Memory` may lie; see mem:: in memory.h.
enum class MemoryClass : uint8_t { AUTO, PRIVATE, SHARED, CLUSTER, GLOBAL, TENSOR };

/// The execution level that a `parallel` is pinned to.
enum class ExecLevel : uint8_t { INFER, CLUSTER, BLOCK, SUBGROUP, THREAD, CORE, VECTOR };

}// namespace luisa::tile
