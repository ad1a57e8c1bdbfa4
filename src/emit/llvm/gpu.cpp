// SPDX-License-Identifier: Apache-2.0
#include "emit/llvm/emitter.h"

#include <llvm/IR/IntrinsicsNVPTX.h>

#include <algorithm>

// What differs in code for NVIDIA GPUs: kernels and their arguments, threads, shared memory, reports.

namespace luisa::tile::emit {

using ir::Opcode;

namespace {

enum AddressSpace : unsigned { GENERIC = 0, GLOBAL = 1, SHARED = 3 };

template<class F> void each_operation(const ir::Region &region, const F &f) {
    for (auto *op : region) {
        f(*op);
        for (auto *inner : op->regions()) {
            each_operation(*inner, f);
        }
    }
}

}// namespace

void Emitter::begin_gpu_module(const ir::Module &machine) {
    _scope = _context.getOrInsertSyncScopeID("device");
    for (const auto &function : machine.functions()) {
        each_operation(*function.body, [&](const ir::Operation &op) {
            if (op.opcode() == Opcode::REPORT) {
                size_t values = op.operand_count() - op.get<ir::ReportPayload>().checks;
                _report_values = std::max(_report_values, values);
                _reports = true;
            }
        });
    }
}

/// The argument words come by value, those that a launch adds last; memory of the launch as a pointer.
void Emitter::mark_kernel(const ir::Function &function) {
    require(_function->arg_size() == 1 || _function->arg_size() == 2,
            "a kernel takes the argument block and scratch memory");
    const auto &kernels = _gpu->kernels;
    auto known = std::find_if(kernels.begin(), kernels.end(),
                              [&](const auto &k) { return k.function == function.name; });
    _kernel = known == kernels.end() ? nullptr : &*known;
    _function->setCallingConv(llvm::CallingConv::PTX_Kernel);
    auto words = std::max<size_t>(_gpu->argument_words + (_reports ? 1 : 0), 1);
    auto *block = llvm::ArrayType::get(_b.getInt64Ty(), words);
    _function->addParamAttr(0, llvm::Attribute::getWithByValType(_context, block));
    _function->addParamAttr(0, llvm::Attribute::getWithAlignment(_context, llvm::Align(8)));
    if (_function->arg_size() == 2) {
        _function->addParamAttr(1, llvm::Attribute::NoAlias);
        _function->addParamAttr(1, llvm::Attribute::getWithAlignment(_context, llvm::Align(128)));
    }
    if (_kernel && _kernel->threads > 0) {
        _function->addFnAttr("nvvm.maxntid", std::to_string(_kernel->threads));
        if (_kernel->resident > 0) {
            _function->addFnAttr("nvvm.minctasm", std::to_string(_kernel->resident));
        }
    }
}

/// What `argument` gives lies in global memory; the way there and back is how LLVM learns of it.
llvm::Value *Emitter::global_pointer(llvm::Value *pointer) {
    auto *global = _b.CreateAddrSpaceCast(pointer, _b.getPtrTy(GLOBAL));
    return _b.CreateAddrSpaceCast(global, _b.getPtrTy(GENERIC));
}

llvm::Value *Emitter::team(const ir::Operation &op) {
    require(_gpu != nullptr, "an operation of GPUs in code for a CPU");
    switch (op.opcode()) {
        case Opcode::PARTICIPANT: return number_of(op.get<ir::ParticipantPayload>(), false);
        case Opcode::PARTICIPANTS: return number_of(op.get<ir::ParticipantPayload>(), true);
        case Opcode::SHARED: return shared_address(op.get<ir::SharedPayload>().offset);
        case Opcode::EXCHANGE_LANES: return exchange(op);
        default:
            return _b.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all, {},
                                      {_b.getInt32(0)});
    }
}

llvm::Value *Emitter::number_of(const ir::ParticipantPayload &payload, bool count) {
    bool thread = payload.kind == ir::ParticipantKind::THREAD;
    if (thread && count && _kernel && _kernel->threads > 0) {
        return _b.getInt64(static_cast<uint64_t>(_kernel->threads));
    }
    using namespace llvm::Intrinsic;
    llvm::Intrinsic::ID id = thread ? (count ? nvvm_read_ptx_sreg_ntid_x : nvvm_read_ptx_sreg_tid_x)
                                    : (count ? nvvm_read_ptx_sreg_nctaid_x
                                             : nvvm_read_ptx_sreg_ctaid_x);
    return _b.CreateZExt(_b.CreateIntrinsic(id, llvm::ArrayRef<llvm::Type *>{}, {}),
                         _b.getInt64Ty(), "", true);
}

/// The memory of a block is as large as its launch says.
llvm::Value *Emitter::shared_address(int64_t offset) {
    if (!_shared_memory) {
        auto *bytes = llvm::ArrayType::get(_b.getInt8Ty(), 0);
        _shared_memory = new llvm::GlobalVariable(
            *_module, bytes, false, llvm::GlobalValue::ExternalLinkage, nullptr, "shared", nullptr,
            llvm::GlobalValue::NotThreadLocal, SHARED);
        // What the copies of whole swizzled tiles ask for.
        _shared_memory->setAlignment(llvm::Align(1024));
    }
    auto *address = _b.CreateConstGEP1_64(_b.getInt8Ty(), _shared_memory,
                                          static_cast<uint64_t>(offset));
    return _b.CreateAddrSpaceCast(address, _b.getPtrTy(GENERIC));
}

/// Shuffles move 32 bits: wider values in two parts, narrower ones widened.
llvm::Value *Emitter::exchange(const ir::Operation &op) {
    using namespace llvm::Intrinsic;
    struct Mode {
        ID id;
        uint32_t limit;///< the last lane that may be read, for `up` the first
    };
    static constexpr Mode modes[] = {{nvvm_shfl_sync_bfly_i32, 31},
                                     {nvvm_shfl_sync_up_i32, 0},
                                     {nvvm_shfl_sync_down_i32, 31},
                                     {nvvm_shfl_sync_idx_i32, 31}};
    const auto &mode = modes[static_cast<size_t>(op.get<ir::ExchangePayload>().mode)];
    auto *value = operand(op, 0), *by = operand(op, 1);
    auto *type = value->getType();
    auto bits = static_cast<unsigned>(type->getScalarSizeInBits());
    auto *word = _b.getInt32Ty();
    auto move = [&](llvm::Value *part) {
        return _b.CreateIntrinsic(mode.id, {},
                                  {_b.getInt32(~0u), part, by, _b.getInt32(mode.limit)});
    };
    auto *integer = _b.CreateBitCast(value, _b.getIntNTy(bits));
    if (bits <= 32) {
        auto *moved = move(_b.CreateZExt(integer, word));
        return _b.CreateBitCast(_b.CreateTrunc(moved, integer->getType()), type);
    }
    auto *low = move(_b.CreateTrunc(integer, word));
    auto *high = move(_b.CreateTrunc(_b.CreateLShr(integer, 32), word));
    auto *wide = _b.getInt64Ty();
    auto *joined = _b.CreateOr(_b.CreateZExt(low, wide),
                               _b.CreateShl(_b.CreateZExt(high, wide), 32));
    return _b.CreateBitCast(joined, type);
}

/// The f32 instructions order zeros and treat NaNs as the language does.
llvm::Value *Emitter::gpu_extremum(Opcode op, llvm::Value *a, llvm::Value *b) {
    using namespace llvm::Intrinsic;
    switch (op) {
        case Opcode::MINIMUM: return intrinsic(minimum, {a, b});
        case Opcode::MAXIMUM: return intrinsic(maximum, {a, b});
        case Opcode::FMIN: return intrinsic(minimumnum, {a, b});
        default: return intrinsic(maximumnum, {a, b});
    }
}

llvm::Value *Emitter::gpu_prefetch(llvm::Value *address) {
    auto *global = _b.CreateAddrSpaceCast(address, _b.getPtrTy(GLOBAL));
    return _b.CreateIntrinsic(llvm::Intrinsic::nvvm_prefetch_global_L2, {}, {global});
}

/// An access of one element under a condition.
llvm::Value *Emitter::branch_around(const ir::Operation &op, llvm::Value *address,
                                    llvm::Value *value, llvm::Value *mask, llvm::Value *other) {
    llvm::Align align(op.get<ir::MemoryPayload>().align);
    auto *before = _b.GetInsertBlock();
    auto *inside = llvm::BasicBlock::Create(_context, "access", _function);
    auto *after = llvm::BasicBlock::Create(_context, "access.end", _function);
    _b.CreateCondBr(mask, inside, after);
    _b.SetInsertPoint(inside);
    if (value) {
        _b.CreateAlignedStore(value, address, align);
        _b.CreateBr(after);
        _b.SetInsertPoint(after);
        return nullptr;
    }
    auto scalar = op.result()->scalar();
    auto *load = constant_load(
        _b.CreateAlignedLoad(memory_type(*op.result()->type()), address, align), op);
    _b.CreateBr(after);
    _b.SetInsertPoint(after);
    auto *result = _b.CreatePHI(load->getType(), 2);
    result->addIncoming(load, inside);
    result->addIncoming(other ? other : llvm::Constant::getNullValue(load->getType()), before);
    return from_memory(result, scalar);
}

/// Takes the next record of the buffer whose address the launch passes last; one that finds no room is counted.
void Emitter::record_report(const ir::Operation &op) {
    const auto &payload = op.get<ir::ReportPayload>();
    auto *word = _b.getInt64Ty();
    auto at = [&](llvm::Value *base, uint64_t i) { return _b.CreateConstGEP1_64(word, base, i); };
    auto *place = at(_function->getArg(0), _gpu->argument_words);
    auto *buffer = global_pointer(_b.CreateAlignedLoad(_b.getPtrTy(), place, llvm::Align(8)));
    auto *number = _b.CreateAtomicRMW(llvm::AtomicRMWInst::Add, buffer, _b.getInt64(1),
                                      llvm::Align(8), llvm::AtomicOrdering::Monotonic, _scope);
    auto *room = _b.CreateAlignedLoad(word, at(buffer, 1), llvm::Align(8));
    auto *write = llvm::BasicBlock::Create(_context, "report", _function);
    auto *after = llvm::BasicBlock::Create(_context, "report.end", _function);
    _b.CreateCondBr(_b.CreateICmpULT(number, room), write, after);
    _b.SetInsertPoint(write);
    auto *first = _b.CreateMul(number, _b.getInt64(1 + _report_values));
    auto *record = at(_b.CreateGEP(word, buffer, first), report_header_words);
    _b.CreateAlignedStore(_b.getInt64(static_cast<uint64_t>(payload.site)), record, llvm::Align(8));
    size_t skip = payload.checks ? 1 : 0;
    for (size_t i = skip; i < op.operand_count(); ++i) {
        _b.CreateAlignedStore(word_of(operand(op, i)), at(record, 1 + i - skip), llvm::Align(8));
    }
    _b.CreateBr(after);
    _b.SetInsertPoint(after);
}

}// namespace luisa::tile::emit
