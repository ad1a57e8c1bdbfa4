// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/version.h>

namespace luisa::tile {

const char *version() noexcept { return "0.1.0"; }

}// namespace luisa::tile
