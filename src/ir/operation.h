// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/error.h>

#include "core/internal_error.h"
#include "ir/opcode.h"
#include "ir/payload.h"
#include "ir/type.h"

#include <memory>
#include <span>
#include <vector>

namespace luisa::tile::ir {

class Operation;
class Region;
class Value;

/// One operand slot. It sits in its value's use list exactly while its operation is linked.
class Use {
public:
    [[nodiscard]] Value *value() const noexcept { return _value; }
    [[nodiscard]] Operation *user() const noexcept { return _user; }
    [[nodiscard]] Use *next() const noexcept { return _next; }

private:
    friend class Module;
    friend class Operation;
    friend class Value;
    Value *_value = nullptr;
    Operation *_user = nullptr;
    Use *_previous = nullptr, *_next = nullptr;
};

/// An SSA definition: result of an operation or argument of a region.
class Value {
public:
    [[nodiscard]] const Type *type() const noexcept { return _type; }
    [[nodiscard]] ScalarType scalar() const noexcept { return _type->scalar; }
    /// The operation that yields this value; null for region arguments.
    [[nodiscard]] Operation *definition() const noexcept { return _definition; }
    /// The region whose argument this is; null for operation results.
    [[nodiscard]] Region *owner() const noexcept { return _owner; }
    /// Position among the results of `definition` or the arguments of `owner`.
    [[nodiscard]] uint32_t index() const noexcept { return _index; }
    [[nodiscard]] Use *first_use() const noexcept { return _uses; }
    [[nodiscard]] bool has_uses() const noexcept { return _uses != nullptr; }
    [[nodiscard]] bool has_one_use() const noexcept { return _uses && !_uses->next(); }
    /// The region in which this value is defined.
    [[nodiscard]] Region *region() const noexcept;
    /// Sends every use to `other`. O(uses).
    void replace_all_uses_with(Value *other);

    std::string name;///< optional, from the text form or for readability

private:
    friend class Module;
    friend class Operation;
    friend class Region;
    friend class Use;
    const Type *_type = nullptr;
    Operation *_definition = nullptr;
    Region *_owner = nullptr;
    Use *_uses = nullptr;
    uint32_t _index = 0;
};

/// A list of operations with arguments. Control is structured, so a region holds exactly one block
/// and plays both roles.
class Region {
public:
    class Iterator {
    public:
        explicit Iterator(Operation *op) noexcept : _op{op} {}
        Operation *operator*() const noexcept { return _op; }
        Iterator &operator++() noexcept;
        bool operator!=(const Iterator &other) const noexcept { return _op != other._op; }

    private:
        Operation *_op;
    };

    [[nodiscard]] Operation *parent() const noexcept {
        return _parent;
    }///< null for a function body
    [[nodiscard]] Operation *first() const noexcept { return _first; }
    [[nodiscard]] Operation *last() const noexcept { return _last; }
    [[nodiscard]] bool empty() const noexcept { return !_first; }
    [[nodiscard]] Iterator begin() const noexcept { return Iterator{_first}; }
    [[nodiscard]] Iterator end() const noexcept { return Iterator{nullptr}; }
    [[nodiscard]] const std::vector<Value *> &arguments() const noexcept { return _arguments; }
    [[nodiscard]] Value *argument(size_t i) const { return _arguments.at(i); }
    /// Removes argument `i`, which must have no uses. O(arguments).
    void erase_argument(size_t i);
    /// The `yield` that ends the region, or null.
    [[nodiscard]] Operation *terminator() const noexcept;
    /// Whether `other` is this region or lies inside it. O(depth).
    [[nodiscard]] bool encloses(const Region *other) const noexcept;

private:
    friend class Module;
    friend class Operation;
    Operation *_parent = nullptr;
    Operation *_first = nullptr, *_last = nullptr;
    std::vector<Value *> _arguments;
};

/// One operation. Made by a Module (through Builder), linked into a region, owned by the module.
class Operation {
public:
    [[nodiscard]] Opcode opcode() const noexcept { return _opcode; }
    [[nodiscard]] const char *name() const noexcept { return to_string(_opcode); }
    [[nodiscard]] Region *region() const noexcept { return _region; }///< null while unlinked
    [[nodiscard]] Operation *next() const noexcept { return _next; }
    [[nodiscard]] Operation *previous() const noexcept { return _previous; }
    /// The operation that owns the region this one is in; null in a function body.
    [[nodiscard]] Operation *parent() const noexcept {
        return _region ? _region->parent() : nullptr;
    }

    [[nodiscard]] size_t operand_count() const noexcept { return _operand_count; }
    [[nodiscard]] Value *operand(size_t i) const {
        require(i < _operand_count, "operand index out of range");
        return _operands[i].value();
    }
    [[nodiscard]] std::vector<Value *> operands() const;
    void set_operand(size_t i, Value *value);
    void append_operand(Value *value);
    void erase_operand(size_t i);

    [[nodiscard]] size_t result_count() const noexcept { return _results.size(); }
    [[nodiscard]] Value *result(size_t i = 0) const { return _results.at(i); }
    [[nodiscard]] const std::vector<Value *> &results() const noexcept { return _results; }
    /// Removes result `i`, which must have no uses.
    void erase_result(size_t i);

    [[nodiscard]] const std::vector<Region *> &regions() const noexcept { return _regions; }
    [[nodiscard]] Region *body(size_t i = 0) const { return _regions.at(i); }
    /// The regions that yield the results: all but those of a contract.
    [[nodiscard]] std::span<Region *const> bodies() const noexcept {
        return {_regions.data(), body_count(_opcode, _regions.size())};
    }

    [[nodiscard]] const Payload &payload() const noexcept { return _payload; }
    [[nodiscard]] Payload &payload() noexcept { return _payload; }
    /// The payload as its type; an internal error if the operation carries another.
    template<class P> [[nodiscard]] const P &get() const {
        const auto *p = std::get_if<P>(&_payload);
        require(p != nullptr, "operation carries another payload");
        return *p;
    }
    template<class P> [[nodiscard]] P &get() {
        auto *p = std::get_if<P>(&_payload);
        require(p != nullptr, "operation carries another payload");
        return *p;
    }

    /// Whether this operation comes before `other` in the same region. O(distance).
    [[nodiscard]] bool is_before(const Operation *other) const noexcept;

    SourceLoc loc;

private:
    friend class Module;
    friend class Rewriter;
    void link(Region *region, Operation *before);
    void unlink();
    void attach_uses();
    void detach_uses();

    Opcode _opcode = Opcode::YIELD;
    Region *_region = nullptr;
    Operation *_previous = nullptr, *_next = nullptr;
    std::unique_ptr<Use[]> _operands;
    size_t _operand_count = 0;
    std::vector<Value *> _results;
    std::vector<Region *> _regions;
    Payload _payload;
};

}// namespace luisa::tile::ir
