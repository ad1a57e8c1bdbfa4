// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "emit/llvm/jit.h"
#include "emit/llvm/ptx.h"
#include "emit/llvm/team.h"
#include "ir/module.h"

#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <map>
#include <memory>
#include <unordered_map>

namespace llvm {
class MCSubtargetInfo;
}

namespace luisa::tile::emit {

/// Maps one Machine module to LLVM IR, operation by operation. Decides nothing: what a line of
/// Machine form says becomes one or a few instructions.
class Emitter {
public:
    /// With `gpu`, functions are kernels of that GPU; it must outlive the emitter.
    Emitter(llvm::LLVMContext &context, const CpuTarget &target,
            const llvm::MCSubtargetInfo &features, const GpuOptions *gpu = nullptr);
    std::unique_ptr<llvm::Module> emit(const ir::Module &machine);
    /// Before `emit`: instructions have the lines of their operations as debug locations.
    void keep_lines() noexcept { _keeps_lines = true; }
    /// After `emit`, of a GPU's module: whether it reports, and the most values that a report has.
    [[nodiscard]] bool reports() const noexcept { return _reports; }
    [[nodiscard]] size_t report_values() const noexcept { return _report_values; }

private:
    void emit_function(const ir::Function &function);
    void mark_function(const ir::Function &function);
    void emit_region(const ir::Region &region);
    // lines.cpp
    void begin_lines(const ir::Function &function);
    void set_line(uint32_t line);
    void end_lines();
    void emit_operation(const ir::Operation &op);

    // control.cpp
    void emit_for(const ir::Operation &op);
    void emit_if(const ir::Operation &op);
    void emit_while(const ir::Operation &op);

    // arithmetic.cpp
    llvm::Value *arithmetic(const ir::Operation &op);
    llvm::Value *divide(ir::Opcode op, ScalarType type, llvm::Value *a, llvm::Value *b,
                        const ir::Value *divisor);
    llvm::Value *shift(const ir::Operation &op, ScalarType type, llvm::Value *a, llvm::Value *b);
    llvm::Value *extremum(ir::Opcode op, ScalarType type, llvm::Value *a, llvm::Value *b);
    llvm::Value *compare(ir::Opcode op, ScalarType type, llvm::Value *a, llvm::Value *b);
    llvm::Value *combine(Reducer reducer, ScalarType type, llvm::Value *a, llvm::Value *b);
    llvm::Value *reduce_lanes(const ir::Operation &op);

    // cast.cpp
    llvm::Value *cast(llvm::Value *value, ScalarType from, ScalarType to);
    llvm::Value *quantize(llvm::Value *value, ScalarType from, ScalarType to, bool saturate);
    llvm::Value *to_odd_float32(llvm::Value *value, ScalarType from);
    llvm::Value *jam(llvm::Value *value, bool sign);
    llvm::Value *to_float32(llvm::Value *value, ScalarType from);
    llvm::Value *to_bfloat16(llvm::Value *value);
    llvm::Value *to_integer(llvm::Value *value, ScalarType to);

    // native.cpp
    llvm::Value *scale(const ir::Operation &op);
    llvm::Value *ordered_extremum(bool low, bool wide, llvm::Value *a, llvm::Value *b);
    llvm::Value *scale_by_products(llvm::Value *a, llvm::Value *n, bool wide);
    llvm::Value *scale_by_halves(llvm::Value *a, llvm::Value *n, bool wide);
    llvm::Value *dot(const ir::Operation &op);
    void matrix(const ir::Operation &op);
    llvm::Value *table(const ir::Operation &op);
    llvm::Value *table_global(const std::vector<uint32_t> &entries);
    llvm::Value *slice(llvm::Value *value, unsigned first, unsigned count);
    llvm::Value *by_parts(llvm::Type *type, unsigned lanes, unsigned count,
                          llvm::function_ref<llvm::Value *(unsigned)> part);

    // effects.cpp
    llvm::Value *atomic_read(const ir::Operation &op);
    llvm::Value *atomic_update(const ir::Operation &op);
    llvm::Value *word_of(llvm::Value *value);
    void report(const ir::Operation &op);
    void call_report(const ir::Operation &op);

    // gpu.cpp
    void begin_gpu_module(const ir::Module &machine);
    void mark_kernel(const ir::Function &function);
    llvm::Value *team(const ir::Operation &op);
    llvm::Value *number_of(const ir::ParticipantPayload &payload, bool count);
    llvm::Value *shared_address(int64_t offset);
    llvm::Value *exchange(const ir::Operation &op);
    llvm::Value *global_pointer(llvm::Value *pointer);
    llvm::Value *gpu_extremum(ir::Opcode op, llvm::Value *a, llvm::Value *b);
    llvm::Value *gpu_prefetch(llvm::Value *address);
    llvm::Value *branch_around(const ir::Operation &op, llvm::Value *address, llvm::Value *value,
                               llvm::Value *mask, llvm::Value *other);
    void record_report(const ir::Operation &op);

    // lane_access.cpp
    [[nodiscard]] bool reads_constant(const ir::Operation &op) const;
    /// Lets a load go through the cache of what nothing writes, if that is known.
    llvm::Value *constant_load(llvm::LoadInst *load, const ir::Operation &op);
    llvm::Value *thread_access(const ir::Operation &op);
    llvm::Value *whole_access(const ir::Operation &op, llvm::Value *address, llvm::Value *value,
                              llvm::Value *mask, llvm::Value *other);
    llvm::Value *lane_access(const ir::Operation &op, llvm::Value *address, llvm::Value *value,
                             llvm::Value *mask, llvm::Value *other, llvm::Type *memory);
    // matrix.cpp
    llvm::Value *gpu_copy(const ir::Operation &op);
    llvm::Value *gpu_load_matrix(const ir::Operation &op);
    llvm::Value *gpu_multiply_matrix(const ir::Operation &op);
    llvm::Value *host_copy(const ir::Operation &op);
    llvm::Value *host_load_matrix(const ir::Operation &op);
    llvm::Value *host_multiply_matrix(const ir::Operation &op);
    // panels.cpp
    void gpu_order(const char *text);
    llvm::Value *gpu_on_sums(const std::string &text, llvm::Value *sums,
                             const std::vector<llvm::Value *> &more);
    llvm::Value *gpu_multiply_panels(const ir::Operation &op);
    llvm::Value *gpu_panels(const ir::Operation &op);
    llvm::Value *host_panels(const ir::Operation &op);
    /// Room on the stack of the function.
    llvm::Value *stack_room(llvm::Type *type);

    // team.cpp
    llvm::Value *call_team(TeamCall call, llvm::Type *result,
                           const std::vector<llvm::Value *> &arguments);
    llvm::Value *host_team(const ir::Operation &op);
    llvm::Value *address_of(const ir::Operation *op);
    llvm::Value *may_access(const ir::Operation &op, llvm::Value *address, int64_t bytes,
                            AccessKind kind);
    llvm::Value *observed_access(const ir::Operation &op, llvm::Type *memory, llvm::Value *address,
                                 llvm::Value *value, llvm::Value *mask, llvm::Value *other);

    // memory.cpp
    llvm::Value *memory(const ir::Operation &op);
    llvm::Value *constant(const ir::Operation &op);
    llvm::Value *lane_numbers(const ir::Type &type);
    llvm::Value *lane_mask(llvm::Value *count, unsigned lanes);
    llvm::Value *address(const ir::Operation &op);
    llvm::Value *access(const ir::Operation &op);
    llvm::Value *from_memory(llvm::Value *value, ScalarType type);
    llvm::Value *to_memory(llvm::Value *value, ScalarType type);
    llvm::Value *bit_cast(const ir::Operation &op, llvm::Value *a);

    [[nodiscard]] llvm::Value *at(const ir::Value *value) const;
    llvm::Value *operand(const ir::Operation &op, size_t i) const { return at(op.operand(i)); }
    /// The register type of an IR type; narrow floats other than f16 are integers of their width.
    llvm::Type *type_of(const ir::Type &type);
    llvm::Type *element_type(ScalarType type);
    llvm::Type *memory_type(const ir::Type &type);
    /// `element` with as many lanes as `like`.
    llvm::Type *widened(llvm::Type *element, llvm::Value *like);
    llvm::Constant *integer_like(llvm::Value *like, uint64_t bits);
    llvm::Value *intrinsic(llvm::Intrinsic::ID id, std::initializer_list<llvm::Value *> arguments);

    llvm::LLVMContext &_context;
    const CpuTarget &_target;
    const GpuOptions *_gpu = nullptr;
    const GpuKernel *_kernel = nullptr;///< what is known of the current function's launch
    size_t _report_values = 0;
    bool _reports = false, _keeps_lines = false;
    std::unique_ptr<llvm::DIBuilder> _lines;///< null unless lines are kept
    llvm::DIFile *_lines_file = nullptr;
    llvm::SyncScope::ID _scope = llvm::SyncScope::System;///< of atomic operations
    llvm::GlobalVariable *_shared_memory = nullptr;
    bool _is_x86 = false, _has_avx512 = false, _has_avx512vl = false, _has_avx512dq = false;
    std::unique_ptr<llvm::Module> _module;
    llvm::IRBuilder<> _b;
    llvm::Function *_function = nullptr;
    std::unordered_map<const ir::Value *, llvm::Value *> _values;
    std::unordered_map<llvm::Constant *, llvm::GlobalVariable *> _tables;
    /// Of the `while`s around the current point: where a false condition leaves to.
    /// The innermost loop while its body is emitted, with multiples of its index that addresses use.
    struct Counter {
        const ir::Value *index = nullptr;
        llvm::Value *begin = nullptr, *step = nullptr;
        llvm::BasicBlock *before = nullptr, *body = nullptr;
        std::map<int64_t, llvm::PHINode *> multiples;
    };
    llvm::Value *multiple_of(const ir::Value *index, int64_t factor);
    Counter _counter;
    std::vector<llvm::BasicBlock *> _while_exits;
};

}// namespace luisa::tile::emit
