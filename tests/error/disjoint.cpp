// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "error/reading.h"

#include <gtest/gtest.h>

// Stores of a parallel that two instances certainly make to one element.

namespace luisa::tile::test {

namespace {

int line = 0;
#define AT line = __LINE__

std::string capturing(const std::function<void()> &mistake) {
    return read_by_user("disjoint.cpp", line, mistake);
}

}// namespace

TEST(DisjointStores, one_element_of_all_instances) {
    auto text = capturing([] {
        static_cast<void>(tile_kernel([](TensorView<float, 1> Y) {
                              for (auto &nest : parallel(shape(4))) {
                                  AT, Y(2).store(cast<float>(nest.index()));
                              }
                          }).capture(tensor_shape(8)));
    });
    EXPECT_EQ(
        text,
        "@+0: RaceError: store: instances (0) and (1) of one parallel both write element (2) of "
        "parameter 0; make their parts disjoint, or combine them with reduce\n"
        "  note: the parallel opened here (@-1)");
}

TEST(DisjointStores, tiles_that_overlap) {
    auto text = capturing([] {
        static_cast<void>(tile_kernel([](TensorView<float, 2> Y) {
                              auto m = axis("m", 16), n = axis("n", 8);
                              for (auto &nest : parallel(shape(4, 4))) {
                                  auto at = coord(nest.index(0) * 15, nest.index(1) * 8);
                                  AT, Y(at, shape(m, n)).store(zeros<float>(shape(m, n)));
                              }
                          }).capture(tensor_shape(64, 32)));
    });
    EXPECT_EQ(
        text,
        "@+0: RaceError: store: instances (0, 0) and (1, 0) of one parallel both write element "
        "(15, 0) of parameter 0; make their parts disjoint, or combine them with reduce\n"
        "  note: the parallel opened here (@-2)");
}

TEST(DisjointStores, an_inner_nest_that_forgets_the_outer_index) {
    auto text = capturing([] {
        static_cast<void>(tile_kernel([](TensorView<float, 1> Y) {
                              for (auto &outer : parallel(shape(3))) {
                                  for (auto &inner : outer.parallel(shape(4))) {
                                      AT, Y(inner.index()).store(1.0f);
                                  }
                              }
                          }).capture(tensor_shape(4)));
    });
    EXPECT_EQ(
        text,
        "@+0: RaceError: store: instances (0) and (1) of one parallel both write element (0) of "
        "parameter 0; make their parts disjoint, or combine them with reduce\n"
        "  note: the parallel opened here (@-2)");
}

TEST(DisjointStores, what_lies_outside_of_the_view_does_not_count) {
    EXPECT_EQ(
        capturing([] {
            static_cast<void>(
                tile_kernel([](TensorView<float, 1> Y) {
                    auto i = axis("i", 4);
                    for (auto &nest : parallel(shape(3))) {
                        AT, Y(coord(nest.index() * 2 + 6), shape(i)).store(ones<float>(shape(i)));
                    }
                }).capture(tensor_shape(8)));
        }),
        "no error");
}

}// namespace luisa::tile::test
