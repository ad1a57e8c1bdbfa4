// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cstdint>

namespace luisa::tile::interpreter {

/// The balanced tree over `count` > 0 leaves: split at the largest power of two below the length.
/// Leaves are made in order.
template<class T, class Leaf, class Merge>
T balanced_tree(int64_t first, int64_t count, const Leaf &leaf, const Merge &merge) {
    if (count == 1) {
        return leaf(first);
    }
    auto split = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(count - 1)));
    auto left = balanced_tree<T>(first, split, leaf, merge);
    auto right = balanced_tree<T>(first + split, count - split, leaf, merge);
    return merge(left, right);
}

}// namespace luisa::tile::interpreter
