// SPDX-License-Identifier: Apache-2.0
#include "realize/cpu/machine_builder.h"

#include <algorithm>
#include <utility>

namespace luisa::tile::cpu {

using ir::Opcode;

namespace {

// Places that are never accessed may be anywhere: their arithmetic wraps, as it does where it is not known before.
int64_t wrapped_add(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t wrapped_mul(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

/// Splits x + constant.
std::pair<ir::Value *, int64_t> split_constant(ir::Value *value) {
    auto *op = value->definition();
    int64_t constant = 0;
    if (op && op->opcode() == Opcode::ADD && value->type()->is_scalar() &&
        value->scalar() == ScalarType::INT64 &&
        MachineBuilder::is_constant(op->operand(1), constant)) {
        return {op->operand(0), constant};
    }
    return {value, 0};
}

int depth_of(const ir::Value *value) {
    int depth = 0;
    for (const auto *region = value->region(); region && region->parent();
         region = region->parent()->region()) {
        ++depth;
    }
    return depth;
}

size_t key_of(Opcode op, const Values &operands, const ir::Type *type) {
    size_t h = static_cast<size_t>(op) * 0x9e3779b97f4a7c15ull;
    for (auto *value : operands) {
        h = (h ^ reinterpret_cast<size_t>(value)) * 0x100000001b3ull;
    }
    return h ^ reinterpret_cast<size_t>(type);
}

}// namespace

void MachineBuilder::begin_function(ir::Function &function) {
    _entry = function.body;
    _builder.set_region(function.body);
    _numbers.clear();
    _read_epochs.clear();
}

bool MachineBuilder::is_constant(const ir::Value *value, int64_t &out) noexcept {
    auto *op = value->definition();
    if (!op || op->opcode() != Opcode::CONSTANT || !value->type()->is_scalar()) {
        return false;
    }
    out = static_cast<int64_t>(op->get<ir::ConstantPayload>().bits);
    return true;
}

ir::Value *MachineBuilder::constant(ScalarType type, uint64_t bits) {
    return pure(Opcode::CONSTANT, {}, ir::ConstantPayload{bits}, module().scalar(type));
}

MachineBuilder::Place MachineBuilder::place_for(const Values &operands,
                                                const ir::Region *fence) const {
    if (operands.empty()) {
        return {_entry, _entry->first()};
    }
    auto *region = _builder.region();
    ir::Operation *before = nullptr;
    while (auto *parent = region->parent()) {
        bool movable = parent->opcode() == Opcode::FOR && region != fence;
        for (auto *value : operands) {
            movable &= value->region() != region;
        }
        if (!movable) {
            break;
        }
        before = parent;
        region = parent->region();
    }
    return {region, before};
}

ir::Value *MachineBuilder::numbered(Opcode op, const Values &operands, ir::Payload payload,
                                    const ir::Type *type, size_t epoch) {
    auto place = place_for(operands, epoch == 0 ? nullptr : _read_fence);
    auto key = key_of(op, operands, type);
    // An equal operation in this or an enclosing region dominates the place.
    for (const auto *region = place.region; region;
         region = region->parent() ? region->parent()->region() : nullptr) {
        auto table = _numbers.find(region);
        if (table == _numbers.end()) {
            continue;
        }
        auto [first, last] = table->second.equal_range(key);
        for (; first != last; ++first) {
            auto *known = first->second;
            if (known->opcode() == op && known->result()->type() == type &&
                known->payload() == payload && known->operands() == operands &&
                (epoch == 0 || _read_epochs[known] == epoch)) {
                return known->result();
            }
        }
    }
    auto *current = _builder.region();
    _builder.set_region(place.region, place.before);
    auto *operation = _builder.emit(op, operands, {type}, std::move(payload));
    _builder.set_region(current);
    _numbers[place.region].emplace(key, operation);
    if (epoch != 0) {
        _read_epochs[operation] = epoch;
    }
    return operation->result();
}

ir::Value *MachineBuilder::pure(Opcode op, const Values &operands, ir::Payload payload,
                                const ir::Type *type) {
    if (!type) {
        auto scalar = operands.back()->scalar();
        if (ir::info(op).types == ir::TypeRule::COMPARE) {
            scalar = ScalarType::BOOL;
        }
        const auto &shape = *operands.front()->type();
        type = shape.is_vector() ? module().vector(scalar, shape.lanes) : module().scalar(scalar);
    }
    return numbered(op, operands, std::move(payload), type, 0);
}

ir::Value *MachineBuilder::stable_read(Opcode op, const Values &operands, ir::MemoryPayload payload,
                                       const ir::Type *type) {
    // What was written in a loop that is over stays written: reads do not go before that loop.
    while (_read_fence && !_read_fence->encloses(region())) {
        _read_fence = _read_fence->parent() ? _read_fence->parent()->region() : nullptr;
    }
    return numbered(op, operands, payload, type, _epoch);
}

ir::Value *MachineBuilder::read(Opcode op, const Values &operands, ir::MemoryPayload payload,
                                const ir::Type *type) {
    return _builder.value(op, operands, type, payload);
}

ir::Value *MachineBuilder::atomic(ir::Value *address, AtomicOp op, ir::Value *value,
                                  ir::Value *expected) {
    Values operands{address, value};
    if (expected) {
        operands.push_back(expected);
    }
    return _builder.value(Opcode::ATOMIC_UPDATE, operands, value->type(), ir::AtomicPayload{op});
}

void MachineBuilder::effect(Opcode op, const Values &operands, ir::Payload payload) {
    _builder.emit(op, operands, {}, std::move(payload));
}

ir::Value *MachineBuilder::fixed(Opcode op, const Values &operands, ir::Payload payload,
                                 const ir::Type *type) {
    return _builder.value(op, operands, type, std::move(payload));
}

bool MachineBuilder::is_invariant(const ir::Value *value) const noexcept {
    for (const auto *region = _builder.region(); region->parent();
         region = region->parent()->region()) {
        if (value->region() == region) {
            return false;
        }
        if (region->parent()->opcode() == Opcode::FOR) {
            return true;
        }
    }
    return false;
}

ir::Value *MachineBuilder::add(ir::Value *a, ir::Value *b) {
    int64_t x = 0, y = 0;
    bool ca = is_constant(a, x), cb = is_constant(b, y);
    if (ca && cb) {
        return index(wrapped_add(x, y));
    }
    if (ca && x == 0) {
        return b;
    }
    if (cb && y == 0) {
        return a;
    }
    if (ca) {
        return add(b, a);
    }
    // Constants gather at the end: equal sums are shared, and addresses absorb the rest.
    auto [left, left_constant] = split_constant(a);
    auto [right, right_constant] = cb ? std::pair{b, y} : split_constant(b);
    if (left_constant != 0 || (!cb && right_constant != 0)) {
        auto *sum = cb ? left : add(left, right);
        return add(sum, index(wrapped_add(left_constant, right_constant)));
    }
    return pure(Opcode::ADD, {a, b});
}

ir::Value *MachineBuilder::sub(ir::Value *a, ir::Value *b) {
    int64_t x = 0, y = 0;
    bool ca = is_constant(a, x), cb = is_constant(b, y);
    if (ca && cb) {
        return index(wrapped_add(x, wrapped_mul(y, -1)));
    }
    if (cb && y == 0) {
        return a;
    }
    return a == b ? index(0) : pure(Opcode::SUB, {a, b});
}

ir::Value *MachineBuilder::mul(ir::Value *a, ir::Value *b) {
    int64_t x = 0, y = 0;
    bool ca = is_constant(a, x), cb = is_constant(b, y);
    if (ca && cb) {
        return index(wrapped_mul(x, y));
    }
    if ((ca && x == 0) || (cb && y == 0)) {
        return index(0);
    }
    if (ca && x == 1) {
        return b;
    }
    if (cb && y == 1) {
        return a;
    }
    if (ca) {
        return mul(b, a);
    }
    if (auto [inner, constant] = split_constant(a); cb && constant != 0) {
        return add(mul(inner, b), index(wrapped_mul(constant, y)));
    }
    return pure(Opcode::MUL, {a, b});
}

ir::Value *MachineBuilder::div(ir::Value *a, ir::Value *b) {
    int64_t x = 0, y = 0;
    bool ca = is_constant(a, x), cb = is_constant(b, y);
    if (ca && cb && y > 0) {
        return index(x / y);
    }
    return cb && y == 1 ? a : pure(Opcode::DIV, {a, b});
}

ir::Value *MachineBuilder::rem(ir::Value *a, ir::Value *b) {
    int64_t x = 0, y = 0;
    bool ca = is_constant(a, x), cb = is_constant(b, y);
    if (ca && cb && y > 0) {
        return index(x % y);
    }
    return cb && y == 1 ? index(0) : pure(Opcode::REM, {a, b});
}

ir::Value *MachineBuilder::minimum(ir::Value *a, ir::Value *b) {
    int64_t x = 0, y = 0;
    if (is_constant(a, x) && is_constant(b, y)) {
        return index(x < y ? x : y);
    }
    return a == b ? a : pure(Opcode::MINIMUM, {a, b});
}

ir::Value *MachineBuilder::maximum(ir::Value *a, ir::Value *b) {
    int64_t x = 0, y = 0;
    if (is_constant(a, x) && is_constant(b, y)) {
        return index(x > y ? x : y);
    }
    return a == b ? a : pure(Opcode::MAXIMUM, {a, b});
}

ir::Value *MachineBuilder::compare(Opcode op, ir::Value *a, ir::Value *b) {
    int64_t x = 0, y = 0;
    if (is_constant(a, x) && is_constant(b, y)) {
        bool holds = op == Opcode::LT   ? x < y
                     : op == Opcode::LE ? x <= y
                     : op == Opcode::GT ? x > y
                     : op == Opcode::GE ? x >= y
                     : op == Opcode::EQ ? x == y
                                        : x != y;
        return constant(ScalarType::BOOL, holds);
    }
    return pure(op, {a, b});
}

ir::Value *MachineBuilder::both(ir::Value *a, ir::Value *b) {
    if (!a || !b) {
        return a ? a : b;
    }
    int64_t known = 0;
    if (is_constant(a, known)) {
        return known ? b : a;
    }
    if (is_constant(b, known)) {
        return known ? a : b;
    }
    int lanes = std::max(a->type()->lanes, b->type()->lanes);
    if (lanes) {
        a = splat(a, lanes);
        b = splat(b, lanes);
    }
    return a == b ? a : pure(Opcode::AND, {a, b});
}

ir::Value *MachineBuilder::splat(ir::Value *value, int lanes) {
    if (value->type()->is_vector() || lanes <= 1) {
        return value;
    }
    auto *type = module().vector(value->scalar(), static_cast<uint16_t>(lanes));
    return pure(Opcode::SPLAT, {value}, ir::None{}, type);
}

ir::Value *MachineBuilder::address(ir::Value *base, ir::Value *index, int64_t scale,
                                   int64_t offset) {
    int64_t known = 0;
    if (index && is_constant(index, known)) {
        return address(base, nullptr, 1, wrapped_add(offset, wrapped_mul(known, scale)));
    }
    if (!index && offset == 0) {
        return base;
    }
    auto *type = module().pointer();
    // Constant parts move into the last operation, where an instruction takes them: bases that differ
    // by a constant are one.
    if (auto *before = base->definition(); before && before->opcode() == Opcode::ADDRESS) {
        const auto &payload = before->get<ir::AddressPayload>();
        if (payload.offset != 0) {
            auto *from = before->operand(0);
            auto *rest = before->operand_count() > 1
                             ? address(from, before->operand(1), payload.scale)
                             : from;
            return address(rest, index, scale, wrapped_add(offset, payload.offset));
        }
    }
    if (index) {
        if (auto [value, addend] = split_constant(index); addend != 0) {
            return address(base, value, scale, wrapped_add(offset, wrapped_mul(addend, scale)));
        }
        // What an outer loop knows of a sum is added there.
        if (auto *sum = index->definition(); sum && sum->opcode() == Opcode::ADD) {
            auto *outer = sum->operand(0), *inner = sum->operand(1);
            if (depth_of(outer) > depth_of(inner)) {
                std::swap(outer, inner);
            }
            if (depth_of(outer) < depth_of(inner)) {
                return address(address(base, outer, scale), inner, scale, offset);
            }
        }
    }
    return index ? pure(Opcode::ADDRESS, {base, index}, ir::AddressPayload{scale, offset}, type)
                 : pure(Opcode::ADDRESS, {base}, ir::AddressPayload{1, offset}, type);
}

ir::Value *MachineBuilder::address_sum(ir::Value *base, Values terms, int64_t scale) {
    int64_t constant = 0;
    Values rest;
    for (auto *term : terms) {
        int64_t known = 0;
        if (is_constant(term, known)) {
            constant = wrapped_add(constant, known);
            continue;
        }
        auto [value, addend] = split_constant(term);
        constant = wrapped_add(constant, addend);
        rest.push_back(value);
    }
    std::stable_sort(rest.begin(), rest.end(), [](const ir::Value *a, const ir::Value *b) {
        return depth_of(a) < depth_of(b);
    });
    for (auto *term : rest) {
        base = address(base, term, scale);
    }
    return address(base, nullptr, 1, wrapped_mul(constant, scale));
}

Values MachineBuilder::loop(ir::Value *begin, ir::Value *end, int64_t step, const Values &states,
                            const LoopBody &body) {
    int64_t first = 0, last = 0;
    if (is_constant(begin, first) && is_constant(end, last)) {
        if (first >= last) {
            return states;
        }
        int64_t length = 0;
        if (!__builtin_sub_overflow(last, first, &length) && length <= step) {
            return body(begin, states);
        }
    }
    return loop(begin, end, index(step), states, body);
}

Values MachineBuilder::loop(ir::Value *begin, ir::Value *end, ir::Value *step, const Values &states,
                            const LoopBody &body) {
    int64_t first = 0, last = 0;
    bool runs = is_constant(begin, first) && is_constant(end, last) && first < last;
    Values operands{begin, end, step};
    std::vector<const ir::Type *> types;
    for (auto *state : states) {
        operands.push_back(state);
        types.push_back(state->type());
    }
    auto *op = _builder.emit(Opcode::FOR, operands, types, ir::ForPayload{runs}, 1);
    auto *inner = op->body();
    auto *outer = _builder.region();
    auto *iv = module().add_argument(inner, module().scalar(ScalarType::INT64));
    Values arguments;
    for (auto *type : types) {
        arguments.push_back(module().add_argument(inner, type));
    }
    _builder.set_region(inner);
    auto next = body(iv, arguments);
    _builder.emit(Opcode::YIELD, next, {});
    _builder.set_region(outer);
    _numbers.erase(inner);
    return op->results();
}

Values MachineBuilder::branch(ir::Value *condition, const std::function<Values()> &then_part,
                              const std::function<Values()> &else_part) {
    int64_t known = 0;
    if (is_constant(condition, known)) {
        return known ? then_part() : else_part();
    }
    auto *op = _builder.emit(Opcode::IF, {condition}, {}, ir::None{}, 2);
    auto *outer = _builder.region();
    Values yields[2];
    for (size_t i = 0; i < 2; ++i) {
        _builder.set_region(op->body(i));
        yields[i] = i == 0 ? then_part() : else_part();
        _builder.emit(Opcode::YIELD, yields[i], {});
        _numbers.erase(op->body(i));
    }
    _builder.set_region(outer);
    for (auto *value : yields[0]) {
        module().add_result(op, value->type());
    }
    return op->results();
}

Values MachineBuilder::while_loop(const Values &states,
                                  const std::function<ir::Value *(const Values &)> &condition,
                                  const std::function<Values(const Values &)> &body) {
    std::vector<const ir::Type *> types;
    for (auto *state : states) {
        types.push_back(state->type());
    }
    auto *op = _builder.emit(Opcode::WHILE, states, types, ir::None{}, 1);
    auto *outer = _builder.region();
    Values arguments;
    for (auto *type : types) {
        arguments.push_back(module().add_argument(op->body(), type));
    }
    _builder.set_region(op->body());
    _builder.emit(Opcode::CONDITION, {condition(arguments)}, {});
    _builder.emit(Opcode::YIELD, body(arguments), {});
    _builder.set_region(outer);
    _numbers.erase(op->body());
    return op->results();
}

}// namespace luisa::tile::cpu
