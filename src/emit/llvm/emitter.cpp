// SPDX-License-Identifier: Apache-2.0
#include "emit/llvm/emitter.h"

#include <llvm/MC/MCSubtargetInfo.h>

namespace luisa::tile::emit {

using ir::Opcode;

Emitter::Emitter(llvm::LLVMContext &context, const CpuTarget &target,
                 const llvm::MCSubtargetInfo &features, const GpuOptions *gpu)
    : _context{context}, _target{target}, _gpu{gpu}, _b{context} {
    _is_x86 = features.getTargetTriple().isX86();
    // Others do not know the names.
    _has_avx512 = _is_x86 && features.checkFeatures("+avx512f");
    _has_avx512vl = _is_x86 && features.checkFeatures("+avx512vl");
    _has_avx512dq = _is_x86 && features.checkFeatures("+avx512dq");
}

std::unique_ptr<llvm::Module> Emitter::emit(const ir::Module &machine) {
    require(machine.form == ir::Form::MACHINE, "only Machine form is emitted");
    _module = std::make_unique<llvm::Module>("luisa.tile", _context);
    if (_gpu) {
        begin_gpu_module(machine);
    }
    for (const auto &function : machine.functions()) {
        emit_function(function);
    }
    end_lines();
    return std::move(_module);
}

void Emitter::emit_function(const ir::Function &function) {
    std::vector<llvm::Type *> parameters;
    for (auto *argument : function.body->arguments()) {
        parameters.push_back(type_of(*argument->type()));
    }
    auto *type = llvm::FunctionType::get(_b.getVoidTy(), parameters, false);
    _function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, function.name,
                                       _module.get());
    mark_function(function);
    _values.clear();
    for (size_t i = 0; i < parameters.size(); ++i) {
        auto *argument = _function->getArg(static_cast<unsigned>(i));
        if (i < function.parameter_names.size()) {
            argument->setName(function.parameter_names[i]);
        }
        _values[function.body->argument(i)] = argument;
    }
    _b.SetInsertPoint(llvm::BasicBlock::Create(_context, "entry", _function));
    if (_gpu && parameters.size() > 1) {
        _values[function.body->argument(1)] = global_pointer(_function->getArg(1));
    }
    begin_lines(function);
    emit_region(*function.body);
    _b.CreateRetVoid();
}

void Emitter::mark_function(const ir::Function &function) {
    _function->addFnAttr(llvm::Attribute::NoUnwind);
    _function->addFnAttr("denormal-fp-math", "ieee,ieee");
    _function->addFnAttr("target-cpu", _target.cpu);
    _function->addFnAttr("target-features", _target.features);
    if (_has_avx512) {
        // No "min-legal-vector-width": with it, some CPUs would split 512-bit vectors.
        _function->addFnAttr("prefer-vector-width", "512");
    }
    if (_gpu) {
        return mark_kernel(function);
    }
    // The argument block is read only and nobody else's; scratch belongs to this thread.
    _function->addParamAttr(0, llvm::Attribute::NoAlias);
    _function->addParamAttr(0, llvm::Attribute::ReadOnly);
    if (_function->arg_size() > 3) {
        _function->addParamAttr(3, llvm::Attribute::NoAlias);
    }
}

void Emitter::emit_region(const ir::Region &region) {
    for (auto *op : region) {
        if (op->opcode() != Opcode::YIELD) {
            emit_operation(*op);
        }
    }
}

void Emitter::emit_operation(const ir::Operation &op) {
    llvm::Value *result = nullptr;
    if (_keeps_lines) {
        set_line(op.loc.line);
    }
    switch (ir::info(op.opcode()).family) {
        case ir::Family::MACHINE_REGION: return emit_for(op);
        case ir::Family::REGION: return op.opcode() == Opcode::IF ? emit_if(op) : emit_while(op);
        case ir::Family::CONTROL: {
            require(op.opcode() == Opcode::CONDITION, "stray control operation");
            auto *next = llvm::BasicBlock::Create(_context, "while.body", _function);
            _b.CreateCondBr(operand(op, 0), next, _while_exits.back());
            _b.SetInsertPoint(next);
            return;
        }
        case ir::Family::ELEMENTWISE: result = arithmetic(op); break;
        case ir::Family::SHAPE:
        case ir::Family::MACHINE: result = memory(op); break;
        default: internal_error(std::string{op.name()} + " is no Machine operation");
    }
    if (op.result_count()) {
        _values[op.result()] = result;
    }
}

llvm::Value *Emitter::at(const ir::Value *value) const {
    auto found = _values.find(value);
    require(found != _values.end(), "value is used before it is emitted");
    return found->second;
}

llvm::Type *Emitter::element_type(ScalarType type) {
    switch (type) {
        case ScalarType::BOOL: return _b.getInt1Ty();
        case ScalarType::FLOAT16: return _b.getHalfTy();
        case ScalarType::BFLOAT16: return _b.getInt16Ty();
        case ScalarType::FLOAT32: return _b.getFloatTy();
        case ScalarType::FLOAT64: return _b.getDoubleTy();
        default: return _b.getIntNTy(info(type).bits);
    }
}

llvm::Type *Emitter::type_of(const ir::Type &type) {
    if (type.is_pointer()) {
        return _b.getPtrTy();
    }
    auto *element = element_type(type.scalar);
    return type.is_vector() ? llvm::FixedVectorType::get(element, type.lanes) : element;
}

llvm::Type *Emitter::memory_type(const ir::Type &type) {
    if (type.scalar != ScalarType::BOOL) {
        return type_of(type);
    }
    auto *element = _b.getInt8Ty();
    return type.is_vector()
               ? llvm::cast<llvm::Type>(llvm::FixedVectorType::get(element, type.lanes))
               : element;
}

llvm::Type *Emitter::widened(llvm::Type *element, llvm::Value *like) {
    auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(like->getType());
    return vector ? llvm::FixedVectorType::get(element, vector->getNumElements()) : element;
}

llvm::Constant *Emitter::integer_like(llvm::Value *like, uint64_t bits) {
    return llvm::ConstantInt::get(like->getType(), bits);
}

llvm::Value *Emitter::intrinsic(llvm::Intrinsic::ID id,
                                std::initializer_list<llvm::Value *> arguments) {
    std::vector<llvm::Value *> list(arguments);
    return _b.CreateIntrinsic(id, {list.front()->getType()}, list);
}

}// namespace luisa::tile::emit
