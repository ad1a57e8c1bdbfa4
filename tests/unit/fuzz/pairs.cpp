// SPDX-License-Identifier: Apache-2.0
#include "fuzz/coverage.h"

#include "ir/verifier.h"

#include <gtest/gtest.h>

// Which pairs the fuzzer holds to be possible is what the verifier accepts.

namespace luisa::tile::fuzz {
namespace {

using ir::Opcode;

const char *why(Opcode op, Aspect aspect, size_t value) {
    return why_impossible({Aspect::OPERATION, aspect, static_cast<size_t>(op), value});
}

/// As the table says, with nothing set.
ir::Payload plain_payload(Opcode op) {
    switch (op) {
#define OP(ENUM, NAME, FAMILY, ARITY, TYPES, PAYLOAD)                                              \
    case Opcode::ENUM:                                                                             \
        return ir::PAYLOAD{};
#include "ir/ops.def"
#undef OP
    }
    return ir::None{};
}

/// Whether a kernel that consists of this elementwise operation on scalars of `type` is valid; the type is that
/// of the result for those that choose it.
bool verifies(Opcode op, ScalarType type) {
    ir::Module module;
    auto *kernel = module.add_function("k");
    ir::Builder b{module, kernel->body};
    const auto &row = ir::info(op);
    auto result = row.types == ir::TypeRule::COMPARE ? ScalarType::BOOL : type;
    auto operand = op == Opcode::QUANTIZE ? ScalarType::FLOAT32 : type;
    std::vector<ir::Value *> x;
    for (int i = 0; i < row.arity; ++i) {
        bool condition = i == 0 && row.types == ir::TypeRule::SELECT;
        x.push_back(b.constant(condition ? ScalarType::BOOL : operand, 0));
    }
    b.emit(op, x, {module.scalar(result)}, plain_payload(op));
    return ir::check(module).empty();
}

TEST(Pairs, TypesOfElementwiseOperationsAreThoseOfTheVerifier) {
    size_t accepted = 0;
    for (size_t i = 0; i < ir::opcode_count; ++i) {
        auto op = static_cast<Opcode>(i);
        for (size_t t = 0; ir::is_elementwise(op) && t < scalar_type_count; ++t) {
            auto type = static_cast<ScalarType>(t);
            EXPECT_EQ(why(op, Aspect::TYPE, t) == nullptr, verifies(op, type))
                << ir::to_string(op) << " on " << tile::to_string(type);
            accepted += verifies(op, type);
        }
    }
    EXPECT_GT(accepted, 300u);
}

TEST(Pairs, WhatAMapHoldsIsWhatTheVerifierAccepts) {
    constexpr size_t map = region_kinds - 1;
    size_t accepted = 0;
    for (size_t i = 0; i < ir::opcode_count; ++i) {
        auto op = static_cast<Opcode>(i);
        auto family = ir::info(op).family;
        bool candidate = family != ir::Family::MACHINE && family != ir::Family::MACHINE_REGION;
        if (!candidate) {
            EXPECT_STREQ(why(op, Aspect::REGION, map), "belongs to Machine form");
            continue;
        }
        ir::Module module;
        ir::Builder b{module, module.add_function("k")->body};
        auto *owner = b.emit(Opcode::MAP, {}, {module.tile(ScalarType::INT64, {{dim("a"), 2}})},
                             ir::None{}, 1);
        module.add_argument(owner->body(), module.scalar(ScalarType::INT64));
        b.set_region(owner->body());
        auto *zero = b.index(0);
        b.emit(op, {}, {}, plain_payload(op));
        if (op != Opcode::YIELD) {
            b.emit(Opcode::YIELD, {zero}, {});
        }
        // The bare operation is wrong in other ways, which the verifier finds first or not at all.
        bool impure = false;
        for (const auto &violation : ir::check(module)) {
            impure |= violation.message.find("which is not pure") != std::string::npos;
        }
        if (!impure && op != Opcode::YIELD) {
            ++accepted;
        }
        EXPECT_EQ(why(op, Aspect::REGION, map) != nullptr, impure) << ir::to_string(op);
    }
    EXPECT_GT(accepted, 50u);
}

TEST(Pairs, ReasonsAreNamed) {
    EXPECT_STREQ(why(Opcode::STAGE, Aspect::REGION, 1), "a stage belongs to a pipeline");
    EXPECT_STREQ(why(Opcode::CONDITION, Aspect::REGION, 0), "a condition belongs to a while");
    EXPECT_EQ(why(Opcode::CONDITION, Aspect::REGION, 6), nullptr);
    EXPECT_STREQ(why(Opcode::YIELD, Aspect::REGION, 0), "a kernel yields nothing");
    EXPECT_STREQ(why(Opcode::ADD, Aspect::POLICY, 0), "combines nothing");
    EXPECT_STREQ(why(Opcode::SCAN, Aspect::POLICY, 3),
                 "a scan keeps the order and begins at the first element");
    EXPECT_EQ(why(Opcode::SCAN, Aspect::POLICY, 1), nullptr);
    EXPECT_STREQ(why(Opcode::SCAN, Aspect::BOUNDS, 0), "accesses no view");
    EXPECT_EQ(
        to_string(Pair{Aspect::OPERATION, Aspect::REGION, static_cast<size_t>(Opcode::SCAN), 4}),
        "scan in reduce");
}

TEST(Pairs, MissingOnesAreListedUntilTheyAreMet) {
    Coverage coverage;
    EXPECT_NE(coverage.missing(1).find("scan in reduce (0)\n"), std::string::npos);
    EXPECT_EQ(coverage.missing(1).find("stage in map"), std::string::npos);
    coverage.pairs[0][1][static_cast<size_t>(Opcode::SCAN)][4] = 1;
    EXPECT_EQ(coverage.missing(1).find("scan in reduce"), std::string::npos);
    EXPECT_NE(coverage.missing(5).find("scan in reduce (1)\n"), std::string::npos);
    coverage.pairs[0][1][static_cast<size_t>(Opcode::STAGE)][7] = 1;
    EXPECT_NE(coverage.missing(1).find("stage in map was met, which is held to be impossible"),
              std::string::npos);
}

}// namespace
}// namespace luisa::tile::fuzz
