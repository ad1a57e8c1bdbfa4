// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/module.h"

#include <string>
#include <string_view>

namespace luisa::tile::ir {

/// The rules of one operation whose operands are known to be visible. False with a message when one is
/// broken. `owner` is the operation around it, null in a function body.
[[nodiscard]] bool check_rules(const Module &module, const Operation &op, const Operation *owner,
                               std::string &message);

/// The rule of ancestor updates of a `parallel` whose body is well formed.
[[nodiscard]] bool check_updates(const Module &module, const Operation &op, std::string &message);

/// As above for `atomic`, `assert` and `print`: see check_effects.cpp.
[[nodiscard]] bool check_effect_rules(const Operation &op, std::string &message);
/// Whether a reducer folds elements of `type`.
[[nodiscard]] bool folds(Reducer reducer, ScalarType type) noexcept;
/// Whether elements of `type` can be updated so.
[[nodiscard]] bool supports_atomic(AtomicOp op, ScalarType type) noexcept;
/// How many values a format of `print` takes.
[[nodiscard]] size_t count_places(std::string_view format) noexcept;
/// What is wrong with the contract of a nest whose states are well formed; empty when nothing is.
[[nodiscard]] std::string check_contract(const Operation &nest);

/// As above for the operations that Machine form alone has: see check_machine.cpp.
[[nodiscard]] bool check_machine_rules(const Operation &op, std::string &message);

/// The rule of a mapped load or store: coordinates, one a dimension of the view from operand `first` on, are
/// tiles over `dims`, and a load's fallback or a store's value fits.
[[nodiscard]] bool check_mapped_access(const Operation &op, size_t first,
                                       const std::vector<DimExtent> &dims, std::string &message);

/// The rule of `extract` and `insert`.
[[nodiscard]] bool check_part_access(const Operation &op, std::string &message);

/// What is wrong with the layout of a `memory.alloc`, and with the order of the instances of a nest, a layout
/// without holes; empty when nothing is, or when there is none.
[[nodiscard]] std::string check_layout(const Operation &alloc);
[[nodiscard]] std::string check_order(const Operation &nest);

/// The dimensions of the part that an access reads or writes.
[[nodiscard]] std::vector<DimExtent> boxed_dims(const Type &tile, const AccessPayload &access);

}// namespace luisa::tile::ir
