// SPDX-License-Identifier: Apache-2.0
#include "emit/llvm/emitter.h"

#include <cmath>

namespace luisa::tile::emit {

namespace {

bool is_narrow(ScalarType t) {
    return t == ScalarType::FLOAT16 || t == ScalarType::BFLOAT16 ||
           t == ScalarType::FLOAT8_E4M3FN || t == ScalarType::FLOAT8_E5M2;
}

}// namespace

llvm::Value *Emitter::to_float32(llvm::Value *value, ScalarType from) {
    auto *real = widened(_b.getFloatTy(), value);
    auto *word = widened(_b.getInt32Ty(), value);
    switch (from) {
        case ScalarType::FLOAT16: return _b.CreateFPExt(value, real);
        case ScalarType::BFLOAT16:
            return _b.CreateBitCast(_b.CreateShl(_b.CreateZExt(value, word), 16), real);
        case ScalarType::FLOAT8_E5M2: {
            // The upper byte of an f16.
            auto *half_bits = widened(_b.getInt16Ty(), value);
            auto *bits = _b.CreateShl(_b.CreateZExt(value, half_bits), 8);
            return _b.CreateFPExt(_b.CreateBitCast(bits, widened(_b.getHalfTy(), value)), real);
        }
        case ScalarType::FLOAT8_E4M3FN: {
            // Sign and fields land in an f16 whose exponent bias is larger by eight.
            auto *half_bits = widened(_b.getInt16Ty(), value);
            auto *spread = _b.CreateShl(_b.CreateSExt(value, half_bits), 7);
            auto *bits = _b.CreateAnd(spread, llvm::ConstantInt::get(half_bits, 0xbfff));
            auto *scaled = _b.CreateFMul(
                _b.CreateFPExt(_b.CreateBitCast(bits, widened(_b.getHalfTy(), value)), real),
                llvm::ConstantFP::get(real, 256));
            auto *magnitude = _b.CreateAnd(value, integer_like(value, 0x7f));
            auto *nan = _b.CreateICmpEQ(magnitude, integer_like(value, 0x7f));
            return _b.CreateSelect(nan, llvm::ConstantFP::getNaN(real), scaled);
        }
        default: return value;
    }
}

/// Nearest even in integer code: the CPU's instruction flushes subnormals.
llvm::Value *Emitter::to_bfloat16(llvm::Value *value) {
    if (_gpu) {
        auto *narrow = _b.CreateFPTrunc(value, widened(_b.getBFloatTy(), value));
        return _b.CreateBitCast(narrow, widened(_b.getInt16Ty(), value));
    }
    auto *word = widened(_b.getInt32Ty(), value);
    auto *bits = _b.CreateBitCast(value, word);
    auto constant = [&](uint64_t c) { return llvm::ConstantInt::get(word, c); };
    auto *odd = _b.CreateAnd(_b.CreateLShr(bits, 16), constant(1));
    auto *rounded = _b.CreateLShr(_b.CreateAdd(_b.CreateAdd(bits, constant(0x7fff)), odd), 16);
    auto *quiet = _b.CreateOr(_b.CreateLShr(bits, 16), constant(0x40));
    auto *nan = _b.CreateFCmpUNO(value, value);
    return _b.CreateTrunc(_b.CreateSelect(nan, quiet, rounded), widened(_b.getInt16Ty(), value));
}

/// f64 → f32 rounding to odd: a later rounding to a narrower format is then the only one.
static llvm::Value *narrow_to_odd(llvm::IRBuilderBase &b, llvm::Value *value, llvm::Type *real,
                                  llvm::Type *word) {
    auto *nearest = b.CreateFPTrunc(value, real);
    auto *back = b.CreateFPExt(nearest, value->getType());
    auto *inexact = b.CreateFCmpONE(back, value);
    auto fabs = [&](llvm::Value *v) {
        return b.CreateIntrinsic(llvm::Intrinsic::fabs, {v->getType()}, {v});
    };
    auto *too_far = b.CreateFCmpOGT(fabs(back), fabs(value));
    auto *bits = b.CreateBitCast(nearest, word);
    auto *toward_zero = b.CreateSub(bits, b.CreateZExt(too_far, word));
    auto *odd = b.CreateOr(toward_zero, llvm::ConstantInt::get(word, 1));
    return b.CreateBitCast(b.CreateSelect(inexact, odd, bits), real);
}

/// Gathers the bits of a large 64-bit integer that f64 cannot hold: to a narrow format they matter
/// only as "more than".
llvm::Value *Emitter::jam(llvm::Value *value, bool sign) {
    auto *low = _b.CreateAnd(value, integer_like(value, 0xfffff));
    auto *sticky = _b.CreateZExt(_b.CreateICmpNE(low, integer_like(value, 0)), value->getType());
    auto *high = _b.CreateAnd(value, integer_like(value, ~uint64_t{0xfffff}));
    auto *jammed = _b.CreateOr(high, _b.CreateShl(sticky, 20));
    auto *magnitude = sign ? _b.CreateIntrinsic(llvm::Intrinsic::abs, {value->getType()},
                                                {value, _b.getFalse()})
                           : value;
    auto *large = _b.CreateICmpUGE(magnitude, integer_like(value, uint64_t{1} << 40));
    return _b.CreateSelect(large, jammed, value);
}

/// The value as an f32 that, rounded to any narrower float, gives what the exact value would.
llvm::Value *Emitter::to_odd_float32(llvm::Value *value, ScalarType from) {
    auto *real = widened(_b.getFloatTy(), value);
    auto *wide = widened(_b.getDoubleTy(), value);
    auto *word = widened(_b.getInt32Ty(), value);
    if (is_float(from)) {
        return from == ScalarType::FLOAT64 ? narrow_to_odd(_b, value, real, word)
                                           : to_float32(value, from);
    }
    bool sign = is_signed(from);
    auto *target = info(from).bits <= 16 ? real : wide;
    if (info(from).bits == 64) {
        value = jam(value, sign);
    }
    value = sign ? _b.CreateSIToFP(value, target) : _b.CreateUIToFP(value, target);
    return target == real ? value : narrow_to_odd(_b, value, real, word);
}

llvm::Value *Emitter::quantize(llvm::Value *value, ScalarType from, ScalarType to, bool saturate) {
    value = to_odd_float32(value, from);
    bool e4m3 = to == ScalarType::FLOAT8_E4M3FN;
    uint64_t mantissa = e4m3 ? 3 : 2, bias = e4m3 ? 7 : 15, drop = 23 - mantissa;
    auto *word = widened(_b.getInt32Ty(), value);
    auto *real = value->getType();
    auto constant = [&](uint64_t c) { return llvm::ConstantInt::get(word, c); };
    auto *bits = _b.CreateBitCast(value, word);
    auto *magnitude = _b.CreateAnd(bits, constant(0x7fffffff));
    // Normal results: add half a unit (ties to even), drop the low bits, rebias.
    auto *odd = _b.CreateAnd(_b.CreateLShr(magnitude, drop), constant(1));
    auto *up = _b.CreateAdd(_b.CreateAdd(magnitude, constant((uint64_t{1} << (drop - 1)) - 1)),
                            odd);
    auto *normal = _b.CreateSub(_b.CreateLShr(up, drop), constant((127 - bias) << mantissa));
    // Subnormal results: adding a power of two whose unit is the smallest subnormal rounds to it.
    double magic = e4m3 ? 0x1p14 : 0x1p7;
    auto *shifted = _b.CreateFAdd(_b.CreateBitCast(magnitude, real),
                                  llvm::ConstantFP::get(real, magic));
    auto *magic_bits = _b.CreateBitCast(llvm::ConstantFP::get(real, magic), word);
    auto *subnormal = _b.CreateSub(_b.CreateBitCast(shifted, word), magic_bits);
    auto *least_normal = constant((127 - bias + 1) << 23);
    auto *code = _b.CreateSelect(_b.CreateICmpULT(magnitude, least_normal), subnormal, normal);
    uint64_t largest = e4m3 ? 0x7e : 0x7b;
    auto *overflow = constant(saturate ? largest : largest + 1);
    code = _b.CreateSelect(_b.CreateICmpSGT(code, constant(largest)), overflow, code);
    auto *sign = _b.CreateAnd(_b.CreateLShr(bits, 24), constant(0x80));
    code = _b.CreateSelect(_b.CreateFCmpUNO(value, value), constant(0x7f), _b.CreateOr(code, sign));
    return _b.CreateTrunc(code, widened(_b.getInt8Ty(), value));
}

/// Toward zero; what is out of range becomes the nearest integer in range, NaN becomes 0. LLVM's own
/// saturating conversions of vectors go lane by lane on x86.
llvm::Value *Emitter::to_integer(llvm::Value *value, ScalarType to) {
    auto bits = static_cast<unsigned>(8 * size_of(to));
    auto *real = value->getType();
    auto constant = [&](double x) { return llvm::ConstantFP::get(real, x); };
    double end = std::ldexp(1.0, static_cast<int>(is_signed(to) ? bits - 1 : bits));
    auto *least = constant(is_signed(to) ? -end : 0.0);
    auto *bounded = _b.CreateSelect(_b.CreateFCmpOLT(value, least), least, value);
    auto *below_end = _b.CreateFCmpOLT(value, constant(end));
    auto *safe = _b.CreateSelect(below_end, bounded, constant(0.0));
    // Narrow results by way of a width that the CPU converts to.
    auto *wide = widened(_b.getIntNTy(std::max(bits, 32u)), value);
    auto *whole = is_signed(to) || bits < 32 ? _b.CreateFPToSI(safe, wide)
                                             : _b.CreateFPToUI(safe, wide);
    auto greatest = is_signed(to) ? llvm::APInt::getSignedMaxValue(bits)
                                  : llvm::APInt::getMaxValue(bits);
    auto *result = _b.CreateTrunc(whole, widened(_b.getIntNTy(bits), value));
    return _b.CreateSelect(_b.CreateFCmpOGE(value, constant(end)),
                           llvm::ConstantInt::get(result->getType(), greatest), result);
}

llvm::Value *Emitter::cast(llvm::Value *value, ScalarType from, ScalarType to) {
    auto *target = widened(element_type(to), value);
    if (from == to) {
        return value;
    }
    if (is_narrow(to)) {
        value = to_odd_float32(value, from);
        return to == ScalarType::FLOAT16 ? _b.CreateFPTrunc(value, target) : to_bfloat16(value);
    }
    if (is_narrow(from)) {
        return cast(to_float32(value, from), ScalarType::FLOAT32, to);
    }
    if (to == ScalarType::BOOL) {
        auto *zero = llvm::Constant::getNullValue(value->getType());
        return is_float(from) ? _b.CreateFCmpUNE(value, zero) : _b.CreateICmpNE(value, zero);
    }
    if (is_float(from) && is_float(to)) {
        return _b.CreateFPCast(value, target);
    }
    if (is_float(from)) {
        return to_integer(value, to);
    }
    if (is_float(to)) {
        return is_signed(from) ? _b.CreateSIToFP(value, target) : _b.CreateUIToFP(value, target);
    }
    return _b.CreateIntCast(value, target, is_signed(from));
}

}// namespace luisa::tile::emit
