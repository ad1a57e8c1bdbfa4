// SPDX-License-Identifier: Apache-2.0
#include "fuzz/build.h"

#include "types/arith.h"
#include "types/convert.h"

#include <algorithm>

// Reductions with a contract: joint states, several groups of them, merges of one's own.

namespace luisa::tile::fuzz {

namespace {

using Values = std::vector<Value *>;

/// An associative merge of a few fields. The same code merges scalars in the contract's region and
/// tiles in the body, so one update is the merge with one contribution.
struct Merge {
    bool commutative;
    size_t fields;
    ScalarType first;///< of the first field; BOOL: as the others
    bool (*suits)(ScalarType);
    uint64_t (*identity)(ScalarType, size_t field);
    Values (*merge)(ir::Builder &, const Values &a, const Values &b);
};

bool whole(ScalarType t) { return is_integer(t); }
bool ordered(ScalarType t) { return t != ScalarType::BOOL; }
bool any(ScalarType) { return true; }

Value *both(ir::Builder &b, Opcode op, Value *x, Value *y) { return b.elementwise(op, {x, y}); }

/// x ↦ a x + b, the left one first.
Values affine(ir::Builder &b, const Values &l, const Values &r) {
    return {both(b, Opcode::MUL, l[0], r[0]),
            both(b, Opcode::ADD, both(b, Opcode::MUL, l[1], r[0]), r[1])};
}

Values sums(ir::Builder &b, const Values &l, const Values &r) {
    return {both(b, Opcode::ADD, l[0], r[0]), both(b, Opcode::XOR, l[1], r[1]),
            both(b, Opcode::MINIMUM, l[2], r[2])};
}

Values range(ir::Builder &b, const Values &l, const Values &r) {
    return {both(b, Opcode::MINIMUM, l[0], r[0]), both(b, Opcode::MAXIMUM, l[1], r[1])};
}

/// The least pair, by the second field where the first ones are equal.
Values least(ir::Builder &b, const Values &l, const Values &r) {
    auto *less = both(b, Opcode::LT, l[0], r[0]), *equal = both(b, Opcode::EQ, l[0], r[0]);
    auto *tie = both(b, Opcode::AND, equal, both(b, Opcode::LE, l[1], r[1]));
    auto *left = both(b, Opcode::OR, less, tie);
    return {b.elementwise(Opcode::ITE, {left, l[0], r[0]}),
            b.elementwise(Opcode::ITE, {left, l[1], r[1]})};
}

/// The value of the last one that has any.
Values last(ir::Builder &b, const Values &l, const Values &r) {
    return {both(b, Opcode::OR, l[0], r[0]), b.elementwise(Opcode::ITE, {r[0], r[1], l[1]})};
}

/// The greatest value and how often it came.
Values mode(ir::Builder &b, const Values &l, const Values &r) {
    auto *top = both(b, Opcode::MAXIMUM, l[0], r[0]);
    auto count = [&](const Values &x) {
        auto *zero = both(b, Opcode::SUB, x[1], x[1]);
        return b.elementwise(Opcode::ITE, {both(b, Opcode::EQ, x[0], top), x[1], zero});
    };
    return {top, both(b, Opcode::ADD, count(l), count(r))};
}

/// A product of two by two matrices.
Values matrix(ir::Builder &b, const Values &l, const Values &r) {
    Values product;
    for (size_t i = 0; i < 4; ++i) {
        auto row = i / 2 * 2, column = i % 2;
        product.push_back(both(b, Opcode::ADD, both(b, Opcode::MUL, l[row], r[column]),
                               both(b, Opcode::MUL, l[row + 1], r[column + 2])));
    }
    return product;
}

uint64_t one_then_zero(ScalarType t, size_t i) { return arith::from_int64(t, i == 0); }
uint64_t of_sums(ScalarType t, size_t i) { return i == 2 ? arith::highest(t) : 0; }
uint64_t of_range(ScalarType t, size_t i) { return i == 0 ? arith::highest(t) : arith::lowest(t); }
uint64_t greatest(ScalarType t, size_t) { return arith::highest(t); }
uint64_t nothing(ScalarType, size_t) { return 0; }
uint64_t lowest_first(ScalarType t, size_t i) { return i == 0 ? arith::lowest(t) : 0; }
uint64_t diagonal(ScalarType t, size_t i) { return arith::from_int64(t, i == 0 || i == 3); }

constexpr Merge merges[] = {
    {false, 2, ScalarType::FLOAT32, whole, one_then_zero, affine},
    {true, 3, ScalarType::FLOAT32, whole, of_sums, sums},
    {true, 2, ScalarType::FLOAT32, ordered, of_range, range},
    {true, 2, ScalarType::FLOAT32, whole, greatest, least},
    {false, 2, ScalarType::BOOL, any, nothing, last},
    {true, 2, ScalarType::FLOAT32, whole, lowest_first, mode},
    {false, 4, ScalarType::FLOAT32, whole, diagonal, matrix},
};

ScalarType field_type(const Merge &merge, ScalarType type, size_t field) {
    return field == 0 && merge.first == ScalarType::BOOL ? ScalarType::BOOL : type;
}

void add_regions(ir::Module &module, ir::Operation *nest, const Merge &merge, ScalarType type) {
    auto *identity = module.add_region(nest), *joined = module.add_region(nest);
    ir::Builder b{module, identity};
    Values values, left, right;
    for (size_t i = 0; i < merge.fields; ++i) {
        auto t = field_type(merge, type, i);
        values.push_back(b.constant(t, merge.identity(t, i)));
    }
    b.emit(Opcode::YIELD, values, {});
    for (auto *side : {&left, &right}) {
        for (size_t i = 0; i < merge.fields; ++i) {
            side->push_back(module.add_argument(joined, module.scalar(field_type(merge, type, i))));
        }
    }
    b.set_region(joined);
    b.emit(Opcode::YIELD, merge.merge(b, left, right), {});
}

/// A state without a value holds zero there, as the identity does.
void normalise(ir::Builder &b, const Merge &merge, Value **fields) {
    if (merge.first == ScalarType::BOOL) {
        auto *zero = b.constant_tile(fields[1]->type(), 0);
        fields[1] = b.elementwise(Opcode::ITE, {fields[0], fields[1], zero});
    }
}

}// namespace

bool Program::make_contract() {
    const auto &merge = random.pick(merges);
    auto type = any_type();
    for (int i = 0; i < 30 && !merge.suits(type); ++i) {
        type = any_type();
    }
    auto domain = make_domain();
    if (!merge.suits(type) || domain.count * trips > 100) {
        return false;
    }
    static constexpr ReductionPolicy policies[] = {
        ReductionPolicy::ORDERED_TREE,   ReductionPolicy::ORDERED_TREE,
        ReductionPolicy::UNORDERED_TREE, ReductionPolicy::FOLD_LEFT,
        ReductionPolicy::FOLD_RIGHT,     ReductionPolicy::BALANCED_TREE};
    auto &payload = domain.payload;
    payload.policy = random.pick(policies);
    if (payload.policy == ReductionPolicy::UNORDERED_TREE && !merge.commutative) {
        payload.policy = ReductionPolicy::ORDERED_TREE;
    }
    auto known = random.chance(50) ? ir::Provenance::BUILTIN : ir::Provenance::DECLARED;
    payload.laws = {known, known, ir::Provenance::DECLARED,
                    merge.commutative ? known : ir::Provenance::NONE};
    Values states;
    std::vector<const ir::Type *> types;
    for (size_t group = 0, n = 1 + random.below(2); group < n; ++group) {
        auto dims_of = some_dims(0, 2);
        for (size_t i = 0; i < merge.fields; ++i) {
            types.push_back(module.tile(field_type(merge, type, i), dims_of));
            if (!affordable(types.back()->element_count() * domain.count * 4)) {
                return false;
            }
            payload.contract.push_back(static_cast<int32_t>(states.size()));
            states.push_back(value_of(types.back()));
        }
        normalise(builder, merge, &states[states.size() - merge.fields]);
    }
    auto operands = domain.operands;
    operands.insert(operands.end(), states.begin(), states.end());
    auto *nest = builder.emit(Opcode::REDUCE, operands, types, payload, 1);
    {
        Scope scope{*this, nest->body()};
        enter(domain, nest);
        pure = true;
        Values arguments, yields;
        for (auto *s : states) {
            arguments.push_back(module.add_argument(nest->body(), s->type()));
            facts[arguments.back()] = Fact{};
            facts[arguments.back()].pinned = !is_float(s->scalar());
        }
        make_operations(1 + random.below(3));
        for (size_t first = 0; first < states.size(); first += merge.fields) {
            Values state, contribution;
            for (size_t i = 0; i < merge.fields; ++i) {
                state.push_back(arguments[first + i]);
                contribution.push_back(value_of(types[first + i]));
            }
            normalise(builder, merge, contribution.data());
            auto merged = merge.merge(builder, state, contribution);
            yields.insert(yields.end(), merged.begin(), merged.end());
        }
        builder.emit(Opcode::YIELD, yields, {});
    }
    add_regions(module, nest, merge, type);
    for (size_t i = 0; i < states.size(); ++i) {
        Fact f;
        f.pinned = !is_float(states[i]->scalar());
        add(nest->result(i), f, 4 * domain.count * types[i]->element_count());
    }
    return true;
}

}// namespace luisa::tile::fuzz
