// SPDX-License-Identifier: Apache-2.0
#include "emit/llvm/target.h"

#include "target/cpu.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

#include <algorithm>
#include <mutex>

namespace luisa::tile::emit {

namespace {

struct Idle {
    CpuTarget target;
    std::string triple;
    std::unique_ptr<llvm::TargetMachine> machine;
};

// Enough for a few compiling threads; what comes back beyond that is dropped.
constexpr size_t kept_machines = 4;

struct Pool {
    std::mutex mutex;
    std::vector<Idle> idle;
};

Pool &pool() {
    static Pool instance;
    return instance;
}

void initialise_targets() {
    static std::once_flag once;
    std::call_once(once, [] {
        llvm::InitializeNativeTarget();
        llvm::InitializeNativeTargetAsmPrinter();
    });
}

void initialise_nvptx() {
    static std::once_flag once;
    std::call_once(once, [] {
        LLVMInitializeNVPTXTargetInfo();
        LLVMInitializeNVPTXTarget();
        LLVMInitializeNVPTXTargetMC();
        LLVMInitializeNVPTXAsmPrinter();
    });
}

void check_features(const llvm::MCSubtargetInfo &facts, const std::string &features) {
    llvm::SmallVector<llvm::StringRef, 128> list;
    llvm::StringRef{features}.split(list, ',', -1, false);
    auto known = facts.getAllProcessorFeatures();
    for (auto feature : list) {
        auto name = feature.drop_front();
        bool found = std::any_of(known.begin(), known.end(),
                                 [&](const auto &row) { return name == row.Key; });
        if (!found || (feature.front() != '+' && feature.front() != '-')) {
            throw TargetError{"unknown CPU feature '" + feature.str() +
                              "'; name one as LLVM does with + or -, for example +avx512f"};
        }
    }
}

std::unique_ptr<llvm::TargetMachine> make_target_machine(const CpuTarget &target,
                                                         const std::string &name) {
    initialise_targets();
    llvm::Triple triple{name.empty() ? llvm::sys::getProcessTriple() : name};
    if (triple.isNVPTX()) {
        initialise_nvptx();
    }
    std::string message;
    const auto *found = llvm::TargetRegistry::lookupTarget(triple, message);
    if (!found) {
        throw TargetError{"no code generator for " + triple.str() + ": " + message};
    }
    // The default CPU here: an unknown name would be reported on the standard error stream.
    std::unique_ptr<llvm::MCSubtargetInfo> facts{found->createMCSubtargetInfo(triple, "", "")};
    if (!facts || !facts->isCPUStringValid(target.cpu)) {
        throw TargetError{"unknown CPU '" + target.cpu +
                          "'; name one as LLVM does, for example x86-64-v3 or znver4"};
    }
    check_features(*facts, target.features);
    llvm::TargetOptions options;
    options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
    options.MCOptions.AsmVerbose = false;
    return std::unique_ptr<llvm::TargetMachine>{
        found->createTargetMachine(triple, target.cpu, target.features, options, llvm::Reloc::PIC_,
                                   llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default, true)};
}

}// namespace

void ReturnTargetMachine::operator()(llvm::TargetMachine *machine) const {
    std::unique_ptr<llvm::TargetMachine> owned{machine};
    std::lock_guard lock{pool().mutex};
    if (pool().idle.size() < kept_machines) {
        pool().idle.push_back({target, triple, std::move(owned)});
    }
}

BorrowedTargetMachine borrow_target_machine(const CpuTarget &target, const std::string &triple) {
    {
        std::lock_guard lock{pool().mutex};
        auto &idle = pool().idle;
        auto found = std::find_if(idle.begin(), idle.end(), [&](const Idle &i) {
            return i.target.cpu == target.cpu && i.target.features == target.features &&
                   i.triple == triple;
        });
        if (found != idle.end()) {
            auto machine = std::move(found->machine);
            idle.erase(found);
            return {machine.release(), {target, triple}};
        }
    }
    return {make_target_machine(target, triple).release(), {target, triple}};
}

CpuTarget host_cpu() {
    static const CpuTarget host = [] {
        CpuTarget target;
        target.cpu = llvm::sys::getHostCPUName().str();
        for (const auto &feature : llvm::sys::getHostCPUFeatures()) {
            bool usable = feature.getValue() && (!feature.getKey().starts_with("amx") ||
                                                 target::matrix_registers_granted());
            target.features += (target.features.empty() ? "" : ",") +
                               std::string{usable ? "+" : "-"} + feature.getKey().str();
        }
        return target;
    }();
    return host;
}

}// namespace luisa::tile::emit
