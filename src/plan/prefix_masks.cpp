// SPDX-License-Identifier: Apache-2.0
#include "plan/prefix_masks.h"

#include "analysis/expressions.h"
#include "analysis/intervals.h"

#include <algorithm>

namespace luisa::tile::plan {

using ir::Opcode;

namespace {

const ir::Value *without_broadcast(const ir::Value *value) {
    const auto *op = value->definition();
    bool spread = op && (op->opcode() == Opcode::BROADCAST || op->opcode() == Opcode::PER);
    return spread ? without_broadcast(op->operand(0)) : value;
}

/// Whether all elements along the axis are equal.
bool is_uniform(const ir::Value *value, Dim axis) {
    const auto *op = value->definition();
    if (value->type()->is_scalar() || value->type()->find(axis) < 0) {
        return true;
    }
    if (!op || !(op->opcode() == Opcode::BROADCAST || op->opcode() == Opcode::PER ||
                 ir::is_elementwise(op->opcode()))) {
        return false;
    }
    auto operands = op->operands();
    return std::all_of(operands.begin(), operands.end(),
                       [&](const ir::Value *v) { return is_uniform(v, axis); });
}

/// Whether elements ascend by one along the axis.
bool ascends(const ir::Value *value, Dim axis) {
    const auto *op = value->definition();
    if (!op || value->type()->is_scalar() || value->scalar() != ScalarType::INT64) {
        return false;
    }
    switch (op->opcode()) {
        case Opcode::IOTA: return value->type()->dims.front().dim == axis;
        case Opcode::BROADCAST:
        case Opcode::PER: return ascends(op->operand(0), axis);
        case Opcode::ADD:
            return (ascends(op->operand(0), axis) && is_uniform(op->operand(1), axis)) ||
                   (ascends(op->operand(1), axis) && is_uniform(op->operand(0), axis));
        default: return false;
    }
}

bool is_below(const ir::Value *index, const ir::Value *end, Dim axis) {
    return ascends(index, axis) && analysis::interval_of(index).low >= 0 && is_uniform(end, axis);
}

}// namespace

bool is_prefix_mask(const ir::Value *mask, Dim axis) {
    const auto *op = mask->definition();
    if (!op || op->operand_count() != 2) {
        return false;
    }
    const auto *left = op->operand(0), *right = op->operand(1);
    switch (op->opcode()) {
        case Opcode::LT:
        case Opcode::LE: return is_below(left, right, axis);
        case Opcode::GT:
        case Opcode::GE: return is_below(right, left, axis);
        case Opcode::AND:
        case Opcode::OR: {
            auto holds = [&](const ir::Value *v) {
                return is_prefix_mask(v, axis) || is_uniform(v, axis);
            };
            return holds(left) && holds(right);
        }
        default: return false;
    }
}

BoundsMask bounds_mask(const ir::Value *mask) {
    const auto *op = mask->definition();
    if (!op || op->opcode() != Opcode::LT) {
        return {};
    }
    const auto *end = without_broadcast(op->operand(1))->definition();
    const auto *index = op->operand(0)->definition();
    if (!end || end->opcode() != Opcode::EXTENT || !index || index->opcode() != Opcode::ADD) {
        return {};
    }
    for (size_t i = 0; i < 2; ++i) {
        const auto *iota = without_broadcast(index->operand(i))->definition();
        const auto *first = without_broadcast(index->operand(1 - i));
        if (iota && iota->opcode() == Opcode::IOTA && first->type()->is_scalar()) {
            return {first, end->operand(0),
                    static_cast<size_t>(end->get<ir::IndexPayload>().index)};
        }
    }
    return {};
}

}// namespace luisa::tile::plan
