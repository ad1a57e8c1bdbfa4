// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/module.h"

#include <memory>
#include <string>
#include <vector>

namespace luisa::tile::fuzz {

/// What an operation of a program has: which one it is, in which region, and where it has them a policy of
/// reduction, element types and a rule for what lies outside.
enum class Aspect : uint8_t { OPERATION, REGION, POLICY, TYPE, BOUNDS };
inline constexpr size_t aspect_count = 5;
inline constexpr size_t region_kinds = 8;///< the kernel itself, then the region operations
inline constexpr size_t aspect_sizes[aspect_count] = {ir::opcode_count, region_kinds, 5,
                                                      scalar_type_count, 3};

/// Of `ReductionPolicy`, in its order.
inline constexpr const char *policy_names[] = {"unordered_tree", "ordered_tree", "fold_left",
                                               "fold_right", "balanced_tree"};

/// Two aspects, and one value of each.
struct Pair {
    Aspect first = Aspect::OPERATION, second = Aspect::REGION;
    size_t a = 0, b = 0;
};

/// Why no valid program has this pair; null when programs may.
[[nodiscard]] const char *why_impossible(const Pair &pair);
/// "scan in reduce".
[[nodiscard]] std::string to_string(const Pair &pair);

/// Things of a program that are no pair.
enum class Feature : uint8_t {
    DEEP_NESTS,///< three or more
    COLLECTIVE_UPDATE,
    INSERT_UPDATE,
    ALIASING_VIEWS,
    MEMORY_OBJECT,
    STAGES,
    CARRIED_SWAP,
    ZERO_TRIPS,
    CONTRACT,
    INDEPENDENT_STATES,///< of one contract
    SCAN_SEED,
    SCAN_MASK,
    MAPPED_LOAD,
    MAPPED_STORE,
    SEVERAL_ROOT_NESTS,
    CONDITIONAL_DOMAIN,///< a branch is the whole body of a nest
    ORDERING,          ///< sort, argsort, topk or merge_sorted
    SEGMENTS,
    HISTOGRAM,
    PACKED,
    TASKS,         ///< root nests whose instances run as tasks: the root holds no tiles
    INSTANCE_ORDER,///< exec::layout
    SEVERAL_KERNELS,
};
inline constexpr size_t feature_count = 23;
[[nodiscard]] const char *to_string(Feature feature) noexcept;

/// What the compared programs contained. Plain numbers, since child processes fill it in shared
/// memory.
struct Coverage {
    static constexpr size_t shape_classes = 5, reducers = 13, policies = 5;
    static constexpr size_t widest = ir::opcode_count > scalar_type_count ? scalar_type_count
                                                                          : ir::opcode_count;
    static constexpr uint64_t enough = 5;///< programs or operations that a pair should be met in

    uint64_t pairs[aspect_count][aspect_count][ir::opcode_count][widest] = {};
    uint64_t single[ir::opcode_count] = {};
    uint64_t depths[8] = {};                        ///< programs by deepest nesting
    uint64_t shapes[shape_classes] = {};            ///< extents of tiles
    uint64_t reductions[2][reducers][policies] = {};///< of reduce.expr, of scan
    uint64_t features[feature_count] = {};          ///< programs that have it

    /// A program of these kernels; `features` are those that they do not show.
    void add(const std::vector<std::unique_ptr<ir::Module>> &kernels,
             const std::vector<Feature> &features = {});
    void add(const Coverage &other);
    /// Counts by operation, type, nest, shape and feature, and how many pairs were met.
    [[nodiscard]] std::string text() const;
    /// Pairs that programs may have, reducer and policy pairs, extents and features that were met less than
    /// `least` times, one a line; empty when there are none.
    [[nodiscard]] std::string missing(uint64_t least) const;
};

}// namespace luisa::tile::fuzz
