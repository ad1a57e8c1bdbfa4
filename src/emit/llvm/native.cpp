// SPDX-License-Identifier: Apache-2.0
#include "emit/llvm/emitter.h"

#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <numeric>

// Operations that AVX-512 does in an instruction or two and LLVM has no portable name for.

namespace luisa::tile::emit {

namespace {

unsigned lanes_of(llvm::Value *value) {
    auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
    return vector ? vector->getNumElements() : 1;
}

llvm::SmallVector<int, 64> sequence(unsigned first, unsigned count) {
    llvm::SmallVector<int, 64> lanes(count);
    std::iota(lanes.begin(), lanes.end(), static_cast<int>(first));
    return lanes;
}

}// namespace

/// Lanes [first, first + count) of a scalar or vector; those beyond its end are poison.
llvm::Value *Emitter::slice(llvm::Value *value, unsigned first, unsigned count) {
    if (!value->getType()->isVectorTy()) {
        auto *vector = llvm::FixedVectorType::get(value->getType(), count);
        return _b.CreateInsertElement(llvm::PoisonValue::get(vector), value, uint64_t{0});
    }
    auto lanes = sequence(first, count);
    std::replace_if(
        lanes.begin(), lanes.end(),
        [n = static_cast<int>(lanes_of(value))](int lane) { return lane >= n; }, -1);
    return _b.CreateShuffleVector(value, lanes);
}

/// Applies `part` to native vectors of `count` lanes and puts the results together as `type`.
llvm::Value *Emitter::by_parts(llvm::Type *type, unsigned lanes, unsigned count,
                               llvm::function_ref<llvm::Value *(unsigned)> part) {
    llvm::SmallVector<llvm::Value *, 8> parts;
    for (unsigned first = 0; first < lanes; first += count) {
        parts.push_back(part(first));
    }
    for (; parts.size() > 1; parts.resize(parts.size() / 2)) {
        auto joined = 2 * lanes_of(parts[0]);
        for (size_t i = 0; i < parts.size() / 2; ++i) {
            parts[i] = _b.CreateShuffleVector(parts[2 * i], parts[2 * i + 1], sequence(0, joined));
        }
    }
    if (!type->isVectorTy()) {
        return _b.CreateExtractElement(parts[0], uint64_t{0});
    }
    return lanes_of(parts[0]) == lanes ? parts[0] : slice(parts[0], 0, lanes);
}

/// a * 2^n, rounded once.
llvm::Value *Emitter::scale(const ir::Operation &op) {
    auto *a = operand(op, 0), *n = operand(op, 1);
    bool wide = op.operand(0)->scalar() == ScalarType::FLOAT64;
    auto lanes = lanes_of(a);
    unsigned bits = wide ? 64 : 32;
    if (_gpu) {
        return scale_by_halves(a, n, wide);
    }
    if (!_has_avx512) {
        return scale_by_products(a, n, wide);
    }
    // With the 128 and 256-bit forms, the narrowest register that holds the value.
    unsigned width = _has_avx512vl ? std::clamp(std::bit_ceil(lanes * bits), 128u, 512u) : 512u;
    auto count = width / bits;
    using namespace llvm::Intrinsic;
    llvm::Intrinsic::ID id =
        width == 512   ? (wide ? x86_avx512_mask_scalef_pd_512 : x86_avx512_mask_scalef_ps_512)
        : width == 256 ? (wide ? x86_avx512_mask_scalef_pd_256 : x86_avx512_mask_scalef_ps_256)
                       : (wide ? x86_avx512_mask_scalef_pd_128 : x86_avx512_mask_scalef_ps_128);
    // The mask operand has at least eight bits.
    auto *mask = llvm::Constant::getAllOnesValue(_b.getIntNTy(std::max(count, 8u)));
    return by_parts(a->getType(), lanes, count, [&](unsigned first) -> llvm::Value * {
        auto *x = slice(a, first, count), *e = slice(n, first, count);
        auto *off = llvm::PoisonValue::get(x->getType());
        if (width == 512) {
            return _b.CreateIntrinsic(id, {}, {x, e, off, mask, _b.getInt32(4)});
        }
        return _b.CreateIntrinsic(id, {}, {x, e, off, mask});
    });
}

/// The smaller or the larger of two floats, -0 below +0; of which one is unspecified when either is a NaN.
llvm::Value *Emitter::ordered_extremum(bool low, bool wide, llvm::Value *a, llvm::Value *b) {
    auto lanes = lanes_of(a);
    unsigned bits = wide ? 64 : 32;
    if (!_has_avx512dq || (!_has_avx512vl && lanes * bits < 512)) {
        // One comparison each way: only for equal operands, which differ in the sign of a zero, do the results
        // differ, and their signs are what has to be joined.
        auto *first = _b.CreateSelect(low ? _b.CreateFCmpOLT(a, b) : _b.CreateFCmpOGT(a, b), a, b);
        auto *second = _b.CreateSelect(low ? _b.CreateFCmpOLT(b, a) : _b.CreateFCmpOGT(b, a), b, a);
        auto *integer = widened(_b.getIntNTy(bits), a);
        auto *x = _b.CreateBitCast(first, integer), *y = _b.CreateBitCast(second, integer);
        return _b.CreateBitCast(low ? _b.CreateOr(x, y) : _b.CreateAnd(x, y), a->getType());
    }
    using namespace llvm::Intrinsic;
    unsigned width = _has_avx512vl ? std::clamp(std::bit_ceil(lanes * bits), 128u, 512u) : 512u;
    auto count = width / bits;
    llvm::Intrinsic::ID id =
        width == 512   ? (wide ? x86_avx512_mask_range_pd_512 : x86_avx512_mask_range_ps_512)
        : width == 256 ? (wide ? x86_avx512_mask_range_pd_256 : x86_avx512_mask_range_ps_256)
                       : (wide ? x86_avx512_mask_range_pd_128 : x86_avx512_mask_range_ps_128);
    auto *mask = llvm::Constant::getAllOnesValue(_b.getIntNTy(std::max(count, 8u)));
    // Bits 0 and 1 choose minimum or maximum, bits 2 and 3 the sign that it has.
    auto *kind = _b.getInt32(low ? 4 : 5);
    return by_parts(a->getType(), lanes, count, [&](unsigned first) -> llvm::Value * {
        auto *x = slice(a, first, count), *y = slice(b, first, count);
        auto *off = llvm::PoisonValue::get(x->getType());
        if (width == 512) {
            return _b.CreateIntrinsic(id, {}, {x, y, kind, off, mask, _b.getInt32(4)});
        }
        return _b.CreateIntrinsic(id, {}, {x, y, kind, off, mask});
    });
}

/// Products with powers of two, of which at most the last rounds: an exponent below the normal range
/// is approached in steps that leave it more than a fraction's width to go.
llvm::Value *Emitter::scale_by_products(llvm::Value *a, llvm::Value *n, bool wide) {
    int bias = wide ? 1023 : 127, fraction = wide ? 52 : 23, limit = wide ? 2200 : 300;
    auto *real = a->getType();
    auto *integer = widened(_b.getIntNTy(wide ? 64 : 32), a);
    auto constant = [&](int x) { return llvm::ConstantInt::getSigned(integer, x); };
    auto *high = llvm::ConstantFP::get(real, limit), *low = llvm::ConstantFP::get(real, -limit);
    n = _b.CreateSelect(_b.CreateFCmpOGT(n, high), high, n);
    n = _b.CreateSelect(_b.CreateFCmpOLT(n, low), low, n);
    llvm::Value *left = _b.CreateFPToSI(n, integer);
    auto multiply = [&](llvm::Value *k) {
        auto *power = _b.CreateShl(_b.CreateAdd(k, constant(bias)), constant(fraction));
        a = _b.CreateFMul(a, _b.CreateBitCast(power, real));
    };
    for (int step = 0; step < 2; ++step) {
        auto *too_low = _b.CreateICmpSLT(left, constant(1 - bias));
        auto *too_high = _b.CreateICmpSGT(left, constant(bias));
        auto *k = _b.CreateSelect(too_low, constant(1 - bias + fraction + 1),
                                  _b.CreateSelect(too_high, constant(bias), constant(0)));
        multiply(k);
        left = _b.CreateSub(left, k);
    }
    multiply(left);
    return a;
}

/// For what math programs scale: 2^-64 < |a| < 2^64, zeros, infinities and NaNs. The exponent is halved, so that the first
/// of two products stays in the normal range wherever the result is not zero or infinite, and the second rounds. It becomes
/// an integer in the last places of a sum: GPUs convert eight times as slowly.
llvm::Value *Emitter::scale_by_halves(llvm::Value *a, llvm::Value *n, bool wide) {
    int bias = wide ? 1023 : 127, fraction = wide ? 52 : 23, limit = wide ? 2044 : 252;
    auto *real = a->getType();
    auto *integer = widened(_b.getIntNTy(wide ? 64 : 32), a);
    auto constant = [&](int x) { return llvm::ConstantInt::getSigned(integer, x); };
    auto *high = llvm::ConstantFP::get(real, limit), *low = llvm::ConstantFP::get(real, -limit);
    if (wide) {
        n = _b.CreateSelect(_b.CreateFCmpOGT(n, high), high, n);
        n = _b.CreateSelect(_b.CreateFCmpOLT(n, low), low, n);
    } else {
        n = _b.CreateMaximum(_b.CreateMinimum(n, high), low);
    }
    auto *shift = llvm::ConstantFP::get(real, wide ? 0x1.8p52 : 0x1.8p23);
    auto *exponent = _b.CreateSub(_b.CreateBitCast(_b.CreateFAdd(n, shift), integer),
                                  _b.CreateBitCast(shift, integer));
    auto *half = _b.CreateAShr(exponent, 1);
    auto power = [&](llvm::Value *k) {
        auto *encoding = _b.CreateShl(_b.CreateAdd(k, constant(bias)), constant(fraction));
        return _b.CreateBitCast(encoding, real);
    };
    return _b.CreateFMul(_b.CreateFMul(a, power(half)), power(_b.CreateSub(exponent, half)));
}

/// A constant table in memory, one global for equal tables.
llvm::Value *Emitter::table_global(const std::vector<uint32_t> &entries) {
    auto *data = llvm::ConstantDataArray::get(_context, entries);
    auto *&global = _tables[data];
    if (!global) {
        // A GPU's threads may each want another entry: constant memory would give them one after the other.
        global = new llvm::GlobalVariable(*_module, data->getType(), true,
                                          llvm::GlobalValue::PrivateLinkage, data, "table", nullptr,
                                          llvm::GlobalValue::NotThreadLocal, _gpu ? 1u : 0u);
        global->setAlignment(llvm::Align(64));
    }
    return global;
}

llvm::Value *Emitter::table(const ir::Operation &op) {
    auto entries = op.get<ir::TablePayload>().entries;
    auto *index = operand(op, 0);
    auto *word = widened(_b.getInt32Ty(), index);
    auto lanes = lanes_of(index);
    auto *type = type_of(*op.result()->type());
    // Up to two registers' worth of entries permute in one instruction.
    if (_has_avx512 && lanes >= 8 && entries.size() <= 32) {
        bool pair = entries.size() > 16;
        entries.resize(pair ? 32 : 16);
        llvm::ArrayRef<uint32_t> all{entries};
        auto *first_half = llvm::ConstantDataVector::get(_context, all.take_front(16));
        auto *second_half = llvm::ConstantDataVector::get(_context, all.take_back(16));
        auto *value = by_parts(word, lanes, 16, [&](unsigned first) -> llvm::Value * {
            auto *i = slice(index, first, 16);
            return pair ? _b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_d_512, {},
                                             {first_half, i, second_half})
                        : _b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_permvar_si_512, {},
                                             {first_half, i});
        });
        return _b.CreateBitCast(value, type);
    }
    auto *address = _b.CreateGEP(_b.getInt32Ty(), table_global(entries), index);
    auto *value = word->isVectorTy() ? llvm::cast<llvm::Value>(
                                           _b.CreateMaskedGather(word, address, llvm::Align(4)))
                                     : _b.CreateLoad(word, address);
    return _b.CreateBitCast(value, type);
}

}// namespace luisa::tile::emit
