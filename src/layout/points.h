// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/layout.h>

namespace luisa::tile::core {

/// "(0, 3)", or with other brackets.
[[nodiscard]] std::string tuple_text(const IndexPoint &values, char open = '(', char close = ')');
/// The next point of a box in lexicographic order; false, and the first one, after the last.
bool advance(IndexPoint &at, const IndexPoint &extents);
/// Whether a point has the rank of the box and lies in it.
[[nodiscard]] bool in_box(const IndexPoint &point, const IndexPoint &extents);

}// namespace luisa::tile::core
