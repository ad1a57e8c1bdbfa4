// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/device.h>

namespace luisa::tile::runtime {

__extension__ using Reach = __int128;///< of any strides in any memory
/// Bytes from the lowest to the highest address of a view's elements, the last element included.
[[nodiscard]] Reach reach_of(const Argument &view) noexcept;

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

/// Two places of one view at one address.
struct SelfOverlap {
    bool found = false;
    int64_t first[Argument::max_rank]{}, second[Argument::max_rank]{};
};
/// Looks for two places of `view` that are the same element. Strides that nest, as those of every slice,
/// transposition and reversal of a dense tensor do, are answered at once. The search over other ones is
/// exact as long as it ends within `steps` steps; after that the answer is that there are none.
/// Never allocates.
[[nodiscard]] SelfOverlap find_self_overlap(const Argument &view, int steps) noexcept;

/// "elements (0, 1) and (1, 0) share an address (strides 1, 1)"
[[nodiscard]] std::string overlap_text(const Argument &view, const SelfOverlap &overlap);

}// namespace luisa::tile::runtime
