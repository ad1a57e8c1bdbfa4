// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "cache/system.h"

#include <optional>
#include <string>

namespace luisa::tile::cache {

/// Where compiled kernels are kept. `chosen` first; then LUISA_TILE_CACHE, where `off` gives none; then
/// XDG_CACHE_HOME/luisa-tile, then HOME/.cache/luisa-tile, if those variables hold absolute paths.
struct FolderChoice {
    std::optional<std::string> path;
    bool off = false;///< LUISA_TILE_CACHE says so
};
[[nodiscard]] FolderChoice choose_folder(const std::string &chosen);

/// Makes the folder, and those that it lies in, where they are missing: for this user alone. Opens it. Returns
/// an empty text, or why it is not used: owned by another user, or writable by others.
[[nodiscard]] std::string open_folder(const std::string &path, File &out);

}// namespace luisa::tile::cache
