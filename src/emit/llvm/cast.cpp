// SPDX-License-Identifier: Apache-2.0
#include "emit/llvm/emitter.h"

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
            auto *wide = _b.CreateZExt(value, word);
            auto *magnitude = _b.CreateAnd(wide, llvm::ConstantInt::get(word, 0x7f));
            // Exponent and fraction land in f32's fields; the biases differ by 120.
            auto *scaled = _b.CreateFMul(_b.CreateBitCast(_b.CreateShl(magnitude, 20), real),
                                         llvm::ConstantFP::get(real, 0x1p120));
            auto *nan = _b.CreateICmpEQ(magnitude, llvm::ConstantInt::get(word, 0x7f));
            auto *number = _b.CreateSelect(nan, llvm::ConstantFP::getNaN(real), scaled);
            auto *sign = _b.CreateShl(_b.CreateAnd(wide, llvm::ConstantInt::get(word, 0x80)), 24);
            return _b.CreateBitCast(_b.CreateOr(_b.CreateBitCast(number, word), sign), real);
        }
        default: return value;
    }
}

/// Nearest even in integer code: the native instruction flushes subnormals.
llvm::Value *Emitter::to_bfloat16(llvm::Value *value) {
    auto *word = widened(_b.getInt32Ty(), value);
    auto *bits = _b.CreateBitCast(value, word);
    auto constant = [&](uint64_t c) { return llvm::ConstantInt::get(word, c); };
    auto *odd = _b.CreateAnd(_b.CreateLShr(bits, 16), constant(1));
    auto *rounded = _b.CreateLShr(_b.CreateAdd(_b.CreateAdd(bits, constant(0x7fff)), odd), 16);
    auto *quiet = _b.CreateOr(_b.CreateLShr(bits, 16), constant(0x40));
    auto *nan = _b.CreateFCmpUNO(value, value);
    return _b.CreateTrunc(_b.CreateSelect(nan, quiet, rounded), widened(_b.getInt16Ty(), value));
}

llvm::Value *Emitter::quantize(llvm::Value *value, ScalarType to, bool saturate) {
    bool e4m3 = to == ScalarType::FLOAT8_E4M3FN;
    uint64_t mantissa = e4m3 ? 3 : 2, bias = e4m3 ? 7 : 15, drop = 23 - mantissa;
    auto *word = widened(_b.getInt32Ty(), value);
    auto *real = value->getType();
    auto constant = [&](uint64_t c) { return llvm::ConstantInt::get(word, c); };
    auto *bits = _b.CreateBitCast(value, word);
    auto *magnitude = _b.CreateAnd(bits, constant(0x7fffffff));
    // Normal results: add half a unit (ties to even), drop the low bits, rebias.
    auto *odd = _b.CreateAnd(_b.CreateLShr(magnitude, drop), constant(1));
    auto *up = _b.CreateAdd(_b.CreateAdd(magnitude, constant((uint64_t{1} << (drop - 1)) - 1)), odd);
    auto *normal = _b.CreateSub(_b.CreateLShr(up, drop), constant((127 - bias) << mantissa));
    // Subnormal results: adding a power of two whose unit is the smallest subnormal rounds to it.
    double magic = e4m3 ? 0x1p14 : 0x1p7;
    auto *shifted = _b.CreateFAdd(_b.CreateBitCast(magnitude, real), llvm::ConstantFP::get(real, magic));
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

/// f64 → f32 rounding to odd: a later rounding to a narrower format is then the only one.
static llvm::Value *narrow_to_odd(llvm::IRBuilder<> &b, llvm::Value *value, llvm::Type *real,
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

llvm::Value *Emitter::cast(llvm::Value *value, ScalarType from, ScalarType to) {
    auto *target = widened(element_type(to), value);
    if (from == to) {
        return value;
    }
    if (to == ScalarType::BOOL) {
        if (is_narrow(from)) {
            value = to_float32(value, from);
        }
        auto *zero = llvm::Constant::getNullValue(value->getType());
        return is_float(from) ? _b.CreateFCmpUNE(value, zero) : _b.CreateICmpNE(value, zero);
    }
    if (!is_float(from) && !is_float(to)) {
        bool sign = is_signed(from) && from != ScalarType::BOOL;
        return sign ? _b.CreateSExtOrTrunc(value, target) : _b.CreateZExtOrTrunc(value, target);
    }
    if (is_float(from)) {
        if (is_narrow(from)) {
            value = to_float32(value, from);
            from = ScalarType::FLOAT32;
        }
        if (!is_float(to)) {
            auto id = is_signed(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
            return _b.CreateIntrinsic(id, {target, value->getType()}, {value});
        }
        if (!is_narrow(to)) {
            return from == to                       ? value
                   : to == ScalarType::FLOAT64 ? _b.CreateFPExt(value, target)
                                               : _b.CreateFPTrunc(value, target);
        }
        if (from == ScalarType::FLOAT64) {
            value = narrow_to_odd(_b, value, widened(_b.getFloatTy(), value),
                                  widened(_b.getInt32Ty(), value));
        }
        return to == ScalarType::FLOAT16 ? _b.CreateFPTrunc(value, target) : to_bfloat16(value);
    }
    bool sign = is_signed(from) && from != ScalarType::BOOL;
    auto convert = [&](llvm::Value *v, llvm::Type *real) {
        return sign ? _b.CreateSIToFP(v, real) : _b.CreateUIToFP(v, real);
    };
    if (!is_narrow(to)) {
        return convert(value, target);
    }
    if (size_of(from) == 8) {
        // Bits that f64 cannot hold only matter as "more than": gather them in one.
        auto *low = _b.CreateAnd(value, integer_like(value, 0xfffff));
        auto *sticky = _b.CreateZExt(_b.CreateICmpNE(low, integer_like(value, 0)), value->getType());
        auto *high = _b.CreateAnd(value, integer_like(value, ~uint64_t{0xfffff}));
        auto *jammed = _b.CreateOr(high, _b.CreateShl(sticky, 20));
        auto *magnitude = sign ? _b.CreateIntrinsic(llvm::Intrinsic::abs, {value->getType()},
                                                    {value, _b.getFalse()})
                               : value;
        auto *large = _b.CreateICmpUGE(magnitude, integer_like(value, uint64_t{1} << 40));
        value = _b.CreateSelect(large, jammed, value);
    }
    return cast(convert(value, widened(_b.getDoubleTy(), value)), ScalarType::FLOAT64, to);
}

}// namespace luisa::tile::emit
