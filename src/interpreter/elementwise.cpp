// SPDX-License-Identifier: Apache-2.0
#include "interpreter/context.h"

#include "math/table.h"
#include "types/arith.h"
#include "types/convert.h"

#include <bit>

namespace luisa::tile::interpreter {

using ir::Opcode;

namespace {

/// Applies one operation to `count` elements; `type` is the element type of the last operand.
using Loop = void (*)(const ir::Operation *op, ScalarType type,
                      const std::array<const uint64_t *, 3> &x, uint64_t *y, size_t count);

template<auto f>
void unary(const ir::Operation *, ScalarType type, const std::array<const uint64_t *, 3> &x,
           uint64_t *y, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        y[i] = f(type, x[0][i]);
    }
}

template<auto f>
void binary(const ir::Operation *, ScalarType type, const std::array<const uint64_t *, 3> &x,
            uint64_t *y, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        y[i] = f(type, x[0][i], x[1][i]);
    }
}

void fma(const ir::Operation *, ScalarType type, const std::array<const uint64_t *, 3> &x,
         uint64_t *y, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        y[i] = arith::fma(type, x[0][i], x[1][i], x[2][i]);
    }
}

void ite(const ir::Operation *, ScalarType, const std::array<const uint64_t *, 3> &x, uint64_t *y,
         size_t count) {
    for (size_t i = 0; i < count; ++i) {
        y[i] = x[0][i] ? x[1][i] : x[2][i];
    }
}

void cast(const ir::Operation *op, ScalarType from, const std::array<const uint64_t *, 3> &x,
          uint64_t *y, size_t count) {
    auto to = op->result()->scalar();
    for (size_t i = 0; i < count; ++i) {
        y[i] = from == to ? x[0][i] : arith::convert(x[0][i], from, to);
    }
}

void bitcast(const ir::Operation *op, ScalarType, const std::array<const uint64_t *, 3> &x,
             uint64_t *y, size_t count) {
    auto to = op->result()->scalar();
    for (size_t i = 0; i < count; ++i) {
        y[i] = arith::normalize(to, x[0][i]);
    }
}

void quantize(const ir::Operation *op, ScalarType from, const std::array<const uint64_t *, 3> &x,
              uint64_t *y, size_t count) {
    auto to = op->result()->scalar();
    auto saturate = op->get<ir::QuantizePayload>().saturate;
    for (size_t i = 0; i < count; ++i) {
        y[i] = arith::quantize(x[0][i], from, to, saturate);
    }
}

math::Function function_of(Opcode op) {
    static const auto table = [] {
        std::array<math::Function, ir::opcode_count> functions{};
        for (size_t i = 0; i < ir::opcode_count; ++i) {
            auto code = static_cast<Opcode>(i);
            if (ir::info(code).family == ir::Family::MATH) {
                require(math::parse_function(to_string(code), functions[i]),
                        "math operation without a row in the function table");
            }
        }
        return functions;
    }();
    return table[static_cast<size_t>(op)];
}

// f16 and bf16 widen to f32, are evaluated there and rounded once.
void math_loop(const ir::Operation *op, ScalarType type, const std::array<const uint64_t *, 3> &x,
               uint64_t *y, size_t count) {
    auto function = function_of(op->opcode());
    auto arity = op->operand_count();
    auto wide = type == ScalarType::FLOAT64 ? ScalarType::FLOAT64 : ScalarType::FLOAT32;
    if (!math::supports(function, wide)) {
        throw UnsupportedError{std::string{op->name()} + " on " + to_string(type) +
                                   " is not available; cast<float> first",
                               op->loc};
    }
    if (op->get<ir::MathPayload>().tier == MathTier::EXACT) {
        throw UnsupportedError{std::string{op->name()} +
                                   " with MathTier::EXACT is not available; " +
                                   "use MathTier::STRICT",
                               op->loc};
    }
    for (size_t i = 0; i < count; ++i) {
        if (wide == ScalarType::FLOAT64) {
            double arguments[2] = {};
            for (size_t k = 0; k < arity; ++k) {
                arguments[k] = std::bit_cast<double>(x[k][i]);
            }
            y[i] = std::bit_cast<uint64_t>(math::evaluate(function, arguments));
        } else {
            float arguments[2] = {};
            for (size_t k = 0; k < arity; ++k) {
                arguments[k] = arith::to_float(type, x[k][i]);
            }
            auto result = math::evaluate(function, arguments);
            y[i] = arith::convert(std::bit_cast<uint32_t>(result), wide, type);
        }
    }
}

struct Row {
    Opcode op;
    Loop loop;
};

constexpr Row rows[] = {
    {Opcode::ADD, binary<arith::add>},
    {Opcode::SUB, binary<arith::sub>},
    {Opcode::MUL, binary<arith::mul>},
    {Opcode::DIV, binary<arith::div>},
    {Opcode::REM, binary<arith::rem>},
    {Opcode::FLOOR_DIV, binary<arith::floor_div>},
    {Opcode::FLOOR_MOD, binary<arith::floor_mod>},
    {Opcode::CEIL_DIV, binary<arith::ceil_div>},
    {Opcode::MINIMUM, binary<arith::minimum>},
    {Opcode::MAXIMUM, binary<arith::maximum>},
    {Opcode::FMIN, binary<arith::fmin>},
    {Opcode::FMAX, binary<arith::fmax>},
    {Opcode::AND, binary<arith::bit_and>},
    {Opcode::OR, binary<arith::bit_or>},
    {Opcode::XOR, binary<arith::bit_xor>},
    {Opcode::SHL, binary<arith::shl>},
    {Opcode::SHR, binary<arith::shr>},
    {Opcode::LT, binary<arith::lt>},
    {Opcode::LE, binary<arith::le>},
    {Opcode::GT, binary<arith::gt>},
    {Opcode::GE, binary<arith::ge>},
    {Opcode::EQ, binary<arith::eq>},
    {Opcode::NE, binary<arith::ne>},
    {Opcode::NEG, unary<arith::neg>},
    {Opcode::ABS, unary<arith::abs>},
    {Opcode::NOT, unary<arith::bit_not>},
    {Opcode::FMA, fma},
    {Opcode::SQRT, unary<arith::sqrt>},
    {Opcode::FLOOR, unary<arith::floor>},
    {Opcode::CEIL, unary<arith::ceil>},
    {Opcode::RINT, unary<arith::rint>},
    {Opcode::TRUNC, unary<arith::trunc>},
    {Opcode::ITE, ite},
    {Opcode::CAST, cast},
    {Opcode::BITCAST, bitcast},
    {Opcode::QUANTIZE, quantize},
};

Loop loop_of(Opcode op) {
    static const auto table = [] {
        std::array<Loop, ir::opcode_count> loops{};
        for (const auto &row : rows) {
            loops[static_cast<size_t>(row.op)] = row.loop;
        }
        for (size_t i = 0; i < ir::opcode_count; ++i) {
            if (ir::info(static_cast<Opcode>(i)).family == ir::Family::MATH) {
                loops[i] = math_loop;
            }
        }
        return loops;
    }();
    auto loop = table[static_cast<size_t>(op)];
    require(loop != nullptr, "elementwise operation that the interpreter does not know");
    return loop;
}

// An element is undefined if one that it depends on is; a selection depends on what it chose.
void propagate_undefined(const std::array<const Tile *, 3> &x, size_t arity, bool selects,
                         Tile &out) {
    for (size_t i = 0; i < out.bits.size(); ++i) {
        auto at = static_cast<int64_t>(i);
        const ir::Operation *load = nullptr;
        for (size_t k = 0; k < arity && !load; ++k) {
            auto passed_over = selects && k == (x[0]->bits[i] ? 2u : 1u);
            load = passed_over ? nullptr : x[k]->undefined_at(at);
        }
        out.set_undefined(at, load);
    }
}

}// namespace

const Tile &spread(Context &context, const Step &step, size_t operand, Tile &scratch) {
    const auto &tile = context.tile(step.operands[operand]);
    const auto &access = step.accesses[operand];
    if (access.dense) {
        return tile;
    }
    scratch.bits.clear();
    scratch.undefined.clear();
    walk<1>(step.extents, {&access.strides}, [&](const Numbers &, const auto &offset) {
        auto from = static_cast<size_t>(offset[0]);
        scratch.bits.push_back(tile.bits[from]);
        if (!tile.undefined.empty()) {
            scratch.undefined.push_back(tile.undefined[from]);
        }
    });
    return scratch;
}

void run_elementwise(Context &context, const Step &step) {
    auto arity = step.operands.size();
    std::array<const Tile *, 3> tiles{};
    std::array<const uint64_t *, 3> x{};
    auto undefined = false;
    for (size_t k = 0; k < arity; ++k) {
        tiles[k] = &spread(context, step, k, context.scratch[k]);
        x[k] = tiles[k]->bits.data();
        undefined |= !tiles[k]->undefined.empty();
    }
    auto &out = context.output(step.results[0], step.op->result()->type()->element_count());
    loop_of(step.op->opcode())(step.op, step.op->operand(arity - 1)->scalar(), x, out.bits.data(),
                               out.bits.size());
    if (undefined) {
        propagate_undefined(tiles, arity, step.op->opcode() == Opcode::ITE, out);
    }
}

void merge_elements(Opcode op, ScalarType type, const Tile &left, const Tile &right, Tile &out) {
    out.bits.resize(left.bits.size());
    loop_of(op)(nullptr, type, {left.bits.data(), right.bits.data(), nullptr}, out.bits.data(),
                out.bits.size());
    if (!left.undefined.empty() || !right.undefined.empty()) {
        propagate_undefined({&left, &right, nullptr}, 2, false, out);
    }
}

}// namespace luisa::tile::interpreter
