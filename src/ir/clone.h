// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/module.h"

#include <memory>
#include <unordered_map>

namespace luisa::tile::ir {

/// Copies operations, with all that is inside them, within a module or into another one. Values that
/// were copied or mapped are replaced in operands; the others stay as they are, which is right only
/// inside one module (`Values::SHARED`), and an internal error for a copy to another one.
class Cloner {
public:
    enum class Values : uint8_t { SHARED, ALL_MAPPED };

    /// Copies go to `to`; their types are interned there.
    explicit Cloner(Module &to, Values unmapped = Values::SHARED) noexcept
        : _to{&to}, _unmapped{unmapped} {}

    /// From now on `to` stands for `from` in copied operands.
    void map(const Value *from, Value *to) { _map[from] = to; }
    /// What stands for `from`.
    [[nodiscard]] Value *mapped(const Value *from) const;
    /// An unlinked copy; its results are mapped. O(operations inside).
    Operation *clone(const Operation &op);
    /// Adds copies of the arguments of `from` to `to` and appends copies of its operations, the
    /// terminator included.
    void clone_region(const Region &from, Region *to);

private:
    Module *_to;
    Values _unmapped;
    std::unordered_map<const Value *, Value *> _map;
};

/// An independent copy of a whole module. It prints as the original does.
[[nodiscard]] std::unique_ptr<Module> clone(const Module &module);

}// namespace luisa::tile::ir
