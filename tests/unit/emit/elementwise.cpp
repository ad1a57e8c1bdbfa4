// SPDX-License-Identifier: Apache-2.0
#include "machine.h"

#include "types/arith.h"

#include <gtest/gtest.h>

// Every elementwise operation on every computing type and width against the reference functions.

namespace luisa::tile::emit::test {

namespace {

using Binary = uint64_t (*)(ScalarType, uint64_t, uint64_t);
using Unary = uint64_t (*)(ScalarType, uint64_t);
using Compare = bool (*)(ScalarType, uint64_t, uint64_t);

const std::vector<ScalarType> integers{ScalarType::INT8,   ScalarType::INT16, ScalarType::INT32,
                                       ScalarType::INT64,  ScalarType::UINT8, ScalarType::UINT16,
                                       ScalarType::UINT32, ScalarType::UINT64};
const std::vector<ScalarType> floats{ScalarType::FLOAT32, ScalarType::FLOAT64};

std::vector<ScalarType> operator+(std::vector<ScalarType> a, const std::vector<ScalarType> &b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

struct Case {
    Opcode op;
    std::vector<ScalarType> types;
    std::function<uint64_t(ScalarType, const uint64_t *)> expected;
    size_t arity;
    bool to_bool = false;
};

Case binary(Opcode op, std::vector<ScalarType> types, Binary f) {
    return {op, std::move(types), [f](auto t, auto *v) { return f(t, v[0], v[1]); }, 2};
}
Case unary(Opcode op, std::vector<ScalarType> types, Unary f) {
    return {op, std::move(types), [f](auto t, auto *v) { return f(t, v[0]); }, 1};
}
Case compare(Opcode op, Compare f) {
    return {op, std::vector{ScalarType::BOOL} + integers + floats,
            [f](auto t, auto *v) { return uint64_t{f(t, v[0], v[1])}; }, 2, true};
}

std::vector<Case> cases() {
    const auto numbers = integers + floats;
    const auto bits = std::vector{ScalarType::BOOL} + integers;
    return {
        binary(Opcode::ADD, numbers, arith::add),
        binary(Opcode::SUB, numbers, arith::sub),
        binary(Opcode::MUL, numbers, arith::mul),
        binary(Opcode::DIV, numbers, arith::div),
        binary(Opcode::REM, integers, arith::rem),
        binary(Opcode::FLOOR_DIV, integers, arith::floor_div),
        binary(Opcode::FLOOR_MOD, integers, arith::floor_mod),
        binary(Opcode::CEIL_DIV, integers, arith::ceil_div),
        binary(Opcode::MINIMUM, numbers, arith::minimum),
        binary(Opcode::MAXIMUM, numbers, arith::maximum),
        binary(Opcode::FMIN, numbers, arith::fmin),
        binary(Opcode::FMAX, numbers, arith::fmax),
        binary(Opcode::AND, bits, arith::bit_and),
        binary(Opcode::OR, bits, arith::bit_or),
        binary(Opcode::XOR, bits, arith::bit_xor),
        binary(Opcode::SHL, integers, arith::shl),
        binary(Opcode::SHR, integers, arith::shr),
        unary(Opcode::NOT, bits, arith::bit_not),
        unary(Opcode::NEG, numbers, arith::neg),
        unary(Opcode::ABS, numbers, arith::abs),
        unary(Opcode::SQRT, floats, arith::sqrt),
        unary(Opcode::FLOOR, floats, arith::floor),
        unary(Opcode::CEIL, floats, arith::ceil),
        unary(Opcode::RINT, floats, arith::rint),
        unary(Opcode::TRUNC, floats, arith::trunc),
        compare(Opcode::LT, arith::lt),
        compare(Opcode::LE, arith::le),
        compare(Opcode::GT, arith::gt),
        compare(Opcode::GE, arith::ge),
        compare(Opcode::EQ, arith::eq),
        compare(Opcode::NE, arith::ne),
        {Opcode::FMA, floats, [](auto t, auto *v) { return arith::fma(t, v[0], v[1], v[2]); }, 3},
    };
}

/// All tuples of special values (thinned for three operands), padded to a multiple of 32.
std::vector<std::vector<uint64_t>> tuples(ScalarType type, size_t arity) {
    auto values = special_values(type);
    std::vector<std::vector<uint64_t>> columns(arity);
    size_t n = values.size(), second = arity > 1 ? n : 1, third = arity > 2 ? n : 1;
    for (size_t i = 0; i < n; ++i) {
        for (size_t j = 0; j < second; ++j) {
            for (size_t k = arity > 2 ? (i + j) % 7 : 0; k < third; k += 7) {
                size_t at[] = {i, j, k};
                for (size_t a = 0; a < arity; ++a) {
                    columns[a].push_back(values[at[a]]);
                }
            }
        }
    }
    while (columns[0].size() % 32) {
        for (auto &c : columns) {
            c.push_back(c.front());
        }
    }
    return columns;
}

std::string name_of(const Case &c, ScalarType type, unsigned lanes) {
    return std::string{ir::to_string(c.op)} + "_" + to_string(type) + "_" + std::to_string(lanes);
}

void check_case(const Case &c, const CpuTarget &target) {
    Machine m;
    for (auto type : c.types) {
        for (auto lanes : widths) {
            auto result = c.to_bool ? ScalarType::BOOL : type;
            add_map(m, name_of(c, type, lanes), std::vector<ScalarType>(c.arity, type), result,
                    lanes, [&](const auto &v) { return m.op(c.op, v, m.type(result, lanes)); });
        }
    }
    auto code = compile(m.module, target);
    for (auto type : c.types) {
        auto result = c.to_bool ? ScalarType::BOOL : type;
        auto columns = tuples(type, c.arity);
        auto count = columns[0].size();
        std::vector<std::vector<uint8_t>> packed;
        std::vector<const void *> inputs;
        for (auto &column : columns) {
            packed.push_back(pack(type, column));
        }
        for (auto &p : packed) {
            inputs.push_back(p.data());
        }
        for (auto lanes : widths) {
            std::vector<uint8_t> output(count * size_of(result), 0xcd);
            run(*code, name_of(c, type, lanes), inputs, output.data(), static_cast<int64_t>(count));
            int failures = 0;
            for (size_t i = 0; i < count && failures < 3; ++i) {
                uint64_t v[3]{};
                for (size_t a = 0; a < c.arity; ++a) {
                    v[a] = columns[a][i];
                }
                auto expected = c.expected(type, v), got = element(result, output, i);
                if (!same(result, expected, got)) {
                    ++failures;
                    ADD_FAILURE() << name_of(c, type, lanes) << std::hex << " of " << v[0] << ", "
                                  << v[1] << ", " << v[2] << ": " << got << ", expected "
                                  << expected;
                }
            }
        }
    }
}

}// namespace

TEST(EmitElementwise, agrees_with_the_reference_on_this_machine) {
    for (const auto &c : cases()) {
        check_case(c, host_cpu());
    }
}

TEST(EmitElementwise, agrees_with_the_reference_without_avx512) {
    for (const auto &c : cases()) {
        check_case(c, {"x86-64-v3", ""});
    }
}

TEST(EmitElementwise, agrees_with_the_reference_on_the_lowest_level) {
    for (const auto &c : cases()) {
        check_case(c, {"x86-64", ""});
    }
}

TEST(EmitElementwise, divisors_and_shift_counts_that_are_constant) {
    struct Row {
        Opcode op;
        Binary expected;
    };
    const Row rows[] = {{Opcode::DIV, arith::div},
                        {Opcode::REM, arith::rem},
                        {Opcode::FLOOR_DIV, arith::floor_div},
                        {Opcode::FLOOR_MOD, arith::floor_mod},
                        {Opcode::CEIL_DIV, arith::ceil_div},
                        {Opcode::SHL, arith::shl},
                        {Opcode::SHR, arith::shr}};
    for (auto type : {ScalarType::INT32, ScalarType::INT64, ScalarType::UINT64}) {
        auto values = special_values(type);
        values.resize(values.size() / 16 * 16);
        auto input = pack(type, values);
        for (int64_t constant : {0, 1, 2, 3, 7, 8, 64, 100, -1, -3, -8}) {
            auto bits = static_cast<uint64_t>(constant);
            bits = type == ScalarType::INT32 ? bits & 0xffffffff : bits;
            Machine m;
            for (const auto &row : rows) {
                for (unsigned lanes : {0u, 16u}) {
                    auto *t = m.type(type, lanes);
                    add_map(m, ir::to_string(row.op) + std::to_string(lanes), {type}, type, lanes,
                            [&](const auto &v) {
                                return m.op(row.op, {v[0], m.constant(t, bits)}, t);
                            });
                }
            }
            auto code = compile(m.module, host_cpu());
            for (const auto &row : rows) {
                for (unsigned lanes : {0u, 16u}) {
                    std::vector<uint8_t> output(input.size());
                    run(*code, ir::to_string(row.op) + std::to_string(lanes), {input.data()},
                        output.data(), static_cast<int64_t>(values.size()));
                    for (size_t i = 0; i < values.size(); ++i) {
                        ASSERT_EQ(element(type, output, i), row.expected(type, values[i], bits))
                            << ir::to_string(row.op) << " " << to_string(type) << " "
                            << static_cast<int64_t>(values[i]) << " by " << constant;
                    }
                }
            }
        }
    }
}

}// namespace luisa::tile::emit::test
