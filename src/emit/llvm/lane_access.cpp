// SPDX-License-Identifier: Apache-2.0
#include "emit/llvm/emitter.h"

#include <llvm/Analysis/VectorUtils.h>

#include <algorithm>

// Accesses of several neighbouring elements by one thread of a GPU: whole where all or none of them exist, else
// element by element.

namespace luisa::tile::emit {

using ir::Opcode;

/// Whether nothing writes what the operation reads while the kernel runs.
bool Emitter::reads_constant(const ir::Operation &op) const {
    const auto *address = op.operand(0)->definition();
    while (address && address->opcode() == Opcode::ADDRESS) {
        address = address->operand(0)->definition();
    }
    if (!_kernel || !address || address->opcode() != Opcode::ARGUMENT) {
        return false;
    }
    const auto &views = _kernel->constant_views;
    return std::find(views.begin(), views.end(), address->get<ir::IndexPayload>().index) !=
           views.end();
}

llvm::Value *Emitter::constant_load(llvm::LoadInst *load, const ir::Operation &op) {
    if (_gpu && reads_constant(op)) {
        load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(_context, {}));
    }
    return load;
}

llvm::Value *Emitter::whole_access(const ir::Operation &op, llvm::Value *address,
                                   llvm::Value *value, llvm::Value *mask, llvm::Value *other) {
    bool reads = !value;
    const auto &type = reads ? *op.result()->type() : *op.operand(1)->type();
    auto *memory = memory_type(type);
    if (_target.observed) {
        auto *result = observed_access(op, memory, address, value, mask, other);
        return reads ? from_memory(result, type.scalar) : nullptr;
    }
    if (mask) {
        return branch_around(op, address, value, mask, other);
    }
    llvm::Align align(op.get<ir::MemoryPayload>().align);
    if (!reads) {
        _b.CreateAlignedStore(value, address, align);
        return nullptr;
    }
    return from_memory(constant_load(_b.CreateAlignedLoad(memory, address, align), op),
                       type.scalar);
}

/// One element of a vector access: what is read, in the form that memory has.
llvm::Value *Emitter::lane_access(const ir::Operation &op, llvm::Value *address, llvm::Value *value,
                                  llvm::Value *mask, llvm::Value *other, llvm::Type *memory) {
    if (auto *known = llvm::dyn_cast_or_null<llvm::ConstantInt>(mask)) {
        if (known->isZero()) {
            return other;
        }
        mask = nullptr;
    }
    if (_target.observed) {
        return observed_access(op, memory, address, value, mask, other);
    }
    auto align = llvm::commonAlignment(llvm::Align(op.get<ir::MemoryPayload>().align),
                                       memory->getPrimitiveSizeInBits().getFixedValue() / 8);
    llvm::BasicBlock *before = _b.GetInsertBlock(), *inside = nullptr, *after = nullptr;
    if (mask) {
        inside = llvm::BasicBlock::Create(_context, "lane", _function);
        after = llvm::BasicBlock::Create(_context, "lane.end", _function);
        _b.CreateCondBr(mask, inside, after);
        _b.SetInsertPoint(inside);
    }
    llvm::Value *loaded = nullptr;
    if (value) {
        _b.CreateAlignedStore(value, address, align);
    } else {
        loaded = constant_load(_b.CreateAlignedLoad(memory, address, align), op);
    }
    if (!mask) {
        return loaded;
    }
    _b.CreateBr(after);
    _b.SetInsertPoint(after);
    if (value) {
        return nullptr;
    }
    auto *result = _b.CreatePHI(memory, 2);
    result->addIncoming(loaded, inside);
    result->addIncoming(other, before);
    return result;
}

/// Reads and writes of vectors, adjacent or indexed, masked or not.
llvm::Value *Emitter::thread_access(const ir::Operation &op) {
    const auto &payload = op.get<ir::MemoryPayload>();
    bool indexed = op.opcode() == Opcode::GATHER || op.opcode() == Opcode::SCATTER;
    bool reads = op.opcode() == Opcode::READ || op.opcode() == Opcode::GATHER;
    size_t next = indexed ? 2 : 1;
    const auto &type = reads ? *op.result()->type() : *op.operand(next)->type();
    auto *memory = memory_type(type);
    auto *element = memory->getScalarType();
    auto *address = operand(op, 0);
    auto *value = reads ? nullptr : to_memory(operand(op, next++), type.scalar);
    auto *mask = payload.masked ? operand(op, next++) : nullptr;
    auto *other = payload.masked && reads ? to_memory(operand(op, next), type.scalar) : nullptr;
    auto *common = mask ? llvm::getSplatValue(mask) : nullptr;
    if (auto *known = llvm::dyn_cast_or_null<llvm::ConstantInt>(common)) {
        if (known->isZero()) {
            return reads ? from_memory(other, type.scalar) : nullptr;
        }
        mask = common = nullptr;
    }
    if (!indexed && (!mask || common)) {
        return whole_access(op, address, value, common, other);
    }
    auto *indices = indexed ? operand(op, 1) : nullptr;
    llvm::Value *result = reads ? llvm::PoisonValue::get(memory) : nullptr;
    auto lane_of = [&](llvm::Value *vector, unsigned i) {
        return vector ? _b.CreateExtractElement(vector, uint64_t{i}) : nullptr;
    };
    for (unsigned i = 0; i < type.lanes; ++i) {
        auto *place = indices ? _b.CreateGEP(element, address, lane_of(indices, i))
                              : _b.CreateConstGEP1_64(element, address, i);
        auto *one = lane_access(op, place, lane_of(value, i), lane_of(mask, i), lane_of(other, i),
                                element);
        result = reads ? _b.CreateInsertElement(result, one, uint64_t{i}) : nullptr;
    }
    return reads ? from_memory(result, type.scalar) : nullptr;
}

}// namespace luisa::tile::emit
