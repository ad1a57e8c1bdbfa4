// SPDX-License-Identifier: Apache-2.0
#include "emit/llvm/jit.h"

#include "emit/llvm/emitter.h"
#include "emit/llvm/generate.h"
#include "emit/llvm/report.h"
#include "emit/llvm/target.h"

#include <llvm/ExecutionEngine/Orc/AbsoluteSymbols.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <unordered_map>

extern "C" {
// Of the compiler's support library; only their addresses are used here.
void __extendhfsf2();
void __truncsfhf2();
void __truncdfhf2();
// Of LLVM's C interface, the only way to ask the loaded library.
void LLVMGetVersion(unsigned *major, unsigned *minor, unsigned *patch);
}

namespace luisa::tile::emit {

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

using Address = void (*)();
template<class Function> Address address_of(Function *function) {
    return reinterpret_cast<Address>(function);
}
using Unary = double(double);
using UnaryF = float(float);
using Ternary = double(double, double, double);
using TernaryF = float(float, float, float);

/// All that generated code may call: what LLVM makes of moves of memory, and of operations that the
/// lowest level of CPU has no instruction for.
const std::pair<const char *, Address> callable[] = {
    {"memcpy", address_of(std::memcpy)},
    {"memset", address_of(std::memset)},
    {"memmove", address_of(std::memmove)},
    {"fma", address_of<Ternary>(::fma)},
    {"fmaf", address_of<TernaryF>(::fmaf)},
    {"roundeven", address_of<Unary>(::roundeven)},
    {"roundevenf", address_of<UnaryF>(::roundevenf)},
    {"floor", address_of<Unary>(::floor)},
    {"floorf", address_of<UnaryF>(::floorf)},
    {"ceil", address_of<Unary>(::ceil)},
    {"ceilf", address_of<UnaryF>(::ceilf)},
    {"trunc", address_of<Unary>(::trunc)},
    {"truncf", address_of<UnaryF>(::truncf)},
    {"__extendhfsf2", __extendhfsf2},
    {"__truncsfhf2", __truncsfhf2},
    {"__truncdfhf2", __truncdfhf2},
};

[[noreturn]] void fail(const char *what, llvm::Error error) {
    throw CompileError{std::string{what} + ": " + llvm::toString(std::move(error))};
}

template<class T> T value_of(const char *what, llvm::Expected<T> value) {
    if (!value) {
        fail(what, value.takeError());
    }
    return std::move(*value);
}

std::unique_ptr<llvm::Module> build(Context &context, const ir::Module &machine,
                                    const CpuTarget &target, llvm::TargetMachine &tm) {
    Emitter emitter{context, target, *tm.getMCSubtargetInfo()};
    return emit::build(emitter, machine, tm);
}

size_t text_size(const llvm::MemoryBuffer &buffer) {
    auto object = value_of("cannot read generated code",
                           llvm::object::ObjectFile::createObjectFile(buffer.getMemBufferRef()));
    size_t size = 0;
    for (const auto &section : object->sections()) {
        size += section.isText() ? section.getSize() : 0;
    }
    return size;
}

/// The JIT's own compiler of LLVM IR, which is given none.
class NoCompiler : public llvm::orc::IRCompileLayer::IRCompiler {
public:
    NoCompiler() : IRCompiler{{}} {}
    llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> operator()(llvm::Module &) override {
        internal_error("LLVM IR was handed to the linker");
    }
};

/// Code of one module in a JIT of its own: destroying it frees the code, and nothing is shared.
class JitModule : public CompiledModule {
public:
    explicit JitModule(const ObjectCode &object) {
        auto buffer = llvm::MemoryBuffer::getMemBufferCopy(object.bytes, "luisa.tile");
        _code_bytes = text_size(*buffer);
        llvm::Triple triple{llvm::sys::getProcessTriple()};
        // Nothing is compiled here: without a target machine, linking kept code needs none of the tables.
        auto no_compiler = [](llvm::orc::JITTargetMachineBuilder)
            -> llvm::Expected<std::unique_ptr<llvm::orc::IRCompileLayer::IRCompiler>> {
            return std::make_unique<NoCompiler>();
        };
        _jit = value_of("cannot start the JIT",
                        llvm::orc::LLJITBuilder()
                            .setJITTargetMachineBuilder(llvm::orc::JITTargetMachineBuilder{triple})
                            .setDataLayout(llvm::DataLayout{triple.computeDataLayout()})
                            .setCompileFunctionCreator(no_compiler)
                            .setLinkProcessSymbolsByDefault(false)
                            .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
                            .create());
        // Errors come back from look-ups; nothing goes to the standard error stream.
        _jit->getExecutionSession().setErrorReporter(
            [this](llvm::Error error) { _reported += llvm::toString(std::move(error)) + " "; });
        provide_functions();
        if (auto error = _jit->addObjectFile(std::move(buffer))) {
            fail("cannot link generated code", std::move(error));
        }
        for (const auto &function : object.functions) {
            auto address = _jit->lookup(function);
            if (!address) {
                auto message = llvm::toString(address.takeError());
                throw CompileError{"generated code refers to what it may not use: " + _reported +
                                   message};
            }
            _functions.emplace(function, address->toPtr<TaskFunction>());
        }
    }

    [[nodiscard]] TaskFunction function(const std::string &name) const override {
        auto found = _functions.find(name);
        require(found != _functions.end(), "compiled module has no function of this name");
        return found->second;
    }
    [[nodiscard]] size_t code_bytes() const noexcept override { return _code_bytes; }

private:
    void provide_functions() {
        llvm::orc::SymbolMap symbols;
        auto add = [&](const char *name, void *address) {
            symbols[_jit->mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(address),
                                                    llvm::JITSymbolFlags::Exported};
        };
        for (const auto &[name, function] : callable) {
            add(name, reinterpret_cast<void *>(function));
        }
        add("memcpy", reinterpret_cast<void *>(&std::memcpy));
        add("memset", reinterpret_cast<void *>(&std::memset));
        add("memmove", reinterpret_cast<void *>(&std::memmove));
        add(report_symbol, reinterpret_cast<void *>(&report));
        for (size_t i = 0; i < std::size(team_symbols); ++i) {
            add(team_symbols[i], reinterpret_cast<void *>(team_function(static_cast<TeamCall>(i))));
        }
        if (auto error = _jit->getMainJITDylib().define(
                llvm::orc::absoluteSymbols(std::move(symbols)))) {
            fail("cannot prepare the JIT", std::move(error));
        }
    }

    size_t _code_bytes = 0;
    std::string _reported;
    std::unordered_map<std::string, TaskFunction> _functions;
    std::unique_ptr<llvm::orc::LLJIT> _jit;
};

}// namespace

ObjectCode generate_object(const ir::Module &machine, const CpuTarget &target, EmitTimes *times) {
    auto start = Clock::now();
    auto tm = borrow_target_machine(target);
    Context context{false};
    auto module = build(context, machine, target, *tm);
    auto built = Clock::now();
    auto object = generate(context, *module, *tm, llvm::CodeGenFileType::ObjectFile);
    if (times) {
        times->build_ms = std::chrono::duration<double, std::milli>(built - start).count();
        times->codegen_ms = since(built);
    }
    ObjectCode code;
    code.bytes.assign(object.begin(), object.end());
    for (const auto &function : machine.functions()) {
        code.functions.push_back(function.name);
    }
    return code;
}

std::unique_ptr<CompiledModule> load_object(const ObjectCode &object, EmitTimes *times) {
    auto start = Clock::now();
    auto module = std::make_unique<JitModule>(object);
    if (times) {
        times->link_ms = since(start);
    }
    return module;
}

std::unique_ptr<CompiledModule> compile(const ir::Module &machine, const CpuTarget &target,
                                        EmitTimes *times) {
    return load_object(generate_object(machine, target, times), times);
}

std::string generator_name() {
    // The library that is loaded, which may be newer than the headers.
    unsigned major = 0, minor = 0, patch = 0;
    LLVMGetVersion(&major, &minor, &patch);
    return "LLVM " + std::to_string(major) + "." + std::to_string(minor) + "." +
           std::to_string(patch) + " " + llvm::sys::getProcessTriple();
}

std::string llvm_text(const ir::Module &machine, const CpuTarget &target) {
    auto tm = borrow_target_machine(target);
    Context context{true};
    return print(*build(context, machine, target, *tm));
}

std::string assembly_text(const ir::Module &machine, const CpuTarget &target) {
    auto tm = borrow_target_machine(target);
    Context context{true};
    auto module = build(context, machine, target, *tm);
    auto text = generate(context, *module, *tm, llvm::CodeGenFileType::AssemblyFile);
    return {text.begin(), text.end()};
}

}// namespace luisa::tile::emit
