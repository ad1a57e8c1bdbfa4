// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/layout.h>

namespace luisa::tile::core {

/// A map that was read from its text, and what is proved of it.
struct ProvedMap {
    IndexMap map;
    LayoutProof proof;
};

/// Programs carry maps as text and are verified after every pass: texts seen lately are not proved again.
/// ParseError and the other errors of `IndexMap::parse`. Callable from any thread.
[[nodiscard]] std::shared_ptr<const ProvedMap> proved_map(const std::string &text);

/// The images of a map as expressions of those of its coordinates; equal wherever the map is defined on the box of
/// its domain. Nothing for tables.
[[nodiscard]] std::optional<std::vector<IndexExpr>> expression_form(
    const IndexMap &map, const std::vector<IndexExpr> &coordinates);

}// namespace luisa::tile::core
