// SPDX-License-Identifier: Apache-2.0
#include "emit/llvm/emitter.h"

#include <llvm/IR/MDBuilder.h>

namespace luisa::tile::emit {

namespace {

/// Loops arrive in final shape: nothing is to be unrolled or vectorised again.
void mark_final(llvm::Instruction *branch) {
    auto &context = branch->getContext();
    auto flag = [&](const char *name) {
        return llvm::MDNode::get(context, llvm::MDString::get(context, name));
    };
    auto *unroll = flag("llvm.loop.unroll.disable");
    auto *vectorise = llvm::MDNode::get(
        context, {llvm::MDString::get(context, "llvm.loop.vectorize.enable"),
                  llvm::ConstantAsMetadata::get(llvm::ConstantInt::getFalse(context))});
    auto *loop = llvm::MDNode::getDistinct(context, {nullptr, unroll, vectorise});
    loop->replaceOperandWith(0, loop);
    branch->setMetadata(llvm::LLVMContext::MD_loop, loop);
}

bool is_constant(const ir::Value *value, int64_t &out) {
    auto *op = value->definition();
    if (!op || op->opcode() != ir::Opcode::CONSTANT) {
        return false;
    }
    out = static_cast<int64_t>(op->get<ir::ConstantPayload>().bits);
    return true;
}

/// Whether a value is known to be a multiple of `step`: a constant, or x - x % constant.
bool is_multiple(const ir::Value *value, int64_t step) {
    int64_t known = 0;
    if (is_constant(value, known)) {
        return known % step == 0;
    }
    auto *op = value->definition();
    auto *rest = op && op->opcode() == ir::Opcode::SUB ? op->operand(1)->definition() : nullptr;
    return rest && rest->opcode() == ir::Opcode::REM && rest->operand(0) == op->operand(0) &&
           is_constant(rest->operand(1), known) && known != 0 && known % step == 0;
}

bool contains_loop(const ir::Region &region) {
    for (auto *op : region) {
        if (op->opcode() == ir::Opcode::FOR || op->opcode() == ir::Opcode::WHILE) {
            return true;
        }
        for (auto *inner : op->regions()) {
            if (contains_loop(*inner)) {
                return true;
            }
        }
    }
    return false;
}

/// Whether the step past the last index is known not to wrap.
bool ends_without_wrap(const ir::Operation &loop) {
    int64_t step = 0, end = 0;
    if (!is_constant(loop.operand(2), step) || step <= 0) {
        return false;
    }
    if (step == 1 || (is_constant(loop.operand(1), end) && end <= INT64_MAX - (step - 1))) {
        return true;
    }
    return is_multiple(loop.operand(0), step) && is_multiple(loop.operand(1), step);
}

}// namespace

/// `index` · `factor`. A multiple of the innermost loop's index is counted along with it: in a loop of few
/// instructions a multiplication shows, and it takes the index's register away from other addresses.
llvm::Value *Emitter::multiple_of(const ir::Value *index, int64_t factor) {
    auto *constant = _b.getInt64(static_cast<uint64_t>(factor));
    if (index != _counter.index) {
        return _b.CreateMul(at(index), constant);
    }
    auto &phi = _counter.multiples[factor];
    if (!phi) {
        llvm::IRBuilder<> before{_counter.before->getTerminator()};
        auto *first = before.CreateMul(_counter.begin, constant);
        llvm::IRBuilder<> head{_counter.body, _counter.body->begin()};
        phi = head.CreatePHI(_b.getInt64Ty(), 2);
        phi->addIncoming(first, _counter.before);
    }
    return phi;
}

void Emitter::emit_for(const ir::Operation &op) {
    auto *begin = operand(op, 0), *end = operand(op, 1), *step = operand(op, 2);
    size_t states = op.result_count();
    auto *before = _b.GetInsertBlock();
    auto *body = llvm::BasicBlock::Create(_context, "for", _function);
    auto *after = llvm::BasicBlock::Create(_context, "for.end", _function);
    bool guarded = !op.get<ir::ForPayload>().at_least_once;
    if (guarded) {
        _b.CreateCondBr(_b.CreateICmpSLT(begin, end), body, after);
    } else {
        _b.CreateBr(body);
    }
    _b.SetInsertPoint(body);
    auto *iv = _b.CreatePHI(_b.getInt64Ty(), 2);
    iv->addIncoming(begin, before);
    _values[op.body()->argument(0)] = iv;
    std::vector<llvm::PHINode *> carried;
    for (size_t i = 0; i < states; ++i) {
        auto *phi = _b.CreatePHI(operand(op, 3 + i)->getType(), 2);
        phi->addIncoming(operand(op, 3 + i), before);
        carried.push_back(phi);
        _values[op.body()->argument(1 + i)] = phi;
    }
    if (!contains_loop(*op.body())) {
        _counter = {op.body()->argument(0), begin, step, before, body, {}};
    }
    emit_region(*op.body());
    auto *yield = op.body()->terminator();
    auto *latch = _b.GetInsertBlock();
    for (auto [factor, phi] : _counter.multiples) {
        auto *distance = _b.CreateMul(step, _b.getInt64(static_cast<uint64_t>(factor)));
        phi->addIncoming(_b.CreateAdd(phi, distance), latch);
    }
    _counter = {};
    // Where the step past the end might wrap, the distance that is left decides; it fits unsigned.
    bool proven = ends_without_wrap(op);
    auto *next = _b.CreateAdd(iv, step, "", false, proven);
    auto *again = proven ? _b.CreateICmpSLT(next, end)
                         : _b.CreateICmpUGT(_b.CreateSub(end, iv), step);
    iv->addIncoming(next, latch);
    std::vector<llvm::Value *> final_values;
    for (size_t i = 0; i < states; ++i) {
        auto *value = at(yield->operand(i));
        carried[i]->addIncoming(value, latch);
        final_values.push_back(value);
    }
    mark_final(_b.CreateCondBr(again, body, after));
    _b.SetInsertPoint(after);
    for (size_t i = 0; i < states; ++i) {
        auto *phi = _b.CreatePHI(final_values[i]->getType(), 2);
        phi->addIncoming(final_values[i], latch);
        if (guarded) {
            phi->addIncoming(operand(op, 3 + i), before);
        }
        _values[op.result(i)] = phi;
    }
}

void Emitter::emit_if(const ir::Operation &op) {
    auto *then_block = llvm::BasicBlock::Create(_context, "then", _function);
    auto *else_block = llvm::BasicBlock::Create(_context, "else", _function);
    auto *after = llvm::BasicBlock::Create(_context, "if.end", _function);
    _b.CreateCondBr(operand(op, 0), then_block, else_block);
    std::vector<llvm::Value *> values[2];
    llvm::BasicBlock *ends[2]{};
    for (size_t side = 0; side < 2; ++side) {
        _b.SetInsertPoint(side == 0 ? then_block : else_block);
        emit_region(*op.body(side));
        if (auto *yield = op.body(side)->terminator()) {
            for (size_t i = 0; i < op.result_count(); ++i) {
                values[side].push_back(at(yield->operand(i)));
            }
        }
        ends[side] = _b.GetInsertBlock();
        _b.CreateBr(after);
    }
    _b.SetInsertPoint(after);
    for (size_t i = 0; i < op.result_count(); ++i) {
        auto *phi = _b.CreatePHI(values[0][i]->getType(), 2);
        phi->addIncoming(values[0][i], ends[0]);
        phi->addIncoming(values[1][i], ends[1]);
        _values[op.result(i)] = phi;
    }
}

void Emitter::emit_while(const ir::Operation &op) {
    auto *before = _b.GetInsertBlock();
    auto *head = llvm::BasicBlock::Create(_context, "while", _function);
    auto *after = llvm::BasicBlock::Create(_context, "while.end", _function);
    _b.CreateBr(head);
    _b.SetInsertPoint(head);
    std::vector<llvm::PHINode *> carried;
    for (size_t i = 0; i < op.result_count(); ++i) {
        auto *phi = _b.CreatePHI(operand(op, i)->getType(), 2);
        phi->addIncoming(operand(op, i), before);
        carried.push_back(phi);
        _values[op.body()->argument(i)] = phi;
    }
    _while_exits.push_back(after);
    emit_region(*op.body());
    _while_exits.pop_back();
    auto *yield = op.body()->terminator();
    auto *latch = _b.GetInsertBlock();
    for (size_t i = 0; i < carried.size(); ++i) {
        carried[i]->addIncoming(at(yield->operand(i)), latch);
    }
    mark_final(_b.CreateBr(head));
    // A false condition leaves with the states as they were at the start of the iteration.
    _b.SetInsertPoint(after);
    for (size_t i = 0; i < carried.size(); ++i) {
        _values[op.result(i)] = carried[i];
    }
}

}// namespace luisa::tile::emit
