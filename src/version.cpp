// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/version.h>

namespace luisa::tile {

const char *version() noexcept { return LUISA_TILE_VERSION; }

}// namespace luisa::tile
