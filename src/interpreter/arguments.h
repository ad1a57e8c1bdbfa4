// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "interpreter/context.h"

namespace luisa::tile::interpreter {

/// "gemm(A: view<const f32, 1000x1000>, alpha: f32)"
[[nodiscard]] std::string signature(const ir::Function &kernel);

/// Gives the kernel's parameters their values: scalars to `slots`, views to `views`. Throws
/// CallError with the expected signature when number, rank, extents or strides do not fit.
void bind_arguments(Context &context, const Block &body, std::span<const KernelArgument> arguments);

}// namespace luisa::tile::interpreter
