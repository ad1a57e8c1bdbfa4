// SPDX-License-Identifier: Apache-2.0
#include "emit/llvm/emitter.h"
#include "target/warpgroup.h"

#include <llvm/IR/InlineAsm.h>

// Products of matrices in shared memory by the warps of a warpgroup.

namespace luisa::tile::emit {

using ir::Opcode;

namespace {

const target::PanelAtom &panel_atom_of(const ir::Operation &op) {
    const auto &shape = op.get<ir::MultiplyPanelsPayload>();
    const auto *atom = target::find_panel_atom(shape.a, shape.b, op.result()->scalar());
    require(atom && atom->k == shape.k && (atom->across || !(shape.a_across || shape.b_across)),
            "multiply_panels names no row of the table of atoms");
    return *atom;
}

/// What a descriptor says beside where the matrices begin.
uint64_t layout_bits(const ir::Operation &op) {
    const auto &payload = op.get<ir::PanelDescriptorPayload>();
    return target::PanelDescriptor{0, payload.leading, payload.stride}.bits();
}

}// namespace

/// An instruction without operands that other accesses of memory keep their order to.
void Emitter::gpu_order(const char *text) {
    auto *type = llvm::FunctionType::get(_b.getVoidTy(), false);
    auto *call = _b.CreateCall(type, llvm::InlineAsm::get(type, text, "~{memory}", true));
    call->addFnAttr(llvm::Attribute::Convergent);
}

/// An instruction that reads and replaces all lanes of `sums`, in registers $0, $1, …; `more` come after them.
llvm::Value *Emitter::gpu_on_sums(const std::string &text, llvm::Value *sums,
                                  const std::vector<llvm::Value *> &more) {
    auto *vector = llvm::cast<llvm::FixedVectorType>(sums->getType());
    auto *element = vector->getElementType();
    auto count = vector->getNumElements();
    std::string constraints;
    std::vector<llvm::Type *> results(count, element), types;
    std::vector<llvm::Value *> arguments;
    for (unsigned i = 0; i < count; ++i) {
        constraints += element->isFloatTy() ? "=f," : "=r,";
    }
    for (unsigned i = 0; i < count; ++i) {
        constraints += std::to_string(i) + ",";
        arguments.push_back(_b.CreateExtractElement(sums, uint64_t{i}));
        types.push_back(element);
    }
    for (auto *value : more) {
        constraints += "l,";
        arguments.push_back(value);
        types.push_back(value->getType());
    }
    constraints += "~{memory}";
    llvm::Type *result = llvm::StructType::get(_context, results);
    auto *type = llvm::FunctionType::get(result, types, false);
    auto *call = _b.CreateCall(type, llvm::InlineAsm::get(type, text, constraints, true),
                               arguments);
    call->addFnAttr(llvm::Attribute::Convergent);
    llvm::Value *all = llvm::PoisonValue::get(vector);
    for (unsigned i = 0; i < count; ++i) {
        all = _b.CreateInsertElement(all, _b.CreateExtractValue(call, i), uint64_t{i});
    }
    return all;
}

llvm::Value *Emitter::gpu_multiply_panels(const ir::Operation &op) {
    const auto &atom = panel_atom_of(op);
    const auto &shape = op.get<ir::MultiplyPanelsPayload>();
    auto count = shape.n / 2;
    std::string registers;
    for (int i = 0; i < count; ++i) {
        registers += (i ? ", $" : "$") + std::to_string(i);
    }
    auto number = [](int i) { return "$" + std::to_string(i); };
    // After the sums, their tied inputs have numbers too.
    auto text = "{\n.reg .pred adds;\nsetp.eq.b32 adds, 0, 0;\n" + atom.instruction(shape.n) +
                " {" + registers + "}, " + number(2 * count) + ", " + number(2 * count + 1) +
                ", adds, 1, 1";
    if (atom.across) {
        text += std::string{", "} + (shape.a_across ? "1" : "0") + ", " +
                (shape.b_across ? "1" : "0");
    }
    return gpu_on_sums(text + ";\n}", operand(op, 2), {operand(op, 0), operand(op, 1)});
}

llvm::Value *Emitter::gpu_panels(const ir::Operation &op) {
    switch (op.opcode()) {
        case Opcode::PANEL_DESCRIPTOR: {
            auto *shared = _b.CreateAddrSpaceCast(operand(op, 0), _b.getPtrTy(3));
            auto *start = _b.CreateLShr(_b.CreatePtrToInt(shared, _b.getInt32Ty()), 4);
            return _b.CreateOr(_b.CreateZExt(start, _b.getInt64Ty()), _b.getInt64(layout_bits(op)));
        }
        case Opcode::MULTIPLY_PANELS: return gpu_multiply_panels(op);
        case Opcode::PANELS_WAIT: {
            auto groups = op.get<ir::IndexPayload>().index;
            return gpu_on_sums("wgmma.wait_group.sync.aligned " + std::to_string(groups) + ";",
                               operand(op, 0), {});
        }
        case Opcode::PANELS_FENCE: gpu_order("wgmma.fence.sync.aligned;"); return nullptr;
        case Opcode::PANELS_COMMIT: gpu_order("wgmma.commit_group.sync.aligned;"); return nullptr;
        default: gpu_order("fence.proxy.async.shared::cta;"); return nullptr;
    }
}

llvm::Value *Emitter::host_panels(const ir::Operation &op) {
    auto *none = _b.getVoidTy();
    auto *at = address_of(_target.observed ? &op : nullptr);
    /// The team changes the lanes in memory.
    auto on_sums = [&](llvm::Value *sums, TeamCall call, std::vector<llvm::Value *> arguments) {
        auto *room = stack_room(sums->getType());
        _b.CreateAlignedStore(sums, room, llvm::Align(16));
        arguments.push_back(room);
        arguments.push_back(at);
        call_team(call, none, arguments);
        return _b.CreateAlignedLoad(sums->getType(), room, llvm::Align(16));
    };
    switch (op.opcode()) {
        case Opcode::PANEL_DESCRIPTOR: {
            auto *word = _b.getInt64Ty();
            auto *shared = call_team(TeamCall::SHARED, _b.getPtrTy(), {});
            auto *start = _b.CreateSub(_b.CreatePtrToInt(operand(op, 0), word),
                                       _b.CreatePtrToInt(shared, word));
            return _b.CreateOr(_b.CreateLShr(start, 4), _b.getInt64(layout_bits(op)));
        }
        case Opcode::MULTIPLY_PANELS: {
            const auto &shape = op.get<ir::MultiplyPanelsPayload>();
            auto number = &panel_atom_of(op) - target::panel_atoms().data();
            uint32_t across = (shape.a_across ? 1u : 0u) | (shape.b_across ? 2u : 0u);
            return on_sums(operand(op, 2), TeamCall::MULTIPLY_PANELS,
                           {_b.getInt32(static_cast<uint32_t>(number)),
                            _b.getInt32(static_cast<uint32_t>(shape.n)), _b.getInt32(across),
                            operand(op, 0), operand(op, 1)});
        }
        case Opcode::PANELS_WAIT: {
            auto groups = static_cast<uint32_t>(op.get<ir::IndexPayload>().index);
            auto lanes = op.result()->type()->lanes;
            return on_sums(operand(op, 0), TeamCall::PANELS_WAIT,
                           {_b.getInt32(groups), _b.getInt32(lanes)});
        }
        case Opcode::PANELS_FENCE: return call_team(TeamCall::PANELS_FENCE, none, {});
        case Opcode::PANELS_COMMIT: return call_team(TeamCall::PANELS_COMMIT, none, {});
        default: return call_team(TeamCall::COPIES_VISIBLE, none, {});
    }
}

}// namespace luisa::tile::emit
