// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/both.h"

// What the language says of layouts, as far as programs can say it: strides of memory, and maps into views.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

double at(const View &v, int64_t i) { return element_value(v, static_cast<size_t>(i)); }

}// namespace

TEST(Layouts, nested_radices_with_holes_hold_what_boxes_store) {
    // Three dimensions in any order of strides, dense and with holes: the arithmetic is CuTe's.
    for (auto strides : {stride(15, 5, 1), stride(1, 4, 12), stride(5, 24, 1), stride(100, 2, 7)}) {
        auto def = tile_kernel([=](TensorView<const int32_t, 3> X, TensorView<int32_t, 3> Y) {
            auto a = axis("a", 4), b = axis("b", 3), c = axis("c", 5);
            for (auto &nest : parallel(shape(2))) {
                auto m = memory<int32_t>(layout(shape(a, b, c), strides));
                m.store(X[coord(0, 0, 0), shape(a, b, c)]);
                // One plane anew, at a place that the instance knows.
                m(coord(nest.index(), 0, 0), shape(1, b, c))
                    .store(full<int32_t>(shape(1, b, c), 9));
                Y(coord(nest.index() * 4, 0, 0), shape(a, b, c)).store(m.load());
            }
        });
        auto x = integer_view<int32_t>({4, 3, 5}, 3, 100);
        auto out = run_both(def.capture(tensor_shape(4, 3, 5), tensor_shape(8, 3, 5)),
                            {x, output_view<int32_t>({8, 3, 5})});
        for (int64_t e = 0; e < 120; ++e) {
            auto plane = e / 15 % 4, instance = e / 60;
            EXPECT_EQ(at(out[1], e), plane == instance ? 9 : at(x, e % 60)) << e;
        }
    }
}
TEST(Layouts, an_injective_map_stores_what_its_converse_loads) {
    // The tile (i, j) lies where two digits of a mixed radix are exchanged.
    for (int64_t columns : {1, 3, 8}) {
        auto def = tile_kernel(
            [=](TensorView<const float, 2> X, TensorView<float, 1> Y, TensorView<float, 2> Z) {
                auto i = axis("i", 6), j = axis("j", columns);
                auto x = X[coord(0, 0), shape(i, j)];
                auto place = [](Scalar<int64_t> r, Scalar<int64_t> c) { return coord(c * 6 + r); };
                Y.view(shape(i, j), place).store(x);
                Z(coord(0, 0), shape(i, j)).store(Y.view(shape(i, j), place).load() * 2.0f);
            });
        auto x = integer_view({6, columns}, 3);
        auto out = run_both(def.capture(tensor_shape(6, columns), tensor_shape(6 * columns),
                                        tensor_shape(6, columns)),
                            {x, output_view({6 * columns}), output_view({6, columns})});
        for (int64_t e = 0; e < 6 * columns; ++e) {
            EXPECT_EQ(at(out[1], e % columns * 6 + e / columns), at(x, e));
            EXPECT_EQ(at(out[2], e), 2 * at(x, e));
        }
    }
}
TEST(Layouts, a_map_of_divisions_and_exclusive_or_reads_its_elements) {
    auto def = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 2> Y) {
        auto r = axis("r", 8), c = axis("c", 8);
        auto swizzled = X.view(shape(r, c), [](Scalar<int64_t> i, Scalar<int64_t> j) {
            return coord(i * 8 + (j ^ (i % 4)));
        });
        Y(coord(0, 0), shape(r, c)).store(swizzled.load());
        auto blocked = X.view(shape(r, c), [](Scalar<int64_t> i, Scalar<int64_t> j) {
            return coord((i / 2 * 2 + j / 4) * 8 + i % 2 * 4 + j % 4);
        });
        Y(coord(8, 0), shape(r, c)).store(blocked.load());
    });
    auto x = integer_view({64}, 3, 90);
    auto out = run_both(def.capture(tensor_shape(64), tensor_shape(16, 8)),
                        {x, output_view({16, 8})});
    for (int64_t e = 0; e < 64; ++e) {
        auto i = e / 8, j = e % 8;
        EXPECT_EQ(at(out[1], e), at(x, i * 8 + (j ^ (i % 4))));
        EXPECT_EQ(at(out[1], 64 + e), at(x, (i / 2 * 2 + j / 4) * 8 + i % 2 * 4 + j % 4));
    }
}
