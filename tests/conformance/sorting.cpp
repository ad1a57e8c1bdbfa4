// SPDX-License-Identifier: Apache-2.0
#include "sorting.h"

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {
class Sorting : public ::testing::TestWithParam<int64_t> {};
}// namespace

TEST_P(Sorting, f32_along_each_axis) {
    auto n = GetParam();
    auto values = ordering_values<float>(static_cast<uint32_t>(n), true);
    for (auto order : {ascending, descending}) {
        for (auto place : {nan::last, nan::first}) {
            check_ordering<float>({{2, 3, n}, 2, order, {.nan = place}}, values);
            check_ordering<float>({{2, n, 3}, 1, order, {.nan = place}}, values);
        }
        check_ordering<float>({{n, 1, 1}, 0, order}, values);
        check_ordering<float>({{1, n, 20}, 1, order}, values);
    }
}
INSTANTIATE_TEST_SUITE_P(extents, Sorting,
                         ::testing::Values(0, 1, 2, 3, 5, 8, 9, 16, 17, 31, 64, 100, 257));

TEST(SortingForms, large_lines) {
    auto values = ordering_values<float>(1, true, 200);
    check_ordering<float>({{1, 1, 2000}, 2}, values);
    check_ordering<int16_t>({{1, 1, 1025}, 2, descending}, ordering_values<int16_t>(2, false, 200));
}
TEST(SortingForms, empty_batches) {
    check_ordering<float>({{0, 3, 9}, 2}, {1.0f});
    check_ordering<float>({{2, 9, 0}, 1, descending, {}, 4}, {1.0f});
}

/// Lines of a median: short, across the elements of a vector, of computed values.
TEST(SortingForms, median_of_computed_values) {
    auto def = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Y) {
        auto window = axis("window", 9), column = axis("column", 37);
        for (auto &nest : parallel(shape(4))) {
            auto x = X[coord(nest.index() * 9, 0), shape(window, column)];
            auto sorted = sort(x * 2.0f + 1.0f, window);
            Y(coord(nest.index(), 0), shape(1, column)).store(sorted.values.at(coord(4)));
        }
    });
    auto kernel = def.capture(tensor_shape(36, 37), tensor_shape(4, 37));
    auto views = run_both(kernel, {random_view<float>({36, 37}, 4), output_view<float>({4, 37})});
    for (int64_t r = 0; r < 4; ++r) {
        for (int64_t c = 0; c < 37; ++c) {
            std::vector<float> line;
            for (int64_t i = 0; i < 9; ++i) {
                auto x = static_cast<float>(
                    element_value(views[0], static_cast<size_t>((r * 9 + i) * 37 + c)));
                line.push_back(x * 2.0f + 1.0f);
            }
            std::sort(line.begin(), line.end());
            EXPECT_EQ(element_value(views[1], static_cast<size_t>(r * 37 + c)), line[4]);
        }
    }
}

/// In a loop, with the sorted tile carried, and stored over its own source.
TEST(SortingForms, in_loops_and_in_place) {
    auto def = tile_kernel([](TensorView<float, 2> X, TensorView<int64_t, 2> I) {
        auto c = axis("c", 45);
        for (auto &nest : parallel(shape(3))) {
            auto row = nest.index();
            auto x = X[coord(row, 0), shape(1, c)];
            for (auto &step : nest.serial(range(0, 3))) {
                x = sort(x + cast<float>(step.index()), c, descending).values * -1.0f;
            }
            X(coord(row, 0), shape(1, c)).store(x);
            I(coord(row, 0), shape(1, c)).store(argsort(x, c, descending));
        }
    });
    auto kernel = def.capture(tensor_shape(3, 45), tensor_shape(3, 45));
    auto views = run_both(kernel, {random_view<float>({3, 45}, 4), index_view({3, 45})});
    for (size_t i = 0; i < 3 * 45; ++i) {
        int64_t index = 0;
        std::memcpy(&index, views[1].bytes.data() + i * 8, 8);
        EXPECT_EQ(index, static_cast<int64_t>(44 - i % 45));
    }
}
