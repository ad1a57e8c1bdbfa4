// SPDX-License-Identifier: Apache-2.0
// expect: luisa::tile::Nest
#include <luisa/tile.h>

using namespace luisa::tile;

void f() {
    for (auto nest : serial(shape(4))) {
        (void)nest.index();
    }
}
