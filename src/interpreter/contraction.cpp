// SPDX-License-Identifier: Apache-2.0
#include "interpreter/context.h"

#include "types/arith.h"
#include "types/convert.h"

#include <bit>
#include <cmath>

// mma: for every element of the result, one chain over the contracted coordinates in lexicographic
// order of a's dimensions.

namespace luisa::tile::interpreter {

namespace {

/// Element offsets in a and b for every contracted coordinate, in order.
struct Chain {
    Numbers a, b;
};

Chain chain_of(const ir::Operation *op) {
    const auto &a = *op->operand(0)->type();
    const auto &b = *op->operand(1)->type();
    const auto &acc = *op->operand(2)->type();
    std::vector<ir::DimExtent> contracted;
    for (const auto &d : a.dims) {
        if (b.find(d.dim) >= 0 && acc.find(d.dim) < 0) {
            contracted.push_back(d);
        }
    }
    auto a_strides = strides_along(contracted, a);
    auto b_strides = strides_along(contracted, b);
    Chain chain;
    walk<2>(extents_of(contracted), {&a_strides, &b_strides},
            [&](const Numbers &, const auto &offset) {
                chain.a.push_back(offset[0]);
                chain.b.push_back(offset[1]);
            });
    return chain;
}

struct FloatArithmetic {
    using Value = float;
    ScalarType type;      ///< of the accumulator
    bool rounds_each_step;///< to `type`, not only at the end
    // Operands wider than a 16-bit accumulator keep their value: arithmetic is that of f32.
    [[nodiscard]] static float decode(uint64_t bits, ScalarType from) {
        return arith::to_float(ScalarType::FLOAT32,
                               arith::convert(bits, from, ScalarType::FLOAT32));
    }
    [[nodiscard]] float step(float a, float b, float sum) const {
        sum = std::fma(a, b, sum);
        return rounds_each_step ? arith::to_float(type, encode(sum)) : sum;
    }
    [[nodiscard]] uint64_t encode(float sum) const {
        return arith::convert(std::bit_cast<uint32_t>(sum), ScalarType::FLOAT32, type);
    }
};

struct DoubleArithmetic {
    using Value = double;
    [[nodiscard]] double decode(uint64_t bits, ScalarType from) const {
        return arith::to_double(from, bits);
    }
    [[nodiscard]] double step(double a, double b, double sum) const { return std::fma(a, b, sum); }
    [[nodiscard]] uint64_t encode(double sum) const { return std::bit_cast<uint64_t>(sum); }
};

// The low bits of sums and products depend on low bits only: wrapping once at the end is the same.
struct IntegerArithmetic {
    using Value = uint64_t;
    ScalarType type;
    [[nodiscard]] uint64_t decode(uint64_t bits, ScalarType from) const {
        return arith::convert(bits, from, type);
    }
    [[nodiscard]] uint64_t step(uint64_t a, uint64_t b, uint64_t sum) const { return sum + a * b; }
    [[nodiscard]] uint64_t encode(uint64_t sum) const { return arith::normalize(type, sum); }
};

template<class Arithmetic>
void contract(Context &context, const Step &step, const Chain &chain,
              const Arithmetic &arithmetic) {
    using Value = typename Arithmetic::Value;
    auto decode = [&](size_t operand) {
        auto from = step.op->operand(operand)->scalar();
        std::vector<Value> values;
        values.reserve(context.tile(step.operands[operand]).bits.size());
        for (auto bits : context.tile(step.operands[operand]).bits) {
            values.push_back(arithmetic.decode(bits, from));
        }
        return values;
    };
    auto a = decode(0), b = decode(1), acc = decode(2);
    auto &out = context.output(step.results[0], step.op->result()->type()->element_count());
    size_t i = 0;
    walk<3>(step.extents,
            {&step.accesses[0].strides, &step.accesses[1].strides, &step.accesses[2].strides},
            [&](const Numbers &, const auto &offset) {
                auto sum = acc[static_cast<size_t>(offset[2])];
                for (size_t k = 0; k < chain.a.size(); ++k) {
                    sum = arithmetic.step(a[static_cast<size_t>(offset[0] + chain.a[k])],
                                          b[static_cast<size_t>(offset[1] + chain.b[k])], sum);
                }
                out.bits[i++] = arithmetic.encode(sum);
            });
}

void propagate_undefined(Context &context, const Step &step, const Chain &chain) {
    const auto &a = context.tile(step.operands[0]);
    const auto &b = context.tile(step.operands[1]);
    const auto &acc = context.tile(step.operands[2]);
    if (a.undefined.empty() && b.undefined.empty() && acc.undefined.empty()) {
        return;
    }
    auto &out = *context.slots[step.results[0]];
    int64_t i = 0;
    walk<3>(step.extents,
            {&step.accesses[0].strides, &step.accesses[1].strides, &step.accesses[2].strides},
            [&](const Numbers &, const auto &offset) {
                const auto *load = acc.undefined_at(offset[2]);
                for (size_t k = 0; k < chain.a.size() && !load; ++k) {
                    load = a.undefined_at(offset[0] + chain.a[k]);
                    load = load ? load : b.undefined_at(offset[1] + chain.b[k]);
                }
                out.set_undefined(i++, load);
            });
}

}// namespace

void run_mma(Context &context, const Step &step) {
    auto type = step.op->operand(2)->scalar();
    auto chain = chain_of(step.op);
    if (type == ScalarType::FLOAT64) {
        contract(context, step, chain, DoubleArithmetic{});
    } else if (is_float(type)) {
        auto ordered = !step.op->get<ir::MmaPayload>().policy.allow_reassociation;
        contract(context, step, chain,
                 FloatArithmetic{type, ordered && type != ScalarType::FLOAT32});
    } else {
        contract(context, step, chain, IntegerArithmetic{type});
    }
    propagate_undefined(context, step, chain);
}

}// namespace luisa::tile::interpreter
