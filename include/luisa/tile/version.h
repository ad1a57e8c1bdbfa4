// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace luisa::tile {

/// The library's version, "major.minor.patch".
[[nodiscard]] const char *version() noexcept;

}// namespace luisa::tile
