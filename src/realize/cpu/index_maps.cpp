// SPDX-License-Identifier: Apache-2.0
#include "layout/expression.h"
#include "layout/proved.h"
#include "realize/cpu/lowering.h"

#include <algorithm>
#include <string_view>

namespace luisa::tile::cpu {

using core::ExprNode;
using ir::Opcode;

namespace {

struct Row {
    std::string_view name;
    Opcode opcode;
};

/// Operations of index expressions that are one of the machine. Divisors are constants: see plan/constraints.
constexpr Row rows[] = {
    {"add", Opcode::ADD}, {"sub", Opcode::SUB}, {"mul", Opcode::MUL},     {"div", Opcode::DIV},
    {"mod", Opcode::REM}, {"and", Opcode::AND}, {"or", Opcode::OR},       {"xor", Opcode::XOR},
    {"shl", Opcode::SHL}, {"shr", Opcode::SHR}, {"min", Opcode::MINIMUM}, {"max", Opcode::MAXIMUM},
    {"lt", Opcode::LT},   {"le", Opcode::LE},   {"eq", Opcode::EQ},       {"ne", Opcode::NE},
};

}// namespace

/// Writes expressions as operations. Sums and multiples keep the lane number in closed form.
class Lowering::IndexWriter {
public:
    IndexWriter(Lowering &lowering, const std::vector<Coordinate> &at, int lanes)
        : _l{lowering}, _at{at}, _lanes{lanes} {}

    Coordinate write(const ExprNode &e) {
        if (e.kind == ExprNode::Kind::CONSTANT) {
            return {_l._b.index(e.value), 0, nullptr};
        }
        if (e.kind == ExprNode::Kind::COORDINATE) {
            return _at.at(static_cast<size_t>(e.value));
        }
        std::vector<Coordinate> operands;
        for (const auto &operand : e.operands) {
            operands.push_back(write(*operand));
        }
        std::string_view name = e.op->name;
        if (name == "add" || name == "sub") {
            return _l.sum(operands[0], operands[1], name == "add" ? 1 : -1);
        }
        if (name == "mul" && e.operands[1]->kind == ExprNode::Kind::CONSTANT &&
            !operands[0].per_lane) {
            auto by = e.operands[1]->value;
            return {_l._b.mul(operands[0].base, _l._b.index(by)), operands[0].slope * by, nullptr};
        }
        if (name == "select") {
            auto *yes = _l._b.pure(Opcode::NE,
                                   together({operands[0], {_l._b.index(0), 0, nullptr}}));
            auto values = together({operands[1], operands[2]});
            return result(_l.select(yes, values[0], values[1]));
        }
        const auto *row = std::find_if(std::begin(rows), std::end(rows),
                                       [&](const Row &r) { return r.name == name; });
        require(row != std::end(rows), "an operation of index expressions has an opcode");
        auto *value = _l._b.pure(row->opcode, together(operands));
        if (value->scalar() == ScalarType::BOOL) {
            value = _l.select(value, _l._b.index(1), _l._b.index(0));
        }
        return result(value);
    }

private:
    Values together(const std::vector<Coordinate> &coordinates) {
        Values out;
        int lanes = 1;
        for (const auto &c : coordinates) {
            out.push_back(_l.coordinate_value(c, _lanes));
            lanes = std::max<int>(lanes, out.back()->type()->lanes);
        }
        for (auto *&value : out) {
            value = _l._b.splat(value, lanes);
        }
        return out;
    }
    static Coordinate result(ir::Value *value) {
        return value->type()->is_vector() ? Coordinate{nullptr, 0, value}
                                          : Coordinate{value, 0, nullptr};
    }

    Lowering &_l;
    const std::vector<Coordinate> &_at;
    int _lanes;
};

Coordinate Lowering::index_map(const IndexMap &map, const std::vector<Coordinate> &at, int lanes) {
    std::vector<IndexExpr> symbols;
    for (size_t i = 0; i < at.size(); ++i) {
        symbols.push_back(IndexExpr::coordinate(i));
    }
    auto images = core::expression_form(map, symbols);
    require(images && images->size() == 1, "a layout on a CPU is one expression");
    return IndexWriter{*this, at, lanes}.write((*images)[0].node());
}

}// namespace luisa::tile::cpu
