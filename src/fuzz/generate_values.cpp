// SPDX-License-Identifier: Apache-2.0
#include "fuzz/build.h"

#include "types/convert.h"
#include "types/format.h"

#include <algorithm>
#include <cmath>

// Scalars, constants and elementwise operations.

namespace luisa::tile::fuzz {

namespace {

constexpr double unknown = std::numeric_limits<double>::infinity();

double lowest_exact(ScalarType type) {
    if (type == ScalarType::BOOL || (is_integer(type) && !is_signed(type))) {
        return 0;
    }
    return -exact_limit(type);
}

/// The fact, or no knowledge where a value of the range may round or wrap. A float of which
/// nothing is known may be a NaN that an operation made.
Fact fitted(Fact f, ScalarType type) {
    if (!f.known() || f.low < lowest_exact(type) || f.high > exact_limit(type)) {
        f = Fact{-unknown, unknown, !is_float(type)};
    }
    return f;
}

Fact joined(const Fact &a, const Fact &b) {
    return {std::min(a.low, b.low), std::max(a.high, b.high), a.pinned && b.pinned};
}

Fact product_of(const Fact &a, const Fact &b) {
    if (!a.known() || !b.known()) {
        return {};
    }
    double corners[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
    return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}

Fact sum_of(const Fact &a, const Fact &b) { return {a.low + b.low, a.high + b.high}; }

}// namespace

double exact_limit(ScalarType type) noexcept {
    switch (type) {
        case ScalarType::BOOL: return 1;
        case ScalarType::FLOAT16: return 2048;
        case ScalarType::BFLOAT16: return 256;
        case ScalarType::FLOAT32: return 0x1p24;
        case ScalarType::FLOAT64: return 0x1p53;
        case ScalarType::FLOAT8_E4M3FN: return 16;
        case ScalarType::FLOAT8_E5M2: return 8;
        default: {
            auto bits = info(type).bits - (is_signed(type) ? 1 : 0);
            return bits >= 63 ? 0x1p53 : std::ldexp(1.0, bits) - 1;
        }
    }
}

Value *Program::add(Value *v, Fact fact, int64_t cost) {
    facts[v] = fitted(fact, v->scalar());
    facts[v].pinned = fact.pinned && (facts[v].known() || fact.pinned);
    pool.push_back(v);
    work += trips * std::max<int64_t>(v->type()->element_count(), std::max<int64_t>(cost, 1));
    return v;
}

ScalarType Program::any_type() {
    if (wanted_type) {
        return *wanted_type;
    }
    return random.chance(70) ? random.pick(palette)
                             : static_cast<ScalarType>(random.below(scalar_type_count));
}

ir::DimExtent Program::any_dim(bool nonempty) {
    auto d = random.pick(dims);
    for (int i = 0; i < 20 && nonempty && d.extent == 0; ++i) {
        d = random.pick(dims);
    }
    if (nonempty && d.extent == 0) {
        d.extent = 1;
    }
    return d;
}

std::vector<ir::DimExtent> Program::some_dims(size_t least, size_t most) {
    auto list = dims;
    random.shuffle(list);
    list.resize(
        std::min(list.size(), static_cast<size_t>(random.between(static_cast<int64_t>(least),
                                                                 static_cast<int64_t>(most)))));
    int64_t elements = 1;
    for (auto &d : list) {
        if (random.chance(6) || elements * std::max<int64_t>(d.extent, 1) > most_elements) {
            d.extent = 1;
        }
        elements *= std::max<int64_t>(d.extent, 1);
    }
    return list;
}

bool Program::affordable(int64_t elements) const {
    return elements <= most_elements * 4 && work + elements * trips <= most_work;
}

Value *Program::find(const std::function<bool(const Value *)> &fits) {
    std::vector<Value *> found;
    for (auto *v : pool) {
        if (fits(v)) {
            found.push_back(v);
        }
    }
    if (found.empty()) {
        return nullptr;
    }
    // Late values more often: long chains rather than many short ones.
    auto i = std::max(random.below(found.size()), random.below(found.size()));
    return found[i];
}

Value *Program::index_constant(int64_t n) {
    auto *v = builder.index(n);
    return add(v, {static_cast<double>(n), static_cast<double>(n)});
}

Value *Program::constant(const ir::Type *type) {
    auto scalar = type->scalar;
    auto small = random.between(is_signed(scalar) ? -3 : 0, 4);
    Fact fact{static_cast<double>(small), static_cast<double>(small)};
    uint64_t bits = 0;
    if (size_of(scalar) == 1 && is_float(scalar)) {
        bits = arith::quantize(scalar, static_cast<double>(small), true);
    } else if (scalar == ScalarType::BOOL) {
        bits = static_cast<uint64_t>(small > 0);
        fact = {0, 1};
    } else {
        bits = arith::from_int64(scalar, small);
    }
    if (random.chance(25) && scalar != ScalarType::BOOL) {
        bits = arith::normalize(scalar, random.next());
        fact = {};
    } else if (random.chance(8) && is_float(scalar)) {
        // Zeros with a sign, infinities and NaNs are a few codes away from all ones.
        bits = arith::normalize(scalar, random.pick({uint64_t{0}, ~uint64_t{0}})
                                            << random.below(8));
        bits |= uint64_t{random.below(2)} << (8 * size_of(scalar) - 1);
        fact = {};
    }
    return add(builder.constant_tile(type, bits), fact);
}

Value *Program::scalar_constant(ScalarType type) { return constant(module.scalar(type)); }

Value *Program::tile_of(ScalarType type) {
    if (random.chance(85)) {
        if (auto *v = find([&](const Value *x) { return x->scalar() == type; })) {
            return v;
        }
    }
    auto list = some_dims(random.chance(20) ? 0 : 1, 3);
    const auto *wanted = module.tile(type, list);
    return affordable(wanted->element_count()) ? constant(wanted) : scalar_constant(type);
}

Value *Program::scalar_of(ScalarType type) {
    if (random.chance(70)) {
        auto *v = find(
            [&](const Value *x) { return x->type()->is_scalar() && x->scalar() == type; });
        if (v) {
            return v;
        }
    }
    return scalar_constant(type);
}

Value *Program::value_of(const ir::Type *type) {
    if (auto *v = find([&](const Value *x) { return x->type() == type; }); v && random.chance(75)) {
        return v;
    }
    // Something that broadcasts to it, or a constant.
    auto *part = find([&](const Value *x) {
        return x->scalar() == type->scalar &&
               std::all_of(x->type()->dims.begin(), x->type()->dims.end(), [&](const auto &d) {
                   auto at = type->find(d.dim);
                   return at >= 0 &&
                          (type->dims[static_cast<size_t>(at)].extent == d.extent || d.extent == 1);
               });
    });
    if (!part || part->type() == type || random.chance(25)) {
        return part && part->type() == type ? part : constant(type);
    }
    return add(builder.value(Opcode::BROADCAST, {part}, type), fact(part));
}

Fact Program::elementwise_fact(Opcode op, const std::vector<Value *> &x, ScalarType result) const {
    auto a = fact(x[0]), b = fact(x[x.size() > 1 ? 1 : 0]), c = fact(x.back());
    switch (op) {
        case Opcode::ADD: return sum_of(a, b);
        case Opcode::SUB: return {a.low - b.high, a.high - b.low};
        case Opcode::MUL: return product_of(a, b);
        case Opcode::FMA: return sum_of(product_of(a, b), c);
        case Opcode::NEG: return {-a.high, -a.low};
        case Opcode::ABS: return {0, a.magnitude()};
        case Opcode::FLOOR:
        case Opcode::CEIL:
        case Opcode::RINT:
        case Opcode::TRUNC: return a;
        case Opcode::MINIMUM:
        case Opcode::MAXIMUM:
        case Opcode::FMIN:
        case Opcode::FMAX: return a.known() && b.known() ? joined(a, b) : Fact{};
        case Opcode::ITE: return joined(b, c);
        case Opcode::CAST: return result == ScalarType::BOOL ? Fact{0, 1} : a;
        case Opcode::QUANTIZE: return a;
        case Opcode::FLOOR_MOD: return b.known() && b.low > 0 ? Fact{0, b.high - 1} : Fact{};
        default: return result == ScalarType::BOOL ? Fact{0, 1} : Fact{};
    }
}

Value *Program::arithmetic(Opcode op, const std::vector<Value *> &x, ir::Payload payload,
                           const ScalarType *element) {
    auto elements = ir::join_dims(ir::to_string(op), x, {});
    int64_t count = 1;
    for (const auto &d : elements) {
        count *= d.extent;
    }
    if (!affordable(count) || count > most_elements) {
        return nullptr;
    }
    auto *v = builder.elementwise(op, x, std::move(payload), element);
    auto f = fitted(elementwise_fact(op, x, v->scalar()), v->scalar());
    bool copies = op == Opcode::ITE || (op == Opcode::CAST && v->scalar() == x[0]->scalar());
    bool bits = op == Opcode::BITCAST;
    f.pinned = !is_float(v->scalar()) || f.known() || bits ||
               (copies && fact(x[1 % x.size()]).pinned && fact(x.back()).pinned);
    return add(v, f);
}

namespace {

bool suits(ir::TypeRule rule, ScalarType t) {
    bool computes = t != ScalarType::BOOL && info(t).computes;
    switch (rule) {
        case ir::TypeRule::SAME_NUMBER: return computes;
        case ir::TypeRule::SAME_ORDERED:
        case ir::TypeRule::SAME_SIGNABLE: return t != ScalarType::BOOL;
        case ir::TypeRule::SAME_INTEGER: return is_integer(t);
        case ir::TypeRule::SAME_FLOAT: return is_float(t) && computes;
        case ir::TypeRule::SAME_BITS: return !is_float(t);
        default: return true;
    }
}

const std::vector<Opcode> &elementwise_opcodes() {
    static const auto list = [] {
        std::vector<Opcode> all;
        for (size_t i = 0; i < ir::opcode_count; ++i) {
            if (ir::is_elementwise(static_cast<Opcode>(i))) {
                all.push_back(static_cast<Opcode>(i));
            }
        }
        return all;
    }();
    return list;
}

}// namespace

Value *Program::free_operand(Opcode op, bool scalars_only, ScalarType &to) {
    auto narrow = [](ScalarType t) { return is_float(t) && size_of(t) == 1; };
    auto operand = [&](ScalarType t) { return scalars_only ? scalar_of(t) : tile_of(t); };
    if (op == Opcode::QUANTIZE) {
        to = narrow(to) ? to : random.pick({ScalarType::FLOAT8_E4M3FN, ScalarType::FLOAT8_E5M2});
        return operand(ScalarType::FLOAT32);
    }
    if (op == Opcode::CAST) {
        return operand(narrow(to) ? to : static_cast<ScalarType>(random.below(scalar_type_count)));
    }
    // The bits of bool are 0 and 1, and those of some NaNs are not specified.
    std::vector<ScalarType> as_wide;
    for (size_t i = 0; i < scalar_type_count; ++i) {
        auto t = static_cast<ScalarType>(i);
        if (size_of(t) == size_of(to) && (to != ScalarType::BOOL || t == to)) {
            as_wide.push_back(t);
        }
    }
    auto *x = operand(random.pick(as_wide));
    return fact(x).pinned ? x : nullptr;
}

bool Program::make_elementwise(bool scalars_only, const Opcode *wanted) {
    auto op = wanted ? *wanted : random.pick(elementwise_opcodes());
    if (!wanted && ir::info(op).family == ir::Family::MATH && random.chance(50)) {
        op = random.pick({Opcode::ADD, Opcode::SUB, Opcode::MUL, Opcode::ITE, Opcode::CAST});
    }
    const auto &row = ir::info(op);
    auto operand = [&](ScalarType t) { return scalars_only ? scalar_of(t) : tile_of(t); };
    if (row.types == ir::TypeRule::FREE) {
        auto to = any_type();
        auto *x = free_operand(op, scalars_only, to);
        if (!x) {
            return false;
        }
        ir::Payload payload = ir::None{};
        if (op == Opcode::QUANTIZE) {
            payload = ir::QuantizePayload{random.chance(50)};
        }
        return arithmetic(op, {x}, payload, &to) != nullptr;
    }
    auto type = any_type();
    for (int i = 0; i < 30 && !suits(row.types, type); ++i) {
        type = any_type();
    }
    if (!suits(row.types, type)) {
        return false;
    }
    std::vector<Value *> x;
    for (int i = 0; i < row.arity; ++i) {
        x.push_back(operand(i == 0 && row.types == ir::TypeRule::SELECT ? ScalarType::BOOL : type));
    }
    ir::Payload payload = ir::None{};
    if (row.family == ir::Family::MATH) {
        payload = ir::MathPayload{random.below(2000) == 0 ? MathTier::EXACT : MathTier::STRICT};
    }
    return arithmetic(op, x, payload) != nullptr;
}

}// namespace luisa::tile::fuzz
