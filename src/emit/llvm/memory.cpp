// SPDX-License-Identifier: Apache-2.0
#include "emit/llvm/emitter.h"

#include <llvm/IR/MDBuilder.h>

namespace luisa::tile::emit {

using ir::Opcode;

llvm::Value *Emitter::from_memory(llvm::Value *value, ScalarType type) {
    return type == ScalarType::BOOL
               ? _b.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()))
               : value;
}

llvm::Value *Emitter::to_memory(llvm::Value *value, ScalarType type) {
    return type == ScalarType::BOOL ? _b.CreateZExt(value, widened(_b.getInt8Ty(), value)) : value;
}

/// The one lane that a constant mask lets through, or -1.
static int only_lane(const llvm::Value *mask) {
    const auto *constant = llvm::dyn_cast_or_null<llvm::Constant>(mask);
    const auto *type = mask ? llvm::dyn_cast<llvm::FixedVectorType>(mask->getType()) : nullptr;
    int found = -1;
    for (unsigned i = 0; constant && type && i < type->getNumElements(); ++i) {
        const auto *lane = constant->getAggregateElement(i);
        if (!lane || (!lane->isNullValue() && !lane->isOneValue()) ||
            (lane->isOneValue() && found >= 0)) {
            return -1;
        }
        found = lane->isOneValue() ? static_cast<int>(i) : found;
    }
    return found;
}

llvm::Value *Emitter::constant(const ir::Operation &op) {
    const auto &type = *op.result()->type();
    auto *element = element_type(type.scalar);
    auto width = static_cast<unsigned>(element->getScalarSizeInBits());
    llvm::APInt bits(width, op.get<ir::ConstantPayload>().bits, false, true);
    llvm::Constant *scalar = llvm::ConstantInt::get(_context, bits);
    if (element->isFloatingPointTy()) {
        scalar = llvm::ConstantFP::get(_context, llvm::APFloat(element->getFltSemantics(), bits));
    }
    return type.is_vector()
               ? llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(type.lanes), scalar)
               : scalar;
}

llvm::Value *Emitter::lane_numbers(const ir::Type &type) {
    llvm::SmallVector<llvm::Constant *, 64> lanes;
    for (unsigned i = 0; i < type.lanes; ++i) {
        lanes.push_back(llvm::ConstantInt::get(element_type(type.scalar), i));
    }
    return llvm::ConstantVector::get(lanes);
}

/// The first `count` of the lanes: none where it is negative, all where it is larger.
llvm::Value *Emitter::lane_mask(llvm::Value *count, unsigned lanes) {
    if (auto *known = llvm::dyn_cast<llvm::ConstantInt>(count)) {
        llvm::SmallVector<llvm::Constant *, 64> bits;
        for (int64_t i = 0; i < lanes; ++i) {
            bits.push_back(_b.getInt1(i < known->getSExtValue()));
        }
        return llvm::ConstantVector::get(bits);
    }
    auto *positive = intrinsic(llvm::Intrinsic::smax, {count, _b.getInt64(0)});
    if (_has_avx512 && (lanes == 32 || lanes == 64)) {
        // A word of bits that a mask register takes, where comparing would take several vectors.
        auto *some = _b.CreateNot(_b.CreateShl(_b.getInt64(-1), _b.CreateAnd(positive, 63)));
        auto *all = _b.CreateICmpUGE(positive, _b.getInt64(lanes));
        auto *bits = _b.CreateSelect(all, _b.getInt64(-1), some);
        return _b.CreateBitCast(_b.CreateTrunc(bits, _b.getIntNTy(lanes)),
                                llvm::FixedVectorType::get(_b.getInt1Ty(), lanes));
    }
    auto *limited = intrinsic(llvm::Intrinsic::smin, {positive, _b.getInt64(lanes)});
    auto *narrow = _b.CreateTrunc(limited, _b.getInt32Ty());
    llvm::SmallVector<uint32_t, 64> numbers;
    for (unsigned i = 0; i < lanes; ++i) {
        numbers.push_back(i);
    }
    return _b.CreateICmpULT(llvm::ConstantDataVector::get(_context, numbers),
                            _b.CreateVectorSplat(lanes, narrow));
}

llvm::Value *Emitter::address(const ir::Operation &op) {
    const auto &payload = op.get<ir::AddressPayload>();
    auto *address = operand(op, 0);
    if (op.operand_count() > 1) {
        auto scale = payload.scale;
        if (scale == 1 || scale == 2 || scale == 4 || scale == 8) {
            auto *unit = _b.getIntNTy(static_cast<unsigned>(8 * scale));
            address = _b.CreateGEP(unit, address, operand(op, 1));
        } else {
            auto *bytes = multiple_of(op.operand(1), scale);
            address = _b.CreateGEP(_b.getInt8Ty(), address, bytes);
        }
    }
    return payload.offset ? _b.CreateGEP(_b.getInt8Ty(), address,
                                         _b.getInt64(static_cast<uint64_t>(payload.offset)))
                          : address;
}

llvm::Value *Emitter::memory(const ir::Operation &op) {
    auto *result = op.result_count() ? op.result()->type() : nullptr;
    switch (op.opcode()) {
        case Opcode::CONSTANT: return constant(op);
        case Opcode::LANES: return lane_numbers(*result);
        case Opcode::LANE_MASK: return lane_mask(operand(op, 0), result->lanes);
        case Opcode::SPLAT: return _b.CreateVectorSplat(result->lanes, operand(op, 0));
        case Opcode::EXTRACT_LANE:
            return _b.CreateExtractElement(operand(op, 0),
                                           static_cast<uint64_t>(op.get<ir::IndexPayload>().index));
        case Opcode::INSERT_LANE:
            return _b.CreateInsertElement(operand(op, 0), operand(op, 1),
                                          static_cast<uint64_t>(op.get<ir::IndexPayload>().index));
        case Opcode::SHUFFLE:
            return _b.CreateShuffleVector(operand(op, 0), operand(op, 1),
                                          op.get<ir::ShufflePayload>().lanes);
        case Opcode::REDUCE_LANES: return reduce_lanes(op);
        case Opcode::SCALE: return scale(op);
        case Opcode::TABLE: return table(op);
        case Opcode::REGROUP: return _b.CreateBitCast(operand(op, 0), type_of(*result));
        case Opcode::DOT: return dot(op);
        case Opcode::MATRIX: matrix(op); return nullptr;
        case Opcode::ARGUMENT: {
            auto word = op.get<ir::IndexPayload>().index;
            auto *address = _b.CreateConstGEP1_64(_b.getInt64Ty(), operand(op, 0),
                                                  static_cast<uint64_t>(word));
            auto *load = _b.CreateAlignedLoad(memory_type(*result), address, llvm::Align(8));
            load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                              llvm::MDNode::get(_context, {}));
            return _gpu && result->is_pointer() ? global_pointer(load)
                                                : from_memory(load, result->scalar);
        }
        case Opcode::ADDRESS: return address(op);
        case Opcode::READ:
        case Opcode::WRITE:
        case Opcode::GATHER:
        case Opcode::SCATTER: return access(op);
        case Opcode::ATOMIC_READ: return atomic_read(op);
        case Opcode::ATOMIC_UPDATE: return atomic_update(op);
        case Opcode::REPORT: report(op); return nullptr;
        case Opcode::PARTICIPANT:
        case Opcode::PARTICIPANTS:
        case Opcode::BARRIER:
        case Opcode::SHARED:
        case Opcode::EXCHANGE_LANES: return _gpu ? team(op) : host_team(op);
        case Opcode::COPY_ASYNC:
        case Opcode::COPY_COMMIT:
        case Opcode::COPY_WAIT: return _gpu ? gpu_copy(op) : host_copy(op);
        case Opcode::LOAD_MATRIX: return _gpu ? gpu_load_matrix(op) : host_load_matrix(op);
        case Opcode::MULTIPLY_MATRIX:
            return _gpu ? gpu_multiply_matrix(op) : host_multiply_matrix(op);
        case Opcode::PANEL_DESCRIPTOR:
        case Opcode::PANELS_FENCE:
        case Opcode::MULTIPLY_PANELS:
        case Opcode::PANELS_COMMIT:
        case Opcode::PANELS_WAIT:
        case Opcode::COPIES_VISIBLE: return _gpu ? gpu_panels(op) : host_panels(op);
        case Opcode::PREFETCH: {
            if (_gpu) {
                return gpu_prefetch(operand(op, 0));
            }
            const auto &payload = op.get<ir::PrefetchPayload>();
            auto locality = payload.level == 1 ? 3u : 2u;
            return _b.CreateIntrinsic(llvm::Intrinsic::prefetch, {_b.getPtrTy()},
                                      {operand(op, 0), _b.getInt32(payload.exclusive),
                                       _b.getInt32(locality), _b.getInt32(1)});
        }
        default: internal_error(std::string{op.name()} + " is not emitted");
    }
}

/// Reads and writes of scalars and vectors, adjacent or indexed, masked or not.
llvm::Value *Emitter::access(const ir::Operation &op) {
    const auto &payload = op.get<ir::MemoryPayload>();
    bool indexed = op.opcode() == Opcode::GATHER || op.opcode() == Opcode::SCATTER;
    bool reads = op.opcode() == Opcode::READ || op.opcode() == Opcode::GATHER;
    size_t next = indexed ? 2 : 1;
    const auto &type = reads ? *op.result()->type() : *op.operand(next)->type();
    auto *memory = memory_type(type);
    if (memory->isVectorTy() && (_gpu || _target.observed)) {
        return thread_access(op);
    }
    auto *address = operand(op, 0);
    if (indexed) {
        address = _b.CreateGEP(memory->getScalarType(), address, operand(op, 1));
    }
    llvm::Align align(payload.align);
    auto lanes_bytes = size_of(type.scalar) * (type.is_vector() ? type.lanes : 1u);
    llvm::Value *value = reads ? nullptr : to_memory(operand(op, next++), type.scalar);
    llvm::Value *mask = payload.masked ? operand(op, next++) : nullptr;
    llvm::Value *other = payload.masked && reads ? to_memory(operand(op, next), type.scalar)
                                                 : nullptr;
    if (auto *known = llvm::dyn_cast_or_null<llvm::Constant>(mask); known && known->isNullValue()) {
        // Left to LLVM 22, what follows from the fallback alone is folded late, and a NaN's bits to 0.
        return reads ? from_memory(other, type.scalar) : nullptr;
    }
    if (_target.observed) {
        auto *result = observed_access(op, memory, address, value, mask, other);
        return reads ? from_memory(result, type.scalar) : nullptr;
    }
    if (int lane = only_lane(mask); lane >= 0 && !reads && !indexed) {
        // LLVM 22 writes a truncated element in the width that it had before, over its neighbour.
        auto *element = _b.CreateExtractElement(value, static_cast<uint64_t>(lane));
        address = _b.CreateConstGEP1_64(memory->getScalarType(), address,
                                        static_cast<uint64_t>(lane));
        _b.CreateAlignedStore(
            element, address,
            llvm::commonAlignment(align, size_of(type.scalar) * static_cast<uint64_t>(lane)));
        return nullptr;
    }
    if (_gpu && mask) {
        return branch_around(op, address, value, mask, other);
    }
    llvm::Instruction *instruction = nullptr;
    bool scalar_masked = mask && !memory->isVectorTy();
    // On a GPU each thread has an index of its own.
    indexed = indexed && (memory->isVectorTy() || scalar_masked);
    if (scalar_masked) {
        // One lane: the code generator turns it into a branch around the access.
        memory = llvm::FixedVectorType::get(memory, 1);
        mask = _b.CreateVectorSplat(1, mask);
        other = other ? _b.CreateVectorSplat(1, other) : nullptr;
        value = value ? _b.CreateVectorSplat(1, value) : nullptr;
    }
    if (indexed) {
        instruction = reads ? _b.CreateMaskedGather(memory, address, align, mask, other)
                            : _b.CreateMaskedScatter(value, address, align, mask);
    } else if (mask) {
        instruction = reads ? _b.CreateMaskedLoad(memory, address, align, mask, other)
                            : _b.CreateMaskedStore(value, address, align, mask);
    } else {
        instruction = reads ? llvm::cast<llvm::Instruction>(
                                  constant_load(_b.CreateAlignedLoad(memory, address, align), op))
                            : _b.CreateAlignedStore(value, address, align);
        // A non-temporal access that is not aligned would be split into scalars.
        if (payload.streaming && payload.align >= lanes_bytes) {
            auto *one = llvm::ConstantAsMetadata::get(_b.getInt32(1));
            instruction->setMetadata(llvm::LLVMContext::MD_nontemporal,
                                     llvm::MDNode::get(_context, one));
        }
    }
    if (!reads) {
        return nullptr;
    }
    llvm::Value *loaded = instruction;
    if (scalar_masked) {
        loaded = _b.CreateExtractElement(loaded, uint64_t{0});
    }
    return from_memory(loaded, type.scalar);
}

}// namespace luisa::tile::emit
