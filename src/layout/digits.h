// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "layout/node.h"

namespace luisa::tile::core {

/// A digit of a layout: its extent and its step.
struct Step {
    int64_t extent, stride;
};
using Steps = std::vector<Step>;

/// The digits of a layout, mode by mode. No layout, or one whose domain cuts a digit short: ValueError that names
/// `what` was asked.
[[nodiscard]] std::vector<Steps> modes_of(const IndexMap &layout, const char *what);
/// All digits, the fastest first, without those of extent 1 and with neighbours joined that continue each other.
[[nodiscard]] Steps coalesced(const std::vector<Steps> &modes);
[[nodiscard]] int64_t size_of(const Steps &steps);
/// A layout of these modes.
[[nodiscard]] IndexMap layout_of(const std::vector<Steps> &modes);
/// The digits of outer[inner digits]; ValueError where they are no digits.
[[nodiscard]] Steps composed(const Steps &outer, const Steps &inner, const char *what);

}// namespace luisa::tile::core
