// SPDX-License-Identifier: Apache-2.0
#include "emit/llvm/emitter.h"
#include "emit/llvm/report.h"

namespace luisa::tile::emit {

using ir::Opcode;

/// Relaxed: phases are ordered by the pool, and nothing inside one is ordered by an atomic update.
static constexpr auto relaxed = llvm::AtomicOrdering::Monotonic;

llvm::Value *Emitter::atomic_read(const ir::Operation &op) {
    if (_target.observed) {
        static_cast<void>(may_access(op, operand(op, 0),
                                     static_cast<int64_t>(size_of(op.result()->scalar())),
                                     AccessKind::ATOMIC));
    }
    auto *load = _b.CreateAlignedLoad(type_of(*op.result()->type()), operand(op, 0),
                                      llvm::Align(op.get<ir::MemoryPayload>().align));
    load->setAtomic(relaxed, _scope);
    return load;
}

llvm::Value *Emitter::atomic_update(const ir::Operation &op) {
    auto kind = op.get<ir::AtomicPayload>().op;
    auto type = op.result()->scalar();
    auto *address = operand(op, 0), *value = operand(op, 1);
    if (_target.observed) {
        static_cast<void>(
            may_access(op, address, static_cast<int64_t>(size_of(type)), AccessKind::ATOMIC));
    }
    llvm::Align align(size_of(type));
    if (kind == AtomicOp::COMPARE_EXCHANGE) {
        auto *pair = _b.CreateAtomicCmpXchg(address, operand(op, 2), value, align, relaxed, relaxed,
                                            _scope);
        return _b.CreateExtractValue(pair, 0);
    }
    using Update = llvm::AtomicRMWInst;
    bool sign = is_signed(type);
    auto update = [&] {
        switch (kind) {
            case AtomicOp::ADD: return Update::Add;
            case AtomicOp::MINIMUM: return sign ? Update::Min : Update::UMin;
            case AtomicOp::MAXIMUM: return sign ? Update::Max : Update::UMax;
            case AtomicOp::EXCHANGE: return Update::Xchg;
            case AtomicOp::AND: return Update::And;
            case AtomicOp::OR: return Update::Or;
            case AtomicOp::XOR: return Update::Xor;
            default: internal_error("an atomic update of unknown kind");
        }
    }();
    return _b.CreateAtomicRMW(update, address, value, align, relaxed, _scope);
}

/// The bits of a scalar as a word.
llvm::Value *Emitter::word_of(llvm::Value *value) {
    auto bits = static_cast<unsigned>(value->getType()->getScalarSizeInBits());
    auto *integer = _b.CreateBitCast(value, _b.getIntNTy(bits));
    return _b.CreateZExt(integer, _b.getInt64Ty());
}

/// After a failed check the function ends, for what follows may rely on it.
void Emitter::report(const ir::Operation &op) {
    const auto &payload = op.get<ir::ReportPayload>();
    llvm::BasicBlock *passed = nullptr;
    if (payload.checks) {
        auto *failed = llvm::BasicBlock::Create(_context, "check.failed", _function);
        passed = llvm::BasicBlock::Create(_context, "check.passed", _function);
        _b.CreateCondBr(operand(op, 0), passed, failed);
        _b.SetInsertPoint(failed);
    }
    llvm::BasicBlock *done = nullptr;
    if (payload.once) {
        auto *says = llvm::BasicBlock::Create(_context, "report", _function);
        done = llvm::BasicBlock::Create(_context, "reported", _function);
        auto *thread = _gpu ? number_of({ir::ParticipantKind::THREAD}, false)
                            : call_team(TeamCall::THREAD, _b.getInt64Ty(), {});
        _b.CreateCondBr(_b.CreateIsNull(thread), says, done);
        _b.SetInsertPoint(says);
    }
    if (_gpu) {
        record_report(op);
    } else {
        call_report(op);
    }
    if (done) {
        _b.CreateBr(done);
        _b.SetInsertPoint(done);
    }
    if (payload.checks) {
        _b.CreateRetVoid();
        _b.SetInsertPoint(passed);
    }
}

/// Puts the values in the function's frame and calls the runtime.
void Emitter::call_report(const ir::Operation &op) {
    const auto &payload = op.get<ir::ReportPayload>();
    size_t first = payload.checks ? 1 : 0;
    auto count = op.operand_count() - first;
    auto *type = llvm::ArrayType::get(_b.getInt64Ty(), std::max<size_t>(count, 1));
    auto &entry = _function->getEntryBlock();
    llvm::IRBuilder<> frame{&entry, entry.begin()};
    auto *words = frame.CreateAlloca(type);
    for (size_t i = 0; i < count; ++i) {
        _b.CreateStore(word_of(operand(op, first + i)),
                       _b.CreateConstGEP1_64(_b.getInt64Ty(), words, i));
    }
    auto *signature = llvm::FunctionType::get(_b.getVoidTy(), {_b.getInt64Ty(), _b.getPtrTy()},
                                              false);
    _b.CreateCall(_module->getOrInsertFunction(report_symbol, signature),
                  {_b.getInt64(static_cast<uint64_t>(payload.site)), words});
}

}// namespace luisa::tile::emit
