// SPDX-License-Identifier: Apache-2.0
#include "analysis/intervals.h"

#include <algorithm>
#include <array>
#include <bit>

namespace luisa::tile::analysis {

namespace {

using ir::Opcode;

constexpr int max_depth = 64;

Interval combine(const Interval &a, const Interval &b, bool (*apply)(int64_t, int64_t, int64_t *)) {
    if (!a.bounded() || !b.bounded()) {
        return {};
    }
    Interval out{INT64_MAX, INT64_MIN};
    for (auto x : {a.low, a.high}) {
        for (auto y : {b.low, b.high}) {
            int64_t r = 0;
            if (apply(x, y, &r)) {
                return {};
            }
            out.low = std::min(out.low, r);
            out.high = std::max(out.high, r);
        }
    }
    return out;
}

/// All bits up to the highest that is set in a number from 0 to `high`.
int64_t bits_below(int64_t high) {
    return high == 0 ? 0
                     : static_cast<int64_t>(~uint64_t{0} >>
                                            std::countl_zero(static_cast<uint64_t>(high)));
}

bool sub(int64_t a, int64_t b, int64_t *r) { return __builtin_sub_overflow(a, b, r); }
bool mul(int64_t a, int64_t b, int64_t *r) { return __builtin_mul_overflow(a, b, r); }

Interval evaluate(const ir::Value *value, int depth);

/// The index of a nest's body argument lies in its domain.
Interval nest_index(const ir::Operation &nest, uint32_t index, int depth) {
    const auto &payload = nest.get<ir::NestPayload>();
    if (payload.is_range) {
        auto begin = evaluate(nest.operand(0), depth), end = evaluate(nest.operand(1), depth),
             step = evaluate(nest.operand(2), depth);
        if (step.low <= 0) {
            return {};
        }
        auto last = end.high == INT64_MAX ? INT64_MAX : end.high - 1;
        if (begin.low == begin.high && step.low == step.high && last != INT64_MAX &&
            begin.low >= 0 && last >= begin.low) {
            last -= (last - begin.low) % step.low;
        }
        return {begin.low, last};
    }
    auto extent = evaluate(nest.operand(index), depth);
    return {0, extent.high == INT64_MAX ? INT64_MAX : extent.high - 1};
}

size_t index_count(const ir::Operation &nest) {
    const auto &payload = nest.get<ir::NestPayload>();
    return payload.is_range ? 1 : payload.dims.size();
}

/// Bounds of one side survive sums when the other end is open.
Interval sum(const Interval &a, const Interval &b) {
    Interval out;
    if (a.low != INT64_MIN && b.low != INT64_MIN &&
        __builtin_add_overflow(a.low, b.low, &out.low)) {
        out.low = INT64_MIN;
    }
    if (a.high != INT64_MAX && b.high != INT64_MAX &&
        __builtin_add_overflow(a.high, b.high, &out.high)) {
        out.high = INT64_MAX;
    }
    return out;
}

Interval operation(const ir::Operation &op, int depth) {
    auto at = [&](size_t i) { return evaluate(op.operand(i), depth + 1); };
    switch (op.opcode()) {
        case Opcode::CONSTANT: {
            auto v = static_cast<int64_t>(op.get<ir::ConstantPayload>().bits);
            return {v, v};
        }
        case Opcode::EXTENT: return {0, INT64_MAX};
        case Opcode::IOTA: return {0, op.result()->type()->dims.front().extent - 1};
        case Opcode::BROADCAST:
        case Opcode::RETYPE:
        case Opcode::PER: return at(0);
        case Opcode::MAP: return evaluate(op.body()->terminator()->operand(0), depth + 1);
        case Opcode::ADD: return sum(at(0), at(1));
        case Opcode::SUB: return combine(at(0), at(1), sub);
        case Opcode::MUL: {
            auto a = at(0), b = at(1);
            auto both = combine(a, b, mul);
            // A product of two that are not negative is not negative, even when one has no upper end.
            return !both.bounded() && a.low >= 0 && b.low >= 0 ? Interval{0, INT64_MAX} : both;
        }
        case Opcode::DIV:
        case Opcode::FLOOR_DIV: {
            auto a = at(0), b = at(1);
            return a.low >= 0 && b.low > 0 ? Interval{0, a.high} : Interval{};
        }
        case Opcode::CEIL_DIV: {
            auto a = at(0), b = at(1);
            if (a.low >= 0 && b.low > 0) {
                return {0, a.high == INT64_MAX ? INT64_MAX : (a.high + b.low - 1) / b.low};
            }
            return {};
        }
        case Opcode::REM:
        case Opcode::FLOOR_MOD: {
            auto a = at(0), b = at(1);
            return a.low >= 0 && b.low > 0 ? Interval{0, std::min(a.high, b.high - 1)} : Interval{};
        }
        case Opcode::AND: {
            // A number that is not negative clears the sign and whatever it lacks.
            auto a = at(0), b = at(1);
            auto limit = [](const Interval &x) { return x.low >= 0 ? x.high : INT64_MAX; };
            return a.low >= 0 || b.low >= 0 ? Interval{0, std::min(limit(a), limit(b))}
                                            : Interval{};
        }
        case Opcode::OR:
        case Opcode::XOR: {
            auto a = at(0), b = at(1);
            return a.low >= 0 && b.low >= 0 ? Interval{0, bits_below(std::max(a.high, b.high))}
                                            : Interval{};
        }
        case Opcode::SHR: {
            auto a = at(0), b = at(1);
            bool known = b.low == b.high && b.low >= 0 && b.low < 64;
            return a.low < 0 ? Interval{}
                             : Interval{0, known && a.high != INT64_MAX ? a.high >> b.low : a.high};
        }
        case Opcode::MINIMUM: {
            auto a = at(0), b = at(1);
            return {std::min(a.low, b.low), std::min(a.high, b.high)};
        }
        case Opcode::MAXIMUM: {
            auto a = at(0), b = at(1);
            return {std::max(a.low, b.low), std::max(a.high, b.high)};
        }
        case Opcode::ITE: {
            auto a = at(1), b = at(2);
            return {std::min(a.low, b.low), std::max(a.high, b.high)};
        }
        default: return {};
    }
}

Interval evaluate(const ir::Value *value, int depth) {
    if (depth > max_depth || value->scalar() != ScalarType::INT64) {
        return {};
    }
    if (auto *op = value->definition()) {
        return operation(*op, depth);
    }
    auto *parent = value->owner()->parent();
    if (parent && parent->opcode() == Opcode::MAP) {
        return {0, parent->result()->type()->dims.at(value->index()).extent - 1};
    }
    if (parent && ir::is_nest(parent->opcode()) && value->index() < index_count(*parent)) {
        return nest_index(*parent, value->index(), depth + 1);
    }
    return {};
}

bool same(const ir::Value *a, const ir::Value *b, int depth) {
    if (a == b) {
        return true;
    }
    auto *x = a->definition(), *y = b->definition();
    if (!x || !y || depth > max_depth || x->opcode() != y->opcode() || a->type() != b->type() ||
        x->payload() != y->payload() || x->operand_count() != y->operand_count() ||
        !x->regions().empty() || a->index() != b->index() ||
        (!ir::is_elementwise(x->opcode()) && x->opcode() != Opcode::CONSTANT &&
         x->opcode() != Opcode::EXTENT)) {
        return false;
    }
    for (size_t i = 0; i < x->operand_count(); ++i) {
        if (!same(x->operand(i), y->operand(i), depth + 1)) {
            return false;
        }
    }
    return true;
}

}// namespace

Interval interval_of(const ir::Value *value) { return evaluate(value, 0); }

bool same_scalar(const ir::Value *a, const ir::Value *b) { return same(a, b, 0); }

}// namespace luisa::tile::analysis
