// SPDX-License-Identifier: Apache-2.0
#include "machine.h"

#include "emit/llvm/target.h"
#include "target/cpu.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

// Products of groups of narrow elements: instructions for each kind of factors, and what they compute where this
// machine has them.

namespace luisa::tile::emit::test {

namespace {

using ir::GroupFactors;
using ir::MatrixAction;

const CpuTarget &server() {
    static const CpuTarget target{"sapphirerapids", ""};
    return target;
}

/// out = words a · words b + out, of 16 words.
void add_dot(Machine &m, GroupFactors factors) {
    m.begin("f");
    auto sums = factors == GroupFactors::BF16 ? ScalarType::FLOAT32 : ScalarType::INT32;
    auto *words = m.type(ScalarType::INT32, 16), *sum = m.type(sums, 16);
    auto *result = m.op(
        Opcode::DOT,
        {m.read(m.pointer(0), words), m.read(m.pointer(1), words), m.read(m.pointer(2), sum)}, sum,
        ir::DotPayload{factors});
    m.write(m.pointer(2), result);
}

void add_matrix(Machine &m, ir::MatrixPayload payload,
                const std::vector<ir::Value *> &operands = {}) {
    m.effect(Opcode::MATRIX, operands, payload);
}

/// out (16 × 16 words) += a (16 rows of words) · b.
void add_matrix_product(Machine &m, GroupFactors factors) {
    m.begin("f");
    add_matrix(m, {MatrixAction::CONFIGURE}, {m.pointer(3)});
    auto *pitch = m.index(64);
    for (int i = 0; i < 3; ++i) {
        add_matrix(m, {MatrixAction::LOAD, i}, {m.pointer(i), pitch});
    }
    add_matrix(m, {MatrixAction::MULTIPLY, 2, 0, 1, factors});
    add_matrix(m, {MatrixAction::STORE, 2}, {m.pointer(2), pitch});
    add_matrix(m, {MatrixAction::RELEASE});
}

int64_t integer(uint8_t byte, bool has_sign) { return has_sign ? static_cast<int8_t>(byte) : byte; }

}// namespace

TEST(EmitDots, each_kind_of_factors_is_one_instruction) {
    const std::pair<GroupFactors, const char *> dots[] = {{GroupFactors::BF16, "vdpbf16ps"},
                                                          {GroupFactors::U8S8, "vpdpbusd"},
                                                          {GroupFactors::S8U8, "vpdpbusd"}};
    for (auto [factors, name] : dots) {
        Machine m;
        add_dot(m, factors);
        EXPECT_NE(assembly_text(m.module, server()).find(name), std::string::npos) << name;
    }
    const std::pair<GroupFactors, const char *> matrices[] = {{GroupFactors::BF16, "tdpbf16ps"},
                                                              {GroupFactors::S8S8, "tdpbssd"},
                                                              {GroupFactors::S8U8, "tdpbsud"},
                                                              {GroupFactors::U8S8, "tdpbusd"},
                                                              {GroupFactors::U8U8, "tdpbuud"}};
    for (auto [factors, name] : matrices) {
        Machine m;
        add_matrix_product(m, factors);
        auto text = assembly_text(m.module, server());
        for (const char *part : {name, "ldtilecfg", "tileloadd", "tilestored", "tilerelease"}) {
            EXPECT_NE(text.find(part), std::string::npos) << part;
        }
    }
}

TEST(EmitDots, dot_products_of_signed_and_unsigned_bytes) {
    if (!target::cpu_facts(host_cpu().features, 1).dot_int8) {
        GTEST_SKIP() << "this machine has no dot products of bytes";
    }
    std::array<uint8_t, 64> a{}, b{};
    for (size_t i = 0; i < a.size(); ++i) {
        a[i] = static_cast<uint8_t>(i < 4 ? 255 : 37 * i);
        b[i] = static_cast<uint8_t>(i < 4 ? 128 : 91 * i + 5);
    }
    for (auto factors : {GroupFactors::U8S8, GroupFactors::S8U8}) {
        Machine m;
        add_dot(m, factors);
        auto code = compile(m.module, host_cpu());
        std::array<int32_t, 16> sums{INT32_MIN, INT32_MAX, -5};
        auto expected = sums;
        for (size_t i = 0; i < a.size(); ++i) {
            auto product = integer(a[i], factors == GroupFactors::S8U8) *
                           integer(b[i], factors == GroupFactors::U8S8);
            expected[i / 4] = static_cast<int32_t>(static_cast<uint32_t>(expected[i / 4]) +
                                                   static_cast<uint32_t>(product));
        }
        void *words[] = {a.data(), b.data(), sums.data()};
        code->function("f")(reinterpret_cast<uint64_t *>(words), 0, 1, nullptr, nullptr);
        EXPECT_EQ(sums, expected);
    }
}

TEST(EmitDots, products_of_matrix_registers) {
    if (!target::cpu_facts(host_cpu().features, 1).matrix_int8) {
        GTEST_SKIP() << "this machine has no matrix registers";
    }
    struct alignas(64) Block {
        uint8_t bytes[1024];
    };
    Block a, b, c, shapes{};
    shapes.bytes[0] = 1;
    for (size_t i = 0; i < 8; ++i) {
        shapes.bytes[16 + 2 * i] = 64;
        shapes.bytes[48 + i] = 16;
    }
    for (size_t i = 0; i < 1024; ++i) {
        a.bytes[i] = static_cast<uint8_t>(i * 73 + i / 64);
        b.bytes[i] = static_cast<uint8_t>(i * 29 + i / 32);
    }
    for (auto factors :
         {GroupFactors::S8S8, GroupFactors::S8U8, GroupFactors::U8S8, GroupFactors::U8U8}) {
        bool a_signed = factors == GroupFactors::S8S8 || factors == GroupFactors::S8U8,
             b_signed = factors == GroupFactors::S8S8 || factors == GroupFactors::U8S8;
        int32_t expected[256];
        for (size_t i = 0; i < 256; ++i) {
            int64_t sum = 7;
            for (size_t k = 0; k < 64; ++k) {
                sum += integer(a.bytes[i / 16 * 64 + k], a_signed) *
                       integer(b.bytes[k / 4 * 64 + i % 16 * 4 + k % 4], b_signed);
            }
            expected[i] = static_cast<int32_t>(sum);
        }
        for (size_t i = 0; i < 256; ++i) {
            const int32_t seven = 7;
            std::memcpy(c.bytes + 4 * i, &seven, 4);
        }
        Machine m;
        add_matrix_product(m, factors);
        auto code = compile(m.module, host_cpu());
        void *words[] = {a.bytes, b.bytes, c.bytes, shapes.bytes};
        code->function("f")(reinterpret_cast<uint64_t *>(words), 0, 1, nullptr, nullptr);
        EXPECT_EQ(std::memcmp(c.bytes, expected, sizeof expected), 0) << static_cast<int>(factors);
    }
}

}// namespace luisa::tile::emit::test
