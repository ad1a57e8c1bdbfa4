// SPDX-License-Identifier: Apache-2.0
#include "ir/check_operations.h"

#include <algorithm>

namespace luisa::tile::ir {

namespace {

bool is_scalar_of(const Type &t, ScalarType type) { return t.is_scalar() && t.scalar == type; }

std::string check_atomic(const Operation &op) {
    if (op.operand_count() < 2 || !op.operand(0)->type()->is_view()) {
        return "updates no view";
    }
    const auto &view = *op.operand(0)->type();
    auto kind = op.get<AtomicPayload>().op;
    if (kind > AtomicOp::XOR) {
        return "has no kind of update";
    }
    size_t values = kind == AtomicOp::COMPARE_EXCHANGE ? 2 : 1;
    if (op.operand_count() != 1 + values + view.rank()) {
        return "has not one coordinate a dimension of the view";
    }
    if (view.read_only) {
        return "writes a const view";
    }
    if (!supports_atomic(kind, view.scalar)) {
        return std::string{"does not update elements of "} + to_string(view.scalar) +
               " in this way";
    }
    bool agrees = is_scalar_of(*op.result()->type(), view.scalar);
    for (size_t i = 1; i <= values; ++i) {
        agrees &= is_scalar_of(*op.operand(i)->type(), view.scalar);
    }
    if (!agrees) {
        return "values and result are no scalars of the view's type";
    }
    for (size_t i = 1 + values; i < op.operand_count(); ++i) {
        if (!is_scalar_of(*op.operand(i)->type(), ScalarType::INT64)) {
            return "a coordinate is no i64 scalar";
        }
    }
    return {};
}

std::string check_assert(const Operation &op) {
    const auto &payload = op.get<AssertPayload>();
    if (op.operand_count() < 1 || !is_scalar_of(*op.operand(0)->type(), ScalarType::BOOL)) {
        return "the condition is no bool scalar";
    }
    if (!payload.box.empty() && op.operand_count() < 2) {
        return "does not say which element fails";
    }
    for (size_t i = 1; i < op.operand_count(); ++i) {
        if (!is_scalar_of(*op.operand(i)->type(), ScalarType::INT64)) {
            return "a coordinate is no i64 scalar";
        }
    }
    bool counts = std::all_of(payload.box.begin(), payload.box.end(),
                              [](const DimExtent &d) { return d.extent >= 0; });
    return counts ? std::string{} : "the box has a negative extent";
}

std::string check_print(const Operation &op) {
    if (count_places(op.get<PrintPayload>().format) != op.operand_count()) {
        return "has not one value for each {} of its format";
    }
    auto values = op.operands();
    bool scalars = std::all_of(values.begin(), values.end(),
                               [](const Value *v) { return v->type()->is_scalar(); });
    return scalars ? std::string{} : "prints what is no scalar";
}

}// namespace

bool supports_atomic(AtomicOp op, ScalarType type) noexcept {
    bool bits = op == AtomicOp::AND || op == AtomicOp::OR || op == AtomicOp::XOR;
    return is_integer(type) || (!bits && is_float(type) && size_of(type) > 1);
}

size_t count_places(std::string_view format) noexcept {
    size_t count = 0;
    for (auto at = format.find("{}"); at != std::string_view::npos;
         at = format.find("{}", at + 2)) {
        ++count;
    }
    return count;
}

bool check_effect_rules(const Operation &op, std::string &message) {
    switch (op.opcode()) {
        case Opcode::ATOMIC: message = check_atomic(op); break;
        case Opcode::ASSERT: message = check_assert(op); break;
        case Opcode::PRINT: message = check_print(op); break;
        default: break;
    }
    return message.empty();
}

}// namespace luisa::tile::ir
