// SPDX-License-Identifier: Apache-2.0
#include "ir/module.h"

#include <string>

namespace luisa::tile::ir {

namespace {

struct RuleFacts {
    bool (*accepts)(ScalarType);
    const char *expected;
};

bool number(ScalarType t) { return t != ScalarType::BOOL && info(t).computes; }
bool floating(ScalarType t) { return is_float(t) && info(t).computes; }
bool not_bool(ScalarType t) { return t != ScalarType::BOOL; }
bool integer(ScalarType t) { return is_integer(t); }
bool bits(ScalarType t) { return t == ScalarType::BOOL || is_integer(t); }
bool any(ScalarType) { return true; }

RuleFacts facts(TypeRule rule) {
    switch (rule) {
        case TypeRule::SAME_NUMBER: return {number, "a number"};
        case TypeRule::SAME_ORDERED: return {not_bool, "a number"};
        case TypeRule::SAME_SIGNABLE: return {not_bool, "a number"};
        case TypeRule::SAME_INTEGER: return {integer, "an integer"};
        case TypeRule::SAME_FLOAT: return {floating, "f16, bf16, f32 or f64"};
        case TypeRule::SAME_BITS: return {bits, "bool or an integer"};
        case TypeRule::COMPARE: return {any, "any element type"};
        default: return {any, "any element type"};
    }
}

std::vector<Error::Note> made_at(const std::vector<Value *> &values) {
    std::vector<Error::Note> notes;
    static constexpr const char *nth[] = {"first", "second", "third"};
    for (size_t i = 0; i < values.size() && i < 3; ++i) {
        if (auto *op = values[i]->definition(); op && op->loc.known()) {
            notes.push_back({std::string{nth[i]} + " operand made here", op->loc});
        }
    }
    return notes;
}

ScalarType result_element(Opcode op, const std::vector<Value *> &operands, SourceLoc loc) {
    const auto &row = info(op);
    auto rule = facts(row.types);
    size_t first = row.types == TypeRule::SELECT ? 1 : 0;
    if (first == 1 && operands[0]->scalar() != ScalarType::BOOL) {
        throw TypeError{std::string{row.name} + ": the condition is " +
                            to_string(operands[0]->scalar()) + ", expected bool",
                        loc, made_at(operands)};
    }
    for (size_t i = first; i < operands.size(); ++i) {
        auto type = operands[i]->scalar();
        if (type != operands[first]->scalar()) {
            throw TypeError{std::string{row.name} + ": operands are " +
                                to_string(operands[first]->scalar()) + " and " + to_string(type) +
                                "; write cast<T>(…) on one of them",
                            loc, made_at(operands)};
        }
        if (!rule.accepts(type)) {
            auto narrow = is_float(type) && !info(type).computes;
            throw TypeError{std::string{row.name} + ": no " + row.name + " on " + to_string(type) +
                                ", expected " + rule.expected +
                                (narrow ? "; cast<float> first, quantize after" : ""),
                            loc, made_at(operands)};
        }
    }
    return row.types == TypeRule::COMPARE ? ScalarType::BOOL : operands[first]->scalar();
}

}// namespace

std::vector<DimExtent> join_dims(const char *what, const std::vector<Value *> &values,
                                 SourceLoc loc) {
    std::vector<DimExtent> dims;
    for (auto *value : values) {
        for (const auto &d : value->type()->dims) {
            auto *found = [&]() -> DimExtent * {
                for (auto &known : dims) {
                    if (known.dim == d.dim) {
                        return &known;
                    }
                }
                return nullptr;
            }();
            if (!found) {
                dims.push_back(d);
            } else if (found->extent == 1) {
                found->extent = d.extent;
            } else if (d.extent != 1 && d.extent != found->extent) {
                std::string shapes;
                for (auto *v : values) {
                    shapes += (shapes.empty() ? "" : " and ") + extents_text(*v->type());
                }
                std::string name = d.dim.is_positional()
                                       ? "positional dimension " + std::to_string(d.dim.id)
                                       : "dimension '" + std::string{d.dim.label} + "'";
                throw ShapeError{std::string{what} + ": " + shapes + " do not join: " + name +
                                     " is " + std::to_string(found->extent) + " in one and " +
                                     std::to_string(d.extent) +
                                     " in the other; give one of them its own axis, or reshape",
                                 loc, made_at(values)};
            }
        }
    }
    return dims;
}

Operation *Builder::emit(Opcode op, const std::vector<Value *> &operands,
                         const std::vector<const Type *> &results, Payload payload,
                         size_t region_count) {
    auto *operation = _module->create(op, operands, results, std::move(payload), loc, region_count);
    if (_before) {
        _module->insert_before(_before, operation);
    } else {
        _module->append(_region, operation);
    }
    return operation;
}

Value *Builder::value(Opcode op, const std::vector<Value *> &operands, const Type *result,
                      Payload payload) {
    return emit(op, operands, {result}, std::move(payload))->result();
}

Value *Builder::elementwise(Opcode op, const std::vector<Value *> &operands, Payload payload,
                            const ScalarType *element) {
    require(info(op).arity == static_cast<int8_t>(operands.size()), "wrong number of operands");
    if (std::holds_alternative<None>(payload) && info(op).family == Family::MATH) {
        payload = MathPayload{};
    }
    auto scalar = element ? *element : result_element(op, operands, loc);
    // Machine form: all operands are vectors of one width, or all scalars.
    if (operands[0]->type()->is_vector()) {
        return value(op, operands, _module->vector(scalar, operands[0]->type()->lanes),
                     std::move(payload));
    }
    auto dims = join_dims(to_string(op), operands, loc);
    return value(op, operands, _module->tile(scalar, std::move(dims)), std::move(payload));
}

Value *Builder::cast(Value *x, ScalarType to) {
    return x->scalar() == to ? x : elementwise(Opcode::CAST, {x}, None{}, &to);
}

Value *Builder::constant(ScalarType type, uint64_t bits) {
    return constant_tile(_module->scalar(type), bits);
}

Value *Builder::constant_tile(const Type *type, uint64_t bits) {
    return value(Opcode::CONSTANT, {}, type, ConstantPayload{bits});
}

Value *Builder::index(int64_t v) { return constant(ScalarType::INT64, static_cast<uint64_t>(v)); }

}// namespace luisa::tile::ir
