// SPDX-License-Identifier: Apache-2.0
// Mistakes with 8-bit floats: one each, with the whole message.
#include "support/both.h"

#include <luisa/tile.h>

using namespace luisa::tile;

TEST(NarrowFormats, an_infinite_fallback_needs_a_format_with_infinities) {
    auto def = tile_kernel(
        [](TensorView<const float8_e4m3fn, 1> X, TensorView<float8_e4m3fn, 1> Y) {
            auto i = axis("i", 8);
            Y(coord(0), shape(i)).store(X(coord(0), shape(i)).load(-INFINITY));
        });
    try {
        (void)def.capture(tensor_shape(5), tensor_shape(8));
        FAIL() << "no error";
    } catch (const ValueError &e) {
        EXPECT_NE(
            std::string{e.what()}.find("ValueError: literal -inf: e4m3fn has no infinity; its "
                                       "largest finite value is 448.0; use -448.0 or NaN"),
            std::string::npos)
            << e.what();
    }
}
TEST(NarrowFormats, e5m2_has_infinities) {
    auto def = tile_kernel([](TensorView<const float8_e5m2, 1> X, TensorView<float8_e5m2, 1> Y) {
        auto i = axis("i", 8);
        Y(coord(0), shape(i)).store(X(coord(0), shape(i)).load(-INFINITY));
    });
    EXPECT_NO_THROW((void)def.capture(tensor_shape(5), tensor_shape(8)));
}
