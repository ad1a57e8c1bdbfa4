// SPDX-License-Identifier: Apache-2.0
#include "layout/expression.h"

#include "core/internal_error.h"

#include <algorithm>

namespace luisa::tile {

namespace core {

namespace {

using Args = std::array<int64_t, 3>;
using Result = std::optional<int64_t>;

Result add(const Args &x) {
    int64_t r = 0;
    return __builtin_add_overflow(x[0], x[1], &r) ? Result{} : r;
}
Result sub(const Args &x) {
    int64_t r = 0;
    return __builtin_sub_overflow(x[0], x[1], &r) ? Result{} : r;
}
Result mul(const Args &x) {
    int64_t r = 0;
    return __builtin_mul_overflow(x[0], x[1], &r) ? Result{} : r;
}
bool divides(const Args &x) { return x[1] != 0 && (x[0] != INT64_MIN || x[1] != -1); }
Result div(const Args &x) { return divides(x) ? Result{x[0] / x[1]} : Result{}; }
Result mod(const Args &x) { return divides(x) ? Result{x[0] % x[1]} : Result{}; }
Result shl(const Args &x) {
    if (x[1] < 0 || x[1] > 62) {
        return {};
    }
    return mul({x[0], int64_t{1} << x[1], 0});
}
Result shr(const Args &x) { return x[1] < 0 || x[1] > 62 ? Result{} : x[0] >> x[1]; }
Result bit_and(const Args &x) { return x[0] & x[1]; }
Result bit_or(const Args &x) { return x[0] | x[1]; }
Result bit_xor(const Args &x) { return x[0] ^ x[1]; }
Result smaller(const Args &x) { return std::min(x[0], x[1]); }
Result larger(const Args &x) { return std::max(x[0], x[1]); }
Result lt(const Args &x) { return x[0] < x[1]; }
Result le(const Args &x) { return x[0] <= x[1]; }
Result eq(const Args &x) { return x[0] == x[1]; }
Result ne(const Args &x) { return x[0] != x[1]; }
Result select(const Args &x) { return x[0] ? x[1] : x[2]; }

constexpr ExprOp ops[] = {
    {"add", 2, add},       {"sub", 2, sub},     {"mul", 2, mul},     {"div", 2, div},
    {"mod", 2, mod},       {"and", 2, bit_and}, {"or", 2, bit_or},   {"xor", 2, bit_xor},
    {"shl", 2, shl},       {"shr", 2, shr},     {"min", 2, smaller}, {"max", 2, larger},
    {"lt", 2, lt},         {"le", 2, le},       {"eq", 2, eq},       {"ne", 2, ne},
    {"select", 3, select},
};

Result evaluate(const ExprNode &e, const IndexPoint &point) {
    if (e.kind == ExprNode::Kind::CONSTANT) {
        return e.value;
    }
    if (e.kind == ExprNode::Kind::COORDINATE) {
        auto i = static_cast<size_t>(e.value);
        return i < point.size() ? Result{point[i]} : Result{};
    }
    Args x{};
    size_t skipped = 3;
    for (size_t i = 0; i < e.operands.size(); ++i) {
        if (i == skipped) {
            continue;
        }
        auto value = evaluate(*e.operands[i], point);
        if (!value) {
            return {};
        }
        x[i] = *value;
        if (e.op->arity == 3 && i == 0) {
            skipped = *value ? 2 : 1;// the other choice need not be defined
        }
    }
    return e.op->apply(x);
}

std::string text_of(const ExprNode &e) {
    if (e.kind == ExprNode::Kind::CONSTANT) {
        return std::to_string(e.value);
    }
    if (e.kind == ExprNode::Kind::COORDINATE) {
        return "c" + std::to_string(e.value);
    }
    std::string text = e.op->name;
    for (size_t i = 0; i < e.operands.size(); ++i) {
        text += (i ? ", " : "(") + text_of(*e.operands[i]);
    }
    return text + ")";
}

/// The extremes of a function that is monotone in each argument: among its values at the corners.
std::optional<ExprRange> corners(const ExprOp &op, const ExprRange &a, const ExprRange &b) {
    ExprRange out{INT64_MAX, INT64_MIN};
    for (auto x : {a.low, a.high}) {
        for (auto y : {b.low, b.high}) {
            auto value = op.apply({x, y, 0});
            if (!value) {
                return std::nullopt;
            }
            out = {std::min(out.low, *value), std::max(out.high, *value)};
        }
    }
    return out;
}

int64_t ones_above(int64_t value) {
    int64_t mask = 0;
    while (mask < value) {
        mask = mask * 2 + 1;
    }
    return mask;
}

std::optional<ExprRange> binary_range(const ExprOp &op, const ExprRange &a, const ExprRange &b) {
    std::string_view name = op.name;
    if (a.low == a.high && b.low == b.high) {
        auto value = op.apply({a.low, b.low, 0});
        return value ? std::optional<ExprRange>{{*value, *value}} : std::nullopt;
    }
    if (name == "add" || name == "sub" || name == "mul" || name == "min" || name == "max" ||
        name == "shl" || name == "shr") {
        return corners(op, a, b);
    }
    if (name == "div") {
        return b.low > 0 ? corners(op, a, b) : std::nullopt;
    }
    if (name == "mod") {
        if (b.low <= 0) {
            return std::nullopt;
        }
        auto most = b.high - 1;
        return ExprRange{a.low < 0 ? std::max(a.low, -most) : 0,
                         a.high > 0 ? std::min(a.high, most) : 0};
    }
    if (name == "and" || name == "or" || name == "xor") {
        if (a.low < 0 || b.low < 0) {
            return ExprRange{INT64_MIN, INT64_MAX};
        }
        return ExprRange{0, name == "and" ? std::min(a.high, b.high)
                                          : ones_above(std::max(a.high, b.high))};
    }
    return ExprRange{0, 1};// a comparison
}

}// namespace

const ExprOp *find_expr_op(std::string_view name) {
    const auto *found = std::find_if(std::begin(ops), std::end(ops),
                                     [&](const ExprOp &op) { return name == op.name; });
    return found == std::end(ops) ? nullptr : found;
}

std::shared_ptr<const ExprNode> make_expr(const ExprOp *op,
                                          std::vector<std::shared_ptr<const ExprNode>> operands) {
    Args x{};
    bool constant = true;
    for (size_t i = 0; i < operands.size(); ++i) {
        constant &= operands[i]->kind == ExprNode::Kind::CONSTANT;
        x[i] = operands[i]->value;
    }
    if (auto value = constant ? op->apply(x) : std::nullopt) {
        return std::make_shared<ExprNode>(ExprNode{ExprNode::Kind::CONSTANT, *value, nullptr, {}});
    }
    return std::make_shared<ExprNode>(
        ExprNode{ExprNode::Kind::OPERATION, 0, op, std::move(operands)});
}

std::shared_ptr<const ExprNode> shifted(const ExprNode &expr, size_t by) {
    auto out = expr;
    out.value += expr.kind == ExprNode::Kind::COORDINATE ? static_cast<int64_t>(by) : 0;
    for (auto &operand : out.operands) {
        operand = shifted(*operand, by);
    }
    return std::make_shared<ExprNode>(std::move(out));
}

std::optional<ExprRange> range_of(const ExprNode &e, const IndexPoint &extents) {
    if (e.kind == ExprNode::Kind::CONSTANT) {
        return ExprRange{e.value, e.value};
    }
    if (e.kind == ExprNode::Kind::COORDINATE) {
        auto i = static_cast<size_t>(e.value);
        return i < extents.size() ? std::optional<ExprRange>{{0, extents[i] - 1}} : std::nullopt;
    }
    std::vector<ExprRange> in;
    for (const auto &operand : e.operands) {
        auto range = range_of(*operand, extents);
        if (!range) {
            return std::nullopt;
        }
        in.push_back(*range);
    }
    if (e.op->arity == 2) {
        return binary_range(*e.op, in[0], in[1]);
    }
    return ExprRange{std::min(in[1].low, in[2].low), std::max(in[1].high, in[2].high)};
}

}// namespace core

IndexExpr::IndexExpr(int64_t value)
    : _node{std::make_shared<core::ExprNode>(
          core::ExprNode{core::ExprNode::Kind::CONSTANT, value, nullptr, {}})} {}

IndexExpr IndexExpr::coordinate(size_t axis) {
    return IndexExpr{std::make_shared<core::ExprNode>(
        core::ExprNode{core::ExprNode::Kind::COORDINATE, static_cast<int64_t>(axis), nullptr, {}})};
}

IndexExpr IndexExpr::make(std::string_view op, const IndexExpr &a, const IndexExpr &b) {
    const auto *found = core::find_expr_op(op);
    require(found, "an operation of index expressions has a row in the table");
    return IndexExpr{core::make_expr(found, {a._node, b._node})};
}

IndexExpr IndexExpr::minimum(const IndexExpr &a, const IndexExpr &b) { return make("min", a, b); }
IndexExpr IndexExpr::maximum(const IndexExpr &a, const IndexExpr &b) { return make("max", a, b); }

IndexExpr IndexExpr::select(const IndexExpr &condition, const IndexExpr &yes, const IndexExpr &no) {
    return IndexExpr{
        core::make_expr(core::find_expr_op("select"), {condition._node, yes._node, no._node})};
}

std::optional<int64_t> IndexExpr::at(const IndexPoint &point) const {
    return core::evaluate(*_node, point);
}

std::string IndexExpr::text() const { return core::text_of(*_node); }

}// namespace luisa::tile
