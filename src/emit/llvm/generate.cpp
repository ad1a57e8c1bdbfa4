// SPDX-License-Identifier: Apache-2.0
#include "emit/llvm/generate.h"

#include "emit/llvm/emitter.h"
#include "emit/llvm/fatal.h"

#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Pass.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Scalar.h>

namespace luisa::tile::emit {

namespace {

struct Collector : llvm::DiagnosticHandler {
    explicit Collector(std::string &errors) : errors{&errors} {}
    bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
        if (info.getSeverity() == llvm::DS_Error) {
            llvm::raw_string_ostream stream{*errors};
            llvm::DiagnosticPrinterRawOStream printer{stream};
            stream << (errors->empty() ? "" : "; ");
            info.print(printer);
        }
        return true;
    }
    std::string *errors;
};

/// LLVM's passes for code generation but loop strength reduction: addresses come in the form that the
/// instructions take, and it spends most of the time on large unrolled loops to need more registers.
class CodeGenerationPasses : public llvm::legacy::PassManager {
public:
    void add(llvm::Pass *pass) override {
        static const auto *reduction = [] {
            std::unique_ptr<llvm::Pass> example{llvm::createLoopStrengthReducePass()};
            return example->getPassID();
        }();
        if (pass->getPassID() == reduction) {
            delete pass;
        } else {
            llvm::legacy::PassManager::add(pass);
        }
    }
};

}// namespace

Context::Context(bool names) {
    setDiscardValueNames(!names);
    setDiagnosticHandler(std::make_unique<Collector>(_errors));
}

void Context::check() const {
    if (!_errors.empty()) {
        throw CompileError{"LLVM cannot generate code: " + _errors};
    }
}

std::unique_ptr<llvm::Module> build(Emitter &emitter, const ir::Module &machine,
                                    llvm::TargetMachine &target) {
    auto module = emitter.emit(machine);
    module->setDataLayout(target.createDataLayout());
    module->setTargetTriple(target.getTargetTriple());
    std::string broken;
    llvm::raw_string_ostream stream{broken};
    if (llvm::verifyModule(*module, &stream)) {
        internal_error("emitted LLVM IR is malformed: " + broken);
    }
    return module;
}

llvm::SmallVector<char, 0> generate(const Context &context, llvm::Module &module,
                                    llvm::TargetMachine &target, llvm::CodeGenFileType type) {
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream stream{bytes};
    CodeGenerationPasses passes;
    if (target.addPassesToEmitFile(passes, stream, nullptr, type, true)) {
        throw CompileError{"this target cannot write the requested kind of file"};
    }
    FatalErrorsThrow guard;
    passes.run(module);
    context.check();
    return bytes;
}

std::string print(const llvm::Module &module) {
    std::string text;
    llvm::raw_string_ostream stream{text};
    module.print(stream, nullptr);
    return text;
}

}// namespace luisa::tile::emit
