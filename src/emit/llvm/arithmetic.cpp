// SPDX-License-Identifier: Apache-2.0
#include "emit/llvm/emitter.h"

#include <bit>

namespace luisa::tile::emit {

using ir::Opcode;
using llvm::Intrinsic::ID;

llvm::Value *Emitter::arithmetic(const ir::Operation &op) {
    auto type = op.operand(0)->scalar();
    auto *a = operand(op, 0);
    auto *b = op.operand_count() > 1 ? operand(op, 1) : nullptr;
    auto *c = op.operand_count() > 2 ? operand(op, 2) : nullptr;
    bool real = is_float(type);
    require(!real || size_of(type) >= 4 || op.opcode() == Opcode::CAST ||
                op.opcode() == Opcode::QUANTIZE || op.opcode() == Opcode::BITCAST,
            "narrow floats only convert and move in Machine form");
    switch (op.opcode()) {
        case Opcode::ADD: return real ? _b.CreateFAdd(a, b) : _b.CreateAdd(a, b);
        case Opcode::SUB: return real ? _b.CreateFSub(a, b) : _b.CreateSub(a, b);
        case Opcode::MUL: return real ? _b.CreateFMul(a, b) : _b.CreateMul(a, b);
        case Opcode::DIV:
            return real ? _b.CreateFDiv(a, b) : divide(op.opcode(), type, a, b, op.operand(1));
        case Opcode::REM:
        case Opcode::FLOOR_DIV:
        case Opcode::FLOOR_MOD:
        case Opcode::CEIL_DIV: return divide(op.opcode(), type, a, b, op.operand(1));
        case Opcode::MINIMUM:
        case Opcode::MAXIMUM:
        case Opcode::FMIN:
        case Opcode::FMAX: return extremum(op.opcode(), type, a, b);
        case Opcode::AND: return _b.CreateAnd(a, b);
        case Opcode::OR: return _b.CreateOr(a, b);
        case Opcode::XOR: return _b.CreateXor(a, b);
        case Opcode::NOT: return _b.CreateNot(a);
        case Opcode::SHL:
        case Opcode::SHR: return shift(op, type, a, b);
        case Opcode::LT:
        case Opcode::LE:
        case Opcode::GT:
        case Opcode::GE:
        case Opcode::EQ:
        case Opcode::NE: return compare(op.opcode(), type, a, b);
        case Opcode::NEG: return real ? _b.CreateFNeg(a) : _b.CreateNeg(a);
        case Opcode::ABS:
            if (real) {
                return intrinsic(llvm::Intrinsic::fabs, {a});
            }
            return is_signed(type) ? _b.CreateIntrinsic(llvm::Intrinsic::abs, {a->getType()},
                                                        {a, _b.getFalse()})
                                   : a;
        case Opcode::FMA: return intrinsic(llvm::Intrinsic::fma, {a, b, c});
        case Opcode::SQRT: return intrinsic(llvm::Intrinsic::sqrt, {a});
        case Opcode::FLOOR: return intrinsic(llvm::Intrinsic::floor, {a});
        case Opcode::CEIL: return intrinsic(llvm::Intrinsic::ceil, {a});
        case Opcode::RINT: return intrinsic(llvm::Intrinsic::roundeven, {a});
        case Opcode::TRUNC: return intrinsic(llvm::Intrinsic::trunc, {a});
        case Opcode::ITE:
            // LLVM makes a minimum of x < 0 ? x : 0 for GPUs, which differs where x is -0; not of what it cannot see.
            return _b.CreateSelect(_gpu && is_float(op.result()->scalar()) ? _b.CreateFreeze(a) : a,
                                   b, c);
        case Opcode::CAST: return cast(a, type, op.result()->scalar());
        case Opcode::BITCAST: return bit_cast(op, a);
        case Opcode::QUANTIZE:
            return quantize(a, type, op.result()->scalar(), op.get<ir::QuantizePayload>().saturate);
        default: internal_error(std::string{op.name()} + " is not emitted");
    }
}

namespace {

struct Divisor {
    bool safe = false;///< a constant other than 0 and -1: needs no guard
    int shift = -1;   ///< log2 of a positive constant power of two
};

Divisor describe(const ir::Value *divisor) {
    const auto *op = divisor->definition();
    while (op && op->opcode() == Opcode::SPLAT) {
        op = op->operand(0)->definition();
    }
    if (!op || op->opcode() != Opcode::CONSTANT) {
        return {};
    }
    auto width = info(divisor->scalar()).bits;
    auto ones = ~uint64_t{0} >> (64 - width);
    auto bits = op->get<ir::ConstantPayload>().bits & ones;
    bool positive = !is_signed(divisor->scalar()) || bits >> (width - 1) == 0;
    return {bits != 0 && bits != ones,
            positive && std::has_single_bit(bits) ? std::countr_zero(bits) : -1};
}

}// namespace

/// Integer division that never traps: x / 0 = 0, x % 0 = 0, MIN / -1 = MIN, MIN % -1 = 0.
llvm::Value *Emitter::divide(Opcode op, ScalarType type, llvm::Value *a, llvm::Value *b,
                             const ir::Value *divisor) {
    bool is_signed_type = is_signed(type);
    auto *zero = integer_like(a, 0), *one = integer_like(a, 1);
    llvm::Value *by_zero = nullptr, *by_minus_one = nullptr, *safe = b;
    auto known = describe(divisor);
    if (known.shift >= 0 && (op == Opcode::FLOOR_DIV || op == Opcode::FLOOR_MOD)) {
        auto *count = integer_like(a, static_cast<uint64_t>(known.shift));
        return op == Opcode::FLOOR_MOD ? _b.CreateAnd(a, _b.CreateSub(b, one))
               : is_signed_type        ? _b.CreateAShr(a, count)
                                       : _b.CreateLShr(a, count);
    }
    if (!known.safe) {
        by_zero = _b.CreateICmpEQ(b, zero);
        safe = _b.CreateSelect(by_zero, one, b);
        if (is_signed_type) {
            by_minus_one = _b.CreateICmpEQ(b, llvm::Constant::getAllOnesValue(b->getType()));
            safe = _b.CreateSelect(by_minus_one, one, safe);
        }
    }
    auto *quotient = is_signed_type ? _b.CreateSDiv(a, safe) : _b.CreateUDiv(a, safe);
    auto *rest = _b.CreateSub(a, _b.CreateMul(quotient, safe));
    if (by_minus_one) {
        quotient = _b.CreateSelect(by_minus_one, _b.CreateNeg(a), quotient);
        rest = _b.CreateSelect(by_minus_one, zero, rest);
    }
    auto *inexact = _b.CreateICmpNE(rest, zero);
    auto *signs_differ = is_signed_type ? _b.CreateICmpSLT(_b.CreateXor(a, b), zero)
                                        : llvm::Constant::getNullValue(inexact->getType());
    llvm::Value *result = nullptr;
    switch (op) {
        case Opcode::DIV: result = quotient; break;
        case Opcode::REM: result = rest; break;
        case Opcode::FLOOR_DIV: {
            auto *down = _b.CreateAnd(inexact, signs_differ);
            result = _b.CreateSub(quotient, _b.CreateZExt(down, a->getType()));
            break;
        }
        case Opcode::CEIL_DIV: {
            auto *up = _b.CreateAnd(inexact, _b.CreateNot(signs_differ));
            result = _b.CreateAdd(quotient, _b.CreateZExt(up, a->getType()));
            break;
        }
        default: {
            auto *wrap = _b.CreateAnd(inexact, signs_differ);
            result = _b.CreateSelect(wrap, _b.CreateAdd(rest, b), rest);
        }
    }
    return by_zero ? _b.CreateSelect(by_zero, zero, result) : result;
}

llvm::Value *Emitter::shift(const ir::Operation &op, ScalarType type, llvm::Value *a,
                            llvm::Value *b) {
    auto width = info(type).bits;
    bool left = op.opcode() == Opcode::SHL;
    bool arithmetic_shift = !left && is_signed(type);
    auto *inside = _b.CreateICmpULT(b, integer_like(b, width));
    // An arithmetic shift by the width or more fills with the sign: the same as by width - 1.
    auto *limit = integer_like(b, arithmetic_shift ? width - 1u : 0u);
    auto *count = _b.CreateSelect(inside, b, limit);
    auto *shifted = left               ? _b.CreateShl(a, count)
                    : arithmetic_shift ? _b.CreateAShr(a, count)
                                       : _b.CreateLShr(a, count);
    return arithmetic_shift ? shifted : _b.CreateSelect(inside, shifted, integer_like(a, 0));
}

llvm::Value *Emitter::extremum(Opcode op, ScalarType type, llvm::Value *a, llvm::Value *b) {
    bool low = op == Opcode::MINIMUM || op == Opcode::FMIN;
    if (!is_float(type)) {
        ID id = is_signed(type) ? (low ? llvm::Intrinsic::smin : llvm::Intrinsic::smax)
                                : (low ? llvm::Intrinsic::umin : llvm::Intrinsic::umax);
        return intrinsic(id, {a, b});
    }
    if (_gpu && size_of(type) == 4) {
        return gpu_extremum(op, a, b);
    }
    bool own = _is_x86 || _gpu;
    if (op == Opcode::FMIN || op == Opcode::FMAX) {
        if (!own) {
            return intrinsic(low ? llvm::Intrinsic::minimumnum : llvm::Intrinsic::maximumnum,
                             {a, b});
        }
        // LLVM 22 gets its own wrong for a NaN beside a constant. Of one NaN the other operand is left.
        auto *a_nan = _b.CreateFCmpUNO(a, a), *b_nan = _b.CreateFCmpUNO(b, b);
        auto *one = _b.CreateSelect(b_nan, a, ordered_extremum(low, size_of(type) == 8, a, b));
        return _b.CreateSelect(a_nan, _b.CreateSelect(b_nan, _b.CreateFAdd(a, b), b), one);
    }
    // The instructions ignore a NaN or hand a signalling one on; a sum quiets it.
    auto *result = own   ? ordered_extremum(low, size_of(type) == 8, a, b)
                   : low ? intrinsic(llvm::Intrinsic::minimum, {a, b})
                         : intrinsic(llvm::Intrinsic::maximum, {a, b});
    return _b.CreateSelect(_b.CreateFCmpUNO(a, b), _b.CreateFAdd(a, b), result);
}

llvm::Value *Emitter::compare(Opcode op, ScalarType type, llvm::Value *a, llvm::Value *b) {
    struct Predicates {
        llvm::CmpInst::Predicate real, signed_integer, unsigned_integer;
    };
    static constexpr Predicates table[] = {
        {llvm::CmpInst::FCMP_OLT, llvm::CmpInst::ICMP_SLT, llvm::CmpInst::ICMP_ULT},
        {llvm::CmpInst::FCMP_OLE, llvm::CmpInst::ICMP_SLE, llvm::CmpInst::ICMP_ULE},
        {llvm::CmpInst::FCMP_OGT, llvm::CmpInst::ICMP_SGT, llvm::CmpInst::ICMP_UGT},
        {llvm::CmpInst::FCMP_OGE, llvm::CmpInst::ICMP_SGE, llvm::CmpInst::ICMP_UGE},
        {llvm::CmpInst::FCMP_OEQ, llvm::CmpInst::ICMP_EQ, llvm::CmpInst::ICMP_EQ},
        {llvm::CmpInst::FCMP_UNE, llvm::CmpInst::ICMP_NE, llvm::CmpInst::ICMP_NE},
    };
    const auto &row = table[static_cast<size_t>(op) - static_cast<size_t>(Opcode::LT)];
    if (is_float(type)) {
        return _b.CreateFCmp(row.real, a, b);
    }
    return _b.CreateICmp(is_signed(type) ? row.signed_integer : row.unsigned_integer, a, b);
}

llvm::Value *Emitter::combine(Reducer reducer, ScalarType type, llvm::Value *a, llvm::Value *b) {
    switch (reducer) {
        case Reducer::ADD: return is_float(type) ? _b.CreateFAdd(a, b) : _b.CreateAdd(a, b);
        case Reducer::MULTIPLY: return is_float(type) ? _b.CreateFMul(a, b) : _b.CreateMul(a, b);
        case Reducer::MINIMUM: return extremum(Opcode::MINIMUM, type, a, b);
        case Reducer::MAXIMUM: return extremum(Opcode::MAXIMUM, type, a, b);
        case Reducer::FMIN: return extremum(Opcode::FMIN, type, a, b);
        case Reducer::FMAX: return extremum(Opcode::FMAX, type, a, b);
        case Reducer::LOGICAL_AND:
        case Reducer::BIT_AND: return _b.CreateAnd(a, b);
        case Reducer::LOGICAL_OR:
        case Reducer::BIT_OR: return _b.CreateOr(a, b);
        case Reducer::BIT_XOR: return _b.CreateXor(a, b);
        default: internal_error("argmin and argmax do not combine lanes");
    }
}

llvm::Value *Emitter::reduce_lanes(const ir::Operation &op) {
    auto *value = operand(op, 0);
    auto type = op.operand(0)->scalar();
    auto lanes = llvm::cast<llvm::FixedVectorType>(value->getType())->getNumElements();
    for (unsigned half = lanes / 2; half >= 1; half /= 2) {
        llvm::SmallVector<int, 64> low, high;
        for (unsigned i = 0; i < half; ++i) {
            low.push_back(static_cast<int>(i));
            high.push_back(static_cast<int>(i + half));
        }
        value = combine(op.get<ir::LaneReducePayload>().reducer, type,
                        _b.CreateShuffleVector(value, low), _b.CreateShuffleVector(value, high));
    }
    return _b.CreateExtractElement(value, uint64_t{0});
}

llvm::Value *Emitter::bit_cast(const ir::Operation &op, llvm::Value *a) {
    // A bool is one bit in a register and a byte of 0 or 1 as bits.
    auto to = op.result()->scalar();
    a = to_memory(a, op.operand(0)->scalar());
    auto *target = to == ScalarType::BOOL ? a->getType() : type_of(*op.result()->type());
    return from_memory(_b.CreateBitCast(a, target), to);
}

}// namespace luisa::tile::emit
