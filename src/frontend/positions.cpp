// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/exchange.h>

#include "frontend/element_maps.h"

// argmin and argmax: the last among equals is the first of the reversed tile.

namespace luisa::tile::core {

namespace {

Value *reversed(Value *x, const std::vector<Dim> &dims, SourceLoc loc) {
    for (auto d : dims) {
        if (x->type()->find(d) >= 0) {
            x = flip(x, d, loc);
        }
    }
    return x;
}

/// How many elements `dims` have together; −1 where `reduce` rejects them.
int64_t count_of(const Value *x, const std::vector<Dim> &dims) {
    int64_t count = 1;
    for (size_t i = 0; i < dims.size(); ++i) {
        auto at = x->type()->find(dims[i]);
        if (at < 0 || std::count(dims.begin(), dims.end(), dims[i]) > 1 ||
            x->type()->dims[static_cast<size_t>(at)].extent == 0) {
            return -1;
        }
        count *= x->type()->dims[static_cast<size_t>(at)].extent;
    }
    return count;
}

}// namespace

Value *position(Reducer reducer, Value *x, const std::vector<Dim> &dims, Value *mask, NanPolicy nan,
                TieBreak ties, SourceLoc loc) {
    auto policy = default_reduction(loc);
    auto count = count_of(x, dims);
    if (ties == TieBreak::LOWEST_INDEX || count < 0) {
        return reduce(reducer, x, dims, policy, mask, nan, loc);
    }
    auto *found = reduce(reducer, reversed(x, dims, loc), dims, policy,
                         mask ? reversed(mask, dims, loc) : nullptr, nan, loc);
    auto &c = current(loc);
    auto *last = elementwise("sub", {integer(c, count - 1, loc), found}, loc);
    return mask ? elementwise("ite",
                              {elementwise("lt", {found, integer(c, 0, loc)}, loc), found, last},
                              loc)
                : last;
}

}// namespace luisa::tile::core
