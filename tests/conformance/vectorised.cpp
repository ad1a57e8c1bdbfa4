// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>
#include <luisa/tile/inspect.h>
#include <luisa/tile/sort.h>

#include <gtest/gtest.h>

#include <functional>

// Common work on 1024 x 1024 numbers is vector code: no group of its plan but single elements is a scalar one.

namespace luisa::tile {
namespace {

using In = TensorView<const float, 2>;
using Out = TensorView<float, 2>;
constexpr int64_t size = 1024;

struct Work {
    const char *name;
    std::function<Kernel()> capture;
};

/// One row of X to a value that is stored as a row of Y of as many columns.
template<class F> Kernel by_rows(int64_t columns, F row_of) {
    return tile_kernel([=](In X, Out Y) {
               auto r = axis("row", 1), c = axis("column", size);
               for (auto &nest : parallel(shape(X.extent(0)))) {
                   auto x = X[coord(nest.index(), 0), shape(r, c)];
                   auto y = row_of(x, r, c);
                   Y(coord(nest.index(), 0), y.shape()).store(y);
               }
           })
        .capture(tensor_shape(size, size), tensor_shape(size, columns));
}

/// One number a row, by reductions over its columns.
template<class F> Kernel by_row_numbers(F number_of) {
    return tile_kernel([=](In X, Out Y) {
               for (auto &nest : parallel(shape(X.extent(0)))) {
                   Y(nest.index(), 0).store(number_of(X, nest));
               }
           })
        .capture(tensor_shape(size, size), tensor_shape(size, 1));
}

const std::vector<Work> &works() {
    static const std::vector<Work> all{
        {"sum",
         [] {
             return by_row_numbers([](auto &X, auto &nest) {
                 auto c = axis("column", size);
                 return Scalar<float>{reduce(X[coord(nest.index(), 0), shape(1, c)], c, add)};
             });
         }},
        {"maximum",
         [] {
             return by_row_numbers([](auto &X, auto &nest) {
                 auto c = axis("column", size);
                 return Scalar<float>{reduce(X[coord(nest.index(), 0), shape(1, c)], c, maximum)};
             });
         }},
        {"position_of_the_maximum",
         [] {
             return by_row_numbers([](auto &X, auto &nest) {
                 auto c = axis("column", size);
                 return cast<float>(
                     Scalar<int64_t>{reduce(X[coord(nest.index(), 0), shape(1, c)], c, argmax)});
             });
         }},
        {"variance",
         [] {
             return by_row_numbers([](auto &X, auto &nest) {
                 auto stats = scalar(WelfordState<float>::identity());
                 for (auto &i : nest.reduce(range(0, size), welford)) {
                     stats = welford_push(stats, X[coord(nest.index(), i.index())]);
                 }
                 return Scalar<float>{stats.variance()};
             });
         }},
        {"softmax",
         [] {
             return by_rows(size, [](auto &x, auto &, auto &c) {
                 auto e = exp(x - reduce(x, c, maximum));
                 return e / reduce(e, c, add);
             });
         }},
        {"running_sum",
         [] { return by_rows(size, [](auto &x, auto &, auto &c) { return scan(x, c, add); }); }},
        {"largest_eight",
         [] { return by_rows(8, [](auto &x, auto &, auto &c) { return topk(x, c, 8).values; }); }},
        {"sorted",
         [] { return by_rows(size, [](auto &x, auto &, auto &c) { return sort(x, c).values; }); }},
        {"transposed",
         [] {
             return tile_kernel([](In X, Out Y) {
                        auto i = axis("i", 32), j = axis("j", 32);
                        for (auto &nest : parallel(shape(size / 32, size / 32))) {
                            auto i0 = nest.index(0) * 32, j0 = nest.index(1) * 32;
                            auto x = X[coord(i0, j0), shape(i, j)];
                            Y(coord(j0, i0), shape(j, i)).store(transpose(x, {j, i}));
                        }
                    })
                 .capture(tensor_shape(size, size), tensor_shape(size, size));
         }},
    };
    return all;
}

class Vectorised : public testing::TestWithParam<size_t> {};

TEST_P(Vectorised, no_loop_is_scalar) {
    auto plan = forms(works()[GetParam()].capture()).plan;
    EXPECT_EQ(plan.find("(scalar: "), std::string::npos) << plan;
    EXPECT_NE(plan.find("vector"), std::string::npos) << plan;
}

INSTANTIATE_TEST_SUITE_P(CommonWork, Vectorised, testing::Range(size_t{0}, works().size()),
                         [](const auto &info) { return works()[info.param].name; });

}// namespace
}// namespace luisa::tile
