// SPDX-License-Identifier: Apache-2.0
#include "sorting.h"

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {
class Topk : public ::testing::TestWithParam<int64_t> {};
}// namespace

TEST_P(Topk, f32_of_every_size) {
    auto n = GetParam();
    auto values = ordering_values<float>(static_cast<uint32_t>(n), true, 40);
    for (int64_t k :
         {int64_t{0}, int64_t{1}, int64_t{2}, int64_t{3}, int64_t{8}, n / 2, n - 1, n}) {
        if (k < 0 || k > n) {
            continue;
        }
        check_ordering<float>({{2, 2, n}, 2, descending, {}, k}, values);
        check_ordering<float>({{1, n, 17}, 1, ascending, {.nan = nan::first}, k}, values);
    }
}
INSTANTIATE_TEST_SUITE_P(extents, Topk, ::testing::Values(0, 1, 2, 5, 8, 31, 64, 200, 515));

/// A count that is known at run time bounds what is there.
TEST(TopkCount, entries_behind_the_count_are_zero) {
    auto def = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Y,
                              TensorView<int64_t, 2> I, Scalar<int64_t> count) {
        auto r = axis("r", 3), c = axis("c", 100), o = axis(c.dim, 8);
        auto best = topk(X[coord(0, 0), shape(r, c)], c, 8, count);
        Y(coord(0, 0), shape(r, o)).store(best.values);
        I(coord(0, 0), shape(r, o)).store(best.indices);
    });
    auto kernel = def.capture(tensor_shape(3, 100), tensor_shape(3, 8), tensor_shape(3, 8));
    for (int64_t count : {0, 1, 5, 8, 11, -2}) {
        auto views = run_both(
            kernel,
            {random_view<float>({3, 100}, 5), output_view<float>({3, 8}), index_view({3, 8})},
            {bits_of(count)});
        for (size_t i = 0; i < 24; ++i) {
            bool there = static_cast<int64_t>(i % 8) < count;
            int64_t index = 0;
            std::memcpy(&index, views[2].bytes.data() + i * 8, 8);
            EXPECT_EQ(index >= 0, there) << i << " of " << count;
            EXPECT_EQ(element_value(views[1], i) != 0, there) << i << " of " << count;
        }
    }
}
