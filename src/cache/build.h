// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace luisa::tile::cache {

/// Stands for the sources that this library was built from, the compiler and its settings: the same for
/// all programs that use one build, and another one after any change.
[[nodiscard]] const char *build_id() noexcept;

}// namespace luisa::tile::cache
