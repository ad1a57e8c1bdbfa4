// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/both.h"

// Folds across lines, where neighbouring vectors go side by side: widths around one, two, four and eight vectors.

using namespace luisa::tile;
using namespace luisa::tile::test;

TEST(Columns, fold_side_by_side) {
    for (int64_t columns : {15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 145, 200, 261}) {
        for (int64_t rows : {0, 1, 2, 13}) {
            auto def = tile_kernel([=](TensorView<const float, 2> X, TensorView<float, 2> Y) {
                auto r = axis("row", rows), c = axis("column", columns);
                for ([[maybe_unused]] auto &root : parallel(shape(1))) {
                    auto x = X[coord(0, 0), shape(r, c)];
                    auto at = [&](int64_t line) { return Y(coord(line, 0), shape(1, c)); };
                    at(0).store(reduce(x, r, add, reduction::fold_left));
                    at(1).store(reduce(x, r, add, reduction::fold_right));
                    at(2).store(reduce(x, r, maximum));
                    at(3).store(reduce(x * x, r, minimum));
                    at(4).store(reduce(x, r, add, reduction::fold_left, {.mask = x > 0.25f}));
                    at(5).store(reduce(x - reduce(x, r, maximum), r, add, reduction::fold_left));
                    at(6).store(reduce(exp(x), r, add, reduction::fold_left));
                }
            });
            auto x = random_view({std::max<int64_t>(rows, 1), columns}, 9);
            run_both(def.capture(tensor_shape(std::max<int64_t>(rows, 1), columns),
                                 tensor_shape(7, columns)),
                     {x, output_view({7, columns})});
        }
    }
}

TEST(Columns, are_in_the_plan) {
    auto plan_of = [](int64_t columns, auto f) {
        auto def = tile_kernel([=](TensorView<const float, 2> X, TensorView<float, 1> Y) {
            auto r = axis("row", 100), c = axis("column", columns);
            for ([[maybe_unused]] auto &root : parallel(shape(1))) {
                Y(coord(0), shape(c)).store(f(X[coord(0, 0), shape(r, c)], r));
            }
        });
        target::CpuFacts facts;
        return compiler::forms_cpu(
                   *module_of(def.capture(tensor_shape(100, columns), tensor_shape(columns))),
                   {emit::host_cpu(), 1, false, facts}, false, false)
            .plan;
    };
    auto sum = [](const auto &x, const Axis &r) { return reduce(x, r, add); };
    auto costly = [](const auto &x, const Axis &r) { return reduce(tanh(exp(x)), r, add); };
    EXPECT_NE(plan_of(256, sum).find("x 16, 8 vectors side by side"), std::string::npos);
    EXPECT_NE(plan_of(40, sum).find("x 16, 2 vectors side by side"), std::string::npos);
    EXPECT_EQ(plan_of(31, sum).find("side by side"), std::string::npos);
    EXPECT_EQ(plan_of(256, costly).find("8 vectors"), std::string::npos)
        << "costly elements hide latency by themselves";
}
