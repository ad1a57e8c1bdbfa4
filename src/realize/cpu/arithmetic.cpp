// SPDX-License-Identifier: Apache-2.0
#include "math/table.h"
#include "realize/cpu/lowering.h"
#include "realize/cpu/reducers.h"

#include <algorithm>
#include <array>
#include <bit>

namespace luisa::tile::cpu {

using ir::Opcode;

namespace {

bool is_half(ScalarType t) { return t == ScalarType::FLOAT16 || t == ScalarType::BFLOAT16; }
bool is_fp8(ScalarType t) { return is_float(t) && size_of(t) == 1; }

struct MachineOp {
    math::Op op;
    Opcode opcode;
};
/// Expansion operations that are one Machine operation on equal types.
constexpr MachineOp direct_ops[] = {
    {math::Op::ADD, Opcode::ADD},
    {math::Op::SUB, Opcode::SUB},
    {math::Op::MUL, Opcode::MUL},
    {math::Op::DIV, Opcode::DIV},
    {math::Op::FMA, Opcode::FMA},
    {math::Op::SQRT, Opcode::SQRT},
    {math::Op::NEG, Opcode::NEG},
    {math::Op::ABS, Opcode::ABS},
    {math::Op::RINT, Opcode::RINT},
    {math::Op::FLOOR, Opcode::FLOOR},
    {math::Op::LT, Opcode::LT},
    {math::Op::LE, Opcode::LE},
    {math::Op::GT, Opcode::GT},
    {math::Op::GE, Opcode::GE},
    {math::Op::EQ, Opcode::EQ},
    {math::Op::NE, Opcode::NE},
    {math::Op::SELECT, Opcode::ITE},
    {math::Op::AND, Opcode::AND},
    {math::Op::OR, Opcode::OR},
    {math::Op::XOR, Opcode::XOR},
    {math::Op::NOT, Opcode::NOT},
    {math::Op::SHL, Opcode::SHL},
    {math::Op::SHR_ARITHMETIC, Opcode::SHR},
    {math::Op::TO_INT, Opcode::CAST},
    {math::Op::TO_FLOAT, Opcode::CAST},
    {math::Op::WIDEN, Opcode::CAST},
    {math::Op::NARROW, Opcode::CAST},
    {math::Op::BITCAST, Opcode::BITCAST},
    {math::Op::SCALE, Opcode::SCALE},
};

Opcode direct_opcode(math::Op op) {
    for (const auto &row : direct_ops) {
        if (row.op == op) {
            return row.opcode;
        }
    }
    internal_error("math operation has no Machine form");
}

ScalarType scalar_of(math::Kind kind) {
    static constexpr std::array types = {ScalarType::FLOAT32, ScalarType::FLOAT64,
                                         ScalarType::INT32, ScalarType::INT64, ScalarType::BOOL};
    return types[static_cast<size_t>(kind)];
}

/// Whether the second operand has no elements of its own along some dimension: a thread that has several of a line
/// uses it again.
bool serves_lines(const ir::Operation &op) {
    const auto &divisor = *op.operand(1)->type();
    const auto &dims = op.result()->type()->dims;
    return std::any_of(dims.begin(), dims.end(), [&](const ir::DimExtent &d) {
        return d.extent != 1 && divisor.find(d.dim) < 0;
    });
}

}// namespace

ir::Value *Lowering::convert(ir::Value *value, ScalarType to) {
    if (value->scalar() == to) {
        return value;
    }
    int lanes = value->type()->lanes;
    auto *type = lanes ? _b.module().vector(to, static_cast<uint16_t>(lanes))
                       : _b.module().scalar(to);
    return _b.pure(Opcode::CAST, {value}, ir::None{}, type);
}

ir::Value *Lowering::select(ir::Value *condition, ir::Value *yes, ir::Value *no) {
    int lanes = std::max({condition->type()->lanes, yes->type()->lanes, no->type()->lanes});
    if (yes == no) {
        return yes;
    }
    return _b.pure(Opcode::ITE,
                   {_b.splat(condition, lanes), _b.splat(yes, lanes), _b.splat(no, lanes)});
}

ir::Value *Lowering::arithmetic(Opcode op, Values operands, const ir::Operation *origin) {
    int lanes = 0;
    for (auto *operand : operands) {
        lanes = std::max<int>(lanes, operand->type()->lanes);
    }
    for (auto *&operand : operands) {
        operand = _b.splat(operand, lanes);
    }
    auto type = operands.back()->scalar();
    if (is_half(type) || is_fp8(type)) {
        // Narrow floats compute in f32 and round once.
        for (auto *&operand : operands) {
            operand = convert(operand, ScalarType::FLOAT32);
        }
        auto *wide = arithmetic(op, operands, origin);
        if (wide->scalar() != ScalarType::FLOAT32) {
            return wide;
        }
        if (is_half(type)) {
            return convert(wide, type);
        }
        auto *narrow = lanes ? _b.module().vector(type, static_cast<uint16_t>(lanes))
                             : _b.module().scalar(type);
        return _b.pure(Opcode::QUANTIZE, {wide}, ir::QuantizePayload{false}, narrow);
    }
    if (ir::info(op).family == ir::Family::MATH) {
        return expand_math(op, operands, origin);
    }
    // Processors with vectors of 32 bytes multiply and add in one instruction; elsewhere that may be a call.
    bool repeats = op == Opcode::DIV && is_float(type) &&
                   (_plan->team ? origin && serves_lines(*origin)
                                : lanes > 1 && _plan->facts.vector_bytes >= 32 &&
                                      _b.is_invariant(operands[1]));
    return repeats ? divide_by_invariant(operands[0], operands[1]) : _b.pure(op, operands);
}

/// a * 2^n, rounded once. An x86 core takes an assist of 200 cycles for arithmetic that yields a subnormal number:
/// there its bits are made as an integer.
ir::Value *Lowering::scale_down(ir::Value *a, ir::Value *n) {
    if (_plan->team) {
        return _b.pure(Opcode::SCALE, {a, n});
    }
    int lanes = a->type()->lanes;
    auto number = [&](float x) {
        return _b.splat(_b.constant(ScalarType::FLOAT32, std::bit_cast<uint32_t>(x)), lanes);
    };
    auto *integer = lanes ? _b.module().vector(ScalarType::INT32, static_cast<uint16_t>(lanes))
                          : _b.module().scalar(ScalarType::INT32);
    auto *steps = _b.pure(Opcode::SCALE, {a, _b.pure(Opcode::ADD, {n, number(149.0f)})});
    auto *subnormal = _b.pure(Opcode::LT, {steps, number(0x1p23f)});
    auto *bits = _b.pure(Opcode::CAST, {_b.pure(Opcode::RINT, {steps})}, ir::None{}, integer);
    return select(subnormal, _b.pure(Opcode::BITCAST, {bits}, ir::None{}, a->type()),
                  _b.pure(Opcode::SCALE, {a, select(subnormal, number(0.0f), n)}));
}

ir::Value *Lowering::expand_math(Opcode op, const Values &operands, const ir::Operation *origin) {
    math::Function function{};
    require(math::parse_function(to_string(op), function), "math operation without a table row");
    auto type = operands.front()->scalar();
    if (!math::supports(function, type)) {
        throw UnsupportedError{std::string{to_string(op)} + " on " + to_string(type) +
                                   " has no expansion yet; cast<float> first",
                               origin ? origin->loc : _b.location()};
    }
    const auto &program = math::program(function, type);
    int lanes = operands.front()->type()->lanes;
    auto type_of = [&](math::Kind kind) {
        return lanes ? _b.module().vector(scalar_of(kind), static_cast<uint16_t>(lanes))
                     : _b.module().scalar(scalar_of(kind));
    };
    Values values;
    values.reserve(program.instructions.size());
    for (const auto &instruction : program.instructions) {
        auto at = [&](size_t i) { return values[instruction.operands[i]]; };
        auto kind = instruction.kind;
        ir::Value *value = nullptr;
        switch (instruction.op) {
            case math::Op::ARGUMENT: value = operands.at(instruction.immediate); break;
            case math::Op::CONSTANT:
                value = _b.splat(_b.constant(scalar_of(kind), instruction.immediate), lanes);
                break;
            case math::Op::SCALE_DOWN: value = scale_down(at(0), at(1)); break;
            case math::Op::TABLE:
                value = _b.pure(Opcode::TABLE, {at(0)},
                                ir::TablePayload{program.tables.at(instruction.immediate)},
                                type_of(kind));
                break;
            case math::Op::SHR_LOGICAL: {
                // The logical shift is the shift of the unsigned type.
                auto wide = kind == math::Kind::I64 ? ScalarType::UINT64 : ScalarType::UINT32;
                auto *unsigned_type = lanes ? _b.module().vector(wide, static_cast<uint16_t>(lanes))
                                            : _b.module().scalar(wide);
                auto *a = _b.pure(Opcode::BITCAST, {at(0)}, ir::None{}, unsigned_type);
                auto *b = _b.pure(Opcode::BITCAST, {at(1)}, ir::None{}, unsigned_type);
                value = _b.pure(Opcode::BITCAST, {_b.pure(Opcode::SHR, {a, b})}, ir::None{},
                                type_of(kind));
                break;
            }
            default: {
                Values inputs;
                for (int i = 0; i < math::operand_count(instruction.op); ++i) {
                    inputs.push_back(at(static_cast<size_t>(i)));
                }
                value = _b.pure(direct_opcode(instruction.op), inputs, ir::None{}, type_of(kind));
            }
        }
        values.push_back(value);
    }
    return values.at(program.result);
}

ir::Value *Lowering::reduce_step(Reducer reducer, ir::Value *accumulator, ir::Value *element) {
    return arithmetic(reducer_opcode(reducer), {accumulator, element}, nullptr);
}

}// namespace luisa::tile::cpu
