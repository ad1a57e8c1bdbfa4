// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/layout.h>

namespace luisa::tile {

/// A picture of a map as a self-contained SVG: a cell for each point of the domain, in rows and columns, with its
/// image written in it and coloured by the image's first coordinate; cells where the map is undefined or the point is
/// not in the set are hatched. Rank 0 and 1 are one row; in higher ranks the last coordinate counts columns and the
/// others, in lexicographic order, rows. `title` is what screen readers say; the map's text if empty. More than 16,384
/// points: ValueError.
[[nodiscard]] std::string draw_svg(const IndexMap &map, const std::string &title = "");

}// namespace luisa::tile
