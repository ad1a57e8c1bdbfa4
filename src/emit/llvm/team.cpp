// SPDX-License-Identifier: Apache-2.0
#include "emit/llvm/team.h"

#include "emit/llvm/emitter.h"

namespace luisa::tile::emit {

using ir::Opcode;

namespace {

thread_local Team *current_team;

int64_t thread() noexcept { return current_team->thread(); }
int64_t threads() noexcept { return current_team->threads(); }
int64_t block() noexcept { return current_team->block(); }
int64_t blocks() noexcept { return current_team->blocks(); }
void *shared() noexcept { return current_team->shared(); }
void barrier(const ir::Operation *at) noexcept { current_team->barrier(at); }
uint64_t exchange(uint64_t bits, int32_t by, int32_t mode) noexcept {
    return current_team->exchange(bits, by, mode);
}
bool access(const void *address, int64_t bytes, int32_t kind, const ir::Operation *at) noexcept {
    return current_team->access(address, bytes, static_cast<AccessKind>(kind), at);
}

void copy(void *to, const void *from, int32_t bytes, int64_t count,
          const ir::Operation *at) noexcept {
    current_team->copy(to, from, bytes, count, at);
}
void copy_commit() noexcept { current_team->commit_copies(); }
void copy_wait(int32_t groups) noexcept { current_team->wait_for_copies(groups); }
void load_matrix(const void *row, int32_t count, int32_t transposed, void *result,
                 const ir::Operation *at) noexcept {
    current_team->load_matrix(row, count, transposed, result, at);
}
void multiply_matrix(int32_t atom, const void *a, const void *b, void *sum) noexcept {
    current_team->multiply_matrix(atom, a, b, sum);
}

void multiply_panels(int32_t atom, int32_t n, int32_t across, uint64_t a, uint64_t b, void *sums,
                     const ir::Operation *at) noexcept {
    current_team->multiply_panels(atom, n, across, a, b, sums, at);
}
void panels_fence() noexcept { current_team->fence_panels(); }
void panels_commit() noexcept { current_team->commit_panels(); }
void panels_wait(int32_t groups, int32_t lanes, void *sums, const ir::Operation *at) noexcept {
    current_team->wait_for_panels(groups, lanes, sums, at);
}
void copies_visible() noexcept { current_team->show_copies(); }

template<class F> TeamFunction any(F *function) { return reinterpret_cast<TeamFunction>(function); }

}// namespace

TeamScope::TeamScope(Team *team) noexcept : _before{current_team} { current_team = team; }
TeamScope::~TeamScope() { current_team = _before; }

TeamFunction team_function(TeamCall call) noexcept {
    switch (call) {
        case TeamCall::THREAD: return any(thread);
        case TeamCall::THREADS: return any(threads);
        case TeamCall::BLOCK: return any(block);
        case TeamCall::BLOCKS: return any(blocks);
        case TeamCall::SHARED: return any(shared);
        case TeamCall::BARRIER: return any(barrier);
        case TeamCall::ACCESS: return any(access);
        case TeamCall::COPY: return any(copy);
        case TeamCall::COPY_COMMIT: return any(copy_commit);
        case TeamCall::COPY_WAIT: return any(copy_wait);
        case TeamCall::LOAD_MATRIX: return any(load_matrix);
        case TeamCall::MULTIPLY_MATRIX: return any(multiply_matrix);
        case TeamCall::MULTIPLY_PANELS: return any(multiply_panels);
        case TeamCall::PANELS_FENCE: return any(panels_fence);
        case TeamCall::PANELS_COMMIT: return any(panels_commit);
        case TeamCall::PANELS_WAIT: return any(panels_wait);
        case TeamCall::COPIES_VISIBLE: return any(copies_visible);
        default: return any(exchange);
    }
}

llvm::Value *Emitter::call_team(TeamCall call, llvm::Type *result,
                                const std::vector<llvm::Value *> &arguments) {
    std::vector<llvm::Type *> types;
    for (auto *argument : arguments) {
        types.push_back(argument->getType());
    }
    auto *type = llvm::FunctionType::get(result, types, false);
    auto function = _module->getOrInsertFunction(team_symbols[static_cast<size_t>(call)], type);
    auto *made = _b.CreateCall(function, arguments);
    made->setDoesNotThrow();
    if (call < TeamCall::BARRIER) {
        // The same at every call of one thread.
        made->setDoesNotAccessMemory();
    }
    return made;
}

/// An operation of the module, which lives as long as the code.
llvm::Value *Emitter::address_of(const ir::Operation *op) {
    auto number = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(op));
    return _b.CreateIntToPtr(_b.getInt64(number), _b.getPtrTy());
}

/// Whether whoever runs the threads lets an access of one element happen.
llvm::Value *Emitter::may_access(const ir::Operation &op, llvm::Value *address, int64_t bytes,
                                 AccessKind kind) {
    auto *answer = call_team(TeamCall::ACCESS, _b.getInt8Ty(),
                             {address, _b.getInt64(static_cast<uint64_t>(bytes)),
                              _b.getInt32(static_cast<uint32_t>(kind)), address_of(&op)});
    return _b.CreateIsNotNull(answer);
}

/// A read or write of one element that is observed: done where its mask and its observer let it.
llvm::Value *Emitter::observed_access(const ir::Operation &op, llvm::Type *memory,
                                      llvm::Value *address, llvm::Value *value, llvm::Value *mask,
                                      llvm::Value *other) {
    auto block = [&](const char *name) {
        return llvm::BasicBlock::Create(_context, name, _function);
    };
    auto *asks = block("observe"), *does = block("access"), *done = block("observed");
    auto *before = _b.GetInsertBlock();
    mask ? _b.CreateCondBr(mask, asks, done) : _b.CreateBr(asks);
    _b.SetInsertPoint(asks);
    auto bytes = static_cast<int64_t>(memory->getPrimitiveSizeInBits().getFixedValue() / 8);
    _b.CreateCondBr(may_access(op, address, bytes, value ? AccessKind::WRITE : AccessKind::READ),
                    does, done);
    _b.SetInsertPoint(does);
    llvm::Value *loaded = nullptr;
    if (value) {
        _b.CreateAlignedStore(value, address, llvm::Align(1));
    } else {
        loaded = _b.CreateAlignedLoad(memory, address, llvm::Align(1));
    }
    _b.CreateBr(done);
    _b.SetInsertPoint(done);
    if (value) {
        return nullptr;
    }
    auto *result = _b.CreatePHI(memory, mask ? 3 : 2);
    if (mask) {
        result->addIncoming(other, before);
    }
    result->addIncoming(llvm::Constant::getNullValue(memory), asks);
    result->addIncoming(loaded, does);
    return result;
}

/// The threads of a block on a CPU: calls of whoever runs them.
llvm::Value *Emitter::host_team(const ir::Operation &op) {
    switch (op.opcode()) {
        case Opcode::PARTICIPANT:
        case Opcode::PARTICIPANTS: {
            bool of_block = op.get<ir::ParticipantPayload>().kind == ir::ParticipantKind::THREAD;
            bool count = op.opcode() == Opcode::PARTICIPANTS;
            auto call = of_block ? (count ? TeamCall::THREADS : TeamCall::THREAD)
                                 : (count ? TeamCall::BLOCKS : TeamCall::BLOCK);
            return call_team(call, _b.getInt64Ty(), {});
        }
        case Opcode::BARRIER: {
            auto *at = _target.observed ? &op : nullptr;
            return call_team(TeamCall::BARRIER, _b.getVoidTy(), {address_of(at)});
        }
        case Opcode::SHARED: {
            auto *start = call_team(TeamCall::SHARED, _b.getPtrTy(), {});
            auto offset = op.get<ir::SharedPayload>().offset;
            return _b.CreateConstGEP1_64(_b.getInt8Ty(), start, static_cast<uint64_t>(offset));
        }
        default: {
            auto *value = operand(op, 0);
            auto mode = static_cast<uint32_t>(op.get<ir::ExchangePayload>().mode);
            auto *other = call_team(TeamCall::EXCHANGE, _b.getInt64Ty(),
                                    {word_of(value), operand(op, 1), _b.getInt32(mode)});
            auto bits = static_cast<unsigned>(value->getType()->getScalarSizeInBits());
            return _b.CreateBitCast(_b.CreateTrunc(other, _b.getIntNTy(bits)), value->getType());
        }
    }
}

}// namespace luisa::tile::emit
