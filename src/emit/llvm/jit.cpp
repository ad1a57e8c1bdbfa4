// SPDX-License-Identifier: Apache-2.0
#include "emit/llvm/jit.h"

#include "emit/llvm/emitter.h"

#include <llvm/ExecutionEngine/Orc/AbsoluteSymbols.h>
#include <llvm/ExecutionEngine/Orc/CompileUtils.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

#include <chrono>
#include <cstring>
#include <mutex>

namespace luisa::tile::emit {

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

[[noreturn]] void fail(const char *what, llvm::Error error) {
    throw CompileError{std::string{what} + ": " + llvm::toString(std::move(error))};
}

template<class T> T value_of(const char *what, llvm::Expected<T> value) {
    if (!value) {
        fail(what, value.takeError());
    }
    return std::move(*value);
}

void initialise_targets() {
    static std::once_flag once;
    std::call_once(once, [] {
        llvm::InitializeNativeTarget();
        llvm::InitializeNativeTargetAsmPrinter();
        llvm::InitializeNativeTargetAsmParser();
    });
}

std::unique_ptr<llvm::TargetMachine> target_machine(const CpuTarget &target) {
    initialise_targets();
    llvm::Triple triple{llvm::sys::getProcessTriple()};
    std::string message;
    const auto *found = llvm::TargetRegistry::lookupTarget(triple, message);
    if (!found) {
        throw TargetError{"no code generator for " + triple.str() + ": " + message};
    }
    std::unique_ptr<llvm::MCSubtargetInfo> facts{
        found->createMCSubtargetInfo(triple, target.cpu, "")};
    if (!facts || !facts->isCPUStringValid(target.cpu)) {
        throw TargetError{"unknown CPU '" + target.cpu +
                          "'; name one as LLVM does, for example x86-64-v3 or znver4"};
    }
    llvm::TargetOptions options;
    options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
    options.MCOptions.AsmVerbose = false;
    return std::unique_ptr<llvm::TargetMachine>{found->createTargetMachine(
        triple, target.cpu, target.features, options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
        llvm::CodeGenOptLevel::Default, true)};
}

std::unique_ptr<llvm::Module> build(llvm::LLVMContext &context, const ir::Module &machine,
                                    const CpuTarget &target, llvm::TargetMachine &tm) {
    auto module = Emitter{context, target}.emit(machine);
    module->setDataLayout(tm.createDataLayout());
    module->setTargetTriple(tm.getTargetTriple());
    std::string broken;
    llvm::raw_string_ostream stream{broken};
    if (llvm::verifyModule(*module, &stream)) {
        internal_error("emitted LLVM IR is malformed: " + broken);
    }
    return module;
}

std::string generate(llvm::Module &module, llvm::TargetMachine &tm, llvm::CodeGenFileType type) {
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream stream{bytes};
    llvm::legacy::PassManager passes;
    if (tm.addPassesToEmitFile(passes, stream, nullptr, type, true)) {
        throw CompileError{"this target cannot write the requested kind of file"};
    }
    passes.run(module);
    return {bytes.begin(), bytes.end()};
}

/// Code of one module in a JIT of its own: destroying it frees the code, and nothing is shared.
class JitModule : public CompiledModule {
public:
    JitModule(std::string object, llvm::TargetMachine &tm, EmitTimes &times)
        : _code_bytes{object.size()} {
        auto start = Clock::now();
        llvm::orc::JITTargetMachineBuilder builder{tm.getTargetTriple()};
        _jit = value_of("cannot start the JIT",
                        llvm::orc::LLJITBuilder()
                            .setJITTargetMachineBuilder(std::move(builder))
                            .setDataLayout(tm.createDataLayout())
                            .setLinkProcessSymbolsByDefault(false)
                            .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
                            .create());
        provide_memory_functions();
        auto buffer = llvm::MemoryBuffer::getMemBufferCopy(object, "luisa.tile");
        if (auto error = _jit->addObjectFile(std::move(buffer))) {
            fail("cannot link generated code", std::move(error));
        }
        times.link_ms += since(start);
    }

    [[nodiscard]] TaskFunction function(const std::string &name) const override {
        auto address = value_of("generated code refers to what it may not use", _jit->lookup(name));
        return address.toPtr<TaskFunction>();
    }
    [[nodiscard]] size_t code_bytes() const noexcept override { return _code_bytes; }

private:
    /// The only names of the process that generated code may call.
    void provide_memory_functions() {
        llvm::orc::SymbolMap symbols;
        auto add = [&](const char *name, void *address) {
            symbols[_jit->mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(address),
                                                    llvm::JITSymbolFlags::Exported};
        };
        add("memcpy", reinterpret_cast<void *>(&std::memcpy));
        add("memset", reinterpret_cast<void *>(&std::memset));
        add("memmove", reinterpret_cast<void *>(&std::memmove));
        if (auto error =
                _jit->getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols)))) {
            fail("cannot prepare the JIT", std::move(error));
        }
    }

    size_t _code_bytes;
    std::unique_ptr<llvm::orc::LLJIT> _jit;
};

}// namespace

CpuTarget host_cpu() {
    static const CpuTarget host = [] {
        CpuTarget target;
        target.cpu = llvm::sys::getHostCPUName().str();
        for (const auto &feature : llvm::sys::getHostCPUFeatures()) {
            target.features += (target.features.empty() ? "" : ",") +
                               std::string{feature.getValue() ? "+" : "-"} + feature.getKey().str();
        }
        return target;
    }();
    return host;
}

std::unique_ptr<CompiledModule> compile(const ir::Module &machine, const CpuTarget &target,
                                        EmitTimes *times) {
    EmitTimes own;
    auto start = Clock::now();
    auto tm = target_machine(target);
    llvm::LLVMContext context;
    auto module = build(context, machine, target, *tm);
    own.build_ms = since(start);
    start = Clock::now();
    auto object = generate(*module, *tm, llvm::CodeGenFileType::ObjectFile);
    own.codegen_ms = since(start);
    auto compiled = std::make_unique<JitModule>(std::move(object), *tm, own);
    start = Clock::now();
    for (const auto &function : machine.functions()) {
        (void)compiled->function(function.name);
    }
    own.link_ms += since(start);
    if (times) {
        *times = own;
    }
    return compiled;
}

std::string llvm_text(const ir::Module &machine, const CpuTarget &target) {
    auto tm = target_machine(target);
    llvm::LLVMContext context;
    auto module = build(context, machine, target, *tm);
    std::string text;
    llvm::raw_string_ostream stream{text};
    module->print(stream, nullptr);
    return text;
}

std::string assembly_text(const ir::Module &machine, const CpuTarget &target) {
    auto tm = target_machine(target);
    llvm::LLVMContext context;
    auto module = build(context, machine, target, *tm);
    return generate(*module, *tm, llvm::CodeGenFileType::AssemblyFile);
}

}// namespace luisa::tile::emit
