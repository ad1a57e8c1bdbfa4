// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/capture.h"

// What all accesses of views ask before they are recorded.

namespace luisa::tile::core {

/// The capture on this thread; OwnershipError when the view belongs to another.
Capture &check_view(const ViewHandle &view, SourceLoc loc);
/// ScopeError inside a condition or a map, where nothing is read or written.
void check_effect_allowed(Capture &c, const char *what, SourceLoc loc);
/// `tile` without positional dimensions of one element that the box lacks; ShapeError when others do not fit.
Value *fit_into_box(Capture &c, Value *tile, const std::vector<ir::DimExtent> &box, SourceLoc loc);

}// namespace luisa::tile::core
