// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/both.h"

// Execution, data and mapping do not show in one another.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {}// namespace

TEST(ThreeDimensionsKeptApart, levels_of_execution_change_no_result) {
    auto run = [](ExecLevel outer, ExecLevel inner) {
        auto def = tile_kernel([=](TensorView<const float, 2> X, TensorView<float, 2> Y) {
            auto r = axis("r", 4), c = axis("c", 9);
            for (auto &nest : parallel(shape(ceil_div(X.extent(0), 4)), outer)) {
                auto x = X[coord(nest.index() * 4, 0), shape(r, c)];
                for (auto &row : nest.parallel(shape(r), inner)) {
                    x = insert(x, row, x.at(row) - reduce(x.at(row), c, add, reduction::fold_left));
                }
                Y(coord(nest.index() * 4, 0), shape(r, c)).store(x);
            }
        });
        auto kernel = def.capture(tensor_shape(10, 9), tensor_shape(10, 9));
        std::vector<View> views{random_view({10, 9}, 4), output_view({10, 9})};
        if (inner == exec::infer && (outer == exec::infer || outer == exec::core)) {
            return run_both(kernel, views)[1];
        }
        // A CPU refuses levels that it lacks; the interpreter honours any.
        interpreter::run(*module_of(kernel), arguments_of(*module_of(kernel), views, {}));
        return views[1];
    };
    auto expected = run(exec::infer, exec::infer);
    EXPECT_EQ(run(exec::core, exec::infer).bytes, expected.bytes);
    EXPECT_EQ(run(exec::block, exec::thread).bytes, expected.bytes);
    EXPECT_EQ(run(exec::cluster, exec::subgroup).bytes, expected.bytes);
}
TEST(ThreeDimensionsKeptApart, the_shape_of_tiles_is_a_granularity_and_no_result) {
    auto run = [](int64_t rows, int64_t columns) {
        auto def = tile_kernel([=](TensorView<const float, 2> X, TensorView<float, 2> Y) {
            auto r = axis("r", rows), c = axis("c", columns);
            for (auto &nest :
                 parallel(shape(ceil_div(X.extent(0), rows), ceil_div(X.extent(1), columns)))) {
                auto place = coord(nest.index(0) * rows, nest.index(1) * columns);
                Y(place, shape(r, c)).store(exp(X[place, shape(r, c)]) * 0.5f);
            }
        });
        return run_both(def.capture(tensor_shape(19, 37), tensor_shape(19, 37)),
                        {random_view({19, 37}, 4), output_view({19, 37})})[1];
    };
    auto expected = run(1, 1);
    for (auto [rows, columns] : {std::pair<int64_t, int64_t>{1, 37}, {19, 1}, {3, 8}, {64, 64}}) {
        EXPECT_EQ(run(rows, columns).bytes, expected.bytes) << rows << " × " << columns;
    }
}
TEST(ThreeDimensionsKeptApart, a_reduction_has_any_extent_and_a_value_of_any_size_crosses_stages) {
    // No subgroup bounds the tree, and no declared buffer holds what crosses the cut.
    for (int64_t n : {1, 2, 31, 33, 64, 257, 3000}) {
        auto def = tile_kernel([=](TensorView<const float, 2> X, TensorView<float, 2> Y) {
            auto c = axis("c", n);
            for (auto &step : pipeline(range(0, X.extent(0)))) {
                step.stage("read");
                auto x = X[coord(step.index(), 0), shape(1, c)];
                auto sum = reduce(x, c, add);
                step.stage("write");
                Y(coord(step.index(), 0), shape(1, c)).store(x + sum);
            }
        });
        auto x = integer_view({3, n}, 5);
        auto out = run_both(def.capture(tensor_shape(3, n), tensor_shape(3, n)),
                            {x, output_view({3, n})});
        double sum = 0;
        for (int64_t i = 0; i < n; ++i) {
            sum += at(x, 2 * n + i);
        }
        EXPECT_EQ(at(out[1], 3 * n - 1), at(x, 3 * n - 1) + sum);
    }
}
