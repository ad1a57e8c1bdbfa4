// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/clone.h"
#include "ir/module.h"

#include <type_traits>
#include <vector>

namespace luisa::tile::ir {

/// Hears what a Rewriter does, so that a table about operations stays right. Calls come after an
/// insertion, a move or a change of operands, and before an erasure; for an operation with regions
/// also once for each operation inside, innermost first.
class RewriteListener {
public:
    virtual ~RewriteListener() = default;
    virtual void inserted(Operation *) {}
    virtual void moved(Operation *) {}
    virtual void changed(Operation *) {}
    virtual void erased(Operation *) {}
};

/// A place in a region: before an operation, or at the end.
struct InsertPoint {
    Region *region = nullptr;
    Operation *before = nullptr;

    [[nodiscard]] static InsertPoint at(Operation *before) { return {before->region(), before}; }
    [[nodiscard]] static InsertPoint after(Operation *op) { return {op->region(), op->next()}; }
    [[nodiscard]] static InsertPoint end(Region *region) { return {region, nullptr}; }
    [[nodiscard]] static InsertPoint begin(Region *region) { return {region, region->first()}; }
};

/// How passes change a module: uses stay right and listeners hear of every change. Misuse (types
/// that differ, uses left behind, an operation moved into itself) is an internal error. Dominance is
/// the caller's; `verify` checks it.
class Rewriter {
public:
    explicit Rewriter(Module &module) noexcept : _module{&module} {}
    [[nodiscard]] Module &module() const noexcept { return *_module; }

    /// `listener` must live until it is removed or the rewriter dies.
    void add_listener(RewriteListener *listener) { _listeners.push_back(listener); }
    void remove_listener(RewriteListener *listener);

    /// Lets `build(Builder &)` append operations at a place; they carry `loc`. Gives what it returns.
    ///     auto *sum = rewriter.insert(InsertPoint::at(op), op->loc,
    ///                                 [&](Builder &b) { return b.elementwise(Opcode::ADD, {x, y}); });
    template<class F> auto insert(InsertPoint at, SourceLoc loc, F &&build) {
        Builder builder{*_module};
        builder.set_region(at.region, at.before);
        builder.loc = loc;
        auto *previous = at.before ? at.before->previous() : at.region->last();
        if constexpr (std::is_void_v<std::invoke_result_t<F, Builder &>>) {
            build(builder);
            announce_inserted(at, previous);
        } else {
            auto result = build(builder);
            announce_inserted(at, previous);
            return result;
        }
    }
    /// Links an operation that has no place yet.
    void insert(InsertPoint at, Operation *op);

    /// Copies `op` to a place; values known to `cloner` are replaced.
    Operation *clone(const Operation &op, InsertPoint at, Cloner &cloner);

    void set_operand(Operation *op, size_t i, Value *value);
    /// Sends every use of `from` to `to`, which has the same type. O(uses × operands of a user).
    void replace_uses(Value *from, Value *to);
    /// As above, for the uses in `user` and the operations inside it only.
    void replace_uses_within(Operation *user, Value *from, Value *to);
    /// Sends the uses of each result to the value in its place and erases `op`.
    void replace(Operation *op, const std::vector<Value *> &values);
    /// Erases `op` and all inside it. Its results have no uses.
    void erase(Operation *op);
    void move(Operation *op, InsertPoint to);

    /// Moves the operations of `region` to a place, with `arguments` for its arguments, and erases its
    /// terminator. Returns what that yielded. The region is left empty; its owner is the caller's to erase.
    std::vector<Value *> inline_region(Region *region, InsertPoint to,
                                       const std::vector<Value *> &arguments);

private:
    using Event = void (RewriteListener::*)(Operation *);
    void announce(Event event, Operation *op);
    void announce_all(Event event, Operation *op);
    void announce_inserted(InsertPoint at, Operation *previous);

    Module *_module;
    std::vector<RewriteListener *> _listeners;
};

}// namespace luisa::tile::ir
