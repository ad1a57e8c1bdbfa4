// SPDX-License-Identifier: Apache-2.0
// What an installed package must give: headers, symbols, and errors that cross the library's border.
#include <luisa/tile/error.h>
#include <luisa/tile/version.h>

#include <cstdio>
#include <string>

int main() {
    using namespace luisa::tile;
    try {
        throw_error(ErrorKind::SHAPE, "sizes differ");
    } catch (const ShapeError &error) {
        std::printf("Luisa Tile %s: caught \"%s\"\n", version(), error.what());
        return std::string{error.what()} == "ShapeError: sizes differ" ? 0 : 1;
    }
}
