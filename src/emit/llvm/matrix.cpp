// SPDX-License-Identifier: Apache-2.0
#include "emit/llvm/emitter.h"

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

// Copies past the registers, and matrices that the threads of a warp hold together.

namespace luisa::tile::emit {

using ir::Opcode;

namespace {

enum AddressSpace : unsigned { GLOBAL = 1, SHARED = 3 };

const target::MatrixAtom &atom_of(const ir::Operation &op) {
    const auto &shape = op.get<ir::MultiplyMatrixPayload>();
    const auto *atom = target::find_atom(op.operand(0)->scalar(), op.operand(1)->scalar(),
                                         op.result()->scalar(), shape.m, shape.n, shape.k);
    require(atom != nullptr, "multiply_matrix names no row of the table of atoms");
    return *atom;
}

}// namespace

llvm::Value *Emitter::gpu_copy(const ir::Operation &op) {
    using namespace llvm::Intrinsic;
    if (op.opcode() == Opcode::COPY_COMMIT) {
        return _b.CreateIntrinsic(nvvm_cp_async_commit_group, llvm::ArrayRef<llvm::Type *>{}, {});
    }
    if (op.opcode() == Opcode::COPY_WAIT) {
        auto groups = static_cast<uint32_t>(op.get<ir::IndexPayload>().index);
        return _b.CreateIntrinsic(nvvm_cp_async_wait_group, llvm::ArrayRef<llvm::Type *>{},
                                  {_b.getInt32(groups)});
    }
    auto *to = _b.CreateAddrSpaceCast(operand(op, 0), _b.getPtrTy(SHARED));
    auto *from = _b.CreateAddrSpaceCast(operand(op, 1), _b.getPtrTy(GLOBAL));
    auto bytes = op.get<ir::CopyPayload>().bytes;
    if (op.operand_count() == 2) {
        ID id = bytes == 16  ? nvvm_cp_async_cg_shared_global_16
                : bytes == 8 ? nvvm_cp_async_ca_shared_global_8
                             : nvvm_cp_async_ca_shared_global_4;
        return _b.CreateIntrinsic(id, llvm::ArrayRef<llvm::Type *>{}, {to, from});
    }
    ID id = bytes == 16  ? nvvm_cp_async_cg_shared_global_16_s
            : bytes == 8 ? nvvm_cp_async_ca_shared_global_8_s
                         : nvvm_cp_async_ca_shared_global_4_s;
    auto *count = _b.CreateTrunc(operand(op, 2), _b.getInt32Ty());
    return _b.CreateIntrinsic(id, llvm::ArrayRef<llvm::Type *>{}, {to, from, count});
}

llvm::Value *Emitter::gpu_load_matrix(const ir::Operation &op) {
    using namespace llvm::Intrinsic;
    static constexpr ID ids[2][3] = {
        {nvvm_ldmatrix_sync_aligned_m8n8_x1_b16, nvvm_ldmatrix_sync_aligned_m8n8_x2_b16,
         nvvm_ldmatrix_sync_aligned_m8n8_x4_b16},
        {nvvm_ldmatrix_sync_aligned_m8n8_x1_trans_b16, nvvm_ldmatrix_sync_aligned_m8n8_x2_trans_b16,
         nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16}};
    const auto &payload = op.get<ir::LoadMatrixPayload>();
    auto *from = _b.CreateAddrSpaceCast(operand(op, 0), _b.getPtrTy(SHARED));
    auto id = ids[payload.transposed ? 1 : 0][payload.count / 2];
    llvm::Value *loaded = _b.CreateIntrinsic(id, {from->getType()}, {from});
    auto *words = llvm::FixedVectorType::get(_b.getInt32Ty(), payload.count);
    llvm::Value *all = llvm::PoisonValue::get(words);
    for (unsigned i = 0; i < payload.count; ++i) {
        auto *word = payload.count == 1 ? loaded : _b.CreateExtractValue(loaded, i);
        all = _b.CreateInsertElement(all, word, uint64_t{i});
    }
    return _b.CreateBitCast(all, type_of(*op.result()->type()));
}

/// Parts of a value that each fill a register of the instruction.
static std::vector<llvm::Value *> registers_of(llvm::IRBuilder<> &b, llvm::Value *value) {
    auto bits = static_cast<unsigned>(value->getType()->getPrimitiveSizeInBits().getFixedValue());
    auto *scalar = value->getType()->getScalarType();
    bool narrow = scalar->getPrimitiveSizeInBits() < 32;
    auto *part = narrow ? b.getInt32Ty() : scalar;
    auto count = bits / static_cast<unsigned>(part->getPrimitiveSizeInBits().getFixedValue());
    auto *parts = b.CreateBitCast(value, llvm::FixedVectorType::get(part, count));
    std::vector<llvm::Value *> found;
    for (unsigned i = 0; i < count; ++i) {
        found.push_back(b.CreateExtractElement(parts, uint64_t{i}));
    }
    return found;
}

static const char *constraint_of(const llvm::Type *type) {
    return type->isDoubleTy() ? "d" : type->isFloatTy() ? "f" : "r";
}

llvm::Value *Emitter::gpu_multiply_matrix(const ir::Operation &op) {
    const auto &atom = atom_of(op);
    auto a = registers_of(_b, operand(op, 0)), b = registers_of(_b, operand(op, 1));
    auto sums = registers_of(_b, operand(op, 2));
    if (atom.fraction_bits > 0) {
        for (auto *side : {&a, &b}) {
            for (auto *&value : *side) {
                value = _b.CreateIntrinsic(llvm::Intrinsic::nvvm_f2tf32_rna,
                                           llvm::ArrayRef<llvm::Type *>{}, {value});
            }
        }
    }
    size_t next = 0;
    auto list = [&](size_t count) {
        std::string text = "{";
        for (size_t i = 0; i < count; ++i) {
            text += (i ? ", $" : "$") + std::to_string(next++);
        }
        return text + "}";
    };
    auto text = atom.instruction() + " " + list(sums.size());
    text += ", " + list(a.size());
    text += ", " + list(b.size());
    text += ", " + list(sums.size()) + ";";
    std::string constraints;
    std::vector<llvm::Type *> results(sums.size(), sums.front()->getType()), types;
    for (size_t i = 0; i < sums.size(); ++i) {
        constraints += std::string{i ? "," : ""} + "=" + constraint_of(sums[i]->getType());
    }
    std::vector<llvm::Value *> arguments;
    for (const auto *part : {&a, &b, &sums}) {
        for (auto *value : *part) {
            constraints += std::string{","} + constraint_of(value->getType());
            arguments.push_back(value);
            types.push_back(value->getType());
        }
    }
    bool one = results.size() == 1;
    llvm::Type *result = one ? results.front() : llvm::StructType::get(_context, results);
    auto *type = llvm::FunctionType::get(result, types, false);
    auto *call = _b.CreateCall(type, llvm::InlineAsm::get(type, text, constraints, false),
                               arguments);
    call->addFnAttr(llvm::Attribute::Convergent);
    call->setDoesNotAccessMemory();
    llvm::Value *all = llvm::PoisonValue::get(
        llvm::FixedVectorType::get(results.front(), static_cast<unsigned>(results.size())));
    for (unsigned i = 0; i < results.size(); ++i) {
        auto *part = one ? static_cast<llvm::Value *>(call) : _b.CreateExtractValue(call, i);
        all = _b.CreateInsertElement(all, part, uint64_t{i});
    }
    return _b.CreateBitCast(all, type_of(*op.result()->type()));
}

llvm::Value *Emitter::stack_room(llvm::Type *type) {
    auto before = _b.saveIP();
    auto &entry = _function->getEntryBlock();
    _b.SetInsertPoint(&entry, entry.begin());
    auto *room = _b.CreateAlloca(type);
    room->setAlignment(llvm::Align(16));
    _b.restoreIP(before);
    return room;
}

llvm::Value *Emitter::host_copy(const ir::Operation &op) {
    auto *none = _b.getVoidTy();
    if (op.opcode() == Opcode::COPY_COMMIT) {
        return call_team(TeamCall::COPY_COMMIT, none, {});
    }
    if (op.opcode() == Opcode::COPY_WAIT) {
        auto groups = static_cast<uint32_t>(op.get<ir::IndexPayload>().index);
        return call_team(TeamCall::COPY_WAIT, none, {_b.getInt32(groups)});
    }
    auto bytes = op.get<ir::CopyPayload>().bytes;
    auto *count = op.operand_count() == 3 ? operand(op, 2) : _b.getInt64(bytes);
    return call_team(TeamCall::COPY, none,
                     {operand(op, 0), operand(op, 1), _b.getInt32(bytes), count,
                      address_of(_target.observed ? &op : nullptr)});
}

llvm::Value *Emitter::host_load_matrix(const ir::Operation &op) {
    const auto &payload = op.get<ir::LoadMatrixPayload>();
    auto *type = type_of(*op.result()->type());
    auto *room = stack_room(type);
    call_team(TeamCall::LOAD_MATRIX, _b.getVoidTy(),
              {operand(op, 0), _b.getInt32(payload.count), _b.getInt32(payload.transposed), room,
               address_of(_target.observed ? &op : nullptr)});
    return _b.CreateAlignedLoad(type, room, llvm::Align(16));
}

llvm::Value *Emitter::host_multiply_matrix(const ir::Operation &op) {
    auto number = &atom_of(op) - target::matrix_atoms().data();
    std::vector<llvm::Value *> rooms;
    for (size_t i = 0; i < 3; ++i) {
        rooms.push_back(stack_room(operand(op, i)->getType()));
        _b.CreateAlignedStore(operand(op, i), rooms.back(), llvm::Align(16));
    }
    call_team(TeamCall::MULTIPLY_MATRIX, _b.getVoidTy(),
              {_b.getInt32(static_cast<uint32_t>(number)), rooms[0], rooms[1], rooms[2]});
    return _b.CreateAlignedLoad(operand(op, 2)->getType(), rooms[2], llvm::Align(16));
}

}// namespace luisa::tile::emit
