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
