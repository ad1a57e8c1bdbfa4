// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/device.h>

namespace luisa::tile::runtime {

/// The bytes that a view reaches, [low, high); both zero when it has no elements.
struct ByteRange {
    uintptr_t low = 0, high = 0;
};
[[nodiscard]] ByteRange range_of(const Argument &view) noexcept;
/// "[0x1000, 0x2000)"
[[nodiscard]] std::string range_text(const Argument &view);

/// True when two views have a byte in common. The search is exact as long as it ends within `steps`
/// steps; after that the answer is true. Never allocates.
[[nodiscard]] bool share_element(const Argument &a, const Argument &b, int steps) noexcept;

}// namespace luisa::tile::runtime
