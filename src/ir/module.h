// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/operation.h"

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace luisa::tile::ir {

/// A kernel in Candidate form, or one phase of it in Machine form. Its parameters are the
/// arguments of its body.
struct Function {
    std::string name;
    Region *body = nullptr;
    SourceLoc loc;
    bool noalias = false;///< written parameters overlap no other (promised by the caller)
    std::vector<std::string> parameter_names;
};

enum class Form : uint8_t { CANDIDATE, MACHINE };

/// Owns functions, operations, values and interned types. Not copyable; addresses stay valid until
/// it dies, also of erased operations. Not thread safe.
class Module {
public:
    explicit Module(Form form = Form::CANDIDATE) noexcept : form{form} {}
    Module(const Module &) = delete;
    Module &operator=(const Module &) = delete;

    /// The one object for `type`. Amortised O(size of the type).
    const Type *intern(Type type);
    const Type *scalar(ScalarType t);
    const Type *tile(ScalarType t, std::vector<DimExtent> dims);
    const Type *vector(ScalarType t, uint16_t lanes);
    const Type *pointer();

    Function *add_function(std::string name, SourceLoc loc = {});
    [[nodiscard]] const std::deque<Function> &functions() const noexcept { return _functions; }
    [[nodiscard]] std::deque<Function> &functions() noexcept { return _functions; }
    /// The one function of a Candidate module.
    [[nodiscard]] Function *kernel();
    [[nodiscard]] const Function *kernel() const;

    Value *add_argument(Region *region, const Type *type);
    /// An unlinked operation with `region_count` empty regions.
    Operation *create(Opcode op, const std::vector<Value *> &operands,
                      const std::vector<const Type *> &results, Payload payload, SourceLoc loc,
                      size_t region_count = 0);
    void append(Region *region, Operation *op);
    void insert_before(Operation *anchor, Operation *op);
    /// Unlinks `op` (its uses leave their lists). Its results must have no uses.
    void erase(Operation *op);
    /// Moves a linked operation before `anchor` (null: to the end of `region`).
    void move(Operation *op, Region *region, Operation *anchor);
    /// A new empty region added to `op`.
    Region *add_region(Operation *op);
    /// Removes the regions from number `first` on with what is in them.
    void erase_regions(Operation *op, size_t first);
    Value *add_result(Operation *op, const Type *type);

    Form form;

private:
    std::deque<Function> _functions;
    std::deque<Operation> _operations;
    std::deque<Region> _regions;
    std::deque<Value> _values;
    std::deque<Type> _types;
    std::unordered_multimap<size_t, const Type *> _type_index;
};

/// Appends operations at a point of one region. Result types of elementwise operations follow the
/// language's rules (language.md §3); a mistake there throws ShapeError or TypeError with both
/// operands and `loc`.
class Builder {
public:
    explicit Builder(Module &module, Region *region = nullptr) noexcept
        : _module{&module}, _region{region} {}

    [[nodiscard]] Module &module() const noexcept { return *_module; }
    [[nodiscard]] Region *region() const noexcept { return _region; }
    void set_region(Region *region, Operation *before = nullptr) noexcept {
        _region = region;
        _before = before;
    }
    SourceLoc loc;///< given to operations that are made without one of their own

    Operation *emit(Opcode op, const std::vector<Value *> &operands,
                    const std::vector<const Type *> &results, Payload payload = None{},
                    size_t region_count = 0);
    /// One result of the given type.
    Value *value(Opcode op, const std::vector<Value *> &operands, const Type *result,
                 Payload payload = None{});
    /// Elementwise or math operation; infers the result. For CAST, BITCAST and QUANTIZE pass the
    /// result's element type.
    Value *elementwise(Opcode op, const std::vector<Value *> &operands, Payload payload = None{},
                       const ScalarType *element = nullptr);
    Value *cast(Value *x, ScalarType to);
    Value *constant(ScalarType type, uint64_t bits);
    Value *constant_tile(const Type *type, uint64_t bits);
    Value *index(int64_t value);///< an i64 constant

private:
    Module *_module;
    Region *_region;
    Operation *_before = nullptr;
};

/// The join of tile dimensions by identity: the first operand's in order, then new ones. Extents of
/// one yield to others; other conflicts throw ShapeError naming `what`.
[[nodiscard]] std::vector<DimExtent> join_dims(const char *what, const std::vector<Value *> &values,
                                               SourceLoc loc);

}// namespace luisa::tile::ir
