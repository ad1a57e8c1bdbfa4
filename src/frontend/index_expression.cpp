// SPDX-License-Identifier: Apache-2.0
#include "frontend/index_expression.h"

#include "core/internal_error.h"
#include "types/arith.h"
#include "types/convert.h"

#include <array>
#include <unordered_map>

namespace luisa::tile::core {

using ir::Opcode;

namespace {

using Binary = uint64_t (*)(ScalarType, uint64_t, uint64_t);
using Comparison = bool (*)(ScalarType, uint64_t, uint64_t);
using Unary = uint64_t (*)(ScalarType, uint64_t);

template<class F> struct Row {
    Opcode op;
    F apply;
};

constexpr Row<Binary> binaries[] = {{Opcode::ADD, arith::add},
                                    {Opcode::SUB, arith::sub},
                                    {Opcode::MUL, arith::mul},
                                    {Opcode::DIV, arith::div},
                                    {Opcode::REM, arith::rem},
                                    {Opcode::FLOOR_DIV, arith::floor_div},
                                    {Opcode::FLOOR_MOD, arith::floor_mod},
                                    {Opcode::CEIL_DIV, arith::ceil_div},
                                    {Opcode::MINIMUM, arith::minimum},
                                    {Opcode::MAXIMUM, arith::maximum},
                                    {Opcode::AND, arith::bit_and},
                                    {Opcode::OR, arith::bit_or},
                                    {Opcode::XOR, arith::bit_xor},
                                    {Opcode::SHL, arith::shl},
                                    {Opcode::SHR, arith::shr}};
constexpr Row<Comparison> comparisons[] = {{Opcode::LT, arith::lt}, {Opcode::LE, arith::le},
                                           {Opcode::GT, arith::gt}, {Opcode::GE, arith::ge},
                                           {Opcode::EQ, arith::eq}, {Opcode::NE, arith::ne}};
constexpr Row<Unary> unaries[] = {
    {Opcode::NEG, arith::neg}, {Opcode::ABS, arith::abs}, {Opcode::NOT, arith::bit_not}};

template<class F, size_t N> F find(const Row<F> (&rows)[N], Opcode op) {
    for (const auto &row : rows) {
        if (row.op == op) {
            return row.apply;
        }
    }
    return nullptr;
}

bool evaluates(const ir::Operation &op) {
    return op.opcode() == Opcode::CONSTANT || op.opcode() == Opcode::ITE ||
           op.opcode() == Opcode::CAST || find(binaries, op.opcode()) ||
           find(comparisons, op.opcode()) || find(unaries, op.opcode());
}

uint64_t apply_step(const ir::Operation &op, const std::array<uint64_t, 3> &x) {
    auto code = op.opcode();
    if (code == Opcode::CONSTANT) {
        return arith::convert(op.get<ir::ConstantPayload>().bits, op.result()->scalar(),
                              op.result()->scalar());
    }
    auto type = op.operand(0)->scalar();
    if (code == Opcode::ITE) {
        return x[0] ? x[1] : x[2];
    }
    if (code == Opcode::CAST) {
        return arith::convert(x[0], type, op.result()->scalar());
    }
    if (auto binary = find(binaries, code)) {
        return binary(type, x[0], x[1]);
    }
    if (auto comparison = find(comparisons, code)) {
        return comparison(type, x[0], x[1]);
    }
    auto unary = find(unaries, code);
    require(unary != nullptr, "an index expression holds what it cannot evaluate");
    return unary(type, x[0]);
}

/// Which values of a map's body depend on its point.
class Moving {
public:
    explicit Moving(const ir::Region *body) : _body{body} {}
    bool contains(const ir::Value *value) {
        auto *op = value->definition();
        if (!op) {
            return value->owner() == _body;
        }
        if (op->region() != _body) {
            return false;
        }
        if (auto known = _known.find(value); known != _known.end()) {
            return known->second;
        }
        bool moves = !op->regions().empty();
        for (auto *operand : op->operands()) {
            moves = moves || contains(operand);
        }
        return _known[value] = moves;
    }

private:
    const ir::Region *_body;
    std::unordered_map<const ir::Value *, bool> _known;
};

using Affine = std::optional<std::vector<int64_t>>;

Affine combine(const Affine &a, const Affine &b, int64_t sign) {
    if (!a || !b) {
        return std::nullopt;
    }
    auto sum = *a;
    for (size_t i = 0; i < sum.size(); ++i) {
        int64_t term = 0;
        if (__builtin_mul_overflow((*b)[i], sign, &term) ||
            __builtin_add_overflow(sum[i], term, &sum[i])) {
            return std::nullopt;
        }
    }
    return sum;
}

Affine affine_of(const ir::Value *value, size_t rank, Moving &moving) {
    std::vector<int64_t> none(rank, 0);
    if (!moving.contains(value)) {
        return none;
    }
    auto *op = value->definition();
    if (!op) {
        none.at(value->index()) = 1;
        return none;
    }
    auto at = [&](size_t i) { return affine_of(op->operand(i), rank, moving); };
    switch (op->opcode()) {
        case Opcode::ADD: return combine(at(0), at(1), 1);
        case Opcode::SUB: return combine(at(0), at(1), -1);
        case Opcode::NEG: return combine(none, at(0), -1);
        case Opcode::MUL:
            for (size_t i = 0; i < 2; ++i) {
                auto *factor = op->operand(i)->definition();
                if (factor && factor->opcode() == Opcode::CONSTANT) {
                    auto by = static_cast<int64_t>(factor->get<ir::ConstantPayload>().bits);
                    return combine(none, at(1 - i), by);
                }
            }
            return std::nullopt;
        default: return std::nullopt;
    }
}

const ir::Region &body_of(const ir::Value *coordinate) {
    auto *op = coordinate->definition();
    require(op && op->opcode() == Opcode::MAP, "the coordinate of a mapped view is a map");
    return *op->body();
}

}// namespace

std::optional<std::vector<int64_t>> affine_row(const ir::Value *coordinate, size_t rank) {
    const auto &body = body_of(coordinate);
    Moving moving{&body};
    return affine_of(body.terminator()->operand(0), rank, moving);
}

struct IndexExpression::Builder {
    IndexExpression &out;
    Moving moving;
    std::unordered_map<const ir::Value *, size_t> done;

    /// Splits sums into terms and leaves out those that all points share.
    void terms(const ir::Value *value, bool negative) {
        if (!moving.contains(value)) {
            return;
        }
        auto *op = value->definition();
        if (op && (op->opcode() == Opcode::ADD || op->opcode() == Opcode::SUB)) {
            terms(op->operand(0), negative);
            terms(op->operand(1), negative != (op->opcode() == Opcode::SUB));
            return;
        }
        out._terms.push_back({step(value), negative});
    }

    size_t step(const ir::Value *value) {
        if (auto found = done.find(value); found != done.end()) {
            return found->second;
        }
        Step step;
        step.op = value->definition();
        if (!step.op) {
            out._known &= moving.contains(value);
            step.argument = value->index();
        } else if (!evaluates(*step.op)) {
            out._known = false;
        } else {
            for (auto *operand : step.op->operands()) {
                step.operands.push_back(this->step(operand));
            }
        }
        out._steps.push_back(std::move(step));
        return done[value] = out._steps.size() - 1;
    }
};

IndexExpression::IndexExpression(const ir::Value *coordinate) {
    const auto &body = body_of(coordinate);
    Builder builder{*this, Moving{&body}, {}};
    builder.terms(body.terminator()->operand(0), false);
}

int64_t IndexExpression::evaluate(const std::vector<int64_t> &at) const {
    require(_known, "an index expression is evaluated that is not known");
    std::vector<uint64_t> values(_steps.size());
    for (size_t i = 0; i < _steps.size(); ++i) {
        const auto &step = _steps[i];
        std::array<uint64_t, 3> x{};
        for (size_t k = 0; k < step.operands.size(); ++k) {
            x[k] = values[step.operands[k]];
        }
        values[i] = step.op ? apply_step(*step.op, x) : static_cast<uint64_t>(at.at(step.argument));
    }
    uint64_t sum = 0;
    for (const auto &term : _terms) {
        sum = term.negative ? sum - values[term.step] : sum + values[term.step];
    }
    return static_cast<int64_t>(sum);
}

}// namespace luisa::tile::core
