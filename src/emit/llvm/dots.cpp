// SPDX-License-Identifier: Apache-2.0
#include "emit/llvm/emitter.h"

#include <llvm/IR/IntrinsicsX86.h>

#include <array>

// Products of groups of narrow elements: dot-product instructions, and those of matrix registers.

namespace luisa::tile::emit {

namespace {

using ir::GroupFactors;
using ir::MatrixAction;
using Ids = std::array<llvm::Intrinsic::ID, 3>;

namespace names = llvm::Intrinsic;

/// Of 4, 8 and 16 words.
constexpr Ids float_dots{names::x86_avx512bf16_dpbf16ps_128, names::x86_avx512bf16_dpbf16ps_256,
                         names::x86_avx512bf16_dpbf16ps_512};
constexpr Ids integer_dots{names::x86_avx512_vpdpbusd_128, names::x86_avx512_vpdpbusd_256,
                           names::x86_avx512_vpdpbusd_512};

/// By `GroupFactors`.
constexpr std::array<llvm::Intrinsic::ID, 5> matrix_products{
    names::x86_tdpbf16ps, names::x86_tdpbssd, names::x86_tdpbsud, names::x86_tdpbusd,
    names::x86_tdpbuud};

}// namespace

/// sum + products of groups: the instruction whose operands are unsigned, then signed.
llvm::Value *Emitter::dot(const ir::Operation &op) {
    auto factors = op.get<ir::DotPayload>().factors;
    auto *a = operand(op, 0), *b = operand(op, 1), *sum = operand(op, 2);
    auto lanes = op.result()->type()->lanes;
    require(lanes == 4 || lanes == 8 || lanes == 16, "no dot product of so many words");
    require(factors == GroupFactors::BF16 || factors == GroupFactors::U8S8 ||
                factors == GroupFactors::S8U8,
            "no dot product of these factors");
    if (factors == GroupFactors::S8U8) {
        std::swap(a, b);
    }
    const auto &ids = factors == GroupFactors::BF16 ? float_dots : integer_dots;
    auto id = ids[lanes == 4 ? 0 : lanes == 8 ? 1 : 2];
    auto *function = llvm::Intrinsic::getOrInsertDeclaration(_module.get(), id);
    auto *type = function->getFunctionType();
    return _b.CreateCall(function, {sum, _b.CreateBitCast(a, type->getParamType(1)),
                                    _b.CreateBitCast(b, type->getParamType(2))});
}

void Emitter::matrix(const ir::Operation &op) {
    const auto &payload = op.get<ir::MatrixPayload>();
    auto number = [&](int32_t i) { return _b.getInt8(static_cast<uint8_t>(i)); };
    switch (payload.action) {
        case MatrixAction::CONFIGURE:
            _b.CreateIntrinsic(names::x86_ldtilecfg, {}, {operand(op, 0)});
            return;
        case MatrixAction::RELEASE:
            _b.CreateIntrinsic(names::x86_tilerelease, llvm::ArrayRef<llvm::Type *>{},
                               llvm::ArrayRef<llvm::Value *>{});
            return;
        case MatrixAction::ZERO:
            _b.CreateIntrinsic(names::x86_tilezero, {}, {number(payload.to)});
            return;
        case MatrixAction::LOAD:
            // With `a` set, what is read is used once: it does not displace what stays in the first-level cache.
            _b.CreateIntrinsic(payload.a ? names::x86_tileloaddt164 : names::x86_tileloadd64, {},
                               {number(payload.to), operand(op, 0), operand(op, 1)});
            return;
        case MatrixAction::STORE:
            _b.CreateIntrinsic(names::x86_tilestored64, {},
                               {number(payload.to), operand(op, 0), operand(op, 1)});
            return;
        case MatrixAction::MULTIPLY:
            _b.CreateIntrinsic(matrix_products[static_cast<size_t>(payload.factors)], {},
                               {number(payload.to), number(payload.a), number(payload.b)});
            return;
    }
}

}// namespace luisa::tile::emit
