// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/layout.h>

#include <array>
#include <cstdint>

namespace luisa::tile::core {

/// An operation of index expressions: its name in text and its value, or nothing where it is undefined.
struct ExprOp {
    const char *name;
    size_t arity;
    std::optional<int64_t> (*apply)(const std::array<int64_t, 3> &x);
};

/// The operation called `name`; null if there is none.
[[nodiscard]] const ExprOp *find_expr_op(std::string_view name);

/// A step: a constant, a coordinate, or an operation.
struct ExprNode {
    enum class Kind : uint8_t { CONSTANT, COORDINATE, OPERATION } kind = Kind::CONSTANT;
    int64_t value = 0;///< the constant, or which coordinate
    const ExprOp *op = nullptr;
    std::vector<std::shared_ptr<const ExprNode>> operands;
};

/// An operation on operands; folded if they are all constants and it is defined.
[[nodiscard]] std::shared_ptr<const ExprNode> make_expr(
    const ExprOp *op, std::vector<std::shared_ptr<const ExprNode>> operands);

/// The expression of a point that has `by` more coordinates in front.
[[nodiscard]] std::shared_ptr<const ExprNode> shifted(const ExprNode &expr, size_t by);

/// The values that an expression takes over a box, from below and above. It contains all values, and nothing
/// says that each is taken.
struct ExprRange {
    int64_t low = 0, high = 0;
};
/// Nothing when a step may be undefined or leave 64 bits somewhere in the box, or no rule says.
[[nodiscard]] std::optional<ExprRange> range_of(const ExprNode &expr, const IndexPoint &extents);

}// namespace luisa::tile::core
