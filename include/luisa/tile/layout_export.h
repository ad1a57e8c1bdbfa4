// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/layout_interop.h>

// Correspondences as the layouts of other systems; `layout_interop.h` reads these.

namespace luisa::tile {

/// The fragment that `from_tilelang` reads back as an equal relation. The second side is (thread, slot). Occurrences are
/// the elements, or elements with the number of their replica as the last coordinate, or any others where the first side is
/// proved to be one to one and has an inverse by rules. Other correspondences, and second sides that are no expressions:
/// InteropError.
[[nodiscard]] TileLangFragment to_tilelang(const LayoutCorr &corr);

/// The layout that `from_tirx` reads back as an equal relation; `axes` are the names of the second side's coordinates.
/// Occurrences are element numbers, or element numbers and replica numbers. Another number of names, digits that move several
/// axes at once, a second side that is no map of whole digits: InteropError.
[[nodiscard]] TirxLayout to_tirx(const LayoutCorr &corr, const std::vector<std::string> &axes);

}// namespace luisa::tile
