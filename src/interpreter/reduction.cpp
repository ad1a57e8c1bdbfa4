// SPDX-License-Identifier: Apache-2.0
#include "interpreter/context.h"
#include "interpreter/reducers.h"
#include "interpreter/tree.h"

#include "types/arith.h"
#include "types/convert.h"

// reduce.expr: the active elements of every group are gathered in source order, then combined.

namespace luisa::tile::interpreter {

namespace {

constexpr auto all_ones = ~uint64_t{0};

uint64_t zero(ScalarType) { return 0; }
uint64_t one(ScalarType type) { return arith::from_int64(type, 1); }
uint64_t every_bit(ScalarType type) { return arith::normalize(type, all_ones); }

constexpr ReducerFacts facts[] = {
    {Reducer::ADD, arith::add, zero},
    {Reducer::MULTIPLY, arith::mul, one},
    {Reducer::MINIMUM, arith::minimum, arith::highest},
    {Reducer::MAXIMUM, arith::maximum, arith::lowest},
    {Reducer::FMIN, arith::fmin, arith::highest},
    {Reducer::FMAX, arith::fmax, arith::lowest},
    {Reducer::LOGICAL_AND, arith::bit_and, one},
    {Reducer::LOGICAL_OR, arith::bit_or, zero},
    {Reducer::BIT_AND, arith::bit_and, every_bit},
    {Reducer::BIT_OR, arith::bit_or, zero},
    {Reducer::BIT_XOR, arith::bit_xor, zero},
};

// minimum and maximum that pass over NaN are fmin and fmax.
Reducer with_nan_policy(Reducer reducer, NanPolicy nan) {
    if (nan == NanPolicy::IGNORE && reducer == Reducer::MINIMUM) {
        return Reducer::FMIN;
    }
    if (nan == NanPolicy::IGNORE && reducer == Reducer::MAXIMUM) {
        return Reducer::FMAX;
    }
    return reducer;
}

/// The contributions to one element of the result.
struct Group {
    std::vector<uint64_t> values;
    Numbers indices;///< of each among the reduced coordinates, masked ones counted
    const ir::Operation *undefined = nullptr;
};

// Trees may group as they like, so they fold from the left. No seed takes part: each identity
// is exact (-0 for sums), and of nothing there is nothing to combine.
uint64_t combine(const ReducerFacts &reducer, ReductionPolicy policy, ScalarType type,
                 const std::vector<uint64_t> &x) {
    if (x.empty()) {
        return reducer.of_nothing(type);
    }
    if (policy == ReductionPolicy::BALANCED_TREE) {
        return balanced_tree<uint64_t>(
            0, static_cast<int64_t>(x.size()), [&](int64_t i) { return x[static_cast<size_t>(i)]; },
            [&](uint64_t a, uint64_t b) { return reducer.merge(type, a, b); });
    }
    if (policy == ReductionPolicy::FOLD_RIGHT) {
        auto result = x.back();
        for (auto i = x.size() - 1; i-- > 0;) {
            result = reducer.merge(type, x[i], result);
        }
        return result;
    }
    auto result = x[0];
    for (size_t i = 1; i < x.size(); ++i) {
        result = reducer.merge(type, result, x[i]);
    }
    return result;
}

// The lowest index among equals, -0 and +0 being equal; -1 of no elements. NaNs that are passed over still
// answer when there is nothing else: the first of them.
int64_t find_extreme(const ir::ReducePayload &payload, ScalarType type, const Group &group) {
    auto better = payload.reducer == Reducer::ARGMIN ? arith::lt : arith::gt;
    int64_t best = -1;
    uint64_t best_value = 0;
    for (size_t i = 0; i < group.values.size(); ++i) {
        auto x = group.values[i];
        if (arith::is_nan(type, x)) {
            if (payload.nan == NanPolicy::PROPAGATE) {
                return group.indices[i];
            }
        } else if (best < 0 || better(type, x, best_value)) {
            best = group.indices[i];
            best_value = x;
        }
    }
    return best < 0 && !group.indices.empty() ? group.indices.front() : best;
}

std::vector<ir::DimExtent> reduced_dims(const ir::Type &type, const std::vector<Dim> &dims) {
    std::vector<ir::DimExtent> reduced;
    for (auto d : dims) {
        auto at = type.find(d);
        require(at >= 0, "reduced dimension that the operand lacks");
        reduced.push_back(type.dims[static_cast<size_t>(at)]);
    }
    return reduced;
}

}// namespace

const ReducerFacts &facts_of(Reducer reducer) {
    for (const auto &row : facts) {
        if (row.reducer == reducer) {
            return row;
        }
    }
    internal_error("reducer without a merge");
}

void run_reduce_expression(Context &context, const Step &step) {
    const auto &payload = step.op->get<ir::ReducePayload>();
    const auto &type = *step.op->operand(0)->type();
    const auto &x = context.tile(step.operands[0]);
    const auto mask_operand = payload.has_mask ? size_t{1} : size_t{0};
    const auto &mask = context.tile(step.operands[mask_operand]);
    auto inner = reduced_dims(type, payload.dims);
    auto inner_extents = extents_of(inner);
    auto x_strides = strides_along(inner, type);
    auto mask_strides = strides_along(inner, *step.op->operand(mask_operand)->type());

    auto is_arg = payload.reducer == Reducer::ARGMIN || payload.reducer == Reducer::ARGMAX;
    const auto *reducer = is_arg ? nullptr
                                 : &facts_of(with_nan_policy(payload.reducer, payload.nan));
    auto to = step.op->result()->scalar();
    auto converts = !is_arg && to != type.scalar;// logical reducers over numbers
    auto &out = context.output(step.results[0], step.op->result()->type()->element_count());
    Group group;
    int64_t i = 0;
    walk<2>(step.extents, {&step.accesses[0].strides, &step.accesses[mask_operand].strides},
            [&](const Numbers &, const auto &base) {
                group.values.clear();
                group.indices.clear();
                group.undefined = nullptr;
                int64_t index = 0;
                walk<2>(inner_extents, {&x_strides, &mask_strides},
                        [&](const Numbers &, const auto &offset) {
                            auto at = base[0] + offset[0];
                            auto mask_at = base[1] + offset[1];
                            const auto *undefined = payload.has_mask ? mask.undefined_at(mask_at)
                                                                     : nullptr;
                            if (!payload.has_mask || mask.bits[static_cast<size_t>(mask_at)] != 0) {
                                auto bits = x.bits[static_cast<size_t>(at)];
                                group.values.push_back(
                                    converts ? arith::convert(bits, type.scalar, to) : bits);
                                group.indices.push_back(index);
                                undefined = undefined ? undefined : x.undefined_at(at);
                            }
                            group.undefined = group.undefined ? group.undefined : undefined;
                            ++index;
                        });
                out.bits[static_cast<size_t>(i)] =
                    is_arg ? static_cast<uint64_t>(find_extreme(payload, type.scalar, group))
                           : combine(*reducer, payload.policy, to, group.values);
                out.set_undefined(i++, group.undefined);
            });
}

}// namespace luisa::tile::interpreter
