// SPDX-License-Identifier: Apache-2.0
#include "emit/llvm/ptx.h"

#include "emit/llvm/emitter.h"
#include "emit/llvm/generate.h"
#include "emit/llvm/target.h"

#include <llvm/Target/TargetMachine.h>

#include <chrono>

namespace luisa::tile::emit {

namespace {

using Clock = std::chrono::steady_clock;

double between(Clock::time_point start, Clock::time_point end) {
    return std::chrono::duration<double, std::milli>(end - start).count();
}

/// "8.6"
std::string version_text(int isa) {
    return std::to_string(isa / 10) + "." + std::to_string(isa % 10);
}

/// The architecture and version of PTX as LLVM names them, for a launch that the architecture allows.
CpuTarget check(const GpuOptions &options) {
    require(options.target != nullptr, "no architecture to generate PTX for");
    const auto &facts = *options.target;
    auto isa = options.ptx_isa ? options.ptx_isa : facts.ptx_isa;
    if (isa < facts.ptx_isa || isa > target::newest_ptx) {
        throw TargetError{"PTX " + version_text(isa) + " for " + facts.name + ", expected " +
                          version_text(facts.ptx_isa) + " to " + version_text(target::newest_ptx)};
    }
    auto bytes = static_cast<int64_t>((options.argument_words + 1) * sizeof(uint64_t));
    if (bytes > facts.constant_arguments) {
        throw ResourceError{"the kernel's arguments take " + std::to_string(bytes) + " bytes, " +
                            facts.name + " passes at most " +
                            std::to_string(facts.constant_arguments) + "; use fewer views"};
    }
    for (const auto &kernel : options.kernels) {
        if (kernel.threads > facts.threads_per_block) {
            throw ResourceError{"function '" + kernel.function + "' has " +
                                std::to_string(kernel.threads) + " threads a block, " + facts.name +
                                " has at most " + std::to_string(facts.threads_per_block)};
        }
    }
    return {facts.name, "+ptx" + std::to_string(isa)};
}

constexpr const char *triple = "nvptx64-nvidia-cuda";

}// namespace

GpuCode generate_ptx(const ir::Module &machine, const GpuOptions &options, EmitTimes *times) {
    auto start = Clock::now();
    auto target = check(options);
    auto tm = borrow_target_machine(target, triple);
    Context context{false};
    Emitter emitter{context, target, *tm->getMCSubtargetInfo(), &options};
    auto module = build(emitter, machine, *tm);
    auto built = Clock::now();
    auto text = generate(context, *module, *tm, llvm::CodeGenFileType::AssemblyFile);
    if (times) {
        times->build_ms = between(start, built);
        times->codegen_ms = between(built, Clock::now());
    }
    return {{text.begin(), text.end()}, emitter.reports(), emitter.report_values()};
}

std::string gpu_llvm_text(const ir::Module &machine, const GpuOptions &options) {
    auto target = check(options);
    auto tm = borrow_target_machine(target, triple);
    Context context{true};
    Emitter emitter{context, target, *tm->getMCSubtargetInfo(), &options};
    return print(*build(emitter, machine, *tm));
}

}// namespace luisa::tile::emit
