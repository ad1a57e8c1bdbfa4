// SPDX-License-Identifier: Apache-2.0
#include "fuzz/build.h"
#include "ir/check_operations.h"

#include <algorithm>
#include <cmath>

// Scans: every reducer, policy, direction, seed and mask.

namespace luisa::tile::fuzz {

namespace {

/// Of all prefixes of `count` elements in f, after a seed in s; nothing folded may be any extreme value.
Fact scanned(Reducer reducer, const Fact &f, const Fact &s, int64_t count) {
    auto n = static_cast<double>(count);
    switch (reducer) {
        case Reducer::ADD:
            return {s.low + std::min(n * f.low, 0.0), s.high + std::max(n * f.high, 0.0)};
        case Reducer::MULTIPLY: {
            auto m = std::max(s.magnitude(), 1.0) * std::pow(std::max(f.magnitude(), 1.0), n);
            return {-m, m};
        }
        case Reducer::LOGICAL_AND:
        case Reducer::LOGICAL_OR: return {0, 1};
        default: return {};
    }
}

}// namespace

bool Program::fits(const Value *part, ScalarType type, const std::vector<ir::DimExtent> &dims) {
    return part->scalar() == type &&
           std::all_of(part->type()->dims.begin(), part->type()->dims.end(), [&](const auto &d) {
               return std::any_of(dims.begin(), dims.end(), [&](const auto &k) {
                   return k.dim == d.dim && (d.extent == 1 || d.extent == k.extent);
               });
           });
}

Value *Program::part_over(ScalarType type, const std::vector<ir::DimExtent> &dims) {
    auto *part = find([&](const Value *v) { return fits(v, type, dims); });
    return part && random.chance(85) ? part : value_of(module.tile(type, dims));
}

bool Program::make_scan() {
    auto *x = find([](const Value *v) { return !v->type()->dims.empty(); });
    if (!x || !affordable(2 * x->type()->element_count())) {
        return false;
    }
    ir::ScanPayload payload;
    for (int i = 0; i < 20; ++i) {
        payload.reducer = static_cast<Reducer>(random.below(11));
        if (ir::folds(payload.reducer, x->scalar())) {
            break;
        }
    }
    if (!ir::folds(payload.reducer, x->scalar())) {
        return false;
    }
    auto along = random.pick(x->type()->dims);
    payload.dim = along.dim;
    payload.exclusive = random.chance(40);
    payload.reverse = random.chance(40);
    payload.has_seed = random.chance(35);
    payload.has_mask = random.chance(30);
    std::vector<Value *> operands = {x};
    Fact seed{0, 0};
    if (payload.has_seed) {
        auto rest = x->type()->dims;
        rest.erase(std::find(rest.begin(), rest.end(), along));
        operands.push_back(part_over(x->scalar(), rest));
        seed = fact(operands.back());
    }
    if (payload.has_mask) {
        operands.push_back(part_over(ScalarType::BOOL, x->type()->dims));
    }
    auto f = fact(x);
    auto result = scanned(payload.reducer, f, seed, along.extent);
    bool rounds = is_float(x->scalar()) &&
                  (payload.reducer == Reducer::ADD || payload.reducer == Reducer::MULTIPLY);
    bool exact = !rounds ||
                 (f.known() && seed.known() && result.magnitude() <= exact_limit(x->scalar()));
    payload.policy =
        exact ? random.pick({ReductionPolicy::ORDERED_TREE, ReductionPolicy::BALANCED_TREE,
                             ReductionPolicy::FOLD_LEFT})
              : random.pick({ReductionPolicy::BALANCED_TREE, ReductionPolicy::FOLD_LEFT});
    result.pinned = !is_float(x->scalar());
    add(builder.value(Opcode::SCAN, operands, x->type(), payload), result,
        2 * x->type()->element_count());
    return true;
}

}// namespace luisa::tile::fuzz
