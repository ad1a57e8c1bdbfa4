// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/module.h"

#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace luisa::tile::cpu {

using Values = std::vector<ir::Value *>;

/// Writes Machine form in final shape: pure operations are numbered (each computed once) and placed
/// outside the loops that they do not depend on; integer address arithmetic folds as it is built.
class MachineBuilder {
public:
    explicit MachineBuilder(ir::Module &module) : _builder{module} {}

    [[nodiscard]] ir::Module &module() noexcept { return _builder.module(); }
    [[nodiscard]] ir::Region *region() const noexcept { return _builder.region(); }
    void begin_function(ir::Function &function);
    void set_location(SourceLoc loc) noexcept {
        _builder.loc = _mark ? SourceLoc{loc.file, _mark} : loc;
    }
    [[nodiscard]] SourceLoc location() const noexcept { return _builder.loc; }

    /// From here on operations have this number instead of their source line; 0: their line again. The
    /// number before.
    uint32_t set_mark(uint32_t mark) noexcept {
        auto before = std::exchange(_mark, mark);
        _builder.loc = {"", mark};
        return before;
    }

    [[nodiscard]] uint32_t mark() const noexcept { return _mark; }

    /// Memory may have changed: reads made before are not reused, and reads made from here on stay in
    /// this region or inside it.
    void forget_reads() noexcept {
        ++_epoch;
        _read_fence = region();
    }

    ir::Value *constant(ScalarType type, uint64_t bits);
    ir::Value *index(int64_t value) {
        return constant(ScalarType::INT64, static_cast<uint64_t>(value));
    }
    /// The value of an integer constant, if `value` is one.
    [[nodiscard]] static bool is_constant(const ir::Value *value, int64_t &out) noexcept;

    /// A pure operation; the result type is given, or inferred for elementwise operations.
    ir::Value *pure(ir::Opcode op, const Values &operands, ir::Payload payload = ir::None{},
                    const ir::Type *type = nullptr);
    /// A read from memory that nothing writes until `forget_reads`: it may leave loops.
    ir::Value *stable_read(ir::Opcode op, const Values &operands, ir::MemoryPayload payload,
                           const ir::Type *type);
    ir::Value *read(ir::Opcode op, const Values &operands, ir::MemoryPayload payload,
                    const ir::Type *type);
    /// Updates an integer in memory; gives what it was. `expected` is null except for COMPARE_EXCHANGE.
    ir::Value *atomic(ir::Value *address, AtomicOp op, ir::Value *value, ir::Value *expected);
    void effect(ir::Opcode op, const Values &operands, ir::Payload payload);
    /// An operation that stays where it is, and is not shared with an equal one.
    ir::Value *fixed(ir::Opcode op, const Values &operands, ir::Payload payload,
                     const ir::Type *type);

    /// Whether `value` stays the same in all iterations of the innermost loop around this place.
    [[nodiscard]] bool is_invariant(const ir::Value *value) const noexcept;

    // Arithmetic on i64 scalars, folded where an operand is constant.
    ir::Value *add(ir::Value *a, ir::Value *b);
    ir::Value *sub(ir::Value *a, ir::Value *b);
    ir::Value *mul(ir::Value *a, ir::Value *b);
    ir::Value *div(ir::Value *a, ir::Value *b);///< operands not negative, divisor positive
    ir::Value *rem(ir::Value *a, ir::Value *b);
    ir::Value *minimum(ir::Value *a, ir::Value *b);
    ir::Value *maximum(ir::Value *a, ir::Value *b);
    ir::Value *compare(ir::Opcode op, ir::Value *a, ir::Value *b);
    /// Conjunction; null stands for "true".
    ir::Value *both(ir::Value *a, ir::Value *b);

    /// `value` as a vector of `lanes`; a vector is returned as it is.
    ir::Value *splat(ir::Value *value, int lanes);
    ir::Value *address(ir::Value *base, ir::Value *index, int64_t scale, int64_t offset = 0);
    /// base + scale · (sum of the terms): terms of outer loops are added first, so that inner loops
    /// share one running index, and constants become the offset of the access.
    ir::Value *address_sum(ir::Value *base, Values terms, int64_t scale);

    using LoopBody = std::function<Values(ir::Value *index, const Values &states)>;
    /// `for index in begin … end step`, carrying states. Nothing is emitted for a loop that is
    /// known to be empty; one that is known to run once is emitted without a loop.
    Values loop(ir::Value *begin, ir::Value *end, int64_t step, const Values &states,
                const LoopBody &body);
    /// The general form: a step that is a value (positive).
    Values loop(ir::Value *begin, ir::Value *end, ir::Value *step, const Values &states,
                const LoopBody &body);
    /// Branches yield values of equal types.
    Values branch(ir::Value *condition, const std::function<Values()> &then_part,
                  const std::function<Values()> &else_part);
    /// `condition` is evaluated first in each iteration, on the states.
    Values while_loop(const Values &states,
                      const std::function<ir::Value *(const Values &)> &condition,
                      const std::function<Values(const Values &)> &body);

private:
    ir::Value *numbered(ir::Opcode op, const Values &operands, ir::Payload payload,
                        const ir::Type *type, size_t epoch);
    struct Place {
        ir::Region *region;
        ir::Operation *before;
    };
    [[nodiscard]] Place place_for(const Values &operands, const ir::Region *fence) const;

    ir::Builder _builder;
    uint32_t _mark = 0;
    ir::Region *_entry = nullptr;
    size_t _epoch = 1;
    const ir::Region *_read_fence = nullptr;
    std::unordered_map<const ir::Region *, std::unordered_multimap<size_t, ir::Operation *>>
        _numbers;
    std::unordered_map<const ir::Operation *, size_t> _read_epochs;
};

}// namespace luisa::tile::cpu
