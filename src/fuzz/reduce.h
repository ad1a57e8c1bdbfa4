// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "fuzz/execute.h"

#include <functional>

namespace luisa::tile::fuzz {

/// Whether a case still fails as the original one did.
using StillFails = std::function<bool(const Case &)>;

/// A smaller case that still fails: operations are removed or replaced by constants and operands,
/// nests by one iteration of their bodies, states and parameters that nothing uses go, and contents
/// become simpler, for as long as one of these steps keeps the failure and `more()` says true. Every
/// step is verified first.
[[nodiscard]] Case reduce(const Case &failing, const StillFails &still_fails,
                          const std::function<bool()> &more);

}// namespace luisa::tile::fuzz
