// SPDX-License-Identifier: Apache-2.0
#include "fuzz/build.h"

#include <algorithm>

// Matrix products, and values made from coordinates.

namespace luisa::tile::fuzz {

namespace {

struct Roles {
    std::vector<ir::DimExtent> a, b, acc;
    int64_t contracted = 1, all = 1;
};

/// Whether every value of a float type is one of the other.
bool embeds(ScalarType from, ScalarType to) {
    return from == to || to == ScalarType::FLOAT64 || size_of(from) == 1 ||
           (to == ScalarType::FLOAT32 && size_of(from) < 4);
}

}// namespace

Value *Program::product(Value *acc, Fact known, int64_t times, Fact &result) {
    // Each dimension of the accumulator is in a, in b or in both; others are contracted.
    Roles roles;
    for (const auto &d : acc->type()->dims) {
        auto side = random.below(5);// 0, 1: a; 2, 3: b; 4: both
        if (side != 2 && side != 3) {
            roles.a.push_back(d);
        }
        if (side >= 2) {
            roles.b.push_back(d);
        }
        roles.all *= d.extent;
    }
    auto wanted = random.chance(15) ? 2 : 1, most = wanted;
    for (const auto &d : some_dims(3, 6)) {
        if (wanted > 0 && acc->type()->find(d.dim) < 0) {
            roles.a.push_back(d);
            roles.b.push_back(d);
            roles.contracted *= d.extent;
            roles.all *= d.extent;
            --wanted;
        }
    }
    random.shuffle(roles.a);
    random.shuffle(roles.b);
    auto to = acc->scalar();
    static constexpr ScalarType floats[] = {
        ScalarType::FLOAT32, ScalarType::FLOAT32,       ScalarType::FLOAT16,
        ScalarType::FLOAT64, ScalarType::BFLOAT16,      ScalarType::BFLOAT16,
        ScalarType::FLOAT16, ScalarType::FLOAT8_E4M3FN, ScalarType::FLOAT8_E5M2};
    static constexpr ScalarType integers[] = {ScalarType::INT8,  ScalarType::UINT8,
                                              ScalarType::INT16, ScalarType::INT32,
                                              ScalarType::INT64, ScalarType::UINT32};
    auto type = [&] {
        return random.chance(50) && to != ScalarType::BOOL ? to
               : is_float(to)                              ? random.pick(floats)
                                                           : random.pick(integers);
    };
    auto a_type = type(), b_type = random.chance(70) ? a_type : type();
    const auto *ta = module.tile(a_type, roles.a), *tb = module.tile(b_type, roles.b);
    bool contracts = wanted < most;
    if (!contracts || std::max(ta->element_count(), tb->element_count()) > most_elements ||
        !affordable(roles.all) || roles.contracted == 0) {
        return nullptr;
    }
    auto *a = value_of(ta), *b = value_of(tb);
    auto fa = fact(a), fb = fact(b);
    auto sum = fa.magnitude() * fb.magnitude() * static_cast<double>(roles.contracted * times);
    auto bound = known.magnitude() + sum;
    bool exact = fa.known() && fb.known() && known.known() && bound <= exact_limit(to) &&
                 std::max(fa.magnitude(), fb.magnitude()) <= exact_limit(to);
    // Whether a wider operand is rounded to the accumulator's type first is not settled.
    if (!exact && is_float(to) && (!embeds(a_type, to) || !embeds(b_type, to))) {
        return nullptr;
    }
    ir::MmaPayload payload;
    payload.policy.allow_reassociation = !is_float(to) || (exact && random.chance(80));
    result = exact ? Fact{-bound, bound} : Fact{};
    result.pinned = exact || !is_float(to);
    auto *v = builder.value(Opcode::MMA, {a, b, acc}, acc->type(), payload);
    work += trips * roles.all;
    return v;
}

bool Program::make_mma() {
    static constexpr ScalarType types[] = {
        ScalarType::FLOAT32, ScalarType::FLOAT32, ScalarType::FLOAT16, ScalarType::BFLOAT16,
        ScalarType::FLOAT64, ScalarType::INT32,   ScalarType::INT64,   ScalarType::UINT8};
    auto *acc = find([](const Value *v) {
        return !v->type()->dims.empty() && v->scalar() != ScalarType::BOOL &&
               info(v->scalar()).computes;
    });
    if (!acc || random.chance(50)) {
        auto list = some_dims(1, 3);
        auto type = random.pick(types);
        if (random.chance(50)) {
            auto *zero = builder.constant_tile(module.tile(type, list), 0);
            acc = add(zero, {0, 0});
        } else {
            acc = constant(module.tile(type, list));
        }
    }
    Fact f;
    auto *v = product(acc, fact(acc), 1, f);
    if (!v) {
        return false;
    }
    add(v, f);
    return true;
}

bool Program::make_map() {
    auto list = some_dims(1, 2);
    auto type = any_type();
    const auto *result = module.tile(type, list);
    auto elements = result->element_count();
    if (elements == 0 || !affordable(elements * 8)) {
        return false;
    }
    std::vector<Value *> outer = pool;
    auto *op = builder.emit(Opcode::MAP, {}, {result}, ir::None{}, 1);
    Fact f;
    {
        Scope scope{*this, op->body()};
        trips *= elements;
        std::vector<Value *> coordinates;
        for (const auto &d : list) {
            coordinates.push_back(
                add(module.add_argument(op->body(), module.scalar(ScalarType::INT64)),
                    {0, static_cast<double>(d.extent) - 1}));
        }
        make_goals();
        // Tiles of the scope are read at coordinates, everything else is scalar.
        for (size_t i = 0, n = 1 + random.below(3); i < n; ++i) {
            auto *x = random.pick(outer.empty() ? pool : outer);
            if (x->type()->dims.empty() || random.chance(30)) {
                make_elementwise(true);
                continue;
            }
            ir::AccessPayload payload;
            std::vector<Value *> operands = {x};
            for (const auto &d : x->type()->dims) {
                payload.dims.push_back(d.dim);
                operands.push_back(random.chance(75) ? random.pick(coordinates)
                                                     : coordinate(d.extent));
            }
            payload.has_fallback = random.chance(40);
            auto g = fact(x);
            Fact outside{0, 0};
            if (payload.has_fallback) {
                operands.push_back(scalar_of(x->scalar()));
                outside = fact(operands.back());
            }
            add(builder.value(Opcode::EXTRACT, operands, module.scalar(x->scalar()), payload),
                {std::min(g.low, outside.low), std::max(g.high, outside.high),
                 g.pinned && outside.pinned});
        }
        auto *y = scalar_of(type);
        f = fact(y);
        builder.emit(Opcode::YIELD, {y}, {});
    }
    add(op->result(), f);
    return true;
}

}// namespace luisa::tile::fuzz
