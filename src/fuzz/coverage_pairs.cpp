// SPDX-License-Identifier: Apache-2.0
#include "fuzz/coverage.h"

#include "ir/check_operations.h"

#include <algorithm>

// Which pairs of aspects valid programs can have.

namespace luisa::tile::fuzz {

namespace {

using ir::Family;
using ir::Opcode;
using ir::TypeRule;

constexpr const char *region_names[] = {"kernel", "parallel", "serial", "pipeline",
                                        "reduce", "if",       "while",  "map"};
constexpr const char *bounds_names[] = {"zero", "assume", "predicate"};
constexpr size_t in_kernel = 0, in_map = 7;

size_t kind_of(Opcode op) { return 1 + static_cast<size_t>(op); }

/// Pure operations on what a map's region sees.
bool maps(Opcode op) {
    static constexpr Opcode others[] = {Opcode::CONSTANT, Opcode::EXTRACT, Opcode::EXTENT,
                                        Opcode::YIELD,    Opcode::MAP,     Opcode::IOTA,
                                        Opcode::BROADCAST};
    return ir::is_elementwise(op) ||
           std::find(std::begin(others), std::end(others), op) != std::end(others);
}

const char *operation_in_region(Opcode op, size_t region) {
    if (region == in_map && !maps(op)) {
        return "a map holds pure operations on elements";
    }
    if (op == Opcode::STAGE && region != kind_of(Opcode::PIPELINE) &&
        region != kind_of(Opcode::IF)) {
        return "a stage belongs to a pipeline";
    }
    if (op == Opcode::CONDITION && region != kind_of(Opcode::WHILE)) {
        return "a condition belongs to a while";
    }
    return op == Opcode::YIELD && region == in_kernel ? "a kernel yields nothing" : nullptr;
}

const char *elementwise_on(Opcode op, ScalarType t) {
    bool computes = info(t).computes;
    bool boolean = t == ScalarType::BOOL, narrow = is_float(t) && size_of(t) == 1;
    switch (ir::info(op).types) {
        case TypeRule::SAME_NUMBER: return computes && !boolean ? nullptr : "no type to compute in";
        case TypeRule::SAME_INTEGER: return is_integer(t) ? nullptr : "integers only";
        case TypeRule::SAME_FLOAT:
            return is_float(t) && computes ? nullptr : "floats that compute only";
        case TypeRule::SAME_BITS: return is_float(t) ? "no floats" : nullptr;
        case TypeRule::SAME_ORDERED:
        case TypeRule::SAME_SIGNABLE: return boolean ? "not on bool" : nullptr;
        default: break;
    }
    return op == Opcode::QUANTIZE && !narrow ? "gives 8-bit floats only" : nullptr;
}

const char *operation_on(Opcode op, ScalarType t) {
    if (ir::is_elementwise(op)) {
        return elementwise_on(op, t);
    }
    bool boolean = t == ScalarType::BOOL, computes = info(t).computes && !boolean;
    switch (op) {
        case Opcode::CONDITION:
        case Opcode::ASSERT: return boolean ? nullptr : "a condition is bool";
        case Opcode::STAGE: return "has no values";
        case Opcode::IOTA: return computes ? nullptr : "counts in types that compute";
        case Opcode::MMA: return computes ? nullptr : "accumulates in types that compute";
        case Opcode::SORTED: {
            bool word = t == ScalarType::UINT32 || t == ScalarType::UINT64;
            return word || t == ScalarType::INT64 ? nullptr : "keys are words, places i64";
        }
        case Opcode::ATOMIC:
            return ir::supports_atomic(AtomicOp::ADD, t) ? nullptr
                                                         : "no atomic update of this type";
        default: return nullptr;
    }
}

bool has_policy(Opcode op) {
    return op == Opcode::REDUCE || op == Opcode::REDUCE_EXPR || op == Opcode::SCAN;
}

const char *operation_with_policy(Opcode op, size_t policy) {
    if (!has_policy(op)) {
        return "combines nothing";
    }
    auto p = static_cast<ReductionPolicy>(policy);
    bool scans = p != ReductionPolicy::UNORDERED_TREE && p != ReductionPolicy::FOLD_RIGHT;
    return op == Opcode::SCAN && !scans ? "a scan keeps the order and begins at the first element"
                                        : nullptr;
}

std::string name_of(Aspect aspect, size_t value) {
    switch (aspect) {
        case Aspect::OPERATION: return ir::to_string(static_cast<Opcode>(value));
        case Aspect::REGION: return region_names[value];
        case Aspect::POLICY: return policy_names[value];
        case Aspect::TYPE: return tile::to_string(static_cast<ScalarType>(value));
        default: return bounds_names[value];
    }
}

}// namespace

const char *why_impossible(const Pair &pair) {
    if (pair.first == Aspect::OPERATION) {
        auto op = static_cast<Opcode>(pair.a);
        auto family = ir::info(op).family;
        if (family == Family::MACHINE || family == Family::MACHINE_REGION) {
            return "belongs to Machine form";
        }
        switch (pair.second) {
            case Aspect::REGION: return operation_in_region(op, pair.b);
            case Aspect::TYPE: return operation_on(op, static_cast<ScalarType>(pair.b));
            case Aspect::POLICY: return operation_with_policy(op, pair.b);
            default:
                return op == Opcode::LOAD || op == Opcode::STORE ? nullptr : "accesses no view";
        }
    }
    if (pair.first == Aspect::REGION && pair.a == in_map && pair.second != Aspect::TYPE) {
        return "a map holds pure operations on elements";
    }
    bool policy = pair.first == Aspect::POLICY || pair.second == Aspect::POLICY;
    bool bounds = pair.first == Aspect::BOUNDS || pair.second == Aspect::BOUNDS;
    return policy && bounds ? "nothing that combines accesses a view" : nullptr;
}

std::string to_string(const Pair &pair) {
    static constexpr const char *words[aspect_count] = {" of ", " in ", " with ", " on ", " with "};
    return name_of(pair.first, pair.a) + words[static_cast<size_t>(pair.second)] +
           name_of(pair.second, pair.b);
}

const char *to_string(Feature feature) noexcept {
    static constexpr const char *names[feature_count] = {"nests three deep",
                                                         "collective update",
                                                         "insert update",
                                                         "aliasing views",
                                                         "memory object",
                                                         "stages",
                                                         "carried swap",
                                                         "no iterations",
                                                         "contract",
                                                         "independent states of a contract",
                                                         "scan with a seed",
                                                         "scan with a mask",
                                                         "mapped load",
                                                         "mapped store",
                                                         "several root nests",
                                                         "conditional domain",
                                                         "ordering",
                                                         "segments",
                                                         "histogram",
                                                         "packed format",
                                                         "tasks",
                                                         "order of instances",
                                                         "several kernels"};
    return names[static_cast<size_t>(feature)];
}

}// namespace luisa::tile::fuzz
