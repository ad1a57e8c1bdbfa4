// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/kernel.h>

#include "ir/module.h"

#include <memory>

namespace luisa::tile {

/// The Candidate module behind a kernel; CaptureError for an empty handle.
[[nodiscard]] const std::shared_ptr<const ir::Module> &module_of(const Kernel &kernel);
/// The canonical text, made once.
[[nodiscard]] const std::string &canonical_text(const Kernel &kernel);
/// A kernel around a verified module.
[[nodiscard]] Kernel make_kernel(std::shared_ptr<const ir::Module> module);

}// namespace luisa::tile
